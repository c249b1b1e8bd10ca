/* SPDX-License-Identifier: Apache-2.0 */

/* The template: a small read-only tree of the host's own interpreters and libraries, and nothing
 * of its data. /usr is bound read-only; /etc is made here, file by file. Of the host's /etc only
 * two things are shown: the dynamic linker's cache and /etc/alternatives (a directory of
 * links, without which awk and others are not found). /home, /root, /var, /run are not there. */

#include "base/cleanup.h"
#include "base/err.h"
#include "jar/mount_api.h"
#include "jar/mounts.h"
#include "jar/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

/* A device on a read-only mount can be written to, but not given away or opened up. */
#define BOUND_DEVICE (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)
#define NO_EXEC      (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define READ_ONLY    (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Top-level names that are part of the system: a link on merged systems, a directory on others. */
static const char *const SYSTEM[] = { "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32" };

static const char *const DIRS[] = {
	"etc", "proc", "tmp", "work", "dev", "script", "etc/alternatives"
};

static const struct {
	const char *name;
	unsigned int minor; /* of the memory devices, major 1 */
} DEVICES[] = { { "null", 3 }, { "zero", 5 }, { "full", 7 }, { "random", 8 }, { "urandom", 9 } };

static const struct {
	const char *path, *target;
} LINKS[] = {
	{ "fd", "/proc/self/fd" },
	{ "stdin", "/proc/self/fd/0" },
	{ "stdout", "/proc/self/fd/1" },
	{ "stderr", "/proc/self/fd/2" },
};

static const struct {
	const char *path, *text;
} FILES[] = {
	{ "etc/passwd", "root:x:0:0:root:/:/usr/sbin/nologin\n"
			"nobody:x:65534:65534:nobody:/work:/bin/sh\n" },
	{ "etc/group", "root:x:0:\nnogroup:x:65534:\n" },
	{ "etc/hosts", "127.0.0.1 localhost\n::1 localhost\n" },
	{ "etc/hostname", "belljar\n" },
	{ "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n" },
	{ "etc/resolv.conf", "" },
	{ "etc/ld.so.cache", "" },
};

/* Of the host's /etc. */
static const char *const SHOWN[] = { "etc/ld.so.cache", "etc/alternatives" };

