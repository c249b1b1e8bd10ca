/* SPDX-License-Identifier: Apache-2.0 */

/* The backend direct and its role. Each run has a worker, which makes a directory for it, starts
 * the script, waits, kills what is left and removes the directory. The worker adopts orphans, so
 * whatever the script leaves behind ends up as its child, and it does not end before they do. */

#include "backend/direct_role.h"
#include "backend/leavings.h"
#include "backend/peer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/exec.h"
#include "jar/layers.h"
#include "jar/mounts.h"
#include "jar/pack.h"
#include "jar/script.h"
#include "jar/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* How long to go on killing a tree that forks as fast as it dies. */
#define KILL_NS (UINT64_C(10) * 1000000000u)

struct direct {
	const char *python, *bash;
};

struct run {
	const struct bj_role_launch *launch;
	struct bj_exec exec;
	char dir[128]; /* "": not made */
	char script[200];
	char env_home[160], env_out[160], env_tmp[160];
	pid_t child;
	enum bj_cause cause;
};

/* --- the directory ---------------------------------------------------------------------------- */

static int write_file(const char *dir, const char *name, mode_t mode,
		      const struct bj_pack_record *rec, struct bj_err *err)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s/%s", dir, name, rec->name);
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	const int r = fd < 0 ? -errno : bj_fd_write_all(fd, rec->data, rec->size);

	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot write %.60s", rec->name) : 0;
}

static int make_dir(struct run *run, struct bj_err *err)
{
	static const char *const below[] = { "script", "work", "work/out", "tmp" };
	const char *tmp = getenv("TMPDIR");
	char path[160];

	snprintf(run->dir, sizeof(run->dir), "%.90s/belljar-direct-XXXXXX",
		 tmp && tmp[0] == '/' ? tmp : "/tmp");
	if (!mkdtemp(run->dir)) {
		run->dir[0] = '\0';
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a directory for the run");
	}
	for (size_t i = 0; i < BJ_ARRAY_SIZE(below); i++) {
		snprintf(path, sizeof(path), "%s/%s", run->dir, below[i]);
		if (mkdir(path, 0700) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %.100s", path);
	}
	return 0;
}

static int write_inputs(struct run *run, const void *pack, size_t size, struct bj_err *err)
{
	struct bj_pack_record rec;
	size_t pos = 0;
	int r;

	while ((r = bj_pack_next(pack, size, &pos, &rec)) > 0) {
		if (rec.type != BJ_PACK_INPUT)
			continue;
		if (!bj_pack_name_ok(rec.name, strlen(rec.name)))
			return bj_err_set(err, BJ_E_INVALID, 0, "a file has a name it cannot have");
		r = write_file(run->dir, "work", 0400, &rec, err);
		if (r < 0)
			return r;
	}
	return r;
}

static int write_script(struct run *run, struct bj_err *err)
{
	char dir[160];
	const enum bj_language language = (enum bj_language)run->launch->launch.language;

	snprintf(dir, sizeof(dir), "%s/script", run->dir);
	snprintf(run->script, sizeof(run->script), "%s/%s", dir,
		 language == BJ_LANG_PYTHON ? BJ_SCRIPT_PYTHON : BJ_SCRIPT_BASH);
	run->exec.script = run->script;
	AUTO_FD int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %.100s", dir);
	return bj_script_put(fd, run->launch->fds[BJ_WIRE_FD_SCRIPT], language, geteuid(), err);
}

/* The fixed environment names places of a jar; here they are in the run's directory. */
static void place_env(struct run *run)
{
	const struct {
		const char *name, *below;
		char *to;
	} places[] = { { "HOME", "work", run->env_home },
		       { "BELLJAR_OUT", "work/out", run->env_out },
		       { "TMPDIR", "tmp", run->env_tmp } };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(places); i++) {
		const size_t n = strlen(places[i].name);

		snprintf(places[i].to, sizeof(run->env_home), "%s=%s/%s", places[i].name, run->dir,
			 places[i].below);
		for (size_t k = 0; k < run->exec.n_env; k++)
			if (strncmp(run->exec.env[k], places[i].name, n) == 0 &&
			    run->exec.env[k][n] == '=')
				run->exec.env[k] = places[i].to;
	}
}

