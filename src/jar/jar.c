/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/jar.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/collect.h"
#include "jar/farewell.h"
#include "jar/layers.h"
#include "jar/rlimits.h"
#include "jar/script.h"
#include "jar/watchdog.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Take a descriptor out of the epoll. To close it is not enough: a child that was forked meanwhile
 * may hold a copy, and then its events go on, to whichever jar has our index by then. */
static void forget(struct bj_jar *jar, enum bj_jar_event event)
{
	if (jar->watched[event])
		epoll_ctl(jar->epoll, EPOLL_CTL_DEL, jar->watch[event], NULL);
	jar->watched[event] = false;
}

void bj_jar_unwatch(struct bj_jar *jar, enum bj_jar_event event)
{
	forget(jar, event);
	close_fd(&jar->watch[event]);
}

/* A script that makes us listen without end is heard at each tick, one that dies not at all. A
 * sealed process of a cold start has one thing left to say, that it cannot become its interpreter,
 * and it ends then: that wakes us. */
static bool is_muted(const struct bj_jar *jar, enum bj_jar_event event)
{
	return (event == BJ_JAR_EV_LAST && (jar->dying || jar->told >= BJ_JAR_TOLD_MAX)) ||
	       (event == BJ_JAR_EV_REPORT && jar->sealed && !jar->warm);
}

