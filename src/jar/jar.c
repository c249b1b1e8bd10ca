/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/jar.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/collect.h"
#include "jar/layers.h"
#include "jar/sys.h"
#include "jar/userns.h"
#include "jar/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* A jar that is not built after this long never will be. */
enum { BUILD_TIMEOUT_MS = 10000 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void unwatch(struct bj_jar *jar, enum bj_jar_event event)
{
	close_fd(&jar->watch[event]);
}

/* --- making ----------------------------------------------------------------------------------- */

static void take_fds(struct bj_jar *jar, const int *fds, size_t n)
{
	size_t next = BJ_WIRE_FD_FIXED;

	for (size_t i = 0; i < BJ_WIRE_FD_MAX; i++)
		jar->fds[i] = i < BJ_WIRE_FD_FIXED && i < n ? fds[i] : -1;
	jar->filter_fd = jar->launch.flags & BJ_WIRE_HAS_SECCOMP ? fds[next++] : -1;
	jar->out_fd = jar->launch.flags & BJ_WIRE_HAS_OUT ? fds[next] : -1;
	jar->watch[BJ_JAR_EV_REPLY] = jar->fds[BJ_WIRE_FD_REPLY];
	jar->fds[BJ_WIRE_FD_REPLY] = -1;
}

static int make_cgroup(struct bj_jar *jar, const struct bj_jar_ground *ground, struct bj_err *err)
{
	const struct bj_cgroup_limits limits = { .memory = jar->launch.memory,
						 .cpu_milli = jar->launch.cpu_milli,
						 .pids = jar->launch.pids };
	char name[32];

	if (!ground->cgroups)
		return 0;
	snprintf(name, sizeof(name), "jar-%llu", (unsigned long long)jar->serial);

	const int r = bj_cgroup_new(ground->cgroups, name, &limits, &jar->cgroup, err);

	if (r < 0)
		return r;
	jar->reply.cgroup_version = (uint8_t)bj_cgroups_version(ground->cgroups);
	jar->reply.layers |= BJ_LAYERS_CGROUP;
	return 0;
}

/* Two kernel uids per jar, init's and the script's, that no other live jar has. */
static struct bj_userns_ids pick_ids(const struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	if (!ground->own_uids)
		return (struct bj_userns_ids){ .script = BJ_JAR_UID, .shared = true };

	const uint32_t pair = jar->index % (ground->uid_count / 2);

	return (struct bj_userns_ids){ .init = ground->uid_base + 2 * pair,
				       .script = ground->uid_base + 2 * pair + 1 };
}

/* Wait for init's report; bounded, because it is the launcher that waits. */
static int await_report(int sync, struct bj_seal_report *ret, struct bj_err *err)
{
	struct pollfd p = { .fd = sync, .events = POLLIN };

	if (poll(&p, 1, BUILD_TIMEOUT_MS) <= 0)
		return bj_err_set(err, BJ_E_SYSTEM, ETIMEDOUT, "the jar's init does not answer");
	if (bj_fd_read_exact(sync, ret, sizeof(*ret)) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, 0, "the jar's init died");
	if (ret->failed) {
		*err = ret->err;
		return -ret->err.code;
	}
	return 0;
}

static int start_init(struct bj_jar *jar, const struct bj_jar_ground *ground,
		      const struct bj_seal_plan *plan, struct bj_err *err)
{
	const struct bj_userns_ids ids = pick_ids(jar, ground);
	struct bj_seal_report report;
	int sync[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sync) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");

	jar->init_pid = bj_sys_clone3(bj_seal_namespaces(), &jar->watch[BJ_JAR_EV_INIT], -1);
	if (jar->init_pid == 0) {
		close(sync[0]);
		bj_seal_init(plan, sync[1]);
	}
	close(sync[1]);
	AUTO_FD int ours = sync[0];
	if (jar->init_pid < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno,
				  "cannot make namespaces; run `belljar doctor`");

	int r = bj_layer_faulty(BJ_LAYER_USER_NS) ? 0 : bj_userns_map(jar->init_pid, &ids, err);

	if (r == 0 && write(ours, "g", 1) != 1)
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "the jar's init died");
	if (r == 0)
		r = await_report(ours, &report, err);
	if (r == 0)
		jar->reply.layers |= report.layers;
	return r;
}

