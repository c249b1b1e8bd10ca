/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/mounts.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "jar/layers.h"
#include "jar/mount_api.h"
#include "jar/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define NO_EXEC (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* A file costs about this much kernel memory beside its pages: it bounds the number of files. */
enum { BYTES_PER_INODE = 4096, MIN_INODES = 1024 };

/* A tmpfs that belongs to the script, with room for @size bytes and as many files. */
static int attach_tmpfs(int root, const char *path, uint64_t size, const char *mode,
			struct bj_err *err)
{
	char size_option[40], inodes_option[40], mode_option[16];
	const uint64_t inodes =
		size / BYTES_PER_INODE < MIN_INODES ? MIN_INODES : size / BYTES_PER_INODE;
	const bool faulty = bj_layer_faulty(BJ_LAYER_TMPFS_LIMITS);
	const char *const options[] = { mode_option,   "uid=65534",
					"gid=65534",   faulty ? NULL : size_option,
					inodes_option, NULL };

	snprintf(size_option, sizeof(size_option), "size=%llu", (unsigned long long)size);
	snprintf(inodes_option, sizeof(inodes_option), "nr_inodes=%llu",
		 (unsigned long long)inodes);
	snprintf(mode_option, sizeof(mode_option), "mode=%s", mode);
	AUTO_FD int fd = bj_mount_new("tmpfs", options, faulty ? 0 : NO_EXEC, err);
	return fd < 0 ? fd : bj_mount_attach(fd, root, path, err);
}

/* /proc of the jar's own pid namespace. 1 when mounted, 0 when the settings want none. */
static int attach_proc(int root, enum bj_mounts_proc mode, struct bj_err *err)
{
	static const char *const subset[] = { "subset=pid", NULL };
	static const char *const whole[] = { NULL };

	if (mode == BJ_MOUNTS_PROC_NONE)
		return 0;
	AUTO_FD int fd = bj_layer_faulty(BJ_LAYER_PRIVATE_PROC)
				 ? bj_mount_clone(AT_FDCWD, "/proc", NO_EXEC, err)
				 : bj_mount_new("proc", mode == BJ_MOUNTS_PROC_PID ? subset : whole,
						NO_EXEC, err);
	if (fd < 0)
		return bj_err_wrap(err, "cannot mount a private /proc (see `belljar doctor`, or "
					"set native.proc: none)");

	const int r = bj_mount_attach(fd, root, "proc", err);

	return r < 0 ? r : 1;
}

/* The whole /proc of the compat mode has files that act on the machine, not on the jar. */
static int mask_proc(int root, struct bj_err *err)
{
	static const char *const masked[] = { "proc/kcore",      "proc/keys", "proc/sysrq-trigger",
					      "proc/timer_list", "proc/kmsg", "proc/latency_stats",
					      "proc/sched_debug" };
	static const char *const read_only[] = { "proc/sys", "proc/irq", "proc/bus", "proc/fs" };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(masked); i++) {
		if (faccessat(root, masked[i], F_OK, 0) < 0)
			continue;
		AUTO_FD int null =
			bj_mount_clone(root, "dev/null", NO_EXEC & ~MOUNT_ATTR_NODEV, err);
		if (null < 0 || bj_mount_attach(null, root, masked[i], err) < 0)
			return -err->code;
	}
	for (size_t i = 0; i < BJ_ARRAY_SIZE(read_only); i++) {
		if (faccessat(root, read_only[i], F_OK, 0) < 0)
			continue;
		AUTO_FD int part =
			bj_mount_clone(root, read_only[i], NO_EXEC | MOUNT_ATTR_RDONLY, err);
		if (part < 0 || bj_mount_attach(part, root, read_only[i], err) < 0)
			return -err->code;
	}
	return 0;
}

/* Write an input and show it, read-only, under its name in the working directory. A mount point
 * cannot be removed or replaced by the script, whoever owns the directory. Where it was written it
 * has no name any more: the script may have the same. */
static int add_input(int files, int root, const struct bj_pack_record *rec, struct bj_err *err)
{
	static const char aside[] = "\x01"; /* no file of a spec can be called so */
	char path[BJ_PACK_NAME_MAX + 16];

	snprintf(path, sizeof(path), "work/%s", rec->name);

	int r = bj_mount_write_file(files, aside, rec->data, rec->size, 0444, err);

	if (r == 0)
		r = bj_mount_write_file(root, path, "", 0, 0444, err);
	if (r < 0)
		return r;
	AUTO_FD int mount = bj_mount_clone(files, aside, NO_EXEC | MOUNT_ATTR_RDONLY, err);
	r = mount < 0 ? mount : bj_mount_attach(mount, root, path, err);
	if (r == 0 && unlinkat(files, aside, 0) < 0)
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot put an input in place");
	return r;
}

