/* SPDX-License-Identifier: Apache-2.0 */

/* SCRP-04 SCRP-09: a leaf that is used again is as good as a new one. Real cgroups, so only where
 * this process may make them. */

#include "unit.h"

#include "base/cleanup.h"
#include "jar/cgroup.h"
#include "jar/cgroup_find.h"
#include "jar/sys.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct bj_cgroup_limits WIDE = { .memory = 256 << 20, .cpu_milli = 1000, .pids = 64 };
static const struct bj_cgroup_limits TIGHT = { .memory = 64 << 20, .cpu_milli = 500, .pids = 8 };

static struct bj_cgroups *make_capped(bool for_one, const struct bj_cgroup_limits *all)
{
	struct bj_cgroups *groups = NULL;
	struct bj_err err = { 0 };

	if (bj_cgroups_new(NULL, (uid_t)-1, &groups, &err) < 0)
		skip();
	if (for_one)
		bj_cgroups_expect_one(groups);
	if (bj_cgroups_complete(groups, all, &err) < 0) {
		bj_cgroups_free(groups);
		skip();
	}
	return groups;
}

static struct bj_cgroups *make_groups(void)
{
	const struct bj_cgroup_limits none = { 0 };

	return make_capped(false, &none);
}

static struct bj_cgroup *make_leaf(struct bj_cgroups *groups, const char *name,
				   const struct bj_cgroup_limits *limits)
{
	struct bj_cgroup *cg = NULL;
	struct bj_err err = { 0 };

	assert_int_equal(bj_cgroup_new(groups, name, limits, &cg, &err), 0);
	return cg;
}

/* Which leaf it is, whatever it is called. */
static ino_t leaf_id(const struct bj_cgroup *cg)
{
	struct stat st;

	for (int h = 0; h < 4; h++)
		if (bj_cgroup_tasks(cg)[h] >= 0 && fstat(bj_cgroup_tasks(cg)[h], &st) == 0)
			return st.st_ino;
	return 0;
}

static void burn(unsigned int ms)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_nsec / 1000000 < (long)ms);
}

/* A child that lives in the leaf, uses @bytes and some time, and stays until it is killed when it
 * is to @stay. */
static pid_t live_in(const struct bj_cgroup *cg, size_t bytes, bool stay)
{
	int done[2];
	char byte;

	assert_int_equal(pipe2(done, O_CLOEXEC), 0);

	const pid_t pid = fork();

	if (pid == 0) {
		if (bj_cgroup_join(cg, NULL) < 0)
			_exit(1);
		void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		burn(30);
		if (memory == MAP_FAILED || write(done[1], "d", 1) != 1)
			_exit(1);
		while (stay)
			pause();
		_exit(0);
	}
	close(done[1]);
	assert_int_equal(read(done[0], &byte, 1), 1);
	close(done[0]);
	if (!stay)
		waitpid(pid, NULL, 0);
	return pid;
}

static void test_counters_start_at_zero(void **state)
{
	struct bj_cgroups *groups = make_groups();
	struct bj_cgroup *cg = make_leaf(groups, "jar-1", &WIDE);
	const ino_t id = leaf_id(cg);
	struct bj_cgroup_stats stats;

	(void)state;
	live_in(cg, 100 << 20, false);
	bj_cgroup_read_stats(cg, &stats);
	assert_true(stats.peak_memory > (100 << 20));
	assert_true(stats.cpu_ns > 20000000);
	assert_true(bj_cgroup_give_back(cg));

	cg = make_leaf(groups, "jar-2", &WIDE);
	assert_int_equal(leaf_id(cg), id);
	bj_cgroup_read_stats(cg, &stats);
	assert_true(stats.peak_memory <= 1 << 20);
	assert_true(stats.cpu_ns < 10000000);
	assert_int_equal(stats.oom_kills, 0);
	assert_int_equal(stats.pids_hits, 0);
	assert_false(bj_cgroup_is_out_of_memory(cg));
	/* It can be joined again. */
	live_in(cg, 4096, false);
	assert_true(bj_cgroup_free(cg));
	bj_cgroups_free(groups);
}

/* With each use after the first its files are open already: they tell of this use, not of the
 * first. */
static void test_each_use_is_counted_anew(void **state)
{
	struct bj_cgroups *groups = make_groups();
	struct bj_cgroup_stats stats;
	ino_t id = 0;

	(void)state;
	for (size_t use = 1; use <= 4; use++) {
		const size_t bytes = (use % 2 ? 80 : 20) << 20;
		struct bj_cgroup *cg = make_leaf(groups, "jar", &WIDE);

		assert_true(id == 0 || leaf_id(cg) == id);
		id = leaf_id(cg);
		bj_cgroup_read_stats(cg, &stats);
		assert_true(stats.peak_memory <= 1 << 20);
		assert_true(stats.cpu_ns < 10000000);

		const pid_t pid = live_in(cg, bytes, true);

		assert_int_equal(bj_cgroup_population(cg), 1);
		assert_true(bj_cgroup_memory(cg) > bytes);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		bj_cgroup_read_stats(cg, &stats);
		assert_true(stats.peak_memory > bytes && stats.peak_memory < bytes + (20 << 20));
		assert_true(stats.cpu_ns > 20000000);
		assert_true(bj_cgroup_give_back(cg));
	}
	bj_cgroups_free(groups);
}

