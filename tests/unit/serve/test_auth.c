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
	uid_t uid = 12345;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_true(bj_auth_peer(pair[0], geteuid(), &uid));
	assert_int_equal(bj_auth_peer(pair[0], geteuid() + 1, &uid), geteuid() == 0);
	assert_false(bj_auth_peer(-1, geteuid(), &uid));
	assert_int_equal(uid, geteuid());
	close(pair[0]);
	close(pair[1]);
}

/* TENANT: one of the roles, admin for everything, and some things only for operators. */
static void test_roles(void **state)
{
	const struct bj_caller run = { .tenant = "a", .roles = BJ_ROLE_RUN };
	const struct bj_caller admin = { .tenant = "a", .roles = BJ_ROLE_ADMIN };
	const struct bj_caller operator= { .roles = BJ_ROLE_READ }, nobody = { 0 };

	(void)state;
	assert_true(bj_auth_may(NULL, BJ_ROLE_ADMIN | BJ_AUTH_OPERATORS));
	assert_true(bj_auth_may(&nobody, BJ_AUTH_PUBLIC));
	assert_false(bj_auth_may(&nobody, BJ_AUTH_ANY));
	assert_false(bj_auth_may(&run, 0)); /* what says nothing is for admin */
	assert_true(bj_auth_may(&run, BJ_ROLE_RUN | BJ_ROLE_READ));
	assert_false(bj_auth_may(&run, BJ_ROLE_READ));
	assert_true(bj_auth_may(&admin, BJ_ROLE_READ));
	assert_false(bj_auth_may(&admin, BJ_ROLE_ADMIN | BJ_AUTH_OPERATORS));
	assert_true(bj_auth_may(&operator, BJ_ROLE_READ | BJ_AUTH_OPERATORS));
	assert_true(bj_auth_sees(&run, "a"));
	assert_false(bj_auth_sees(&admin, "b"));
	assert_false(bj_auth_sees(&run, NULL));
	assert_true(bj_auth_sees(&operator, "b"));
	assert_true(bj_auth_sees(NULL, ""));
	assert_string_equal(bj_auth_tenant(&run), "a");
	assert_null(bj_auth_tenant(&operator));
	assert_null(bj_auth_tenant(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_peer),
		cmocka_unit_test(test_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
