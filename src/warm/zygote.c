/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * A zygote is an image's own Python, started once and forked for every script, so that no run waits
 * for an interpreter to start. It is made of three parts: this file starts it and asks it for
 * processes, on the launcher's side; runtime/zygote.py is what it runs, which imports the modules
 * and rehearses what an interpreter does only once; slot.c is the library that this Python loads,
 * which forks where Python could not.
 *
 * It has the launcher's rights and runs no foreign code. It leaves the launcher's mounts for a copy
 * of the template, so it imports what a script would find, and it keeps two descriptors: the socket
 * that requests come from, and its own directory in /proc until the first fork.
 *
 * A request names a jar by its init and its cgroups. A helper joins both, forks once more, tells
 * the pid of that process and ends, which makes the process a child of the launcher: its exit
 * status comes from the kernel to the launcher, not through the zygote. The process seals itself
 * where it is, warms up if there is time, reports what holds on a socket of its own, and waits for
 * one script; then it is a slot, and what becomes of the zygote does not matter to it any more.
 *
 * The launcher waits for no zygote, and believes none: requests are short and their answers carry a
 * number that was asked for. Its slots share one address layout, one stack canary and one hash
 * secret, so launch/zygotes.c replaces a zygote after some thousand runs, as one that died or is
 * sick. */

#include "warm/zygote.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/cgroup_find.h"
#include "jar/creds.h"
#include "jar/exec.h"
#include "jar/mount_api.h"
#include "jar/sys.h"
#include "warm/embed.h"
#include "warm/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { MAX_MODULES = 64 };

#define LIBRARY "zygote.so"

/* --- the process ------------------------------------------------------------------------------ */

/* See what a jar sees, plus one file system with our library in it. */
static int enter_template(uint32_t image, struct bj_err *err)
{
	static const char *const options[] = { "mode=0755", NULL };

	if (unshare(CLONE_NEWNS) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot leave the launcher's mounts");
	AUTO_FD int root = bj_mounts_copy(image, err);
	AUTO_FD int files =
		bj_mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);
	if (root < 0 || files < 0)
		return -1;
	if (bj_mount_write_file(files, LIBRARY, bj_embed_slot, bj_embed_slot_size, 0555, err) < 0 ||
	    bj_mount_attach(files, root, "script", err) < 0)
		return -1;
	return bj_mount_pivot(root, err);
}

/* What it prints while it rehearses goes nowhere. The launcher's streams are a pipe that nobody
 * empties: a few zygotes would fill it, and the next one would wait forever. */
static int lose_streams(void)
{
	AUTO_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			return -1;
	return 0;
}

/* Its root has no /proc, and it wants to see its own memory. It can do without. */
static void keep_proc(void)
{
	const int fd = open("/proc/self", O_PATH | O_DIRECTORY); /* stays over exec */

	if (fd < 0 || dup2(fd, BJ_ZYGOTE_PROC) < 0)
		close(BJ_ZYGOTE_PROC);
}

__attribute__((noreturn)) static void
become_zygote(uint32_t image, const char *python, const char *const *modules, bool needed, int sock)
{
	char *envp[BJ_EXEC_MAX_ENV + 2] = { NULL };
	char *argv[MAX_MODULES + 7] = { (char *)python,
					(char *)"-I",
					(char *)"-c",
					(char *)bj_embed_zygote,
					(char *)BJ_JAR_SCRIPT "/" LIBRARY,
					(char *)(needed ? "needed" : "welcome") };
	struct bj_err err;

	/* What is looked up at its first call each slot would look up. It is taken out of what
	 * scripts find in os.environ. */
	envp[bj_exec_fixed_env(envp)] = (char *)"LD_BIND_NOW=1";
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXCPU, SIG_DFL);
	keep_proc();
	if (dup3(sock, BJ_ZYGOTE_SOCKET, 0) < 0 || enter_template(image, &err) < 0 ||
	    lose_streams() < 0 || bj_creds_keep_over_exec(&err) < 0)
		_exit(1);
	close_range(BJ_ZYGOTE_PROC + 1, ~0u, 0);
	for (size_t i = 0; modules && modules[i] && i < MAX_MODULES; i++)
		argv[6 + i] = (char *)modules[i];
	execve(python, argv, envp);
	_exit(127);
}

/* --- the launcher's side ---------------------------------------------------------------------- */

int bj_zygote_start(struct bj_zygote *z, uint32_t image, const char *python,
		    const char *const *modules, bool needed, struct bj_err *err)
{
	/* Its queue is short. A busy one makes room soon; one that hangs does not hang us. */
	static const struct timeval patience = { .tv_usec = 100000 };
	int pair[2], pidfd = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");

	const int r = setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	const pid_t pid = r < 0 ? -1 : bj_sys_clone3(0, &pidfd, -1);

	if (pid == 0)
		become_zygote(image, python, modules, needed, pair[1]);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start a zygote");
	}
	*z = (struct bj_zygote){ .pid = pid, .pidfd = pidfd, .sock = pair[0] };
	return 0;
}

void bj_zygote_stop(struct bj_zygote *z)
{
	if (z->pid <= 0)
		return;
	kill(z->pid, SIGKILL);
	waitpid(z->pid, NULL, 0);
	close(z->sock);
	close(z->pidfd);
	*z = (struct bj_zygote){ .pidfd = -1, .sock = -1 };
}

/* The launcher waits for no zygote; what is said fits into a pipe. */
static int make_ends(int *pid, int *sock)
{
	if (pipe2(pid, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) == 0)
		return 0;
	close(pid[0]);
	close(pid[1]);
	return -1;
}

/* The descriptors of a request, in the order of enum bj_spawn_fd. */
static size_t list_fds(const struct bj_cgroup *cgroup, struct bj_spawn *msg, int *fds)
{
	size_t n = BJ_SPAWN_FIXED;

	if (!cgroup)
		return n;
	if (bj_cgroup_birth_fd(cgroup) >= 0) {
		msg->has_birth = 1;
		fds[n++] = bj_cgroup_birth_fd(cgroup);
	}
	for (int h = 0; h < BJ_HIER_COUNT; h++)
		if (bj_cgroup_tasks(cgroup)[h] >= 0) {
			msg->n_tasks++;
			fds[n++] = bj_cgroup_tasks(cgroup)[h];
		}
	return n;
}

int bj_zygote_spawn(struct bj_zygote *z, int init_pidfd, const struct bj_cgroup *cgroup,
		    const struct bj_spawn *ask, struct bj_zygote_slot *ret, struct bj_err *err)
{
	struct bj_spawn msg = *ask;
	int pid[2], sock[2];

	if (make_ends(pid, sock) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make pipes for a slot");

	int fds[BJ_SPAWN_MAX] = { init_pidfd, pid[1], sock[1] };
	const size_t n = list_fds(cgroup, &msg, fds);
	const int r = bj_fd_send(z->sock, &msg, sizeof(msg), fds, n);

	close(pid[1]);
	close(sock[1]);
	if (r < 0) {
		close(pid[0]);
		close(sock[0]);
		return bj_err_set(err, BJ_E_SYSTEM, -r, "the zygote does not listen");
	}
	z->spawned++;
	*ret = (struct bj_zygote_slot){ .pid_fd = pid[0], .slot_fd = sock[0] };
	return 0;
}
