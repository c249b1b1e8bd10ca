/* SPDX-License-Identifier: Apache-2.0 */

/* The process that inits are forked from. */

#include "in_namespaces.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/mounts.h"
#include "jar/nursery.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCS = 2, PATIENCE_MS = 10000 };

static const struct bj_nursery_ground GROUND = { .images = 1, .n_procs = PROCS, .want_proc = true };

static int come_up(struct bj_nursery *n, int *procs)
{
	static const int images[] = { BJ_MOUNTS_HOST };
	struct bj_err err = { 0 };

	return bj_mounts_templates(images, 1, true, &err) == 0 &&
			       bj_mounts_procs(procs, PROCS) == PROCS &&
			       bj_mounts_nobody(&err) == 0 &&
			       bj_nursery_start(n, &GROUND, procs, &err) == 0
		       ? 0
		       : -1;
}

static const struct bj_nursery_ask ASK = {
	.plan = { .tmp_size = 1 << 20, .nonce = 7, .init_uid = 0 },
	.ids = { .init = 1001, .script = 1002 },
	.proc = 1,
	.wants_pid_ns = true,
};

static bool hear(const struct bj_nursery *n, struct bj_seal_report *ret, int *fds)
{
	struct pollfd p = { .fd = n->sock, .events = POLLIN };

	return poll(&p, 1, PATIENCE_MS) == 1 && bj_nursery_hear(n, ret, fds) == 1;
}

/* The value of @name in /proc/PID/status, or "". */
static const char *status_of(pid_t pid, const char *name)
{
	static char line[256];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	AUTO_FILE FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
			line[strcspn(line, "\n")] = '\0';
			return line + strlen(name) + 2;
		}
	return "";
}

/* Wait until the init has become what it stays. */
static bool settles(pid_t pid)
{
	for (int i = 0; i < PATIENCE_MS; i++) {
		if (strcmp(status_of(pid, "Name"), "jar-init") == 0 &&
		    strcmp(status_of(pid, "Seccomp"), "2") == 0)
			return true;
		usleep(1000);
	}
	return false;
}

static bool has_descriptors(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	AUTO_DIR DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			return true;
	return dir == NULL;
}

static ino_t ns_of(const char *pid, const char *kind)
{
	struct stat st = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", pid, kind);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static int is_as_it_should_be(pid_t pid)
{
	static const char *const kinds[] = { "user", "pid", "mnt", "net", "ipc", "uts" };
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(kinds); i++)
		if (ns_of(text, kinds[i]) == ns_of("self", kinds[i]))
			return 10 + (int)i;
	if (!settles(pid))
		return 20;
	if (strcmp(status_of(pid, "CapEff"), "0000000000000000") != 0 ||
	    strcmp(status_of(pid, "CapPrm"), "0000000000000000") != 0 ||
	    strcmp(status_of(pid, "NoNewPrivs"), "1") != 0)
		return 21;
	if (strncmp(status_of(pid, "Uid"), "1001\t1001\t1001\t1001", 19) != 0)
		return 22;
	/* All but KILL and STOP, and two that the C library keeps for itself. */
	if (strcmp(status_of(pid, "SigBlk"), "fffffffe7ffbfeff") != 0)
		return 23;
	return has_descriptors(pid) ? 24 : GOOD;
}

static int bears(void)
{
	struct bj_nursery n;
	struct bj_seal_report born, built;
	int procs[PROCS], fds[BJ_NURSERY_FDS], files[BJ_NURSERY_FDS], status = 0;

	if (come_up(&n, procs) < 0 || bj_nursery_ask(&n, &ASK, -1, -1) < 0)
		return 1;
	/* First that it is born, with what it takes to end it, then that the jar is built. */
	if (!hear(&n, &born, fds) || born.nonce != 7 || born.failed || born.born <= 1 ||
	    fds[0] < 0 || fds[1] < 0)
		return 2;
	if (!hear(&n, &built, files) || built.nonce != 7 || built.failed || built.born != 0 ||
	    files[0] < 0 || files[1] >= 0)
		return 3;
	if (built.layers == 0 || fcntl(files[0], F_GETFD) != FD_CLOEXEC)
		return 4;

	const int r = is_as_it_should_be(born.born);

	if (r != GOOD)
		return r;
	/* It is our child, not the nursery's, and outlives it. */
	bj_nursery_stop(&n);
	if (waitpid(born.born, &status, WNOHANG) != 0)
		return 5;
	kill(born.born, SIGKILL);
	return waitpid(born.born, &status, 0) == born.born && WIFSIGNALED(status) ? GOOD : 6;
}

