/* SPDX-License-Identifier: Apache-2.0 */

/* How the script's process gets into its jar: from nothing, or from a zygote. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/jar.h"
#include "jar/namespaces.h"
#include "jar/rlimits.h"
#include "jar/script.h"
#include "jar/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void bj_jar_attach(struct bj_jar *jar, const struct bj_wire_launch *run, const int *fds_take)
{
	size_t next = BJ_WIRE_FD_FIXED;

	jar->has_run = true;
	jar->run = *run;
	jar->language = (enum bj_language)run->language;
	memcpy(jar->fds, fds_take, sizeof(jar->fds));
	jar->filter_fd = run->flags & BJ_WIRE_HAS_SECCOMP ? fds_take[next++] : -1;
	jar->out_fd = run->flags & BJ_WIRE_HAS_OUT ? fds_take[next] : -1;
	jar->watch[BJ_JAR_EV_REPLY] = jar->fds[BJ_WIRE_FD_REPLY];
	jar->fds[BJ_WIRE_FD_REPLY] = -1;
}

/* The helper's end of a cold start, and what the script's process needs. */
struct cold {
	struct bj_seal_script script;
	const struct bj_cgroup *cgroup;
	int init_pidfd, pid_ns, pid_fd, report_fd, go_fd;
	uint64_t rest; /* namespaces to join when the jar is built */
	int our_go_fd; /* the launcher's end, which a process of the jar must not have */
};

__attribute__((noreturn)) static void complain(const struct cold *cold, const struct bj_err *err)
{
	const struct bj_seal_report report = { .failed = 1, .err = *err };

	bj_fd_write_all(cold->report_fd, &report, sizeof(report));
	_exit(1);
}

/* In the script's process: wait until the jar is built and the script is in it, then enter. */
__attribute__((noreturn)) static void enter(const struct cold *cold)
{
	struct bj_err err = { 0 };
	char go;

	if (read(cold->go_fd, &go, 1) != 1)
		_exit(1); /* there will be no run */
	if (setns(cold->init_pidfd, (int)cold->rest) == 0)
		bj_seal_script(&cold->script, cold->report_fd);
	bj_err_set(&err, BJ_E_SYSTEM, errno, "cannot join the jar");
	complain(cold, &err);
}

/* Only children enter a pid namespace. */
static int join_pid_ns(const struct cold *cold)
{
	return bj_namespaces() & CLONE_NEWPID ? setns(cold->pid_ns, CLONE_NEWPID) : 0;
}

/* In the helper: join the cgroup, fork the script's process into the jar's pid namespace, tell its
 * pid, end. */
__attribute__((noreturn)) static void help(const struct cold *cold)
{
	struct bj_err err = { 0 };

	close(cold->our_go_fd);
	if (cold->cgroup && bj_cgroup_join(cold->cgroup, &err) < 0)
		complain(cold, &err);
	if (join_pid_ns(cold) < 0) {
		bj_err_set(&err, BJ_E_SYSTEM, errno, "cannot join the jar");
		complain(cold, &err);
	}

	/* glibc's fork: after a raw clone its idea of the thread would be wrong in the child. */
	const pid_t pid = fork();

	if (pid == 0)
		enter(cold);
	if (pid > 0 && write(cold->pid_fd, &pid, sizeof(pid)) == sizeof(pid))
		_exit(0);
	bj_err_set(&err, BJ_E_SYSTEM, errno, "cannot fork into the jar");
	complain(cold, &err);
}

/* --- a helper without memory of its own ---------------------------------------------------------
 *
 * To copy the launcher's memory for a process that ends at once takes as long as for the script's,
 * and to throw it away again half of that. So where there is one run the helper uses the launcher's
 * memory and descriptors, as after vfork(2), and the launcher waits for it: it is the parent of the
 * script's process at once, and has its pid. A launcher with other runs does not wait: the helper,
 * which is not real-time, may be long in coming up on a busy machine. */

struct birth {
	const struct cold *cold;
	int birth_fd;
	pid_t pid;
	int pidfd, errnum;
};

/* The script's process and what it calls have this much stack, of which they take a tenth. */
enum { BIRTH_STACK = 128 << 10 };