/* In the helper: join everything, fork the script's process, tell its pid, end. */
__attribute__((noreturn)) static void help(const struct bj_seal_plan *plan, int init_pidfd,
					   int pid_fd, int report_fd)
{
	struct bj_seal_report report = { .failed = 1 };

	if (plan->cgroup && bj_cgroup_join(plan->cgroup, &report.err) < 0)
		goto failed;
	if (setns(init_pidfd, (int)bj_seal_namespaces()) < 0) {
		bj_err_set(&report.err, BJ_E_SYSTEM, errno, "cannot join the jar");
		goto failed;
	}

	/* glibc's fork: after a raw clone its idea of the thread would be wrong in the child. */
	const pid_t pid = fork();

	if (pid == 0)
		bj_seal_script(plan, report_fd);
	if (pid > 0 && write(pid_fd, &pid, sizeof(pid)) == sizeof(pid))
		_exit(0);
	bj_err_set(&report.err, BJ_E_SYSTEM, errno, "cannot fork into the jar");
failed:
	bj_fd_write_all(report_fd, &report, sizeof(report));
	_exit(1);
}

/* What the helper said: the pid of the script's process. */
static int await_pid(struct bj_jar *jar, int pid_fd, struct bj_err *err)
{
	struct bj_seal_report report;

	if (bj_fd_read_exact(pid_fd, &jar->main_pid, sizeof(jar->main_pid)) == 0)
		return 0;
	jar->main_pid = 0;
	if (bj_fd_read_exact(jar->watch[BJ_JAR_EV_REPORT], &report, sizeof(report)) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, 0, "the jar's helper died");
	*err = report.err;
	return -report.err.code;
}

