/* SPDX-License-Identifier: Apache-2.0 */

/* Memory that moves to large pages stays what it was. Each test is a process of its own. */

#include "unit.h"

#include "base/cleanup.h"
#include "warm/large.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

enum { SAME = 0, DIFFERS = 1, NONE = 77 };

static int run(int (*body)(int proc_fd))
{
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0)
		_exit(body(open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC)));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NONE)
		skip(); /* this kernel has no large pages to give */
	return WEXITSTATUS(status);
}

static char *map(size_t size, int prot)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; p != MAP_FAILED && i < size; i++)
		p[i] = (char)(i * 31 + i / 4096);
	return p != MAP_FAILED && mprotect(p, size, prot) == 0 ? p : NULL;
}

static bool is_as_filled(const char *p, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (p[i] != (char)(i * 31 + i / 4096))
			return false;
	return true;
}

static int contents(int proc_fd)
{
	char *rw = map(3 * MIB + 4096, PROT_READ | PROT_WRITE), *r = map(5 * MIB, PROT_READ);

	if (!rw || !r)
		return DIFFERS;
	if (bj_large_settle(proc_fd) < 8 * MIB)
		return NONE;
	if (!is_as_filled(rw, 3 * MIB + 4096) || !is_as_filled(r, 5 * MIB))
		return DIFFERS;

	/* What a child writes is its own. */
	const pid_t pid = fork();

	if (pid == 0) {
		memset(rw, 1, MIB);
		_exit(rw[MIB - 1] == 1 ? SAME : DIFFERS);
	}

	int status;

	return waitpid(pid, &status, 0) == pid && status == 0 && is_as_filled(rw, MIB) ? SAME
										       : DIFFERS;
}

static void test_contents_stay(void **state)
{
	(void)state;
	assert_int_equal(run(contents), SAME);
}

/* The flags of the range that has @at, or "". */
static const char *flags_at(unsigned long at)
{
	static char flags[5];
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%lx-%lx %4s", &from, &to, flags) == 3 && at >= from &&
			at < to;
	if (f)
		fclose(f);
	return found ? flags : "";
}

static int protection(int proc_fd)
{
	struct {
		unsigned long at;
		const char *flags;
	} want[] = { { (unsigned long)map(2 * MIB, PROT_READ | PROT_WRITE), "rw-p" },
		     { (unsigned long)map(2 * MIB, PROT_READ), "r--p" },
		     { (unsigned long)map(2 * MIB, PROT_READ | PROT_EXEC), "r-xp" },
		     { (unsigned long)map(2 * MIB, PROT_NONE), "---p" },
		     { (unsigned long)(void *)getpid, "r-xp" } };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(want); i++)
		if (strcmp(flags_at(want[i].at), want[i].flags) != 0)
			return DIFFERS;
	if (bj_large_settle(proc_fd) == 0)
		return NONE;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(want); i++)
		if (strcmp(flags_at(want[i].at), want[i].flags) != 0)
			return DIFFERS;
	return SAME;
}

static void test_protection_stays(void **state)
{
	(void)state;
	assert_int_equal(run(protection), SAME);
}

/* Most of it is not there, and stays so: nobody pays for what was only reserved. */
static int reserved(int proc_fd)
{
	const size_t size = 16 * MIB;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char there[16 * 256];

	if (p == MAP_FAILED || !map(4 * MIB, PROT_READ))
		return DIFFERS;
	memset(p, 1, MIB);

	const size_t moved = bj_large_settle(proc_fd);

	if (moved == 0)
		return NONE;
	if (mincore(p, size, there) < 0)
		return DIFFERS;
	return moved < size && !(there[size / 4096 - 1] & 1) && p[0] == 1 ? SAME : DIFFERS;
}

static void test_what_is_reserved_stays_out(void **state)
{
	(void)state;
	assert_int_equal(run(reserved), SAME);
}

/* A range that is emptied in children still is. */
static int orders(int proc_fd)
{
	char *p = map(2 * MIB, PROT_READ | PROT_WRITE);

	if (!p || !map(4 * MIB, PROT_READ) || madvise(p, 2 * MIB, MADV_WIPEONFORK) < 0)
		return DIFFERS;
	if (bj_large_settle(proc_fd) == 0)
		return NONE;

	int status;
	const pid_t pid = fork();

	if (pid == 0)
		_exit(p[1] == 0 ? SAME : DIFFERS);
	return waitpid(pid, &status, 0) == pid && status == 0 && p[1] != 0 ? SAME : DIFFERS;
}

static void test_orders_to_the_kernel_stay(void **state)
{
	(void)state;
	assert_int_equal(run(orders), SAME);
}

static int no_proc(int proc_fd)
{
	close(proc_fd);
	return bj_large_settle(-1) == 0 ? SAME : DIFFERS;
}

static void test_without_proc_nothing_moves(void **state)
{
	(void)state;
	assert_int_equal(run(no_proc), SAME);
}

int main(void)
{
	const struct CMUnitTest moving[] = {
		cmocka_unit_test(test_contents_stay),
		cmocka_unit_test(test_protection_stays),
		cmocka_unit_test(test_what_is_reserved_stays_out),
		cmocka_unit_test(test_orders_to_the_kernel_stay),
	};
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_without_proc_nothing_moves) };
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	/* To read all memory, with the gaps between objects in it, is what a sanitizer reports. */
#ifdef __SANITIZE_ADDRESS__
	(void)moving;
#else
	r += cmocka_run_group_tests(moving, NULL, NULL);
#endif
	return r;
}
