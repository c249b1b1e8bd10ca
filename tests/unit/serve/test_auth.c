/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "serve/auth.h"

#include <sys/socket.h>
#include <unistd.h>

/* TENANT: the key and nothing but the key. */

#define KEY "a-key-that-is-long-enough"

static void test_key(void **state)
{
	(void)state;
	assert_true(bj_auth_key(KEY, "Bearer " KEY, NULL));
	assert_true(bj_auth_key(KEY, "bearer " KEY, NULL));
	assert_true(bj_auth_key(KEY, NULL, KEY));
	assert_true(bj_auth_key(KEY, "Basic abc", KEY));
	assert_false(bj_auth_key(KEY, NULL, NULL));
	assert_false(bj_auth_key(KEY, "Bearer ", NULL));
	assert_false(bj_auth_key(KEY, KEY, NULL));
	assert_false(bj_auth_key(KEY, "Bearer " KEY "x", NULL));
	assert_false(bj_auth_key(KEY, "Bearer a-key-that-is-long-enougH", NULL));
	/* A wrong one is not made good by another header. */
	assert_false(bj_auth_key(KEY, "Bearer no", KEY));
	/* Without a key nobody comes in, not even with an empty one. */
	assert_false(bj_auth_key(NULL, "Bearer ", ""));
	assert_false(bj_auth_key("", "Bearer ", ""));
}

static void test_peer(void **state)
{
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_true(bj_auth_peer(pair[0], geteuid()));
	assert_int_equal(bj_auth_peer(pair[0], geteuid() + 1), geteuid() == 0);
	assert_false(bj_auth_peer(-1, geteuid()));
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
