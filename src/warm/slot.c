/* SPDX-License-Identifier: Apache-2.0 */

/* The C side of a zygote, loaded by the image's own Python through ctypes. It forks where Python
 * could not: through a helper that joins a jar's cgroup and namespaces first. It needs no header of
 * Python, only three functions that every CPython exports.
 *
 * bj_slot_serve() returns 1 in a new process inside a jar; that process seals itself, warms up in
 * Python if it has time, says that it is ready, and waits for its script. What it calls is few and
 * simple: each line of Python before the script copies pages. State is in one static value because
 * a process has one slot and one thread. */

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/exec.h"
#include "jar/farewell.h"
#include "jar/layers.h"
#include "jar/mounts.h"
#include "jar/namespaces.h"
#include "jar/rlimits.h"
#include "jar/script.h"
#include "jar/sys.h"
#include "warm/borrow.h"
#include "warm/large.h"
#include "warm/spawn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define EXPORT __attribute__((visibility("default")))

void bj_slot_fill_gaps(void);
void bj_slot_needless(void);
void bj_slot_settle(void);
int bj_slot_serve(void);
int bj_slot_enter(void);
int bj_slot_wait(void);
int bj_slot_count(int kind);
void bj_slot_exit(int code);
const char *bj_slot_text(int kind, int i);

enum { FD_SLOT = 3, FD_FIRST_UNUSED = 4 };

/* What bj_slot_enter() and bj_slot_wait() say, as bits; runtime/zygote.py has the same. */
enum {
	SAYS_CHECK = 1, /* a script is there, to be checked only */
	SAYS_MORE = 2,  /* with arguments or an environment of its own */
	SAYS_REST = 4,  /* none is there yet: there is time to warm up, then to wait */
};

static struct {
	struct bj_seal_limits limits;
	int slot_fd;
	int last_fd; /* hears the last call; -1: none */
	bool begun;  /* the zygote has loaded its part of the filter */
	bool hurry;
	uint32_t sick;
	struct bj_seal_report report;
	struct bj_exec exec; /* arguments and environment of the run */
} slot;

/* What Python does around a fork. Looked up once: to do it in each new process would touch the
 * tables of all libraries there. */
enum python_call { BEFORE_FORK, IN_PARENT, IN_CHILD, PYTHON_CALLS };

static void (*python[PYTHON_CALLS])(void);

/* --- in the zygote ---------------------------------------------------------------------------- */

static void find_python(void)
{
	static const char *const names[] = { [BEFORE_FORK] = "PyOS_BeforeFork",
					     [IN_PARENT] = "PyOS_AfterFork_Parent",
					     [IN_CHILD] = "PyOS_AfterFork_Child" };

	for (int i = 0; i < PYTHON_CALLS; i++)
		*(void **)&python[i] = dlsym(RTLD_DEFAULT, names[i]);
}

static void call_python(enum python_call which)
{
	if (python[which])
		python[which]();
}