/* In the helper. Whatever it writes the launcher finds. */
static int bear(void *birth_ptr)
{
	struct birth *birth = birth_ptr;
	struct bj_err err = { 0 };

	birth->pid = join_pid_ns(birth->cold);
	if (birth->pid == 0)
		birth->pid = bj_sys_clone3(CLONE_PARENT, &birth->pidfd, birth->birth_fd);
	if (birth->pid == 0) {
		/* In the script's process, with a copy of it all: nothing comes before the limits.
		 */
		if (birth->cold->cgroup && bj_cgroup_join(birth->cold->cgroup, &err) < 0)
			complain(birth->cold, &err);
		close(birth->cold->our_go_fd);
		enter(birth->cold);
	}
	birth->errnum = errno;
	return 0;
}

static int start_alone(struct bj_jar *jar, const struct cold *cold, int birth_fd,
		       struct bj_err *err)
{
	char stack[BIRTH_STACK] __attribute__((aligned(64)));
	struct birth birth = { .cold = cold, .birth_fd = birth_fd, .pid = -1, .pidfd = -1 };
	const pid_t helper = clone(bear, stack + sizeof(stack),
				   CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &birth);

	if (helper < 0)
		birth.errnum = errno;
	else
		waitpid(helper, NULL, 0);
	if (birth.pid < 0)
		return bj_err_set(err, BJ_E_SYSTEM, birth.errnum, "cannot fork into the jar");
	jar->main_pid = birth.pid;
	jar->watch[BJ_JAR_EV_MAIN] = birth.pidfd;
	return 0;
}

/* --- starting -----------------------------------------------------------------------------------
 */

static int make_pipe(int flags, int *ret_read, int *ret_write, struct bj_err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | flags) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a pipe");
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

