/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/cgroup.h"
#include "jar/probe_view.h"
#include "jar/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Run @body in a child; its exit status is the answer. */
static int in_child(int (*body)(const void *), const void *arg)
{
	int status = 0;
	const pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(body(arg));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static int write_file(const char *path, const char *text)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	return -bj_fd_write_all(fd, text, strlen(text));
}

/* Enter new namespaces, the user namespace first, as root of it. */
static int enter(unsigned long flags)
{
	char map[64];
	const uid_t uid = geteuid();
	const gid_t gid = getegid();

	if (unshare((int)(CLONE_NEWUSER | flags)) < 0)
		return errno;
	snprintf(map, sizeof(map), "0 %u 1", uid);

	int r = write_file("/proc/self/uid_map", map);

	if (r == 0)
		r = write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", gid);
	return r ? r : write_file("/proc/self/gid_map", map);
}

static int namespaces_body(const void *arg)
{
	return enter(*(const unsigned long *)arg);
}

int bj_probe_try_namespaces(unsigned long flags)
{
	return in_child(namespaces_body, &flags);
}

/* Where the switch is the whole machine's, other network namespaces do not show it. */
static int copies_body(const void *arg)
{
	const int r = enter(CLONE_NEWNET);

	(void)arg;
	if (r)
		return r;
	return access("/proc/sys/net/core/tstamp_allow_data", F_OK) < 0 ? errno : 0;
}

int bj_probe_try_copies(void)
{
	return in_child(copies_body, NULL);
}

static int mount_proc(const void *arg)
{
	(void)arg;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return errno;
	return 0;
}

/* The kernel lets a pid namespace mount its own /proc only where the outer one is in plain view. */
static int proc_body(const void *arg)
{
	const int r = enter(CLONE_NEWNS | CLONE_NEWPID);

	return r ? r : in_child(mount_proc, arg);
}

int bj_probe_try_proc(void)
{
	return in_child(proc_body, NULL);
}

static int mount_api_body(const void *arg)
{
	const int r = enter(CLONE_NEWNS);

	(void)arg;
	if (r)
		return r;
	if (syscall(SYS_open_tree, AT_FDCWD, "/", 1 | O_CLOEXEC | AT_RECURSIVE) < 0 ||
	    syscall(SYS_fsopen, "tmpfs", 1) < 0)
		return errno;

	/* Without a mount it can only complain about the descriptor. */
	return syscall(SYS_mount_setattr, -1, "", 0x1000, NULL, 0UL) < 0 && errno == ENOSYS ? ENOSYS
											    : 0;
}

int bj_probe_try_mount_api(void)
{
	return in_child(mount_api_body, NULL);
}

static bool make_cgroups(const char *parent)
{
	static const struct bj_cgroup_limits none = { 0 };
	struct bj_cgroups *groups = NULL;
	const bool made = bj_cgroups_new(parent, (uid_t)-1, &groups, NULL) == 0 &&
			  bj_cgroups_complete(groups, &none, NULL) == 0;

	bj_cgroups_sweep(groups);
	bj_cgroups_free(groups);
	return made;
}

/* The child itself moves into the scope, and takes it along at its end. */
static int cgroups_body(const void *parent)
{
	if (make_cgroups(parent))
		return BJ_PROBE_PLACE_OWN;
	if (geteuid() == 0 || parent || bj_scope_enter(NULL) < 0)
		return BJ_PROBE_PLACE_NONE;
	return make_cgroups(NULL) ? BJ_PROBE_PLACE_SCOPE : BJ_PROBE_PLACE_UNFIT;
}

enum bj_probe_place bj_probe_try_cgroups(const char *parent)
{
	const int r = in_child(cgroups_body, parent);

	return r > BJ_PROBE_PLACE_OWN ? BJ_PROBE_PLACE_NONE : (enum bj_probe_place)r;
}

/* In the child: no environment, no input, five seconds. */
static _Noreturn void say_version(const char *path, int out)
{
	char *const argv[] = { (char *)path, (char *)"--version", NULL };
	char *const envp[] = { NULL };
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	alarm(5);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(out, STDERR_FILENO) >= 0)
		execve(path, argv, envp);
	_exit(127);
}

bool bj_probe_try_version(const char *path, char *line, size_t size)
{
	AUTO_BUF struct bj_buf text = { .max = 65536 };
	int pipe_fds[2], status = -1;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return false;

	const pid_t pid = fork();

	if (pid == 0)
		say_version(path, pipe_fds[1]);
	close(pipe_fds[1]);

	const int r = pid < 0 ? -1 : bj_fd_read_all(pipe_fds[0], &text);

	close(pipe_fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0 || status != 0 || text.size == 0)
		return false;
	snprintf(line, size, "%.*s", (int)strcspn(text.data, "\n"), text.data);
	return true;
}