/* Requests that are not whole, or name what is not there, end it. */
static int refuses(void)
{
	static const struct {
		uint32_t image, proc;
		int net;
		size_t size;
	} rows[] = {
		{ BJ_WIRE_IMAGES, 0, -1, sizeof(ASK) },
		{ 0, PROCS, -1, sizeof(ASK) },
		{ 0, 0, -1, sizeof(ASK) - 1 },
		{ 0, 0, 1, sizeof(ASK) },
	};
	struct bj_nursery n;
	struct bj_err err;
	int procs[PROCS];

	if (come_up(&n, procs) < 0)
		return 1;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		struct bj_nursery_ask ask = ASK;
		struct pollfd p = { .fd = n.pidfd, .events = POLLIN };
		const int fds[] = { procs[0], procs[1] };

		ask.plan.image = rows[i].image;
		ask.proc = rows[i].proc;
		/* A namespace that is promised and does not come. */
		ask.has_net = rows[i].net >= 0;
		if (bj_fd_send(n.sock, &ask, rows[i].size, fds, 0) < 0 ||
		    poll(&p, 1, PATIENCE_MS) != 1)
			return 2 + (int)i;
		bj_nursery_stop(&n);
		if (bj_nursery_start(&n, &GROUND, procs, &err) < 0)
			return 10;
	}
	return GOOD;
}

/* A descriptor that is no network namespace is no reason not to have one. */
static int makes_its_own_net(void)
{
	struct bj_nursery n;
	struct bj_seal_report report;
	int procs[PROCS], fds[BJ_NURSERY_FDS], files[BJ_NURSERY_FDS];

	if (come_up(&n, procs) < 0 || bj_nursery_ask(&n, &ASK, -1, procs[0]) < 0 ||
	    !hear(&n, &report, fds))
		return 1;

	const pid_t pid = report.born;

	if (!hear(&n, &report, files) || report.failed)
		return 2;
	return is_as_it_should_be(pid);
}

/* With one it is born in that, and the nursery is not. */
static int uses_a_kept_net(void)
{
	struct bj_nursery n;
	struct bj_seal_report report;
	const ino_t own = ns_of("self", "net");
	int procs[PROCS], fds[BJ_NURSERY_FDS], files[BJ_NURSERY_FDS];
	char text[16];

	if (come_up(&n, procs) < 0)
		return 1;
	AUTO_FD int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (unshare(CLONE_NEWNET) < 0)
		return 2;
	AUTO_FD int kept = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	const ino_t there = ns_of("self", "net");

	if (setns(home, CLONE_NEWNET) < 0 || ns_of("self", "net") != own ||
	    bj_nursery_ask(&n, &ASK, -1, kept) < 0 || !hear(&n, &report, fds))
		return 3;
	snprintf(text, sizeof(text), "%d", report.born);
	if (ns_of(text, "net") != there)
		return 4;
	if (!hear(&n, &report, files) || report.failed)
		return 5;
	snprintf(text, sizeof(text), "%d", n.pid);
	return ns_of(text, "net") == own ? GOOD : 6;
}

/* One that dies between birth and word leaves an init that never begins, and ends. */
static int leaves_nobody(void)
{
	struct bj_nursery n;
	int procs[PROCS], status;

	if (come_up(&n, procs) < 0)
		return 1;
	for (int i = 0; i < 20; i++)
		if (bj_nursery_ask(&n, &ASK, -1, -1) < 0)
			return 2;
	usleep(3000);
	bj_nursery_stop(&n);
	/* Those that were told of, or built their jar, live on; nobody else does. */
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		DIR *dir = opendir("/proc");
		const struct dirent *entry;
		int others = 0;

		while (waitpid(-1, &status, WNOHANG) > 0)
			;
		while (dir && (entry = readdir(dir))) {
			const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

			others += pid > 1 && strcmp(status_of(pid, "Name"), "jar-init") != 0;
		}
		closedir(dir);
		if (others == 0)
			return GOOD;
		usleep(1000);
	}
	return 3;
}

/* Without room for its descriptors nobody could end an init: then it is killed, and that is told.
 */