/* Start the helper; whatever becomes of it is told by its pipes. */
static int start_helper(struct bj_jar *jar, struct cold *cold, int birth_fd, struct bj_err *err)
{
	AUTO_FD int pid_fd = -1, pidfd = -1;
	const int r = make_pipe(0, &jar->watch[BJ_JAR_EV_PID], &pid_fd, err);

	if (r < 0)
		return r;
	cold->pid_fd = pid_fd;
	jar->helper_pid = bj_sys_clone3(0, &pidfd, birth_fd);
	if (jar->helper_pid == 0)
		help(cold);
	if (jar->helper_pid < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start the jar's helper");
	return 0;
}

/* Start the script's process, which waits until it may enter. */
static int start_process(struct bj_jar *jar, const struct bj_jar_ground *ground, struct cold *cold,
			 struct bj_err *err)
{
	const int birth_fd = jar->cgroup ? bj_cgroup_birth_fd(jar->cgroup) : -1;
	AUTO_FD int report_fd = -1, go_fd = -1;
	/* We look into it once more when that process has ended, and wait for nobody else then. */
	int r = make_pipe(O_NONBLOCK, &jar->watch[BJ_JAR_EV_REPORT], &report_fd, err);

	if (r == 0)
		r = make_pipe(0, &go_fd, &jar->go_fd, err);
	if (r < 0)
		return r;
	cold->cgroup = jar->cgroup;
	cold->rest = bj_jar_namespaces(jar) & ~(uint64_t)CLONE_NEWPID;
	cold->init_pidfd = jar->watch[BJ_JAR_EV_INIT];
	/* A jar that was built for whoever comes is past hiding anything. */
	cold->pid_ns = jar->pid_ns >= 0 ? jar->pid_ns : jar->watch[BJ_JAR_EV_INIT];
	cold->report_fd = report_fd;
	cold->go_fd = go_fd;
	cold->our_go_fd = jar->go_fd;
	return ground->alone ? start_alone(jar, cold, birth_fd, err)
			     : start_helper(jar, cold, birth_fd, err);
}

/* Let the script's process enter. One that died meanwhile has said why, or its end says it. */
static void let_enter(struct bj_jar *jar)
{
	jar->phase = BJ_JAR_FILLING;
	(void)!bj_fd_write_quiet(jar->go_fd, "g", 1);
	close(bj_take_fd(&jar->go_fd));
}

/* A Python that starts from nothing says when it ends, too, unless its files are collected: that
 * takes its end. -1: it does not. */
static int hear_last(struct bj_jar *jar)
{
	int pair[2];

	if (jar->language != BJ_LANG_PYTHON || jar->out_fd >= 0 || !jar->cgroup ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	jar->watch[BJ_JAR_EV_SLOT] = pair[0];
	return pair[1];
}

static int start_cold(struct bj_jar *jar, const struct bj_jar_ground *ground, struct bj_err *err)
{
	AUTO_FD int last_fd = hear_last(jar);
	struct cold cold = {
		.script = { .language = jar->language,
			    .check_only = jar->run.flags & BJ_WIRE_CHECK_ONLY,
			    .limits = { .tmp_size = jar->tmp_size,
					.pids = jar->run.pids,
					.pids_cgroup = jar->cgroup != NULL,
					.cpu_seconds = jar->cgroup ? 0
								   : bj_rlimits_cpu_seconds(
									     jar->run.timeout_ns,
									     jar->run.cpu_milli) },
			    .stdin_fd = jar->fds[BJ_WIRE_FD_STDIN],
			    .stdout_fd = jar->fds[BJ_WIRE_FD_STDOUT],
			    .stderr_fd = jar->fds[BJ_WIRE_FD_STDERR],
			    .verdict_fd = jar->fds[BJ_WIRE_FD_VERDICT],
			    .spec_fd = jar->fds[BJ_WIRE_FD_SPEC],
			    .filter_fd = jar->filter_fd,
			    .last_fd = last_fd,
			    .tell_sockets = ground->nets != NULL,
			    .python = ground->images[jar->image].python,
			    .bash = ground->images[jar->image].bash },
	};

	return start_process(jar, ground, &cold, err);
}

int bj_jar_hurry(struct bj_jar *jar, const struct bj_jar_ground *ground, struct bj_err *err)
{
	if (jar->phase != BJ_JAR_BUILDING || jar->unborn || !jar->has_run || !jar->cold_only)
		return 0;
	return start_cold(jar, ground, err);
}

int bj_jar_fill_cold(struct bj_jar *jar, const struct bj_jar_ground *ground, struct bj_err *err)
{
	const struct bj_cgroup_limits limits = { .memory = jar->run.memory,
						 .cpu_milli = jar->run.cpu_milli,
						 .pids = jar->run.pids };
	int r = jar->go_fd < 0 ? start_cold(jar, ground, err) : 0;

	if (r == 0)
		r = bj_script_put(jar->files_fd, jar->fds[BJ_WIRE_FD_SCRIPT], jar->language,
				  jar->init_uid, err);
	/* A jar that was built ahead of time has the limits of the settings. */
	if (r == 0 && jar->cgroup)
		r = bj_cgroup_change(jar->cgroup, &limits, err);
	if (r < 0)
		return r;
	jar->started = bj_clock_now();
	jar->deadline = jar->started + jar->run.timeout_ns;
	let_enter(jar);
	return 0;
}

int bj_jar_fill_bash(struct bj_jar *jar, const struct bj_jar_ground *ground, int library_fd,
		     int spec_fd, struct bj_err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");

	struct cold cold = {
		.script = { .language = BJ_LANG_BASH,
			    .wait = true,
			    .limits = { .tmp_size = jar->tmp_size,
					.pids = jar->cgroup_limits.pids,
					.pids_cgroup = jar->cgroup != NULL },
			    .stdin_fd = library_fd,
			    .stdout_fd = STDOUT_FILENO, /* ours lead nowhere */
			    .stderr_fd = STDERR_FILENO,
			    .verdict_fd = pair[1],
			    .spec_fd = spec_fd,
			    .filter_fd = -1,
			    .last_fd = -1,
			    .tell_sockets = ground->nets != NULL,
			    .bash = ground->images[jar->image].bash },
	};

	jar->language = BJ_LANG_BASH;
	jar->warm = true;
	jar->reply.warm = 1;
	jar->watch[BJ_JAR_EV_SLOT] = pair[0];
	jar->filling = bj_clock_now();
	jar->deadline = jar->filling + BJ_JAR_BUILD_NS;

	const int r = start_process(jar, ground, &cold, err);

	close(pair[1]);
	if (r == 0)
		let_enter(jar);
	return r;
}

void bj_jar_fill_warm(struct bj_jar *jar, int pid_fd_take, int slot_fd_take)
{
	jar->phase = BJ_JAR_FILLING;
	jar->warm = true;
	jar->reply.warm = 1;
	jar->watch[BJ_JAR_EV_PID] = pid_fd_take;
	jar->language = BJ_LANG_PYTHON;
	jar->watch[BJ_JAR_EV_SLOT] = slot_fd_take;
	jar->filling = bj_clock_now();
	jar->deadline = jar->filling + BJ_JAR_BUILD_NS;
}

bool bj_jar_holds(const struct bj_jar *jar, pid_t pid)
{
	char path[48];
	struct stat own, theirs;
	siginfo_t info;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", jar->init_pid);
	if (pid == jar->init_pid || stat(path, &own) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	return stat(path, &theirs) == 0 && theirs.st_dev == own.st_dev &&
	       theirs.st_ino == own.st_ino &&
	       waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}
