/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/role.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* --- the process ------------------------------------------------------------------------------ */

struct host {
	int control, children;
	const struct bj_role_ops *ops;
	void *self;
};

/* The standard streams become the two ends of a pipe that nobody else has. */
static int shed_fds(int control)
{
	int dead[2];

	if (pipe(dead) < 0 || dup3(control, 3, O_CLOEXEC) < 0 || dup2(dead[0], 0) < 0 ||
	    dup2(dead[1], 1) < 0 || dup2(dead[1], 2) < 0 || close_range(4, ~0u, 0) < 0)
		return -1;
	return 3;
}

static void close_all(struct bj_role_launch *run)
{
	for (int i = 0; i < BJ_WIRE_FD_MAX; i++)
		if (run->fds[i] >= 0)
			bj_fd_drop(run->fds[i]);
}

static void reply(int fd, struct bj_wire_reply *r)
{
	r->magic = BJ_WIRE_MAGIC;
	r->kind = r->err.code ? BJ_REPLY_FAILED : BJ_REPLY_ENDED;
	bj_fd_send_now(fd, r, sizeof(*r));
}

__attribute__((noreturn)) static void worker(struct host *host, struct bj_role_launch *run)
{
	struct bj_wire_reply end = { 0 };
	sigset_t none;

	close(host->control);
	close(host->children);
	/* Should the role die, its worker still cleans up: it takes this for a wish to cancel. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	host->ops->work(host->self, run, &end);
	reply(run->fds[BJ_WIRE_FD_REPLY], &end);
	if (host->ops->tidy) {
		/* Whoever waits for the end of a stream of this run need not wait for this. */
		close_all(run);
		host->ops->tidy(host->self);
	}
	_exit(0);
}

/* Receive a launch. 1: there is one, 0: the front is gone, negative: refused, and told so. */
static int receive(const struct host *host, struct bj_role_launch *run)
{
	struct bj_role_message msg = { 0 };
	struct bj_wire_reply no = { 0 };
	size_t n_fds = 0;

	*run = (struct bj_role_launch){ .out_fd = -1 };
	for (int i = 0; i < BJ_WIRE_FD_MAX; i++)
		run->fds[i] = -1;

	const ssize_t n =
		bj_fd_recv(host->control, &msg, sizeof(msg), run->fds, BJ_WIRE_FD_MAX, &n_fds, 0);

	if (n <= 0)
		return n == 0 ? 0 : -1;

	const size_t size = n == sizeof(msg) ? sizeof(msg.launch) : 0;
	int r = bj_wire_check(&msg.launch, size, run->fds, n_fds, &no.err);

	if (r == 0 && (strnlen(msg.run_id, sizeof(msg.run_id)) != sizeof(msg.run_id) - 1 ||
		       strspn(msg.run_id, "0123456789abcdef") != sizeof(msg.run_id) - 1))
		r = bj_err_set(&no.err, BJ_E_PROTOCOL, 0, "launch message: bad run id");
	if (r < 0) {
		if (n_fds > 0)
			reply(run->fds[BJ_WIRE_FD_REPLY], &no);
		close_all(run);
		return r;
	}
	run->launch = msg.launch;
	memcpy(run->run_id, msg.run_id, sizeof(run->run_id));
	if (msg.launch.flags & BJ_WIRE_HAS_OUT)
		run->out_fd = run->fds[n_fds - 1];
	return 1;
}

static void start_worker(struct host *host, struct bj_role_launch *run)
{
	struct bj_wire_reply no = { 0 };

	if (host->ops->prepare)
		host->ops->prepare(host->self, run);

	const pid_t pid = fork();

	if (pid == 0)
		worker(host, run);
	if (pid > 0 && host->ops->started)
		host->ops->started(host->self, pid);
	if (pid < 0) {
		bj_err_set(&no.err, BJ_E_SYSTEM, errno, "cannot start a worker");
		reply(run->fds[BJ_WIRE_FD_REPLY], &no);
	}
	close_all(run);
}

static void reap(struct host *host)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	(void)!read(host->children, &info, sizeof(info));
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (host->ops->reaped)
			host->ops->reaped(host->self, pid, status);
}

static void serve(struct host *host)
{
	const uint64_t every = (uint64_t)host->ops->tick_ms * 1000000u;
	uint64_t next = bj_clock_now() + every;
	struct bj_role_launch run;

	for (;;) {
		struct pollfd polls[] = { { .fd = host->control, .events = POLLIN },
					  { .fd = host->children, .events = POLLIN } };

		if (poll(polls, 2, every ? host->ops->tick_ms : -1) < 0)
			continue;
		if (every && bj_clock_now() >= next) {
			host->ops->tick(host->self);
			next = bj_clock_now() + every;
		}
		if (polls[1].revents)
			reap(host);
		if (!polls[0].revents)
			continue;

		const int r = receive(host, &run);

		if (r == 0)
			return;
		if (r > 0)
			start_worker(host, &run);
	}
}

/* The front is gone. Workers see the end of their reply sockets and clean up; wait for them. */
static void leave(struct host *host)
{
	int status;
	pid_t pid;

	close(host->control);
	if (host->ops->closing)
		host->ops->closing(host->self);
	while ((pid = waitpid(-1, &status, 0)) > 0 || (pid < 0 && errno == EINTR))
		if (pid > 0 && host->ops->reaped)
			host->ops->reaped(host->self, pid, status);
	if (host->ops->leave)
		host->ops->leave(host->self);
}

__attribute__((noreturn)) static void role_main(int control, const struct bj_role_ops *ops,
						void *self)
{
	struct bj_wire_reply hello = { .magic = BJ_WIRE_MAGIC, .kind = BJ_REPLY_HELLO };
	struct host host = { .control = shed_fds(control), .ops = ops, .self = self };
	sigset_t child;

	if (host.control < 0)
		_exit(1);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child, NULL);
	signal(SIGPIPE, SIG_IGN);
	setsid(); /* Ctrl-C is the front's business */
	(void)!chdir("/");
	host.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ops->greet)
		ops->greet(self, &hello);
	bj_fd_send(host.control, &hello, sizeof(hello), NULL, 0);
	if (hello.err.code == 0)
		serve(&host);
	leave(&host);
	_exit(0);
}

/* --- the front -------------------------------------------------------------------------------- */

struct body {
	const struct bj_role_ops *ops;
	void *self;
};

static void run_body(int control, void *body_ptr)
{
	const struct body *body = body_ptr;

	role_main(control, body->ops, body->self);
}

int bj_role_new(const char *name, const struct bj_role_ops *ops, void *self,
		struct bj_process **ret, struct bj_err *err)
{
	struct body body = { .ops = ops, .self = self };

	return bj_process_new(name, run_body, &body, ret, err);
}
