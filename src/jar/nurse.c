/* SPDX-License-Identifier: Apache-2.0 */

/* The program of a nursery (nursery.h). It allocates nothing: the less memory it has, the less
 * there is to copy for each init. */

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/hold.h"
#include "jar/namespaces.h"
#include "jar/nursery.h"
#include "jar/roots.h"
#include "jar/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>

enum { ASK_FDS = 2 };

static struct {
	struct bj_roots roots;
	uint32_t n_procs;
	int net; /* its own network namespace, in which it is but while it bears */
} nurse;

/* Enter the network namespace that the next init is to have. */
static bool enter_net(int fd)
{
	return fd >= 0 && nurse.net >= 0 && setns(fd, CLONE_NEWNET) == 0;
}

static void leave_net(void)
{
	/* Whoever stays would be where a script is. */
	if (setns(nurse.net, CLONE_NEWNET) < 0)
		_exit(1);
}

__attribute__((noreturn)) static void be_init(const struct bj_seal_build *plan, const int *go)
{
	close(go[1]);
	bj_seal_init(plan, go[0], BJ_NURSERY_SOCKET);
	bj_hold();
}

/* Bear an init, a child of the launcher. Its pid, or -code. */
static pid_t bear(struct bj_seal_build *plan, const int *go, int net_fd, int *ret_pidfd,
		  struct bj_err *err)
{
	/* It makes its network namespace itself, if there is none for it. */
	const uint64_t flags = (bj_namespaces() & ~(uint64_t)CLONE_NEWNET) | CLONE_PARENT;

	plan->has_net = enter_net(net_fd);
	plan->has_root = bj_roots_enter(&nurse.roots, plan->image);

	const pid_t pid = bj_sys_clone3(flags, ret_pidfd, -1);

	if (pid == 0)
		be_init(plan, go);

	const int errnum = errno;

	if (plan->has_net)
		leave_net();
	return pid > 0 ? pid
		       : bj_err_set(err, BJ_E_UNSUPPORTED, errnum,
				    "cannot make namespaces; run `belljar doctor`");
}

/* Say that an init is born, or why not. What is attached is what is there. */
static void answer(const struct bj_seal_report *report, int pidfd, int pid_ns)
{
	const int fds[BJ_NURSERY_FDS] = { pidfd, pid_ns };
	const size_t n = pidfd < 0 ? 0 : pid_ns < 0 ? 1 : 2;

	if (bj_fd_send(BJ_NURSERY_SOCKET, report, sizeof(*report), fds, n) < 0)
		_exit(1); /* the launcher is gone */
}

/* The init hides its namespace for a moment when it changes its uid. It has not begun. */
static int open_pid_ns(int proc_fd, pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "%d/ns/pid", pid);
	return openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
}

/* The launcher hears that an init is born before that may go on. */
static void serve(struct bj_nursery_ask *ask, int spec_fd, int net_fd)
{
	struct bj_seal_report report = { .nonce = ask->plan.nonce };
	struct bj_seal_build *plan = &ask->plan;
	int go[2];

	plan->spec_fd = spec_fd;
	plan->init_exe = -1;
	plan->proc_fd = BJ_NURSERY_PROCS + (int)ask->proc;
	if (pipe2(go, O_CLOEXEC) < 0)
		_exit(1);

	AUTO_FD int pidfd = -1, pid_ns = -1;
	const pid_t pid = bear(plan, go, net_fd, &pidfd, &report.err);
	int r = pid;

	close(go[0]);
	if (pid > 0)
		r = bj_userns_map(plan->proc_fd, pid, &ask->ids, &report.err);
	if (pid > 0 && ask->wants_pid_ns)
		pid_ns = open_pid_ns(plan->proc_fd, pid);
	report.born = pid > 0 ? pid : 0;
	report.failed = r < 0;
	answer(&report, pidfd, pid_ns);
	if (r == 0)
		(void)!write(go[1], "g", 1);
	close(go[1]);
}

static bool is_sound(const struct bj_nursery_ask *ask, size_t n_fds)
{
	return ask->plan.image < BJ_WIRE_IMAGES && ask->proc < nurse.n_procs &&
	       n_fds == (size_t)ask->has_spec + ask->has_net;
}

/* One request. False when there will be none. */
static bool serve_one(void)
{
	struct bj_nursery_ask ask;
	int fds[ASK_FDS];
	size_t n = 0;

	if (bj_fd_recv(BJ_NURSERY_SOCKET, &ask, sizeof(ask), fds, ASK_FDS, &n, 0) != sizeof(ask) ||
	    !is_sound(&ask, n))
		return false;
	serve(&ask, ask.has_spec ? fds[0] : -1, ask.has_net ? fds[n - 1] : -1);
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
	return true;
}

static bool come_up(void)
{
	struct bj_nursery_ground ground;
	size_t n = 0;

	if (bj_fd_recv(BJ_NURSERY_SOCKET, &ground, sizeof(ground), NULL, 0, &n, 0) !=
	    sizeof(ground))
		return false;
	nurse.n_procs = ground.n_procs;
	nurse.net = openat(BJ_NURSERY_PROCS, "self/ns/net", O_RDONLY | O_CLOEXEC);
	bj_roots_init(&nurse.roots, ground.images, BJ_NURSERY_PROCS, ground.want_proc);
	return true;
}

int main(void)
{
	prctl(PR_SET_NAME, "jar-nursery", 0, 0, 0);
	while (nurse.n_procs > 0 ? serve_one() : come_up())
		;
	return 1;
}
