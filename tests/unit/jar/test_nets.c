/* SPDX-License-Identifier: Apache-2.0 */

/* Network namespaces that are kept for the next jar. To keep one takes no more than a descriptor.
 */

#include "unit.h"

#include "jar/nets.h"

#include <fcntl.h>
#include <unistd.h>

static int make(void)
{
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void test_each_is_given_once(void **state)
{
	struct bj_nets nets = { 0 };
	const int first = make(), second = make();

	(void)state;
	assert_int_equal(bj_nets_take(&nets), -1);
	bj_nets_keep(&nets, first);
	bj_nets_keep(&nets, second);
	assert_int_equal(bj_nets_take(&nets), second);
	assert_int_equal(bj_nets_take(&nets), first);
	assert_int_equal(bj_nets_take(&nets), -1);
	close(first);
	close(second);
}

static void test_there_are_never_many(void **state)
{
	struct bj_nets nets = { 0 };
	int last = -1;

	(void)state;
	for (int i = 0; i <= BJ_NETS_MAX; i++)
		bj_nets_keep(&nets, last = make());
	assert_int_equal(nets.n, BJ_NETS_MAX);
	assert_int_equal(fcntl(last, F_GETFD), -1);
	while ((last = bj_nets_take(&nets)) >= 0)
		close(last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_given_once),
		cmocka_unit_test(test_there_are_never_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
