/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* System calls that glibc 2.36 does not wrap, and nothing else. */

#include <linux/openat2.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* fork(2) with namespace flags, a pidfd (close-on-exec) and, when @cgroup_fd is not -1, a birth
 * in that v2 cgroup. The child runs on a copy of the caller's stack. With CLONE_PARENT its end is
 * told to the caller's parent, by the signal that the caller's own end is told with. */
static inline pid_t bj_sys_clone3(uint64_t flags, int *ret_pidfd, int cgroup_fd)
{
	struct clone_args args = {
		.flags = flags | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)ret_pidfd,
		.exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD,
	};

	if (cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)cgroup_fd;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static inline int bj_sys_openat2(int dir_fd, const char *path, uint64_t flags, uint64_t mode,
				 uint64_t resolve)
{
	struct open_how how = { .flags = flags, .mode = mode, .resolve = resolve };

	return (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
}

static inline int bj_sys_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}
