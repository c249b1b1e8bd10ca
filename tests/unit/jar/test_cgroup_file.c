/* SPDX-License-Identifier: Apache-2.0 */

/* SCRP-04: the small files of a cgroup, in a directory that looks like one. */

#include "unit.h"

#include "base/cleanup.h"
#include "jar/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/bj-cgfile-XXXXXX";
static int dir = -1;

static void write_file(const char *name, const char *text)
{
	AUTO_FD int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static const char *read_back(const char *name)
{
	static char text[64];

	bj_cgfile_read(dir, name, text, sizeof(text));
	return text;
}

/* A machine whose cgroup v2 has cpuset and not cpu must not pass for one that has. */
static void controllers_are_whole_words(void **state)
{
	static const struct {
		const char *list, *word;
		bool has;
	} cases[] = {
		{ "cpuset cpu io memory pids\n", "cpu", true },
		{ "cpuset io memory pids\n", "cpu", false },
		{ "cpu", "cpuset", false },
		{ "memory", "memory", true },
		{ "memory.high", "memory", false },
		{ "io memory\tpids", "memory", true },
		{ "  pids \n", "pids", true },
		{ "hugepids rdma", "pids", false },
		{ "", "cpu", false },
		{ " \n", "cpu", false },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(cases); i++)
		if (bj_cgfile_has_word(cases[i].list, cases[i].word) != cases[i].has)
			fail_msg("\"%s\" in \"%s\"", cases[i].word, cases[i].list);
}

static void numbers_are_found_by_their_key(void **state)
{
	(void)state;
	write_file("memory.events", "low 1\noom 2\noom_kill 3\n");
	write_file("memory.max", "4096\n");
	write_file("empty", "");
	assert_int_equal(bj_cgfile_read_number(dir, "memory.events", "oom"), 2);
	assert_int_equal(bj_cgfile_read_number(dir, "memory.events", "oom_kill"), 3);
	assert_int_equal(bj_cgfile_read_number(dir, "memory.events", "kill"), 0);
	assert_int_equal(bj_cgfile_read_number(dir, "memory.max", ""), 4096);
	assert_int_equal(bj_cgfile_read_number(dir, "empty", ""), 0);
	assert_int_equal(bj_cgfile_read_number(dir, "missing", ""), 0);
	assert_int_equal(bj_cgfile_read_number(-1, "memory.max", ""), 0);
}

static void the_quota_is_written_as_each_version_reads_it(void **state)
{
	(void)state;
	write_file("cpu.max", "");
	write_file("cpu.cfs_quota_us", "");
	assert_int_equal(bj_cgfile_write_quota(dir, true, 500, NULL), 0);
	assert_string_equal(read_back("cpu.max"), "50000 100000");
	assert_int_equal(bj_cgfile_write_quota(dir, false, 2000, NULL), 0);
	assert_string_equal(read_back("cpu.cfs_quota_us"), "200000");
	/* The kernel takes no less. */
	write_file("cpu.max", "");
	assert_int_equal(bj_cgfile_write_quota(dir, true, 1, NULL), 0);
	assert_string_equal(read_back("cpu.max"), "1000 100000");
}

static void what_cannot_be_written_is_named(void **state)
{
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(bj_cgfile_write(dir, "pids.max", "1", &err), -BJ_E_SYSTEM);
	assert_int_equal(err.errnum, ENOENT);
	assert_non_null(strstr(err.msg, "pids.max"));
	assert_int_equal(symlinkat("/dev/full", dir, "full"), 0);
	assert_int_equal(bj_cgfile_write(dir, "full", "1", &err), -BJ_E_SYSTEM);
	assert_int_equal(err.errnum, ENOSPC);
	assert_non_null(strstr(err.msg, "cannot set full"));
}

static int set_up(void **state)
{
	(void)state;
	dir = mkdtemp(top) ? open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return dir < 0;
}

static int tear_down(void **state)
{
	static const char *const made[] = { "memory.events", "memory.max",       "empty",
					    "cpu.max",       "cpu.cfs_quota_us", "full" };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(made); i++)
		unlinkat(dir, made[i], 0);
	close(dir);
	return rmdir(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controllers_are_whole_words),
		cmocka_unit_test(numbers_are_found_by_their_key),
		cmocka_unit_test(the_quota_is_written_as_each_version_reads_it),
		cmocka_unit_test(what_cannot_be_written_is_named),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
