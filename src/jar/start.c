/* SPDX-License-Identifier: Apache-2.0 */

/* From the front to the launcher. The front forks a *starter*, which makes the cgroups (still as
 * the user who called), enters the namespaces and forks the launcher as pid 1 of the new pid
 * namespace; it then waits for it, so that the front has one ordinary child to reap. */

#include "jar/launch.h"

#include "base/cleanup.h"
#include "base/coverage.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/cgroup.h"
#include "jar/layers.h"
#include "jar/subids.h"
#include "jar/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct bj_launcher {
	int control;
	pid_t starter;
	pthread_mutex_t lock; /* over hello */
	bool greeted;
	struct bj_wire_reply hello;
};

/* --- the starter ------------------------------------------------------------------------------ */

static int write_self(const char *file, const char *text)
{
	AUTO_FD int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

/* A user namespace in which only the caller exists, as nobody: uid 0 is not mapped, since nothing
 * here needs it and the kernel asks for more rights to map it again. */
static int map_alone(uid_t uid, gid_t gid)
{
	char uid_map[32], gid_map[32];

	snprintf(uid_map, sizeof(uid_map), "%d %u 1\n", BJ_JAR_UID, uid);
	snprintf(gid_map, sizeof(gid_map), "%d %u 1\n", BJ_JAR_GID, gid);
	/* Without this an ordinary user may not write a group map. */
	if (write_self("/proc/self/setgroups", "deny") < 0 ||
	    write_self("/proc/self/uid_map", uid_map) < 0 ||
	    write_self("/proc/self/gid_map", gid_map) < 0)
		return -1;
	return 0;
}

/* Rootless: a user namespace first. *@settings gets the uids that jars may have, and the return
 * value is 1, when the caller has subordinate uids; 0 when jars share the caller's uid. */
static int enter_userns(struct bj_launch_settings *settings, struct bj_err *err)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	struct bj_subids_helper helper;

	/* The set-uid tools that write maps from subordinate ids must be outside the namespace. */
	const bool sub = bj_subids_start(&helper, settings->uid_count);

	if (unshare(CLONE_NEWUSER) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno,
				  "this system does not let you make a user namespace; "
				  "run `belljar doctor` for the fix");
	if (sub && bj_subids_finish(&helper)) {
		settings->uid_base = 1;
		return 1;
	}
	if (map_alone(uid, gid) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno, "cannot map the own user");
	return 0;
}

/* A user namespace's own uids start at 1; the count is what bj_subids_start() asked for. */
static int enter_namespaces(struct bj_launch_settings *settings, bool *ret_own, struct bj_err *err)
{
	int own = 1;

	if (geteuid() != 0) {
		own = enter_userns(settings, err);
		if (own < 0)
			return own;
	} else if (setgroups(0, NULL) < 0) {
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot drop supplementary groups");
	}
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno,
				  "cannot make namespaces; run `belljar doctor` for the fix");
	*ret_own = own;
	return 0;
}

/* Nothing of the caller's reaches the launcher but the control socket, at descriptor 3. The
 * standard streams become the two ends of a pipe that nobody else has: always at its end to read,
 * always broken to write. */
static int shed_fds(int control)
{
	int dead[2];

	if (pipe(dead) < 0 || dup3(control, 3, O_CLOEXEC) < 0 || dup2(dead[0], 0) < 0 ||
	    dup2(dead[1], 1) < 0 || dup2(dead[1], 2) < 0)
		return -1;
	if (!bj_layer_faulty(BJ_LAYER_CLOSED_FDS) && close_range(4, ~0u, 0) < 0)
		return -1;
	return 3;
}

static void report_failure(int control, const struct bj_err *err)
{
	const struct bj_wire_reply hello = { .magic = BJ_WIRE_MAGIC,
					     .kind = BJ_REPLY_HELLO,
					     .err = *err };

	bj_fd_send(control, &hello, sizeof(hello), NULL, 0);
}

__attribute__((noreturn)) static void starter(int control_fd, struct bj_launch_settings settings)
{
	struct bj_err err = { 0 }, why = { 0 };
	struct bj_cgroups *cgroups = NULL;
	bool own_uids = false;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
	setsid(); /* Ctrl-C is the front's business */

	const int control = shed_fds(control_fd);

	if (control < 0)
		_exit(1);
	bj_cgroups_new(settings.cgroup, &cgroups, &why);
	if (enter_namespaces(&settings, &own_uids, &err) < 0) {
		report_failure(control, &err);
		bj_cgroups_free(cgroups);
		_exit(1);
	}

	const pid_t pid = fork();

	if (pid == 0)
		bj_launch_main(control, &settings, cgroups, &why, own_uids);
	if (pid < 0) {
		bj_err_set(&err, BJ_E_SYSTEM, errno, "cannot start the launcher");
		report_failure(control, &err);
		_exit(1);
	}
	/* Hold nothing while waiting: the front must see the launcher's end as an end of file. */
	close_range(0, ~0u, 0);
	waitpid(pid, NULL, 0);
	_exit(0);
}

/* --- the front -------------------------------------------------------------------------------- */

int bj_launcher_new(const struct bj_launch_settings *settings, struct bj_launcher **ret,
		    struct bj_err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");
	AUTO_FD int ours = pair[0];
	AUTO_FD int theirs = pair[1];
	struct bj_launcher *l = calloc(1, sizeof(*l));
	if (!l)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot start the launcher");
	l->starter = fork();
	if (l->starter == 0)
		starter(theirs, *settings);
	if (l->starter < 0) {
		free(l);
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start the launcher");
	}
	pthread_mutex_init(&l->lock, NULL);
	l->control = bj_take_fd(&ours);
	*ret = l;
	return 0;
}

static int read_hello(struct bj_launcher *l, struct bj_err *err)
{
	size_t n_fds;
	int fd;
	const ssize_t n = bj_fd_recv(l->control, &l->hello, sizeof(l->hello), &fd, 0, &n_fds, 0);

	if (n != sizeof(l->hello) || l->hello.magic != BJ_WIRE_MAGIC)
		return bj_err_set(err, BJ_E_SYSTEM, n < 0 ? (int)-n : 0,
				  "the launcher died before it was up; run `belljar doctor`");
	l->greeted = true;
	return 0;
}

int bj_launcher_ready(struct bj_launcher *l, unsigned int *ret_swept, struct bj_err *err)
{
	pthread_mutex_lock(&l->lock);

	const int r = l->greeted ? 0 : read_hello(l, err);

	pthread_mutex_unlock(&l->lock);
	if (r < 0)
		return r;
	if (l->hello.err.code) {
		if (err)
			*err = l->hello.err;
		return -l->hello.err.code;
	}
	if (ret_swept)
		*ret_swept = l->hello.swept;
	return 0;
}

int bj_launcher_socket(const struct bj_launcher *l)
{
	return l->control;
}

void bj_launcher_free(struct bj_launcher *l)
{
	if (!l)
		return;
	close(l->control);
	waitpid(l->starter, NULL, 0);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
