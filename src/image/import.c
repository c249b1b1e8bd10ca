/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation: an import.
 *
 *	aside    a directory with a lock, so that a sweep knows the living from the dead
 *	unpack   in a sealed process (unpack.c), which also verifies every digest
 *	settle   the finished tree is looked at again, and becomes ours
 *	dress    what every jar needs is added where the image has it not
 *	find     the interpreters, by the image's own PATH
 *	publish  rename, then the name */

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "image/index.h"
#include "image/store.h"
#include "image/unpack.h"
#include "jar/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define USUAL_PATH "/usr/local/bin:/usr/bin:/bin"

/* An import under way: a directory of its own. */
struct aside {
	const struct bj_images *images;
	char name[32];
	int dir;
};

static void aside_done(struct aside *a)
{
	if (a->dir < 0)
		return;
	(void)bj_tree_remove(a->images->dir, a->name, NULL);
	close(a->dir);
}

static int make_inside(int dir, const char *name, bool give_away, struct bj_err *err)
{
	if (mkdirat(dir, name, 0755) < 0 ||
	    (give_away && fchownat(dir, name, BJ_JAR_UID, BJ_JAR_GID, AT_SYMLINK_NOFOLLOW) < 0))
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a directory for an image");
	return 0;
}

static int make_aside(const struct bj_images *images, struct aside *ret, struct bj_err *err)
{
	const bool root = geteuid() == 0;
	uint64_t chance = 0;

	*ret = (struct aside){ .images = images, .dir = -1 };
	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		return bj_err_set(err, BJ_E_SYSTEM, errno, "no random numbers");
	snprintf(ret->name, sizeof(ret->name), ".new-%016llx", (unsigned long long)chance);
	if (mkdirat(images->dir, ret->name, 0700) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a directory for an image");
	ret->dir = openat(images->dir, ret->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->dir < 0 || flock(ret->dir, LOCK_EX | LOCK_NB) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot lock a directory for an image");
	/* As root the unpacking is nobody's work. */
	if (root && fchown(ret->dir, BJ_JAR_UID, BJ_JAR_GID) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot give a directory away");

	const int r = make_inside(ret->dir, "root", root, err);

	return r < 0 ? r : make_inside(ret->dir, "spool", root, err);
}

/* --- the finished tree ------------------------------------------------------------------------ */

static int open_in(int root, const char *path, int flags)
{
	const struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC),
				      .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static int add_dir(int root, const char *name, struct bj_err *err)
{
	struct stat st;

	if (fstatat(root, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return 0;
	/* A link would lead a mount of ours elsewhere. */
	if (unlinkat(root, name, 0) < 0 && errno != ENOENT)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make /%s in the image", name);
	if (mkdirat(root, name, 0755) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make /%s in the image", name);
	return 0;
}

static int add_file(int etc, const char *name, const char *text, struct bj_err *err)
{
	struct stat st;

	if (fstatat(etc, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	AUTO_FD int fd = openat(etc, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	const int r = fd < 0 ? -errno : bj_fd_write_all(fd, text, strlen(text));

	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot make /etc/%s in the image", name)
		     : 0;
}

/* Directories that a jar mounts on, and the few files without which programs stumble. */
static int dress(int root, struct bj_err *err)
{
	static const char *const dirs[] = { "dev", "etc", "proc", "script", "tmp", "work" };
	static const struct {
		const char *name, *text;
	} files[] = {
		{ "passwd",
		  "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/work:/bin/sh\n" },
		{ "group", "root:x:0:\nnogroup:x:65534:\n" },
		{ "hosts", "127.0.0.1 localhost\n::1 localhost\n" },
		{ "hostname", "belljar\n" },
		{ "nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n" },
		{ "resolv.conf", "" },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < BJ_ARRAY_SIZE(dirs); i++)
		r = add_dir(root, dirs[i], err);
	AUTO_FD int etc =
		r < 0 ? -1 : openat(root, "etc", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (size_t i = 0; r == 0 && i < BJ_ARRAY_SIZE(files); i++)
		r = add_file(etc, files[i].name, files[i].text, err);
	return r;
}

/* The first of @path's directories that has an executable @name; links are followed, but never
 * out of the image. */
static void find_program(int root, const char *path, const char *name, char ret[BJ_IMAGE_PATH])
{
	struct stat st;

	for (const char *at = path; *at; at += strspn(at, ":")) {
		const size_t n = strcspn(at, ":");

		snprintf(ret, BJ_IMAGE_PATH, "%.*s/%s", n < 200 ? (int)n : 0, at, name);
		at += n;
		if (ret[0] != '/' || strstr(ret, "/../"))
			continue;
		AUTO_FD int fd = open_in(root, ret, O_PATH);
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111))
			return;
	}
	ret[0] = '\0';
}

static int finish_tree(const struct aside *a, const struct bj_unpack_report *report,
		       struct bj_image_info *info, struct bj_err *err)
{
	const uid_t owner = geteuid() == 0 ? 0 : (uid_t)-1;
	const char *path = report->path[0] ? report->path : USUAL_PATH;
	AUTO_FD int root = openat(a->dir, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (root < 0 || (owner == 0 && fchown(a->dir, 0, 0) < 0))
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open the image");

	int r = bj_tree_remove(a->dir, "spool", err);

	if (r == 0)
		r = bj_tree_settle(root, owner, owner, err);
	if (r == 0)
		r = dress(root, err);
	if (r < 0)
		return r;
	find_program(root, path, "python3", info->python);
	find_program(root, path, "bash", info->bash);
	if (!info->python[0] && !info->bash[0])
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "the image has neither python3 nor bash in %.100s", path);
	info->size = report->bytes;
	info->files = report->files;
	info->layers = report->layers;
	info->created = (uint64_t)time(NULL);
	return bj_index_describe(a->dir, info, err);
}

/* --- the import ------------------------------------------------------------------------------- */

/* Rename into place. An image that is there already is the same one. */
static int publish(struct aside *a, const struct bj_image_info *info, struct bj_err *err)
{
	AUTO_FD int lock = bj_index_lock(a->images, err);

	if (lock < 0)
		return lock;
	/* Whole on the disk before it has its name. */
	if (syncfs(a->dir) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot store the image");
	if (renameat2(a->images->dir, a->name, a->images->dir, info->digest, RENAME_NOREPLACE) ==
	    0) {
		close(a->dir);
		a->dir = -1;
	} else if (errno != EEXIST) {
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot store the image");
	}

	json_t *names = bj_index_read(a->images);

	json_object_set_new(names, info->name, json_string(info->digest));

	const int r = bj_index_write(a->images, names, err);

	json_decref(names);
	return r;
}

static int choose_name(const char *asked, const char *own, char ret[BJ_IMAGE_NAME],
		       struct bj_err *err)
{
	if (asked)
		return bj_image_name(asked, ret, err);
	if (own[0] && bj_image_name(own, ret, NULL) == 0)
		return 0;
	return bj_err_set(err, BJ_E_INVALID, 0,
			  "the archive does not say what it is called; add --name NAME");
}

int bj_images_import(const struct bj_images *images, const struct bj_image_source *source,
		     struct bj_image_info *ret, uint64_t *ret_dropped, struct bj_err *err)
{
	__attribute__((cleanup(aside_done))) struct aside aside = { .dir = -1 };
	struct bj_image_info info = { 0 };
	struct bj_unpack_report report;
	int r = source->name ? bj_image_name(source->name, info.name, err) : 0;

	(void)bj_images_sweep(images);
	if (r >= 0)
		r = make_aside(images, &aside, err);
	if (r < 0)
		return r;

	const struct bj_unpack_plan plan = {
		.archive = source->archive,
		.rootfs = source->rootfs,
		.dir = aside.dir,
		.limits = { source->max_size, source->max_files },
	};

	r = bj_unpack(&plan, &report, err);
	if (r == 0)
		r = choose_name(source->name, report.name, info.name, err);
	if (r == 0) {
		snprintf(info.digest, sizeof(info.digest), "%s", report.digest);
		r = finish_tree(&aside, &report, &info, err);
	}
	if (r == 0)
		r = publish(&aside, &info, err);
	if (r < 0)
		return r;
	*ret = info;
	*ret_dropped = report.dropped;
	return 0;
}
