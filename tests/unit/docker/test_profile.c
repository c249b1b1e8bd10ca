/* SPDX-License-Identifier: Apache-2.0 */

/* DS-SEC: a profile of one's own can only tighten, whatever it says. */

#include "unit.h"

#include "base/cleanup.h"
#include "docker/profile.h"

#include <jansson.h>
#include <string.h>

#define OURS                                                                                       \
	"{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"read\",\"ioctl\"],"     \
	"\"action\":\"SCMP_ACT_ALLOW\",\"args\":[]}]}"
#define FLOOR                                                                                      \
	"{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"bpf\",\"ioctl\"],"      \
	"\"action\":\"SCMP_ACT_ERRNO\"}]}"

/* The action for @name, or NULL; the last rule that names it. */
static const char *action_of(const json_t *profile, const char *name)
{
	const char *found = NULL;
	json_t *entry, *item;
	size_t i, k;

	json_array_foreach(json_object_get(profile, "syscalls"), i, entry)
	{
		json_array_foreach(json_object_get(entry, "names"), k, item)
		{
			if (strcmp(json_string_value(item), name) == 0)
				found = json_string_value(json_object_get(entry, "action"));
		}
	}
	return found;
}

static json_t *made_of(const char *custom)
{
	AUTO_FREE char *text = bj_docker_profile(custom, OURS, FLOOR, NULL);

	assert_non_null(text);
	return json_loads(text, 0, NULL);
}

static void what_allows_by_default_gets_the_floor(void **state)
{
	json_t *profile = made_of("{\"defaultAction\":\"SCMP_ACT_ALLOW\"}");

	(void)state;
	assert_string_equal(action_of(profile, "bpf"), "SCMP_ACT_ERRNO");
	assert_null(action_of(profile, "read"));
	json_decref(profile);
}

static void what_it_allows_of_the_floor_is_taken_out(void **state)
{
	json_t *profile = made_of("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":["
				  "{\"names\":[\"bpf\",\"write\"],\"action\":\"SCMP_ACT_ALLOW\"},"
				  "{\"name\":\"bpf\",\"action\":\"SCMP_ACT_LOG\"},"
				  "{\"name\":\"getpid\",\"action\":\"SCMP_ACT_ALLOW\"},"
				  "{\"names\":[7,\"ioctl\"],\"action\":\"SCMP_ACT_ALLOW\"},"
				  "{\"names\":[\"uname\"],\"action\":\"SCMP_ACT_KILL\"}]}");

	(void)state;
	assert_null(action_of(profile, "bpf"));
	assert_string_equal(action_of(profile, "write"), "SCMP_ACT_ALLOW");
	/* The old spelling with one name. */
	assert_string_equal(action_of(profile, "getpid"), "SCMP_ACT_ALLOW");
	/* Our own, narrower rule stands for what was taken out. */
	assert_string_equal(action_of(profile, "ioctl"), "SCMP_ACT_ALLOW");
	assert_string_equal(action_of(profile, "uname"), "SCMP_ACT_KILL");
	assert_null(action_of(profile, "read"));
	json_decref(profile);
}

static void what_is_no_profile_is_refused(void **state)
{
	static const char *const texts[] = { "", "[]", "{}", "{\"defaultAction\": 1}", "null" };
	struct bj_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++) {
		assert_null(bj_docker_profile(texts[i], OURS, FLOOR, &err));
		assert_int_equal(err.code, BJ_E_INVALID);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_allows_by_default_gets_the_floor),
		cmocka_unit_test(what_it_allows_of_the_floor_is_taken_out),
		cmocka_unit_test(what_is_no_profile_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