static int leaves_none_without_descriptors(void)
{
	struct bj_nursery n;
	struct bj_seal_report report;
	struct rlimit few, many;
	int procs[PROCS], fds[BJ_NURSERY_FDS], status = 0;

	if (come_up(&n, procs) < 0 || bj_nursery_ask(&n, &ASK, -1, -1) < 0)
		return 1;

	struct pollfd p = { .fd = n.sock, .events = POLLIN };

	if (poll(&p, 1, PATIENCE_MS) != 1 || getrlimit(RLIMIT_NOFILE, &many) < 0)
		return 2;
	few = (struct rlimit){ .rlim_cur = 3, .rlim_max = many.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &few) < 0)
		return 3;

	const int r = bj_nursery_hear(&n, &report, fds);

	setrlimit(RLIMIT_NOFILE, &many);
	if (r >= 0 || fds[0] >= 0 || fds[1] >= 0)
		return 4;
	/* The nursery and this init are all the children that there are. */
	bj_nursery_stop(&n);
	return waitpid(-1, &status, 0) > 1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
		       ? GOOD
		       : 5;
}

enum { TOLD_MAX = 64, AT_ONCE = 6 };

/* Who has been told of, by pid. */
static size_t hear_births(const struct bj_nursery *n, pid_t *ret)
{
	struct bj_seal_report report;
	int fds[BJ_NURSERY_FDS];
	size_t count = 0;

	while (count < TOLD_MAX && bj_nursery_hear(n, &report, fds) == 1) {
		if (report.born > 0)
			ret[count++] = report.born;
		for (int i = 0; i < BJ_NURSERY_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
	return count;
}

/* When it is killed in the middle of its work, whoever lives on has been told of. */
static int tells_of_all_that_live(int wait_us)
{
	struct bj_nursery n;
	pid_t told[TOLD_MAX];
	struct bj_err err;
	int procs[PROCS], status;

	if (bj_mounts_procs(procs, PROCS) != PROCS ||
	    bj_nursery_start(&n, &GROUND, procs, &err) < 0)
		return 1;
	for (int i = 0; i < AT_ONCE; i++)
		if (bj_nursery_ask(&n, &ASK, -1, -1) < 0)
			return 2;
	usleep((unsigned int)wait_us);
	bj_nursery_kill(&n);
	usleep(20000); /* on a busy machine that takes longer than to build a jar */

	const size_t count = hear_births(&n, told);

	bj_nursery_stop(&n);
	for (size_t i = 0; i < count; i++) {
		kill(told[i], SIGKILL);
		waitpid(told[i], NULL, 0);
	}
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		pid_t pid;

		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			;
		if (pid < 0)
			return GOOD;
		usleep(1000);
	}
	return 3;
}

static int tells_of_all(void)
{
	struct bj_nursery n;
	int procs[PROCS], r = GOOD;

	if (come_up(&n, procs) < 0)
		return 1;
	bj_nursery_stop(&n);
	for (int i = 0; i < 40 && r == GOOD; i++)
		r = tells_of_all_that_live(i * 250);
	return r;
}

static void test_an_init_is_born_and_builds(void **state)
{
	(void)state;
	run_in_namespaces(CLONE_NEWNET, bears);
}

static void test_broken_requests_end_it(void **state)
{
	(void)state;
	run_in_namespaces(CLONE_NEWNET, refuses);
}

static void test_without_a_kept_network_it_makes_one(void **state)
{
	(void)state;
	run_in_namespaces(CLONE_NEWNET, makes_its_own_net);
}

static void test_a_kept_network_is_used(void **state)
{
	(void)state;
	run_in_namespaces(CLONE_NEWNET, uses_a_kept_net);
}

static void test_its_death_leaves_nobody_half_born(void **state)
{
	(void)state;
	run_in_namespaces(CLONE_NEWNET, leaves_nobody);
}

static void test_an_init_without_descriptors_is_none(void **state)
{
	(void)state;
	run_in_namespaces(CLONE_NEWNET, leaves_none_without_descriptors);
}

static void test_all_that_outlive_it_are_told_of(void **state)
{
	(void)state;
	run_in_namespaces(CLONE_NEWNET, tells_of_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_init_is_born_and_builds),
		cmocka_unit_test(test_broken_requests_end_it),
		cmocka_unit_test(test_without_a_kept_network_it_makes_one),
		cmocka_unit_test(test_a_kept_network_is_used),
		cmocka_unit_test(test_its_death_leaves_nobody_half_born),
		cmocka_unit_test(test_an_init_without_descriptors_is_none),
		cmocka_unit_test(test_all_that_outlive_it_are_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
