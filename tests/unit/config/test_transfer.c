/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "config/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CFG: settings that went to another process are the same settings. */

static struct bj_settings *load(const char *yaml)
{
	char path[] = "/tmp/bj-transfer-XXXXXX";
	AUTO_FD int fd = mkstemp(path);
	struct bj_settings *settings = NULL;
	struct bj_err err;

	clearenv();
	assert_int_equal(write(fd, yaml, strlen(yaml)), strlen(yaml));
	assert_int_equal(bj_settings_load(path, NULL, 0, &settings, &err), 0);
	unlink(path);
	return settings;
}

static struct bj_settings *pass_on(const struct bj_settings *settings)
{
	AUTO_BUF struct bj_buf bytes = { 0 };
	struct bj_settings *copy = NULL;
	struct bj_err err;

	bj_settings_pack(settings, &bytes);
	assert_false(bytes.failed);
	assert_int_equal(bj_settings_unpack(bytes.data, bytes.size, &copy, &err), 0);
	return copy;
}

#define YAML                                                                                       \
	"limits: {pids: 7}\ncheck: {blocked_imports: [os, sys.path]}\n"                            \
	"serve: {api_key: a-key-that-is-long-enough}\n"                                            \
	"profiles: {small: {memory: 32MiB, pids: 5}}\n"

static void test_values_and_origins(void **state)
{
	struct bj_settings *settings = load(YAML), *copy = pass_on(settings);

	(void)state;
	assert_int_equal(copy->limits.pids, 7);
	assert_int_equal(copy->limits.memory, settings->limits.memory);
	assert_int_equal(copy->blocked_imports.n, 2);
	assert_string_equal(copy->blocked_imports.items[1], "sys.path");
	assert_string_equal(copy->serve.api_key, "a-key-that-is-long-enough");
	assert_null(copy->seccomp);
	assert_true(bj_settings_was_set(copy, "limits.pids"));
	assert_false(bj_settings_was_set(copy, "limits.memory"));
	bj_settings_free(settings);
	bj_settings_free(copy);
}

static void test_profiles_come_along(void **state)
{
	struct bj_settings *settings = load(YAML), *copy = pass_on(settings), *small = NULL;
	struct bj_settings *analysis = NULL;
	struct bj_err err;

	(void)state;
	assert_int_equal(bj_settings_with_profile(copy, "small", &small, &err), 0);
	assert_int_equal(small->limits.memory, 32 << 20);
	assert_int_equal(small->limits.pids, 7); /* set by itself: it wins */
	/* From one profile to another nothing of the first stays. */
	assert_int_equal(bj_settings_with_profile(small, "analysis", &analysis, &err), 0);
	assert_int_equal(analysis->limits.memory, UINT64_C(2) << 30);
	bj_settings_free(analysis);
	assert_true(bj_settings_with_profile(copy, "none", &analysis, &err) < 0);
	assert_non_null(strstr(err.msg, "small"));
	bj_settings_free(settings);
	bj_settings_free(copy);
	bj_settings_free(small);
}

static void test_broken_bytes_are_refused(void **state)
{
	struct bj_settings *settings = load(YAML), *copy = NULL;
	AUTO_BUF struct bj_buf bytes = { 0 };
	struct bj_err err;

	(void)state;
	bj_settings_pack(settings, &bytes);
	/* Cut anywhere it is broken, between two entries too: what is missing would be zero. */
	for (size_t n = 0; n < 200; n++)
		assert_true(bj_settings_unpack(bytes.data, n, &copy, &err) < 0);
	/* So is an entry of no kind. */
	bj_buf_add(&bytes, "x", 2);
	assert_true(bj_settings_unpack(bytes.data, bytes.size, &copy, &err) < 0);
	assert_true(bj_settings_unpack("s\0limits.pids\0x\0"
				       "7",
				       18, &copy, &err) < 0);
	assert_true(bj_settings_unpack("s\0no.such\0000\0"
				       "7",
				       13, &copy, &err) < 0);
	assert_true(bj_settings_unpack("v\0limits.pids\0"
				       "7",
				       16, &copy, &err) < 0);
	bj_settings_free(settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_and_origins),
		cmocka_unit_test(test_profiles_come_along),
		cmocka_unit_test(test_broken_bytes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
