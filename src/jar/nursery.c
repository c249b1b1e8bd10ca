/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/nursery.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/creds.h"
#include "jar/embed.h"
#include "jar/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* What it shares with us is what it is told, and which layer a test build leaves out. */
static char *fault(char *text, size_t size)
{
#ifdef BJ_FAULTS
	const char *layer = getenv("BELLJAR_FAULT");

	snprintf(text, size, "BELLJAR_FAULT=%s", layer ? layer : "");
	return layer ? text : NULL;
#else
	(void)text, (void)size;
	return NULL;
#endif
}

/* Sources may lie in the target range: they are moved above it first. Returns the first number that
 * is not used. */
static int place_fds(int sock, const int *procs, size_t n_procs)
{
	const int above = BJ_NURSERY_PROCS + (int)n_procs;
	int high[1 + BJ_MOUNTS_PROCS];

	for (size_t i = 0; i <= n_procs; i++)
		if ((high[i] = fcntl(i == 0 ? sock : procs[i - 1], F_DUPFD, above + 1)) < 0)
			return -1;
	for (size_t i = 0; i <= n_procs; i++)
		if (dup2(high[i], BJ_NURSERY_SOCKET + (int)i) < 0)
			return -1;
	return above;
}

/* Its name is that of the inits that it bears: they are to look alike, whoever bore them. */
__attribute__((noreturn)) static void become_nursery(const int *procs, size_t n_procs, int sock)
{
	char text[64];
	char *const argv[] = { (char *)"jar-init", NULL };
	char *const envp[] = { fault(text, sizeof(text)), NULL };
	struct bj_err err;
	const int program = bj_fd_memfile("jar-init", bj_embed_nursery, bj_embed_nursery_size);
	const int above = place_fds(sock, procs, n_procs);
	const int exe = above < 0 ? -1 : dup3(program, above, O_CLOEXEC);

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXCPU, SIG_DFL);
	if (exe < 0 || bj_creds_keep_over_exec(&err) < 0)
		_exit(1);
	close_range((unsigned int)exe + 1, ~0u, 0);
	syscall(SYS_execveat, exe, "", argv, envp, AT_EMPTY_PATH);
	_exit(127);
}

int bj_nursery_start(struct bj_nursery *n, const struct bj_nursery_ground *ground, const int *procs,
		     struct bj_err *err)
{
	int pair[2], pidfd = -1;

	if (ground->n_procs > BJ_MOUNTS_PROCS ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");

	/* Ours waits for nobody; that of its inits may. */
	const int r = fcntl(pair[0], F_SETFL, O_RDWR | O_NONBLOCK) < 0
			      ? -1
			      : bj_fd_send(pair[0], ground, sizeof(*ground), NULL, 0);
	const pid_t pid = r < 0 ? -1 : bj_sys_clone3(0, &pidfd, -1);

	if (pid == 0)
		become_nursery(procs, ground->n_procs, pair[1]);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start a nursery");
	}
	*n = (struct bj_nursery){ .pid = pid, .pidfd = pidfd, .sock = pair[0] };
	return 0;
}

int bj_nursery_ask(const struct bj_nursery *n, const struct bj_nursery_ask *ask, int spec_fd,
		   int net_fd)
{
	struct bj_nursery_ask msg = *ask;
	int fds[2];
	size_t n_fds = 0;

	msg.has_spec = spec_fd >= 0;
	msg.has_net = net_fd >= 0;
	if (msg.has_spec)
		fds[n_fds++] = spec_fd;
	if (msg.has_net)
		fds[n_fds++] = net_fd;
	return bj_fd_send(n->sock, &msg, sizeof(msg), fds, n_fds);
}

int bj_nursery_hear(const struct bj_nursery *n, struct bj_seal_report *ret, int *ret_fds)
{
	size_t n_fds = 0;

	ret->born = 0;

	const ssize_t got = bj_fd_recv(n->sock, ret, sizeof(*ret), ret_fds, BJ_NURSERY_FDS, &n_fds,
				       MSG_DONTWAIT);
	const bool good = got == sizeof(*ret);

	for (size_t i = 0; i < BJ_NURSERY_FDS; i++) {
		if (!good && i < n_fds)
			close(ret_fds[i]);
		if (!good || i >= n_fds)
			ret_fds[i] = -1;
	}
	if (got != -EPROTO)
		return good;
	/* It is our child, which we have not waited for: its pid is nobody else's. */
	if (ret->born > 0)
		kill(ret->born, SIGKILL);
	return -EPROTO;
}

void bj_nursery_kill(const struct bj_nursery *n)
{
	siginfo_t info;

	if (n->pid <= 0)
		return;
	/* By its descriptor: once it is waited for, its pid may be somebody else's. */
	pidfd_send_signal(n->pidfd, SIGKILL, NULL, 0);
	waitid(P_PIDFD, (id_t)n->pidfd, &info, WEXITED);
}

void bj_nursery_stop(struct bj_nursery *n)
{
	if (n->pid <= 0)
		return;
	bj_nursery_kill(n);
	close(n->sock);
	close(n->pidfd);
	*n = (struct bj_nursery){ .pidfd = -1, .sock = -1 };
}
