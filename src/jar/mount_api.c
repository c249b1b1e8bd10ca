/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/mount_api.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static int set_option(int fs, const char *option)
{
	char key[64];
	const char *equals = strchr(option, '=');

	if (!equals)
		return fsconfig(fs, FSCONFIG_SET_FLAG, option, NULL, 0);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - option), option);
	return fsconfig(fs, FSCONFIG_SET_STRING, key, equals + 1, 0);
}

int bj_mount_new(const char *type, const char *const *options, uint64_t attrs, struct bj_err *err)
{
	AUTO_FD int fs = fsopen(type, FSOPEN_CLOEXEC);

	if (fs < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno, "cannot open file system %s", type);
	for (; *options; options++)
		if (set_option(fs, *options) < 0)
			return bj_err_set(err, BJ_E_UNSUPPORTED, errno, "%s refuses %s", type,
					  *options);
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno, "cannot make a %s", type);

	const int fd = fsmount(fs, FSMOUNT_CLOEXEC, (unsigned int)attrs);

	if (fd < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno, "cannot mount a %s", type);
	return fd;
}

int bj_mount_clone(int dir_fd, const char *path, uint64_t attrs, struct bj_err *err)
{
	struct mount_attr attr = { .attr_set = attrs, .propagation = MS_PRIVATE };
	AUTO_FD int fd =
		open_tree(dir_fd, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot copy the mount at %s", path);
	if (mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot restrict the mount at %s", path);
	return bj_take_fd(&fd);
}

int bj_mount_attach(int mount_fd, int dir_fd, const char *path, struct bj_err *err)
{
	if (move_mount(mount_fd, "", dir_fd, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot mount at %s", path);
	return 0;
}

int bj_mount_write_file(int dir_fd, const char *path, const void *data, size_t size,
			unsigned int mode, struct bj_err *err)
{
	AUTO_FD int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %s", path);

	const int r = bj_fd_write_all(fd, data, size);

	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot write %s", path);
	return 0;
}

int bj_mount_pivot(int root, struct bj_err *err)
{
	if (fchdir(root) < 0 || bj_sys_pivot_root(".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
	    chdir("/") < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot enter the new root");
	return 0;
}