static int join(const struct bj_spawn *msg, const int *fds, struct bj_err *err)
{
	const int *tasks = fds + BJ_SPAWN_FIXED + (msg->has_birth ? 1 : 0);

	for (uint32_t i = 0; i < msg->n_tasks; i++)
		if (write(tasks[i], "0", 1) != 1)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot join a cgroup");
	if (setns(fds[BJ_SPAWN_INIT], (int)bj_namespaces()) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot join the jar");
	return 0;
}

/* Say what holds, with what hears the last call. */
static int send_report(int sock, const struct bj_seal_report *report)
{
	const int r = bj_fd_send(sock, report, sizeof(*report), &slot.last_fd, slot.last_fd >= 0);

	if (slot.last_fd >= 0)
		close(slot.last_fd);
	slot.last_fd = -1;
	return r;
}

/* In the helper. Returns true in the new process only; the helper tells its pid and ends. The last
 * fork is glibc's, so that its handlers run. */
__attribute__((noinline)) static bool fork_into(const struct bj_spawn *msg, const int *fds,
						int pid_fd)
{
	struct bj_seal_report report = { .failed = 1 };

	if (join(msg, fds, &report.err) == 0) {
		const pid_t pid = fork();

		if (pid == 0) {
			call_python(IN_CHILD);
			slot.limits = msg->limits;
			slot.hurry = msg->hurry != 0;
			slot.sick = msg->sick;
			slot.report.nonce = msg->nonce + bj_is_sick(msg->sick, BJ_SICK_NONCE);
			slot.slot_fd = fds[BJ_SPAWN_SLOT];
			return true;
		}
		if (pid > 0 && write(pid_fd, &pid, sizeof(pid)) == sizeof(pid))
			_exit(0);
		bj_err_set(&report.err, BJ_E_SYSTEM, errno, "cannot fork into the jar");
	}
	report.nonce = msg->nonce;
	send_report(fds[BJ_SPAWN_SLOT], &report);
	_exit(1);
}

/* Wait for the helper, then pass the pid on: now that the helper is gone, the new process is a
 * child of the launcher, which can wait for it. */
static void pass_pid_on(pid_t helper, int from, int to, uint32_t sick)
{
	pid_t pid = 0;
	const int r = bj_fd_read_exact(from, &pid, sizeof(pid));

	if (helper > 0)
		waitpid(helper, NULL, 0);
	while (bj_is_sick(sick, BJ_SICK_LATE))
		pause();
	if (bj_is_sick(sick, BJ_SICK_PID))
		pid = getpid();
	if (r == 0 && write(to, &pid, sizeof(pid)) != sizeof(pid))
		kill(pid, SIGKILL); /* nobody will ever look after it */
}

/* In a test build: what a sick zygote does before it answers. */
static void suffer(uint32_t sick)
{
	if (bj_is_sick(sick, BJ_SICK_WORD))
		send(BJ_ZYGOTE_SOCKET, "x", 1, MSG_NOSIGNAL);
	if (bj_is_sick(sick, BJ_SICK_SLOW))
		poll(NULL, 0, 3200);
	if (bj_is_sick(sick, BJ_SICK_BUSY))
		poll(NULL, 0, 400);
	while (bj_is_sick(sick, BJ_SICK_MUTE))
		pause();
}

/* One request. 1 in the new process, 0 in the zygote, negative when the launcher is gone. */
static int serve_one(void)
{
	struct bj_spawn msg;
	int fds[BJ_SPAWN_MAX], own[2];
	size_t n = 0;
	const ssize_t got =
		bj_fd_recv(BJ_ZYGOTE_SOCKET, &msg, sizeof(msg), fds, BJ_SPAWN_MAX, &n, 0);

	if (got != sizeof(msg) || msg.n_tasks > BJ_SPAWN_MAX_TASKS ||
	    n != (size_t)BJ_SPAWN_FIXED + !!msg.has_birth + msg.n_tasks ||
	    pipe2(own, O_CLOEXEC) < 0)
		return -1;
	suffer(msg.sick);

	struct clone_args args = { .flags = BJ_BORROW_FLAGS, .exit_signal = SIGCHLD };

	if (msg.has_birth) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)fds[BJ_SPAWN_FIXED];
	}
	call_python(BEFORE_FORK);

	const long helper = bj_borrow_call(&args, sizeof(args));

	if (helper == 0 && fork_into(&msg, fds, own[1]))
		return 1;
	call_python(IN_PARENT);
	close(own[1]);
	pass_pid_on((pid_t)helper, own[0], fds[BJ_SPAWN_PID], msg.sick);
	close(own[0]);
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
	return 0;
}

/* Sizes are tried from the first down to the smallest; it must be less than what malloc() maps.
 * An allocator that has no order of addresses is left alone after so many bytes. */
enum { GAP_MAX = 64 << 10, GAP_STEP_LARGE = 512, GAP_STEP = 16, GAPS_MAX = 4 << 20 };

/* Take every gap between the blocks of the heap, for good. What a slot allocates lies together
 * behind them then, on few pages, instead of everywhere on pages that it would have to copy. */
EXPORT void bj_slot_fill_gaps(void)
{
	char *behind = malloc(GAP_MAX);
	size_t left = GAPS_MAX;

	for (size_t size = GAP_MAX; behind && size >= GAP_STEP;
	     size -= size > 2 * (size_t)GAP_STEP_LARGE ? GAP_STEP_LARGE : GAP_STEP) {
		char *block = malloc(size);

		for (; block && block < behind && left >= size; left -= size)
			block = malloc(size);
		free(block);
	}
	free(behind);
}

/* None of the modules that it is for is there. */
EXPORT void bj_slot_needless(void)
{
	send(BJ_ZYGOTE_SOCKET, "n", 1, MSG_NOSIGNAL);
}

/* The last before the first fork: what is made afterwards does not lie on large pages. */
EXPORT void bj_slot_settle(void)
{
	bj_large_settle(BJ_ZYGOTE_PROC);
	close(BJ_ZYGOTE_PROC);
}

EXPORT int bj_slot_serve(void)
{
	int r;

	find_python();
	slot.last_fd = -1;
	slot.begun = bj_seal_begin();
	if (send(BJ_ZYGOTE_SOCKET, "r", 1, MSG_NOSIGNAL) != 1)
		return -1;
	while ((r = serve_one()) == 0)
		;
	return r;
}