static int prepare_run(struct run *run, struct bj_err *err)
{
	const int fd = run->launch->fds[BJ_WIRE_FD_SPEC];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the spec");

	/* Mapped until the worker ends: arguments and environment point into it. */
	const void *pack = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (pack == MAP_FAILED)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the spec");

	int r = bj_exec_prepare(&run->exec, pack, (size_t)st.st_size, err);

	if (r == 0)
		r = make_dir(run, err);
	if (r == 0)
		r = write_inputs(run, pack, (size_t)st.st_size, err);
	if (r == 0)
		r = write_script(run, err);
	if (r == 0)
		place_env(run);
	return r;
}

static bool remove_dir(const struct run *run)
{
	return !run->dir[0] || bj_leavings_remove(AT_FDCWD, run->dir) == 0;
}

/* --- the script ------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void become_script(struct run *run, int report_fd)
{
	const int *fds = run->launch->fds;
	const struct rlimit no_core = { 0, 0 };
	struct bj_err err = { 0 };
	char work[160];
	const int report = fcntl(report_fd, F_DUPFD_CLOEXEC, 64);

	snprintf(work, sizeof(work), "%s/work", run->dir);
	setsid();
	signal(SIGPIPE, SIG_DFL);
	setrlimit(RLIMIT_CORE, &no_core);

	/* The descriptors at hand may stand where the new ones go: move them up first. */
	int up[4];
	const int from[] = { fds[BJ_WIRE_FD_STDIN], fds[BJ_WIRE_FD_STDOUT], fds[BJ_WIRE_FD_STDERR],
			     fds[BJ_WIRE_FD_VERDICT] };

	for (int i = 0; i < 4; i++)
		up[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 32);
	for (int i = 0; i < 4; i++)
		if (report < 0 || up[i] < 0 || dup2(up[i], i) < 0)
			_exit(BJ_SEAL_EXIT);
	close_range(4, (unsigned int)report - 1, 0);
	close_range((unsigned int)report + 1, ~0u, 0);
	run->exec.verdict_fd = 3;
	if (chdir(work) < 0)
		bj_err_set(&err, BJ_E_SYSTEM, errno, "cannot use the working directory");
	else
		bj_exec_run(&run->exec, &err);
	bj_fd_write_all(report, &err, sizeof(err));
	_exit(BJ_SEAL_EXIT);
}

