/* SPDX-License-Identifier: Apache-2.0 */

/* The helper inside a container: a static program, uploaded beside the script (see inside.h).
 *
 * It runs with the script's own user, so it hides itself: not dumpable, which keeps the script
 * from reading its memory and with it the nonce. The script can still kill it; then there is no
 * end record, and the engine's own word about the container counts. */

#include "docker/inside.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/signals.h"
#include "jar/exec.h"
#include "jar/mounts.h"
#include "jar/pack.h"
#include "jar/walk.h"
#include "jar/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PIPE_IN, CHILD, PIDS, WATCHED };
enum { LOOK_MS = 100 };

struct inside {
	struct bj_inside_order order;
	struct bj_exec exec;
	pid_t child;
	int fd[WATCHED];
	int script_stdin; /* where frames go; -1: ended */
	char frame[sizeof(uint32_t) + BJ_INSIDE_FRAME];
	size_t frame_have, frame_at; /* bytes read; bytes of the payload passed on */
};

/* --- numbers of the own cgroup ---------------------------------------------------------------- */

/* The number after @key in the file @path (key "": the file is the number). 0 when not there. */
static uint64_t read_number(const char *path, const char *key)
{
	char text[4096];
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return 0;
	text[n] = '\0';

	const char *at = text;
	const size_t len = strlen(key);

	while (len && (strncmp(at, key, len) != 0 || at[len] != ' ')) {
		at = strchr(at, '\n');
		if (!at)
			return 0;
		at++;
	}
	return strtoull(at + len, NULL, 10);
}