/* --- in the slot ------------------------------------------------------------------------------ */

/* The slot's own socket at 3, nothing else but streams that lead nowhere. */
static int place_fds(struct bj_err *err)
{
	const int sock = fcntl(slot.slot_fd, F_DUPFD_CLOEXEC, 64);
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (dup3(sock, FD_SLOT, O_CLOEXEC) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot place a descriptor");
	if (!bj_layer_faulty(BJ_LAYER_CLOSED_FDS) && close_range(FD_FIRST_UNUSED, ~0u, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot close descriptors");
	return 0;
}

static int enter(struct bj_err *err)
{
	sigset_t none;

	if (!bj_layer_faulty(BJ_LAYER_SESSION) && setsid() < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start a session");
	signal(SIGSYS, SIG_IGN); /* as in seal.c */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	umask(022);
	if (chdir(BJ_JAR_WORK) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot enter " BJ_JAR_WORK);
	return place_fds(err);
}

static int seal(void)
{
	struct bj_seal_report *report = &slot.report;
	int r = enter(&report->err);

	if (r < 0) {
		report->failed = 1;
		send_report(slot.slot_fd, report);
		return -1;
	}
	if (!slot.begun)
		slot.last_fd = bj_farewell_listen(true, NULL); /* it ends well without, too */
	r = bj_seal_self(&slot.limits, -1, slot.begun ? &slot.last_fd : NULL, report);
	/* The change of uid hid our own /proc/self from us; an exec would have shown it again. */
	if (r == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) {
		r = bj_err_set(&report->err, BJ_E_SYSTEM, errno, "cannot see /proc/self");
		report->failed = 1;
	}
	if (r < 0)
		send_report(FD_SLOT, report);
	return r < 0 ? -1 : 0;
}

/* Seal the process, then wait for its script if that is there already, or soon. */
EXPORT int bj_slot_enter(void)
{
	if (seal() < 0)
		return -1;
	return slot.hurry ? bj_slot_wait() : SAYS_REST;
}

/* Keep only what the zygote's own environment does not have already. */
static void drop_fixed_env(struct bj_exec *exec)
{
	size_t kept = 0;

	for (size_t i = 0; i < exec->n_env; i++)
		if (!bj_exec_env_is_fixed(exec, i))
			exec->env[kept++] = exec->env[i];
	exec->n_env = kept;
}

static int read_spec(int fd, struct bj_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return -1;

	/* Kept for the life of the process: arguments and environment point into it. */
	const void *pack = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (pack == MAP_FAILED)
		return -1;
	if (bj_exec_prepare(&slot.exec, pack, (size_t)st.st_size, err) < 0)
		return -1;
	drop_fixed_env(&slot.exec);
	return 0;
}

/* Say that we are ready, and wait for the script. Negative: there is none. */
EXPORT int bj_slot_wait(void)
{
	struct bj_slot_go go;
	struct bj_err err;
	int fds[BJ_SLOT_FDS];
	size_t n = 0;

	if (bj_is_sick(slot.sick, BJ_SICK_DIES) || send_report(FD_SLOT, &slot.report) < 0)
		_exit(1);

	const ssize_t got = bj_fd_recv(FD_SLOT, &go, sizeof(go), fds, BJ_SLOT_FDS, &n, 0);

	if (got != sizeof(go) || n != BJ_SLOT_FDS || bj_is_sick(slot.sick, BJ_SICK_DEAF))
		return -1;
	for (int fd = 0; fd < 3; fd++)
		if (dup2(fds[BJ_SLOT_STDIN + fd], fd) < 0)
			return -1;
	if (!go.no_limits && bj_rlimits_lower(go.processes, go.cpu_seconds) < 0)
		return -1;
	if (read_spec(fds[BJ_SLOT_SPEC], &err) < 0 || dup2(fds[BJ_SLOT_VERDICT], FD_SLOT) < 0)
		return -1;
	close_range(FD_SLOT + 1, ~0u, 0);
	return (go.check_only ? SAYS_CHECK : 0) |
	       (slot.exec.n_args > 0 || slot.exec.n_env > 0 ? SAYS_MORE : 0);
}

/* Arguments are kind 0, environment entries kind 1. */
EXPORT int bj_slot_count(int kind)
{
	return (int)(kind == 0 ? slot.exec.n_args : slot.exec.n_env);
}

EXPORT const char *bj_slot_text(int kind, int i)
{
	return kind == 0 ? slot.exec.args[i] : slot.exec.env[i];
}

EXPORT void bj_slot_exit(int code)
{
	bj_farewell_say(code);
}