/* Bind or link one system directory of the host into the tree. */
static int add_system(int root, const char *name, struct bj_err *err)
{
	char path[32], target[256];
	struct stat st;

	snprintf(path, sizeof(path), "/%s", name);
	if (lstat(path, &st) < 0)
		return 0; /* not every system has all of them */
	if (S_ISLNK(st.st_mode)) {
		const ssize_t n = readlink(path, target, sizeof(target) - 1);

		if (n < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read link %s", path);
		target[n] = '\0';
		if (symlinkat(target, root, name) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make link %s", path);
		return 0;
	}
	if (mkdirat(root, name, 0755) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %s", path);
	AUTO_FD int mount = bj_mount_clone(AT_FDCWD, path, READ_ONLY, err);
	return mount < 0 ? mount : bj_mount_attach(mount, root, name, err);
}

/* Root makes its own devices, whatever the host has done to its own. No user namespace may: there
 * the host's are bound. */
static int add_device(int dev, const char *name, unsigned int minor, struct bj_err *err)
{
	char from[32];

	if (mknodat(dev, name, S_IFCHR | 0666, makedev(1, minor)) == 0) {
		if (fchmodat(dev, name, 0666, 0) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open up /dev/%s", name);
		return 0;
	}

	int r = bj_mount_write_file(dev, name, "", 0, 0666, err);

	if (r < 0)
		return r;
	snprintf(from, sizeof(from), "/dev/%s", name);
	AUTO_FD int mount = bj_mount_clone(AT_FDCWD, from, BOUND_DEVICE, err);
	return mount < 0 ? mount : bj_mount_attach(mount, dev, name, err);
}

/* /dev is a mount of its own, because the rest of the tree allows no devices. */
static int add_dev(int root, struct bj_err *err)
{
	static const char *const options[] = { "mode=0755", "size=64k", NULL };
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };
	AUTO_FD int dev =
		bj_mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, err);
	int r = dev < 0 ? dev : bj_mount_attach(dev, root, "dev", err);

	for (size_t i = 0; r == 0 && i < BJ_ARRAY_SIZE(DEVICES); i++)
		r = add_device(dev, DEVICES[i].name, DEVICES[i].minor, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(LINKS); i++)
		if (symlinkat(LINKS[i].target, dev, LINKS[i].path) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %s", LINKS[i].path);
	if (mkdirat(dev, "shm", 0755) < 0 ||
	    mount_setattr(dev, "", AT_EMPTY_PATH, &read_only, sizeof(read_only)) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot finish /dev");
	return 0;
}

/* Show a file or directory of the host, read-only, under its own name. Missing ones are not shown:
 * without the linker's cache, the linker searches the directories. */
static int show(int root, const char *name, struct bj_err *err)
{
	char from[64];

	snprintf(from, sizeof(from), "/%s", name);
	if (access(from, F_OK) < 0)
		return 0;
	AUTO_FD int mount = bj_mount_clone(AT_FDCWD, from, READ_ONLY | MOUNT_ATTR_NOEXEC, err);
	return mount < 0 ? mount : bj_mount_attach(mount, root, name, err);
}

static int fill_root(int root, struct bj_err *err)
{
	int r = 0;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(DIRS); i++)
		if (mkdirat(root, DIRS[i], 0755) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %s", DIRS[i]);
	for (size_t i = 0; r == 0 && i < BJ_ARRAY_SIZE(SYSTEM); i++)
		r = add_system(root, SYSTEM[i], err);
	if (r == 0)
		r = add_dev(root, err);
	for (size_t i = 0; r == 0 && i < BJ_ARRAY_SIZE(FILES); i++)
		r = bj_mount_write_file(root, FILES[i].path, FILES[i].text, strlen(FILES[i].text),
					0644, err);
	for (size_t i = 0; r == 0 && i < BJ_ARRAY_SIZE(SHOWN); i++)
		r = show(root, SHOWN[i], err);
	return r;
}

static int mount_proc(struct bj_err *err)
{
	static const char *const none[] = { NULL };

	return bj_mount_new("proc", none, NO_EXEC, err);
}

size_t bj_mounts_procs(int *ret_fds, size_t n)
{
	struct bj_err unused;
	size_t i;

	for (i = 0; i < n; i++) {
		ret_fds[i] = i == 0 ? open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC)
				    : mount_proc(&unused);
		if (ret_fds[i] < 0)
			break;
	}
	return i;
}

/* In a child that is alone in a pid namespace and shares our descriptors: its status is the number
 * of the mount, the only thing that it leaves. */
__attribute__((noreturn)) static void mount_and_leave(void)
{
	static const char *const subset[] = { "subset=pid", NULL };
	struct bj_err unused;
	const int fd = bj_mount_new("proc", subset, NO_EXEC, &unused);

	_exit(fd > 0 && fd < UINT8_MAX ? fd : 0);
}

int bj_mounts_nobody(struct bj_err *err)
{
	int pidfd = -1, status = 0;
	const pid_t pid = bj_sys_clone3(CLONE_NEWPID | CLONE_FILES, &pidfd, -1);

	if (pid == 0)
		mount_and_leave();
	if (pid > 0)
		close(pidfd);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || !status)
		return bj_err_set(err, BJ_E_SYSTEM, 0, "cannot mount an empty /proc");
	AUTO_FD int proc = WEXITSTATUS(status);
	if (mkdir(BJ_MOUNTS_NOBODY, 0755) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make " BJ_MOUNTS_NOBODY);
	return bj_mount_attach(proc, AT_FDCWD, BJ_MOUNTS_NOBODY, err);
}

static int attach_proc(int base, struct bj_err *err)
{
	AUTO_FD int proc = mount_proc(err);

	if (proc >= 0 && mkdirat(base, "proc", 0755) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a place for /proc");
	return proc < 0 ? proc : bj_mount_attach(proc, base, "proc", err);
}

/* A tmpfs over a directory that every system has; from there we pivot, and the rest is gone. */
static int attach_base(struct bj_err *err)
{
	static const char *const options[] = { "mode=0755", "size=16m", NULL };
	static const char *const spots[] = { "/tmp", "/mnt", "/usr" };
	AUTO_FD int base =
		bj_mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);

	if (base < 0)
		return base;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(spots); i++)
		if (bj_mount_attach(base, AT_FDCWD, spots[i], err) == 0)
			return bj_take_fd(&base);
	return bj_err_wrap(err, "no directory to build the jar's root on");
}

/* One template: a mount of its own, so that its root can be read-only for every jar. An image has
 * all of it already but the devices. */
static int attach_template(int image, uint32_t number, int base, struct bj_err *err)
{
	static const char *const options[] = { "mode=0755", "size=16m", NULL };
	char path[BJ_TEMPLATE_PATH];
	AUTO_FD int root = image >= 0 ? bj_mount_clone(image, ".", READ_ONLY, err)
				      : bj_mount_new("tmpfs", options,
						     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);

	if (root < 0)
		return root;
	snprintf(path, sizeof(path), BJ_TEMPLATE, number);
	if (mkdirat(base, path + 1, 0755) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make the jar's root");

	const int r = bj_mount_attach(root, base, path + 1, err);

	if (r < 0)
		return r;
	return image >= 0 ? add_dev(root, err) : fill_root(root, err);
}

int bj_mounts_templates(const int *images, size_t n, bool want_proc, struct bj_err *err)
{
	/* Nothing we mount is seen outside, nothing mounted outside is seen here. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make mounts private");

	AUTO_FD int base = attach_base(err);
	if (base < 0)
		return base;

	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (images[i] != BJ_MOUNTS_NOTHING)
			r = attach_template(images[i], i, base, err);
	if (r == 0 && want_proc)
		r = attach_proc(base, err);
	if (r < 0)
		return bj_err_wrap(err, "cannot build the jar's root");
	return bj_mount_pivot(base, err);
}