static int write_inputs(int files, int root, const struct bj_mounts_jar *jar, struct bj_err *err)
{
	struct bj_pack_record rec;
	size_t pos = 0;
	int r = 0;

	while (jar->pack && (r = bj_pack_next(jar->pack, jar->pack_size, &pos, &rec)) > 0) {
		if (rec.type != BJ_PACK_INPUT)
			continue;
		if (!bj_pack_name_ok(rec.name, strlen(rec.name)))
			return bj_err_set(err, BJ_E_PROTOCOL, 0, "bad file name in the spec");
		r = add_input(files, root, &rec, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "malformed spec");
	return 0;
}

/* A tmpfs for inputs and script. What the jar sees of it is a read-only copy of the mount, over the
 * writable one, which no path leads to any more: *@ret_files is its only handle. */
static int attach_files(int root, const struct bj_mounts_jar *jar, int *ret_files,
			struct bj_err *err)
{
	static const char *const options[] = { "mode=0755", NULL };
	AUTO_FD int files = bj_mount_new("tmpfs", options, NO_EXEC, err);

	if (files < 0)
		return files;

	/* Before Linux 6.15 the kernel copies only what is mounted. */
	int r = bj_mount_attach(files, root, "script", err);

	if (r == 0)
		r = write_inputs(files, root, jar, err);
	if (r < 0)
		return r;
	AUTO_FD int shown = bj_mount_clone(files, ".", NO_EXEC | MOUNT_ATTR_RDONLY, err);
	r = shown < 0 ? shown : bj_mount_attach(shown, root, "script", err);
	if (r == 0)
		*ret_files = bj_take_fd(&files);
	return r;
}

static int attach_own(int root, const struct bj_mounts_jar *jar, uint64_t *layers, int *ret_files,
		      struct bj_err *err)
{
	int r = attach_tmpfs(root, "tmp", jar->tmp_size, "1777", err);

	if (r == 0)
		r = attach_tmpfs(root, "work", jar->tmp_size, "0700", err);
	if (r == 0)
		r = attach_tmpfs(root, "dev/shm", jar->tmp_size, "1777", err);
	if (r < 0)
		return r;
	*layers |= BJ_LAYER_BIT(BJ_LAYER_TMPFS_LIMITS);
	r = attach_proc(root, jar->proc, err);
	if (r < 0)
		return r;
	*layers |= BJ_LAYER_BIT(BJ_LAYER_PRIVATE_PROC);
	if (r > 0 && jar->proc == BJ_MOUNTS_PROC_COMPAT)
		r = mask_proc(root, err);
	if (r < 0)
		return r;
	if (mkdirat(root, "work/out", 0700) < 0 ||
	    fchownat(root, "work/out", BJ_JAR_UID, BJ_JAR_GID, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make out/");
	return attach_files(root, jar, ret_files, err);
}

int bj_mounts_copy(uint32_t image, struct bj_err *err)
{
	char template[BJ_TEMPLATE_PATH];

	snprintf(template, sizeof(template), BJ_TEMPLATE, image);
	/* Mounts that come from a more privileged namespace are locked in place; a copy of the
	 * whole tree is ours to pivot into. */
	AUTO_FD int root = bj_mount_clone(AT_FDCWD, template, 0, err);

	if (root < 0)
		return root;

	const int r = bj_mount_attach(root, AT_FDCWD, template, err);

	return r < 0 ? r : bj_take_fd(&root);
}

int bj_mounts_make_root(int root, struct bj_err *err)
{
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };

	if (!bj_layer_faulty(BJ_LAYER_READ_ONLY_ROOT) &&
	    mount_setattr(root, "", AT_EMPTY_PATH, &read_only, sizeof(read_only)) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make the root read-only");
	return bj_mount_pivot(root, err);
}

int bj_mounts_enter(const struct bj_mounts_jar *jar, uint64_t *ret_layers, int *ret_files,
		    struct bj_err *err)
{
	uint64_t layers = BJ_LAYER_BIT(BJ_LAYER_READ_ONLY_ROOT);
	AUTO_FD int files = -1;
	AUTO_FD int root = jar->has_root ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
					 : bj_mounts_copy(jar->image, err);

	if (root < 0)
		return jar->has_root ? bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open /") : root;

	int r = attach_own(root, jar, &layers, &files, err);

	if (r == 0 && !jar->has_root)
		r = bj_mounts_make_root(root, err);
	if (r < 0)
		return r;
	*ret_layers = layers;
	*ret_files = bj_take_fd(&files);
	return 0;
}