static void read_usage(struct bj_inside_end *end)
{
	struct rusage usage;
	const bool v2 = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;

	getrusage(RUSAGE_CHILDREN, &usage);
	end->cpu_ns =
		((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
		((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
	if (v2) {
		end->peak_memory = read_number("/sys/fs/cgroup/memory.peak", "");
		end->oom_kills = read_number("/sys/fs/cgroup/memory.events", "oom_kill");
		end->pids_hits = read_number("/sys/fs/cgroup/pids.events", "max");
		end->memory_limit = read_number("/sys/fs/cgroup/memory.max", "");
		end->pids_limit = read_number("/sys/fs/cgroup/pids.max", "");
		end->cgroup_version = 2;
	} else {
		end->peak_memory =
			read_number("/sys/fs/cgroup/memory/memory.max_usage_in_bytes", "");
		end->oom_kills =
			read_number("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill");
		end->pids_hits = read_number("/sys/fs/cgroup/pids/pids.events", "max");
		end->memory_limit = read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", "");
		end->pids_limit = read_number("/sys/fs/cgroup/pids/pids.max", "");
		end->cgroup_version = end->peak_memory ? 1 : 0;
	}
	if (end->peak_memory == 0)
		end->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
}

/* --- the script ------------------------------------------------------------------------------- */

/* Where images keep their interpreters. */
static const char *find_program(const char *const *paths)
{
	for (size_t i = 0; paths[i]; i++)
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	return paths[0];
}

static int read_spec(struct inside *in, struct bj_err *err)
{
	static const char *const pythons[] = { "/usr/local/bin/python3", "/usr/bin/python3", NULL };
	static const char *const bashes[] = { "/usr/local/bin/bash", "/usr/bin/bash", "/bin/bash",
					      NULL };
	AUTO_FD int fd = open(BJ_INSIDE_SPEC, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open the spec");

	void *pack = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (pack == MAP_FAILED)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the spec");
	in->exec.language = (enum bj_language)in->order.language;
	in->exec.check_only = in->order.flags & BJ_INSIDE_CHECK_ONLY;
	in->exec.python = find_program(pythons);
	in->exec.bash = find_program(bashes);
	in->exec.verdict_fd = 3;
	return bj_exec_prepare(&in->exec, pack, (size_t)st.st_size, err);
}

/* The working directory: out/, and the inputs as links to files that only root can change. */
static int lay_out_work(struct bj_err *err)
{
	AUTO_DIR DIR *inputs = opendir(BJ_INSIDE_INPUTS);
	struct dirent *e;

	if (chdir(BJ_JAR_WORK) < 0 || mkdir("out", 0700) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot use the working directory");
	while (inputs && (e = readdir(inputs))) {
		char target[300];

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(target, sizeof(target), "%s/%s", BJ_INSIDE_INPUTS, e->d_name);
		if (symlink(target, e->d_name) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot place an input");
	}
	return 0;
}

__attribute__((noreturn)) static void become_script(struct inside *in, int stdin_fd, int report_fd)
{
	struct bj_err err = { 0 };

	bj_signals_reset();
	/* Whoever dies of it was killed by a rule of the profile, not by a call of its own. */
	signal(SIGSYS, SIG_IGN);
	setsid();
	explicit_bzero(&in->order, sizeof(in->order));

	const int report = fcntl(report_fd, F_DUPFD_CLOEXEC, 10);

	/* The verdict goes out on standard output, ahead of everything the script can say. */
	if (report < 0 || dup2(stdin_fd, 0) < 0 || dup2(1, 3) < 0)
		_exit(BJ_SEAL_EXIT);
	close_range(4, (unsigned int)report - 1, 0);
	close_range((unsigned int)report + 1, ~0u, 0);
	bj_exec_run(&in->exec, &err);
	bj_fd_write_all(report, &err, sizeof(err));
	_exit(BJ_SEAL_EXIT);
}

/* Start the script. An error of exec comes back over a pipe that exec closes. */
static int start_script(struct inside *in, struct bj_err *err)
{
	int in_pipe[2], report[2];
	struct bj_err said;

	if (pipe2(in_pipe, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a pipe");
	in->child = fork();
	if (in->child < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot fork");
	if (in->child == 0)
		become_script(in, in_pipe[0], report[1]);
	close(in_pipe[0]);
	close(report[1]);
	in->script_stdin = in_pipe[1];
	fcntl(in->script_stdin, F_SETFL, O_NONBLOCK);

	const int r = bj_fd_read_exact(report[0], &said, sizeof(said));

	close(report[0]);
	if (r < 0)
		return 0;
	*err = said;
	return -err->code;
}

/* --- living ----------------------------------------------------------------------------------- */

static uint32_t frame_size(const struct inside *in)
{
	uint32_t size;

	memcpy(&size, in->frame, sizeof(size));
	return size;
}

static bool frame_is_whole(const struct inside *in)
{
	return in->frame_have >= sizeof(uint32_t) &&
	       in->frame_have == sizeof(uint32_t) + frame_size(in);
}

static void end_stdin(struct inside *in)
{
	if (in->script_stdin >= 0)
		close(in->script_stdin);
	in->script_stdin = -1;
}

static void read_frame(struct inside *in)
{
	size_t want = sizeof(uint32_t);

	if (in->frame_have >= want) {
		if (frame_size(in) > BJ_INSIDE_FRAME) {
			in->fd[PIPE_IN] = -1;
			return;
		}
		want += frame_size(in);
	}

	const ssize_t n = read(0, in->frame + in->frame_have, want - in->frame_have);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		/* The broker is gone. The deadline still stands. */
		in->fd[PIPE_IN] = -1;
		end_stdin(in);
		return;
	}
	in->frame_have += (size_t)n;
	if (frame_is_whole(in) && frame_size(in) == 0) {
		end_stdin(in);
		in->fd[PIPE_IN] = -1;
	}
}

static void write_frame(struct inside *in)
{
	const size_t size = frame_size(in);
	const ssize_t n = in->script_stdin < 0 ? (ssize_t)(size - in->frame_at)
					       : write(in->script_stdin,
						       in->frame + sizeof(uint32_t) + in->frame_at,
						       size - in->frame_at);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		end_stdin(in); /* the script does not read any more */
	else
		in->frame_at += (size_t)n;
	if (n < 0 || in->frame_at == size)
		in->frame_have = in->frame_at = 0;
}

/* Forks that the limit refused. Reading at the start shows the file anew and arms the poll. */
static uint64_t pids_hits(const struct inside *in)
{
	char text[64] = "";

	if (in->fd[PIDS] < 0 || pread(in->fd[PIDS], text, sizeof(text) - 1, 0) <= 0)
		return 0;
	return strncmp(text, "max ", 4) == 0 ? strtoull(text + 4, NULL, 10) : 0;
}

static void fill_poll(const struct inside *in, bool pending, struct pollfd *polls)
{
	for (int i = 0; i < WATCHED; i++)
		polls[i] = (struct pollfd){ .fd = in->fd[i], .events = POLLIN };
	polls[PIDS].events = POLLPRI;
	polls[WATCHED] =
		(struct pollfd){ .fd = pending ? in->script_stdin : -1, .events = POLLOUT };
	if (pending)
		polls[PIPE_IN].fd = -1;
}

/* One round of waiting. False when the script ran into the limit of processes. */
static bool wait_round(struct inside *in, uint64_t left_ns)
{
	struct pollfd polls[WATCHED + 1];
	struct signalfd_siginfo info;
	const bool pending = frame_is_whole(in) && frame_size(in) > 0;
	/* The first version of cgroups does not tell of a limit that was hit: look at times. */
	const uint64_t longest = in->fd[PIDS] >= 0 ? LOOK_MS : 60000;
	const uint64_t ms = left_ns / 1000000u + 1;

	if (pending && in->script_stdin < 0) {
		write_frame(in);
		return true;
	}
	fill_poll(in, pending, polls);
	if (poll(polls, WATCHED + 1, ms > longest ? (int)longest : (int)ms) < 0)
		return true;
	if (polls[PIPE_IN].fd >= 0 && polls[PIPE_IN].revents)
		read_frame(in);
	if (polls[WATCHED].revents)
		write_frame(in);
	if (polls[CHILD].revents)
		(void)!read(in->fd[CHILD], &info, sizeof(info));
	return pids_hits(in) == 0;
}

/* Wait for the end of the script: true when it ended, false at a limit or the deadline. */
static bool live(struct inside *in, int *ret_status)
{
	const uint64_t deadline = bj_clock_now() + in->order.timeout_ns;

	if (pids_hits(in) > 0)
		return false;
	while (waitpid(in->child, ret_status, WNOHANG) != in->child) {
		const uint64_t now = bj_clock_now();

		if (now >= deadline || !wait_round(in, deadline - now))
			return false;
	}
	return true;
}

/* Nothing of the script survives this: the kernel lets no process fork past a pending SIGKILL. */
static void kill_rest(struct inside *in, bool ended, int *ret_status)
{
	int status;
	pid_t pid;

	kill(-1, SIGKILL);
	while ((pid = waitpid(-1, &status, 0)) > 0)
		if (pid == in->child && !ended)
			*ret_status = status;
}

static int watch(struct inside *in)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	in->fd[CHILD] = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	in->fd[PIDS] = open("/sys/fs/cgroup/pids/pids.events", O_RDONLY | O_CLOEXEC);
	if (in->fd[PIDS] < 0)
		in->fd[PIDS] = open("/sys/fs/cgroup/pids.events", O_RDONLY | O_CLOEXEC);
	in->fd[PIPE_IN] = 0;
	return in->fd[CHILD] < 0 ? -1 : 0;
}

static void finish(struct inside *in, struct bj_inside_end *end)
{
	read_usage(end);
	memcpy(end->nonce, in->order.nonce, sizeof(end->nonce));
	bj_fd_write_all(1, end, sizeof(*end));
	if ((in->order.flags & BJ_INSIDE_OUT) && end->err.code == 0)
		bj_walk_out(BJ_JAR_OUT, 1, in->order.out_files, in->order.out_bytes);
	bj_fd_write_all(2, end, sizeof(*end));
}

int main(void)
{
	static struct inside in = { .script_stdin = -1 };
	struct bj_inside_end end = { 0 };
	int status = 0;

	/* The script has our user: what it can send us, short of the one signal that nobody can
	 * ignore, does nothing. A child starts with none of it. */
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (sig != SIGCHLD && sig != SIGSEGV && sig != SIGBUS)
			signal(sig, SIG_IGN);
	/* Orphans come to us, so that we can wait for their end; where this is unknown, as in
	 * gVisor, they die all the same. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || bj_fd_read_exact(0, &in.order, sizeof(in.order)) < 0 ||
	    in.order.magic != BJ_INSIDE_MAGIC || watch(&in) < 0)
		return BJ_SEAL_EXIT;

	int r = read_spec(&in, &end.err);

	if (r == 0)
		r = lay_out_work(&end.err);
	fcntl(0, F_SETFL, O_NONBLOCK);
	if (r == 0)
		r = start_script(&in, &end.err);

	bool ended = false;

	if (r == 0)
		ended = live(&in, &status);
	kill_rest(&in, ended, &status);
	end.wait_status = status;
	finish(&in, &end);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