static int start_main(struct bj_jar *jar, const struct bj_seal_plan *plan, struct bj_err *err)
{
	int pid_pipe[2], report_pipe[2], helper_pidfd = -1, status;

	if (pipe2(pid_pipe, O_CLOEXEC) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a pipe");
	if (pipe2(report_pipe, O_CLOEXEC) < 0) {
		close(pid_pipe[0]);
		close(pid_pipe[1]);
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a pipe");
	}
	jar->started = bj_clock_now();

	const pid_t helper =
		bj_sys_clone3(0, &helper_pidfd, jar->cgroup ? bj_cgroup_birth_fd(jar->cgroup) : -1);

	if (helper == 0)
		help(plan, jar->watch[BJ_JAR_EV_INIT], pid_pipe[1], report_pipe[1]);
	close(pid_pipe[1]);
	close(report_pipe[1]);
	AUTO_FD int pid_fd = pid_pipe[0];
	AUTO_FD int pidfd = helper_pidfd;
	jar->watch[BJ_JAR_EV_REPORT] = report_pipe[0];
	if (helper < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start the jar's helper");

	int r = await_pid(jar, pid_fd, err);

	/* Only when the helper is gone is its child ours to wait for. */
	waitpid(helper, &status, 0);
	if (r < 0)
		return r;
	jar->watch[BJ_JAR_EV_MAIN] = pidfd_open(jar->main_pid, 0);
	if (jar->watch[BJ_JAR_EV_MAIN] < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot watch the script");
	return 0;
}

/* What the settings require and the jar does not have, as words. */
static int check_required(const struct bj_jar *jar, uint64_t required, struct bj_err *err)
{
	const uint64_t missing = required & ~jar->reply.layers;

	for (int id = 0; id < BJ_LAYER_COUNT; id++)
		if (missing & BJ_LAYER_BIT(id))
			return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
					  "this machine does not enforce %s; run `belljar doctor` "
					  "for the fix, or accept less with native.require: basic",
					  bj_layer_name((enum bj_layer_id)id));
	return 0;
}

static void watch_limits(struct bj_jar *jar)
{
	if (!jar->cgroup)
		return;
	jar->watch[BJ_JAR_EV_OOM] = bj_cgroup_oom_fd(jar->cgroup);
}

/* A start that failed: nobody watches yet, so wait here until the jar is gone. */
static void abandon(struct bj_jar *jar)
{
	if (jar->cgroup)
		bj_cgroup_kill(jar->cgroup);
	if (jar->init_pid > 0) {
		pidfd_send_signal(jar->watch[BJ_JAR_EV_INIT], SIGKILL, NULL, 0);
		if (jar->main_pid > 0)
			waitpid(jar->main_pid, NULL, 0);
		waitpid(jar->init_pid, NULL, 0);
	}
	bj_jar_done(jar);
}

int bj_jar_start(struct bj_jar *jar, const struct bj_jar_ground *ground,
		 const struct bj_wire_launch *launch, const int *fds_take, size_t n_fds,
		 struct bj_err *err)
{
	jar->launch = *launch;
	for (int i = 0; i < BJ_JAR_EV_COUNT; i++)
		jar->watch[i] = -1;
	take_fds(jar, fds_take, n_fds);
	jar->reply = (struct bj_wire_reply){ .magic = BJ_WIRE_MAGIC, .own_uid = ground->own_uids };

	const struct bj_seal_plan plan = {
		.launch = &jar->launch,
		.fds = jar->fds,
		.filter_fd = jar->filter_fd,
		.python = ground->python,
		.bash = ground->bash,
		.proc = ground->proc,
		.init_uid = ground->own_uids ? 0 : BJ_JAR_UID,
		.init_exe = ground->init_exe,
	};
	int r = make_cgroup(jar, ground, err);

	if (r == 0)
		r = check_required(jar, ground->required & BJ_LAYERS_CGROUP, err);
	if (r == 0)
		r = start_init(jar, ground, &plan, err);
	if (r == 0) {
		struct bj_seal_plan with_cgroup = plan;

		with_cgroup.cgroup = jar->cgroup;
		r = start_main(jar, &with_cgroup, err);
	}
	if (r < 0) {
		abandon(jar);
		return r;
	}
	jar->deadline = jar->started + jar->launch.timeout_ns;
	watch_limits(jar);
	/* The script has its streams; ours would keep the pipes open. */
	for (int i = 0; i < BJ_WIRE_FD_MAX; i++)
		close_fd(&jar->fds[i]);
	close_fd(&jar->filter_fd);
	return 0;
}

/* --- living ----------------------------------------------------------------------------------- */

void bj_jar_kill(struct bj_jar *jar, enum bj_cause cause)
{
	if (jar->reply.cause == BJ_CAUSE_NONE && !jar->main_gone)
		jar->reply.cause = cause;
	if (jar->dying)
		return;
	jar->dying = true;
	if (jar->cgroup)
		bj_cgroup_kill(jar->cgroup);
	pidfd_send_signal(jar->watch[BJ_JAR_EV_INIT], SIGKILL, NULL, 0);
}

void bj_jar_tick(struct bj_jar *jar)
{
	if (jar->dying || jar->main_gone)
		return;
	if (jar->cgroup && bj_cgroup_pids_hits(jar->cgroup) > 0)
		bj_jar_kill(jar, BJ_CAUSE_PIDS);
	if (!jar->cgroup && bj_watchdog_resident(jar->init_pid) > jar->launch.memory)
		bj_jar_kill(jar, BJ_CAUSE_OOM);
}

/* The sealed process has reported. An end of file means that it executes the interpreter. */
static void handle_report(struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	struct bj_seal_report report;
	const int r = bj_fd_read_exact(jar->watch[BJ_JAR_EV_REPORT], &report, sizeof(report));

	if (r < 0) {
		unwatch(jar, BJ_JAR_EV_REPORT);
		return;
	}
	jar->reply.layers |= report.layers;
	jar->reply.landlock_abi = report.landlock_abi;
	if (!report.failed && check_required(jar, ground->required, &report.err) == 0) {
		struct bj_wire_reply started = jar->reply;

		started.kind = BJ_REPLY_STARTED;
		bj_fd_send(jar->watch[BJ_JAR_EV_REPLY], &started, sizeof(started), NULL, 0);
		return;
	}
	jar->failed = true;
	jar->reply.err = report.err;
	bj_jar_kill(jar, BJ_CAUSE_INFRASTRUCTURE);
}

static void handle_wish(struct bj_jar *jar)
{
	char wish = 0;
	const ssize_t n = recv(jar->watch[BJ_JAR_EV_REPLY], &wish, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	bj_jar_kill(jar, wish == BJ_WISH_OUTPUT ? BJ_CAUSE_OUTPUT : BJ_CAUSE_CANCELLED);
	if (n <= 0)
		unwatch(jar, BJ_JAR_EV_REPLY); /* nobody is left to tell */
}

static uint64_t to_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
}

static void start_collecting(struct bj_jar *jar)
{
	const struct bj_collect_plan plan = { .init_pidfd = jar->watch[BJ_JAR_EV_INIT],
					      .out_fd = jar->out_fd,
					      .max_files = jar->launch.out_files,
					      .max_bytes = jar->launch.out_bytes };

	jar->collect_pid = bj_collect_start(&plan, &jar->watch[BJ_JAR_EV_COLLECT]);
	close_fd(&jar->out_fd);
	if (jar->collect_pid < 0) {
		bj_jar_kill(jar, BJ_CAUSE_NONE);
		return;
	}
	/* Files are read for no longer than this, however the script laid them out. */
	jar->deadline = bj_clock_now() + BJ_COLLECT_NS;
	jar->collecting = true;
}

/* Take the end of @pid. False when it has not ended yet. A process that somebody else has waited
 * for counts as killed: to ask for it again would be to ask forever. */
static bool reap(pid_t pid, int *ret_status, struct rusage *ret_usage)
{
	const pid_t got = wait4(pid, ret_status, WNOHANG, ret_usage);

	if (got < 0)
		*ret_status = SIGKILL;
	return got != 0;
}

static void handle_main(struct bj_jar *jar)
{
	struct rusage usage = { 0 };
	int status = 0;

	if (!reap(jar->main_pid, &status, &usage))
		return;
	unwatch(jar, BJ_JAR_EV_MAIN);
	jar->main_gone = true;
	jar->reply.wait_status = status;
	jar->reply.duration_ns = bj_clock_now() - jar->started;
	jar->reply.cpu_ns = to_ns(usage.ru_utime) + to_ns(usage.ru_stime);
	jar->reply.peak_memory = (uint64_t)usage.ru_maxrss * 1024;
	if (jar->out_fd >= 0 && !jar->dying)
		start_collecting(jar);
	else
		bj_jar_kill(jar, BJ_CAUSE_NONE);
}

static void handle_collect(struct bj_jar *jar)
{
	struct rusage usage;
	int status;

	if (!reap(jar->collect_pid, &status, &usage))
		return;
	jar->collecting = false;
	unwatch(jar, BJ_JAR_EV_COLLECT);
	bj_jar_kill(jar, BJ_CAUSE_NONE);
}

/* --- the end ---------------------------------------------------------------------------------- */

static enum bj_cause cause_of_death(const struct bj_jar *jar, const struct bj_cgroup_stats *stats)
{
	const int status = jar->reply.wait_status;

	if (jar->reply.cause != BJ_CAUSE_NONE)
		return (enum bj_cause)jar->reply.cause;
	if (stats->oom_kills > 0)
		return BJ_CAUSE_OOM;
	if (stats->pids_hits > 0)
		return BJ_CAUSE_PIDS;
	if (WIFEXITED(status))
		return BJ_CAUSE_EXITED;
	return WTERMSIG(status) == SIGSYS ? BJ_CAUSE_SECCOMP : BJ_CAUSE_SIGNAL;
}

static int handle_init(struct bj_jar *jar)
{
	struct bj_cgroup_stats stats = { 0 };
	struct rusage usage;
	int status;

	/* The kernel lets init end only when everything in its namespace is gone, and that needs
	 * us to have waited for the script and the collector. */
	if (!jar->main_gone)
		handle_main(jar);
	if (jar->collecting)
		handle_collect(jar);
	if (!reap(jar->init_pid, &status, &usage))
		return 0;
	jar->init_pid = 0;
	if (!jar->main_gone) {
		waitpid(jar->main_pid, &jar->reply.wait_status, 0);
		jar->main_gone = true;
		jar->reply.duration_ns = bj_clock_now() - jar->started;
	}
	if (jar->cgroup) {
		bj_cgroup_read_stats(jar->cgroup, &stats);
		jar->reply.cpu_ns = stats.cpu_ns;
		jar->reply.peak_memory = stats.peak_memory;
	}
	jar->reply.cause = cause_of_death(jar, &stats);
	jar->reply.kind = jar->failed ? BJ_REPLY_FAILED : BJ_REPLY_ENDED;
	return 1;
}

int bj_jar_handle(struct bj_jar *jar, const struct bj_jar_ground *ground, enum bj_jar_event event)
{
	switch (event) {
	case BJ_JAR_EV_REPLY:
		handle_wish(jar);
		return 0;
	case BJ_JAR_EV_REPORT:
		handle_report(jar, ground);
		return 0;
	case BJ_JAR_EV_MAIN:
		handle_main(jar);
		return 0;
	case BJ_JAR_EV_COLLECT:
		handle_collect(jar);
		return 0;
	case BJ_JAR_EV_OOM:
		bj_jar_kill(jar, BJ_CAUSE_OOM);
		jar->watch[event] = -1;
		return 0;
	case BJ_JAR_EV_INIT:
		return handle_init(jar);
	default:
		return 0;
	}
}

void bj_jar_done(struct bj_jar *jar)
{
	jar->watch[BJ_JAR_EV_OOM] = -1; /* belongs to the cgroup */
	jar->reply.cleanup_ok = bj_cgroup_free(jar->cgroup);
	jar->cgroup = NULL;
	for (int i = 0; i < BJ_JAR_EV_COUNT; i++)
		if (i != BJ_JAR_EV_REPLY)
			unwatch(jar, (enum bj_jar_event)i);
	for (int i = 0; i < BJ_WIRE_FD_MAX; i++)
		close_fd(&jar->fds[i]);
	close_fd(&jar->filter_fd);
	close_fd(&jar->out_fd);
}