static int start_script(struct run *run, struct bj_err *err)
{
	static const int given[] = { BJ_WIRE_FD_STDIN, BJ_WIRE_FD_STDOUT, BJ_WIRE_FD_STDERR,
				     BJ_WIRE_FD_VERDICT };
	int report[2];
	struct bj_err said;

	if (pipe2(report, O_CLOEXEC) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a pipe");
	run->child = fork();
	if (run->child == 0)
		become_script(run, report[1]);
	close(report[1]);
	AUTO_FD int from = report[0];
	if (run->child < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start the script");
	/* The script has its streams; ours would keep the pipes open. */
	for (size_t i = 0; i < BJ_ARRAY_SIZE(given); i++)
		close(run->launch->fds[given[i]]);
	if (bj_fd_read_exact(from, &said, sizeof(said)) < 0)
		return 0;
	*err = said;
	return -err->code;
}

/* Wait for the end of the script, the deadline, or a wish of the front. */
static void await(struct run *run, int pidfd, uint64_t deadline)
{
	const int reply = run->launch->fds[BJ_WIRE_FD_REPLY];

	for (;;) {
		struct pollfd polls[] = { { .fd = pidfd, .events = POLLIN },
					  { .fd = reply, .events = POLLIN } };
		const uint64_t now = bj_clock_now();
		const uint64_t left = now < deadline ? (deadline - now) / 1000000u + 1 : 0;
		char wish = 0;

		if (poll(polls, 2, left > 60000 ? 60000 : (int)left) < 0 && errno != EINTR)
			return;
		if (polls[0].revents)
			return;
		if (polls[1].revents && recv(reply, &wish, 1, MSG_DONTWAIT) >= 0) {
			run->cause = wish == BJ_WISH_OUTPUT ? BJ_CAUSE_OUTPUT : BJ_CAUSE_CANCELLED;
			return;
		}
		if (bj_clock_now() >= deadline) {
			run->cause = BJ_CAUSE_TIMEOUT;
			return;
		}
	}
}

/* --- the kill --------------------------------------------------------------------------------- */

/* Kill our children. Theirs become ours then, and it is their turn in the next round. */
static void kill_children(void)
{
	char text[4096];
	AUTO_FD int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	/* A number that the end of the buffer cut in two is left for the next round. */
	if (n == sizeof(text) - 1)
		*strrchr(text, ' ') = '\0';
	for (char *p = text, *end; *p; p = end) {
		const long child = strtol(p, &end, 10);

		if (end == p)
			break;
		if (child > 0)
			kill((pid_t)child, SIGKILL);
		end += *end == ' ';
	}
}

/* Kill until there is no child left. Orphans become our children, so all are found in the end. */
static bool kill_tree(struct run *run, int *ret_status)
{
	const uint64_t deadline = bj_clock_now() + KILL_NS;

	for (;;) {
		int status;
		const pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return true;
		if (pid == run->child)
			*ret_status = status;
		if (pid > 0)
			continue;
		if (bj_clock_now() > deadline)
			return false;
		kill_children();
		poll(NULL, 0, 1);
	}
}

/* --- the role --------------------------------------------------------------------------------- */

static void finish(struct run *run, int status, struct bj_wire_reply *ret)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	ret->cpu_ns =
		((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
		((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
	ret->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
	ret->layers = BJ_LAYER_BIT(BJ_LAYER_CLOSED_FDS) | BJ_LAYER_BIT(BJ_LAYER_SESSION);
	ret->wait_status = status;
	ret->cause = run->cause != BJ_CAUSE_NONE ? run->cause
		     : WIFEXITED(status)         ? BJ_CAUSE_EXITED
						 : BJ_CAUSE_SIGNAL;
}

static void collect(const struct run *run)
{
	const struct bj_wire_launch *launch = &run->launch->launch;
	char out[160];

	snprintf(out, sizeof(out), "%s/work/out", run->dir);
	if (run->launch->out_fd >= 0 && run->cause == BJ_CAUSE_NONE)
		bj_walk_out(out, run->launch->out_fd, launch->out_files, launch->out_bytes);
}

static void work(void *self, struct bj_role_launch *launch, struct bj_wire_reply *ret)
{
	const struct direct *d = self;
	struct run run = { .launch = launch,
			   .exec = { .language = (enum bj_language)launch->launch.language,
				     .check_only = launch->launch.flags & BJ_WIRE_CHECK_ONLY,
				     .python = d->python,
				     .bash = d->bash } };
	const struct bj_wire_reply started = { .magic = BJ_WIRE_MAGIC, .kind = BJ_REPLY_STARTED };
	const uint64_t start = bj_clock_now();
	int status = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (prepare_run(&run, &ret->err) == 0 && start_script(&run, &ret->err) == 0) {
		AUTO_FD int pidfd = pidfd_open(run.child, 0);

		bj_fd_send(launch->fds[BJ_WIRE_FD_REPLY], &started, sizeof(started), NULL, 0);
		await(&run, pidfd, start + launch->launch.timeout_ns);
	}
	ret->duration_ns = bj_clock_now() - start;
	ret->cleanup_ok = kill_tree(&run, &status);
	if (!ret->err.code) {
		collect(&run);
		finish(&run, status, ret);
	}
	ret->cleanup_ok &= remove_dir(&run);
}

int bj_direct_new(const char *python, const char *bash, struct bj_process **ret, struct bj_err *err)
{
	static const struct bj_role_ops ops = { .work = work };
	struct direct d = { .python = python, .bash = bash };

	return bj_role_new("host of direct runs", &ops, &d, ret, err);
}

static int direct_run(void *self, const struct bj_spec *spec, struct bj_result *result,
		      struct bj_verdict *ret_verdict, struct bj_err *err)
{
	const struct bj_peer peer = { .process = self, .role = true };

	return bj_peer_run(&peer, spec, result, ret_verdict, err);
}

const struct bj_backend bj_backend_direct = { .id = BJ_BACKEND_DIRECT, .run = direct_run };