static size_t count_open(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Leaves hold files only where there are descriptors to spare. */
static void test_files_are_not_held_when_few_may_be_open(void **state)
{
	struct rlimit before, few;
	size_t held[2];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (size_t i = 0; i < 2; i++) {
		struct bj_cgroups *groups = make_groups();
		struct bj_cgroup *cg = make_leaf(groups, "jar", &WIDE);
		const size_t at_first = count_open();

		few = (struct rlimit){ .rlim_cur = i ? 128 : 1024, .rlim_max = before.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		bj_cgroup_joined(cg);
		assert_true(bj_cgroup_give_back(cg));
		cg = make_leaf(groups, "jar", &WIDE);
		held[i] = count_open() - at_first;
		assert_true(bj_cgroup_free(cg));
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		bj_cgroups_free(groups);
	}
	assert_true(held[0] > 0);
	assert_int_equal(held[1], 0);
}

/* Whether a child in the leaf can have @bytes. */
static bool can_have(const struct bj_cgroup *cg, size_t bytes)
{
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0) {
		if (bj_cgroup_join(cg, NULL) < 0)
			_exit(1);
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(memory, 1, bytes);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_limits_are_the_new_ones(void **state)
{
	struct bj_cgroups *groups = make_groups();
	struct bj_cgroup *cg = make_leaf(groups, "jar-1", &WIDE);
	struct bj_err err = { 0 };
	const ino_t id = leaf_id(cg);

	(void)state;
	/* As a run of its own does, in both directions. */
	assert_int_equal(bj_cgroup_change(cg, &TIGHT, &err), 0);
	assert_true(bj_cgroup_give_back(cg));
	cg = make_leaf(groups, "jar-2", &WIDE);
	assert_int_equal(leaf_id(cg), id);
	assert_true(can_have(cg, 100 << 20));
	assert_true(bj_cgroup_give_back(cg));
	cg = make_leaf(groups, "jar-3", &TIGHT);
	assert_int_equal(leaf_id(cg), id);
	assert_false(can_have(cg, 100 << 20));
	assert_int_equal(bj_cgroup_oom_kills(cg), 1);

	/* What has counted something that cannot be set back is not used again. */
	assert_true(bj_cgroup_give_back(cg));
	cg = make_leaf(groups, "jar-4", &TIGHT);
	assert_int_not_equal(leaf_id(cg), id);
	assert_int_equal(bj_cgroup_oom_kills(cg), 0);
	assert_true(bj_cgroup_free(cg));
	bj_cgroups_free(groups);
}

static void test_what_was_killed_is_removed(void **state)
{
	struct bj_cgroups *groups = make_groups();
	struct bj_cgroup *cg = make_leaf(groups, "jar-1", &WIDE);
	const ino_t id = leaf_id(cg);

	(void)state;
	bj_cgroup_kill(cg); /* its CPU limit is gone */
	assert_true(bj_cgroup_give_back(cg));
	cg = make_leaf(groups, "jar-2", &WIDE);
	assert_int_not_equal(leaf_id(cg), id);
	assert_true(bj_cgroup_free(cg));
	bj_cgroups_free(groups);
}

/* Wait until a count stands still for 20 ms: whoever counts has used up its quota. */
static uint64_t where_it_stops(const volatile uint64_t *count)
{
	const struct timespec rest = { .tv_nsec = 20000000 };

	for (int i = 0; i < 500; i++) {
		const uint64_t before = *count;

		nanosleep(&rest, NULL);
		if (before > 0 && *count == before)
			return before;
	}
	return 0;
}

/* Start a process in @cg that counts without end; nothing kills it but the cgroup or the test. */
static pid_t count_in(const struct bj_cgroup *cg, volatile uint64_t *count, int *ret_pidfd)
{
	*count = 0;

	const pid_t pid = bj_sys_clone3(0, ret_pidfd, bj_cgroup_birth_fd(cg));

	if (pid != 0)
		return pid;
	if (bj_cgroup_join(cg, NULL) < 0)
		_exit(1);
	for (;;)
		++*count;
}

/* SCRP-07: what waits for its quota does not run once more before it dies. */
static void test_who_is_killed_does_not_get_its_quota_first(void **state)
{
	const struct bj_cgroup_limits slow = { .memory = 64 << 20, .cpu_milli = 20, .pids = 8 };
	struct bj_cgroups *groups = make_groups();
	volatile uint64_t *count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(count, MAP_FAILED);
	for (int i = 0; i < 10; i++) {
		struct bj_cgroup *cg = make_leaf(groups, "jar", &slow);
		AUTO_FD int pidfd = -1;
		const pid_t pid = count_in(cg, count, &pidfd);

		assert_true(pid > 0);

		const uint64_t before = where_it_stops(count);

		bj_cgroup_kill(cg);

		struct pollfd ended = { .fd = pidfd, .events = POLLIN };
		const int ends = poll(&ended, 1, 10000);

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_equal(ends, 1);
		assert_true(before > 0);
		assert_int_equal(*count, before);
		assert_true(bj_cgroup_free(cg));
	}
	munmap((void *)count, sizeof(*count));
	bj_cgroups_free(groups);
}

static void test_what_is_in_use_is_not_kept(void **state)
{
	struct bj_cgroups *groups = make_groups();
	struct bj_cgroup *cg = make_leaf(groups, "jar-1", &WIDE);
	const ino_t id = leaf_id(cg);
	const pid_t pid = live_in(cg, 4096, true);

	(void)state;
	assert_false(bj_cgroup_give_back(cg));
	cg = make_leaf(groups, "jar-2", &WIDE);
	assert_int_not_equal(leaf_id(cg), id);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(bj_cgroup_free(cg));
	bj_cgroups_free(groups);
}

/* Where one jar is expected it has the owner's directories for itself, with the lower limits. */
static void test_one_jar_needs_no_leaf(void **state)
{
	const struct bj_cgroup_limits all = { .memory = 64 << 20, .pids = 1000 };
	struct bj_cgroups *groups = make_capped(true, &all);
	struct bj_cgroup *cg = make_leaf(groups, "jar-1", &WIDE);
	const int room = bj_cgroups_rooms(groups)[0];
	const ino_t id = leaf_id(cg);
	struct bj_err err = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(fstatat(room, "jar-1", &st, 0), -1);
	assert_int_equal(fstatat(room, "tasks", &st, 0), 0);
	assert_int_equal(st.st_ino, id);
	assert_true(can_have(cg, 32 << 20));
	assert_false(can_have(cg, 100 << 20));
	/* Neither can it be asked to have more than all may. */
	assert_int_equal(bj_cgroup_change(cg, &WIDE, &err), 0);
	assert_false(can_have(cg, 100 << 20));

	/* It is not kept for another, which gets a leaf. */
	struct bj_cgroup *second = make_leaf(groups, "jar-2", &TIGHT);

	assert_int_not_equal(leaf_id(second), id);
	assert_int_equal(fstatat(room, "jar-2", &st, 0), 0);
	assert_true(bj_cgroup_free(second));
	assert_true(bj_cgroup_give_back(cg));
	cg = make_leaf(groups, "jar-3", &TIGHT);
	assert_int_not_equal(leaf_id(cg), id);
	assert_true(bj_cgroup_free(cg));
	bj_cgroups_free(groups);
}

static void test_somebody_left_in_the_rooms_is_told(void **state)
{
	const struct bj_cgroup_limits none = { 0 };
	struct bj_cgroups *groups = make_capped(true, &none);
	struct bj_cgroup *cg = make_leaf(groups, "jar-1", &WIDE);
	const pid_t pid = live_in(cg, 4096, true);

	(void)state;
	assert_false(bj_cgroup_give_back(cg));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	bj_cgroups_free(groups);
}

/* There nobody can set the counters back. */
static void test_on_v2_none_is_kept(void **state)
{
	struct bj_cgroups *groups = make_groups();
	const int *rooms = bj_cgroups_rooms(groups);
	int n = 0;

	(void)state;
	assert_true(bj_cgroup_give_back(make_leaf(groups, "jar-1", &WIDE)));
	for (int h = 0; h < BJ_HIER_COUNT; h++)
		if (rooms[h] >= 0) {
			assert_int_equal(faccessat(rooms[h], "jar-1", F_OK, 0), -1);
			n++;
		}
	assert_int_equal(n, 1);
	bj_cgroups_free(groups);
}

static bool is_v2(void)
{
	struct bj_cgroups *groups = NULL;
	struct bj_err err = { 0 };
	const bool v2 = bj_cgroups_new(NULL, (uid_t)-1, &groups, &err) == 0 &&
			bj_cgroups_version(groups) == 2;

	bj_cgroups_free(groups);
	return v2;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_start_at_zero),
		cmocka_unit_test(test_each_use_is_counted_anew),
		cmocka_unit_test(test_files_are_not_held_when_few_may_be_open),
		cmocka_unit_test(test_limits_are_the_new_ones),
		cmocka_unit_test(test_what_was_killed_is_removed),
		cmocka_unit_test(test_who_is_killed_does_not_get_its_quota_first),
		cmocka_unit_test(test_what_is_in_use_is_not_kept),
		cmocka_unit_test(test_one_jar_needs_no_leaf),
		cmocka_unit_test(test_somebody_left_in_the_rooms_is_told),
	};
	const struct CMUnitTest on_v2[] = { cmocka_unit_test(test_on_v2_none_is_kept) };

	return is_v2() ? cmocka_run_group_tests(on_v2, NULL, NULL)
		       : cmocka_run_group_tests(tests, NULL, NULL);
}