int bj_jar_watch(struct bj_jar *jar, struct bj_err *err)
{
	for (uint32_t i = 0; i < BJ_JAR_EV_COUNT; i++) {
		struct epoll_event ev = { .events = EPOLLIN,
					  .data.u64 = (uint64_t)jar->index << 32 | i };

		if (jar->watch[i] < 0 || jar->watched[i] || is_muted(jar, (enum bj_jar_event)i))
			continue;
		if (epoll_ctl(jar->epoll, EPOLL_CTL_ADD, jar->watch[i], &ev) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot watch a jar");
		jar->watched[i] = true;
	}
	return 0;
}

void bj_jar_init(struct bj_jar *jar, int epoll)
{
	jar->epoll = epoll;
	for (int i = 0; i < BJ_JAR_EV_COUNT; i++)
		jar->watch[i] = -1;
	for (int i = 0; i < BJ_WIRE_FD_FIXED; i++)
		jar->fds[i] = -1;
	jar->out_fd = jar->filter_fd = jar->files_fd = -1;
	jar->pid_ns = jar->go_fd = jar->net_fd = -1;
}

/* --- its run ---------------------------------------------------------------------------------- */

void bj_jar_move_run(struct bj_jar *from, struct bj_jar *to)
{
	to->has_run = true;
	to->run = from->run;
	to->language = from->language;
	memcpy(to->fds, from->fds, sizeof(to->fds));
	to->filter_fd = from->filter_fd;
	to->out_fd = from->out_fd;
	forget(from, BJ_JAR_EV_REPLY);
	to->watch[BJ_JAR_EV_REPLY] = from->watch[BJ_JAR_EV_REPLY];
	from->has_run = false;
	from->watch[BJ_JAR_EV_REPLY] = from->filter_fd = from->out_fd = -1;
	for (int i = 0; i < BJ_WIRE_FD_FIXED; i++)
		from->fds[i] = -1;
}

/* --- running ---------------------------------------------------------------------------------- */

static void say_started(struct bj_jar *jar)
{
	struct bj_wire_reply started = jar->reply;

	/* What waited for its script starts at once: the front need not wake up for that. Nor does
	 * one with a single run, which tells nobody. */
	if (jar->warm || jar->unheard)
		return;

	started.kind = BJ_REPLY_STARTED;
	if (jar->watch[BJ_JAR_EV_REPLY] >= 0)
		bj_fd_send_now(jar->watch[BJ_JAR_EV_REPLY], &started, sizeof(started));
}

/* The script has its streams; ours would keep the pipes open. */
static void drop_run_fds(struct bj_jar *jar)
{
	for (int i = 0; i < BJ_WIRE_FD_FIXED; i++)
		close_fd(&jar->fds[i]);
	close_fd(&jar->filter_fd);
}

int bj_jar_go(struct bj_jar *jar, struct bj_err *err)
{
	const struct bj_cgroup_limits limits = { .memory = jar->run.memory,
						 .cpu_milli = jar->run.cpu_milli,
						 .pids = jar->run.pids };
	const struct bj_slot_go go = {
		.check_only = !!(jar->run.flags & BJ_WIRE_CHECK_ONLY),
		.no_limits = bj_layer_faulty(BJ_LAYER_RLIMITS),
		.cpu_seconds = jar->cgroup ? 0
					   : bj_rlimits_cpu_seconds(jar->run.timeout_ns,
								    jar->run.cpu_milli),
		.processes = bj_rlimits_processes(jar->run.pids, jar->cgroup != NULL),
	};
	const int fds[] = { jar->fds[BJ_WIRE_FD_STDIN], jar->fds[BJ_WIRE_FD_STDOUT],
			    jar->fds[BJ_WIRE_FD_STDERR], jar->fds[BJ_WIRE_FD_VERDICT],
			    jar->fds[BJ_WIRE_FD_SPEC] };
	int r = bj_script_put(jar->files_fd, jar->fds[BJ_WIRE_FD_SCRIPT], jar->language,
			      jar->init_uid, err);

	if (r == 0 && jar->cgroup)
		r = bj_cgroup_change(jar->cgroup, &limits, err);
	if (r < 0)
		return r;
	jar->phase = BJ_JAR_RUNNING;
	jar->started = bj_clock_now();
	jar->deadline = jar->started + jar->run.timeout_ns;
	r = bj_fd_send(jar->watch[BJ_JAR_EV_SLOT], &go, sizeof(go), fds, BJ_ARRAY_SIZE(fds));
	if (r < 0) {
		jar->started = 0; /* the run is whole, and can go elsewhere */
		return bj_err_set(err, BJ_E_SYSTEM, -r, "the waiting interpreter is gone");
	}
	bj_jar_unwatch(jar, BJ_JAR_EV_SLOT);
	drop_run_fds(jar);
	say_started(jar);
	return 0;
}

/* With init, the kernel ends whatever else is in its pid namespace. */
static void end_init(struct bj_jar *jar)
{
	jar->dying = true;
	jar->ended = bj_clock_now();
	jar->phase = BJ_JAR_ENDING;
	/* Not closed: that would let a call go on that waits for an answer. */
	forget(jar, BJ_JAR_EV_LAST);
	if (jar->init_pid > 0)
		pidfd_send_signal(jar->watch[BJ_JAR_EV_INIT], SIGKILL, NULL, 0);
}

void bj_jar_kill(struct bj_jar *jar, enum bj_cause cause)
{
	if (jar->reply.cause == BJ_CAUSE_NONE && !jar->main_gone)
		jar->reply.cause = cause;
	if (jar->dying)
		return;
	if (jar->cgroup)
		bj_cgroup_kill(jar->cgroup);
	end_init(jar);
}

void bj_jar_expire(struct bj_jar *jar)
{
	struct bj_err err;

	if (jar->exited) {
		end_init(jar); /* it is answered, and nothing else is left in it */
		return;
	}
	if (jar->started > 0) {
		bj_jar_kill(jar, BJ_CAUSE_TIMEOUT);
		return;
	}
	bj_err_set(&err, BJ_E_SYSTEM, ETIMEDOUT, "the jar does not get ready");
	bj_jar_fail(jar, &err);
}

void bj_jar_fail(struct bj_jar *jar, const struct bj_err *err)
{
	/* What goes wrong after the kill goes wrong because of it. */
	if (jar->dying)
		return;
	jar->reply.err = *err;
	/* It may be a process of the jar that says so. */
	bj_err_received(&jar->reply.err);
	jar->failed = true;
	bj_jar_kill(jar, BJ_CAUSE_INFRASTRUCTURE);
}

void bj_jar_tick(struct bj_jar *jar)
{
	struct bj_err err;

	if (jar->phase != BJ_JAR_RUNNING || jar->main_gone)
		return;
	jar->told = 0;
	if (bj_jar_watch(jar, &err) < 0)
		bj_jar_fail(jar, &err);
	if (jar->cgroup && bj_cgroup_pids_hits(jar->cgroup) > 0)
		bj_jar_kill(jar, BJ_CAUSE_PIDS);
	if (jar->cgroup && bj_cgroup_oom_kills(jar->cgroup) > 0)
		bj_jar_kill(jar, BJ_CAUSE_OOM);
	if (!jar->cgroup && bj_watchdog_resident(jar->init_pid) > jar->run.memory)
		bj_jar_kill(jar, BJ_CAUSE_OOM);
}

/* --- events ----------------------------------------------------------------------------------- */

void bj_jar_built(struct bj_jar *jar, const struct bj_seal_report *report, int files_fd_take)
{
	close_fd(&jar->files_fd);
	jar->files_fd = files_fd_take;
	if (jar->dying)
		return;
	if (report->failed || files_fd_take < 0) {
		bj_jar_fail(jar, &report->err);
		return;
	}
	jar->nursed = false;
	jar->reply.layers |= report->layers;
	jar->phase = BJ_JAR_EMPTY;
}

/* Init says that the jar is built, and hands over the directory for the script. */
static void handle_sync(struct bj_jar *jar)
{
	struct bj_seal_report report;
	size_t n_fds = 0;
	int files = -1;
	const ssize_t n = bj_fd_recv(jar->watch[BJ_JAR_EV_SYNC], &report, sizeof(report), &files, 1,
				     &n_fds, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return;
	bj_jar_unwatch(jar, BJ_JAR_EV_SYNC);
	if (n != sizeof(report)) {
		report = (struct bj_seal_report){ .failed = 1 };
		bj_err_set(&report.err, BJ_E_SYSTEM, 0, "the jar's init died");
	}
	bj_jar_built(jar, &report, n_fds == 1 ? files : -1);
}

/* Whether a zygote was asked for what is in this jar. */
static bool is_of_zygote(const struct bj_jar *jar)
{
	return jar->warm && jar->language == BJ_LANG_PYTHON;
}

/* It cannot be believed. The process of a jar that dies may have been waited for as a stray. */
static void found_wrong(struct bj_jar *jar)
{
	struct bj_err err = { 0 };

	jar->wrong = !jar->dying;
	bj_err_set(&err, BJ_E_PROTOCOL, 0, "a zygote gave a wrong answer");
	bj_jar_fail(jar, &err);
}

static void take_pid(struct bj_jar *jar)
{
	struct bj_err err = { 0 };
	const int r =
		bj_fd_read_exact(jar->watch[BJ_JAR_EV_PID], &jar->main_pid, sizeof(jar->main_pid));

	bj_jar_unwatch(jar, BJ_JAR_EV_PID);
	/* Only when the helper is gone is its child ours to wait for. */
	if (jar->helper_pid > 0)
		waitpid(jar->helper_pid, NULL, 0);
	jar->helper_pid = 0;
	if (r < 0) {
		jar->main_pid = 0; /* the report says why */
		return;
	}
	if (is_of_zygote(jar) && !bj_jar_holds(jar, jar->main_pid)) {
		jar->main_pid = 0;
		found_wrong(jar);
		return;
	}
	jar->watch[BJ_JAR_EV_MAIN] = pidfd_open(jar->main_pid, 0);
	if (jar->watch[BJ_JAR_EV_MAIN] < 0) {
		bj_err_set(&err, BJ_E_SYSTEM, errno, "cannot watch the script");
		bj_jar_fail(jar, &err);
	}
}

static void wait_for_run(struct bj_jar *jar)
{
	jar->phase = BJ_JAR_WAITING;
	jar->deadline = 0;
}

/* The process is sealed. A zygote that died before it told its pid told none, and then nobody could
 * wait for it. */
static void sealed(struct bj_jar *jar)
{
	struct bj_err err = { 0 };

	/* A helper of ours has told it; a zygote that is slow must not make us wait. */
	if (jar->watch[BJ_JAR_EV_PID] >= 0 && !is_of_zygote(jar))
		take_pid(jar);
	jar->early = jar->watch[BJ_JAR_EV_PID] >= 0;
	if (jar->early || jar->dying || jar->phase != BJ_JAR_FILLING)
		return;
	if (jar->main_pid == 0) {
		bj_err_set(&err, BJ_E_SYSTEM, 0, "nobody knows the script's process");
		bj_jar_fail(jar, &err);
		return;
	}
	jar->sealed = true;
	if (jar->cgroup)
		bj_cgroup_joined(jar->cgroup);
	if (jar->warm) {
		/* A Bash is started only now, and says itself when it waits. */
		if (jar->language == BJ_LANG_PYTHON)
			wait_for_run(jar);
		return;
	}
	jar->phase = BJ_JAR_RUNNING;
	forget(jar, BJ_JAR_EV_REPORT);
	drop_run_fds(jar);
	say_started(jar);
}

static void handle_pid(struct bj_jar *jar)
{
	take_pid(jar);
	if (jar->early)
		sealed(jar);
}

/* What the sealed process says of itself. */
static void take_report(struct bj_jar *jar, const struct bj_jar_ground *ground,
			struct bj_seal_report *report)
{
	jar->reply.layers |= report->layers;
	jar->reply.landlock_abi = report->landlock_abi;
	if (report->failed || bj_jar_check_required(jar, ground->required, &report->err) < 0)
		bj_jar_fail(jar, &report->err);
	else
		sealed(jar);
}

/* Filters of the caller's own are the last thing that it loads. */
static void fail_to_begin(struct bj_jar *jar)
{
	const bool filtered = jar->has_run && (jar->run.flags & BJ_WIRE_HAS_SECCOMP);
	struct bj_err err = { 0 };

	bj_err_set(
		&err, BJ_E_SYSTEM, 0, "the script's process died on its way%s",
		filtered ? "; the seccomp profile may not allow what an interpreter needs to start"
			 : "");
	bj_jar_fail(jar, &err);
}

static void died_on_its_way(struct bj_jar *jar)
{
	if (jar->phase <= BJ_JAR_FILLING && !jar->sealed && !jar->early)
		fail_to_begin(jar);
}

/* The sealed process has reported. An end of file means that it executes the interpreter, or that
 * it never came that far. False: there is nothing to hear now. */
static bool handle_report(struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	struct bj_seal_report report;
	const int r = bj_fd_read_exact(jar->watch[BJ_JAR_EV_REPORT], &report, sizeof(report));

	if (r == -EAGAIN)
		return false;
	if (r < 0) {
		bj_jar_unwatch(jar, BJ_JAR_EV_REPORT);
		died_on_its_way(jar);
	} else {
		take_report(jar, ground, &report); /* an exec may still fail and say so */
	}
	return true;
}

/* A slot reports, in one message with what hears its last call where the kernel has that. It has
 * nothing else to say: then its end is on the way. */
static void handle_python(struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	struct bj_seal_report report;
	size_t n_fds = 0;
	int fd = -1;
	const ssize_t n = bj_fd_recv(jar->watch[BJ_JAR_EV_SLOT], &report, sizeof(report), &fd, 1,
				     &n_fds, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return;
	if (n_fds == 1 && jar->watch[BJ_JAR_EV_LAST] < 0)
		jar->watch[BJ_JAR_EV_LAST] = bj_take_fd(&fd);
	close_fd(&fd);
	if (n <= 0 || jar->sealed || jar->early) {
		bj_jar_unwatch(jar, BJ_JAR_EV_SLOT);
		died_on_its_way(jar);
	} else if (n != sizeof(report) || report.nonce != jar->nonce) {
		found_wrong(jar);
	} else {
		take_report(jar, ground, &report);
	}
}

/* An interpreter speaks: a Python that is started hands over what hears its last call, a Bash that
 * waits does so, too, and is ready. */
static void handle_slot(struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	struct bj_err err = { 0 };
	size_t n_fds = 0;
	char word = 0;
	int fd = -1;

	if (is_of_zygote(jar)) {
		handle_python(jar, ground);
		return;
	}

	const ssize_t n =
		bj_fd_recv(jar->watch[BJ_JAR_EV_SLOT], &word, 1, &fd, 1, &n_fds, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return;
	if (n_fds == 1) {
		jar->watch[BJ_JAR_EV_LAST] = fd;
		if (!jar->warm)
			bj_jar_unwatch(jar, BJ_JAR_EV_SLOT); /* a cold start has no more to say */
	} else if (n == 1 && word == 'r' && jar->language == BJ_LANG_BASH) {
		/* It was sealed before it was Bash: that report is there. */
		if (!jar->sealed && jar->watch[BJ_JAR_EV_REPORT] >= 0)
			handle_report(jar, ground);
		if (jar->phase == BJ_JAR_FILLING && jar->sealed)
			wait_for_run(jar);
	} else if (n == 1 && word == 'l' && !jar->warm) {
		bj_err_set(&err, BJ_E_LIMIT, 0, "too many files are open to hear of the end");
		bj_jar_fail(jar, &err);
	} else {
		/* It is dead, and its end is on the way; or this kernel has no such listener. */
		bj_jar_unwatch(jar, BJ_JAR_EV_SLOT);
	}
}

static uint64_t to_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
}

static void start_collecting(struct bj_jar *jar)
{
	const struct bj_collect_plan plan = { .init_pidfd = jar->watch[BJ_JAR_EV_INIT],
					      .namespaces = bj_jar_namespaces(jar),
					      .out_fd = jar->out_fd,
					      .max_files = jar->run.out_files,
					      .max_bytes = jar->run.out_bytes };

	jar->collect_pid = bj_collect_start(&plan, &jar->watch[BJ_JAR_EV_COLLECT]);
	close_fd(&jar->out_fd);
	if (jar->collect_pid < 0) {
		bj_jar_kill(jar, BJ_CAUSE_NONE);
		return;
	}
	/* Files are read for no longer than this, however the script laid them out. */
	jar->deadline = bj_clock_now() + BJ_COLLECT_NS;
	jar->phase = BJ_JAR_ENDING;
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

static void fill_usage(struct bj_jar *jar, const struct rusage *usage)
{
	jar->reply.duration_ns = bj_clock_now() - jar->started;
	jar->reply.cpu_ns = to_ns(usage->ru_utime) + to_ns(usage->ru_stime);
	jar->reply.peak_memory = (uint64_t)usage->ru_maxrss * 1024;
}

static void handle_main(struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	struct rusage usage = { 0 };
	struct bj_err err = { 0 };
	int status = 0;

	if (!reap(jar->main_pid, &status, &usage))
		return;
	/* A process that could not go on said so before it ended. A zygote that hangs may hold its
	 * end open. */
	if (is_of_zygote(jar) && jar->watch[BJ_JAR_EV_SLOT] >= 0)
		handle_python(jar, ground);
	while (jar->watch[BJ_JAR_EV_REPORT] >= 0 && handle_report(jar, ground))
		;
	bj_jar_unwatch(jar, BJ_JAR_EV_MAIN);
	jar->main_gone = true;
	jar->reply.wait_status = status;
	fill_usage(jar, &usage);
	if (jar->phase == BJ_JAR_WAITING || jar->phase == BJ_JAR_FILLING) {
		bj_err_set(&err, BJ_E_SYSTEM, 0, "a waiting interpreter died");
		bj_jar_fail(jar, &err);
	} else if (jar->phase < BJ_JAR_FILLING) {
		fail_to_begin(jar);
	} else if (jar->out_fd >= 0 && !jar->dying) {
		start_collecting(jar);
	} else if (!jar->dying && bj_jar_reply_early(jar)) {
		end_init(jar); /* nothing else is left to kill */
	} else {
		bj_jar_kill(jar, BJ_CAUSE_NONE);
	}
}

static void handle_collect(struct bj_jar *jar)
{
	struct rusage usage;
	int status;

	if (!reap(jar->collect_pid, &status, &usage))
		return;
	jar->collecting = false;
	bj_jar_unwatch(jar, BJ_JAR_EV_COLLECT);
	bj_jar_kill(jar, BJ_CAUSE_NONE);
}

/* The kernel tells every jar when all of them together have run out of memory: only the one that is
 * at its own limit, or from which a process was killed, is meant. */
static void handle_oom(struct bj_jar *jar)
{
	uint64_t times;

	(void)!read(jar->watch[BJ_JAR_EV_OOM], &times, sizeof(times));
	if (bj_cgroup_is_out_of_memory(jar->cgroup))
		bj_jar_kill(jar, BJ_CAUSE_OOM);
}

static void handle_init(struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	struct rusage usage = { 0 };
	struct bj_err err = { 0 };
	int status;

	/* The kernel lets init end only when everything in its namespace is gone, and that needs
	 * us to have waited for the script and the collector. */
	if (jar->main_pid > 0 && !jar->main_gone)
		handle_main(jar, ground);
	if (jar->collecting)
		handle_collect(jar);
	if (!reap(jar->init_pid, &status, &usage))
		return;
	jar->init_pid = 0;
	bj_jar_unwatch(jar, BJ_JAR_EV_INIT);
	if (!jar->dying) {
		bj_err_set(&err, BJ_E_SYSTEM, 0, "the jar's init died");
		bj_jar_fail(jar, &err);
	}
	if (jar->main_pid > 0 && !jar->main_gone) {
		waitpid(jar->main_pid, &jar->reply.wait_status, 0);
		jar->main_gone = true;
		jar->reply.duration_ns = bj_clock_now() - jar->started;
	}
}

void bj_jar_handle(struct bj_jar *jar, const struct bj_jar_ground *ground, enum bj_jar_event event)
{
	switch (event) {
	case BJ_JAR_EV_REPLY:
		bj_jar_handle_wish(jar);
		break;
	case BJ_JAR_EV_SYNC:
		handle_sync(jar);
		break;
	case BJ_JAR_EV_PID:
		handle_pid(jar);
		break;
	case BJ_JAR_EV_REPORT:
		handle_report(jar, ground);
		break;
	case BJ_JAR_EV_SLOT:
		handle_slot(jar, ground);
		break;
	case BJ_JAR_EV_LAST:
		bj_jar_handle_last(jar, ground);
		break;
	case BJ_JAR_EV_MAIN:
		handle_main(jar, ground);
		break;
	case BJ_JAR_EV_COLLECT:
		handle_collect(jar);
		break;
	case BJ_JAR_EV_OOM:
		handle_oom(jar);
		break;
	case BJ_JAR_EV_INIT:
		handle_init(jar, ground);
		break;
	default:
		break;
	}
}

/* --- the end ---------------------------------------------------------------------------------- */

bool bj_jar_over(const struct bj_jar *jar)
{
	return jar->dying && !jar->unborn && jar->init_pid <= 0 && jar->watch[BJ_JAR_EV_PID] < 0;
}

void bj_jar_done(struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	if (!jar->replied)
		bj_jar_complete(jar);
	forget(jar, BJ_JAR_EV_OOM); /* belongs to the cgroup */
	jar->watch[BJ_JAR_EV_OOM] = -1;

	/* What was answered before its end had nothing left in it. */
	const bool clean = jar->replied && jar->reply.cause == BJ_CAUSE_EXITED
				   ? bj_cgroup_give_back(jar->cgroup)
				   : bj_cgroup_free(jar->cgroup);

	jar->cgroup = NULL;
	if (!jar->replied) {
		jar->reply.cleanup_ok = clean;
		bj_jar_send(jar);
	}
	for (int i = 0; i < BJ_JAR_EV_COUNT; i++)
		bj_jar_unwatch(jar, (enum bj_jar_event)i);
	if (jar->net_fd >= 0)
		bj_nets_keep(ground->nets, jar->net_fd);
	drop_run_fds(jar);
	close_fd(&jar->out_fd);
	close_fd(&jar->files_fd);
	close_fd(&jar->pid_ns);
	close_fd(&jar->go_fd);
}
