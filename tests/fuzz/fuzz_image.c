/* SPDX-License-Identifier: Apache-2.0 */

/* An archive that somebody gives us to import: as a saved image, or, when its size is odd, as a
 * plain tree of files. Beside the tree lies a file that nothing in an archive may touch. */

#include "fuzz.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "image/unpack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct ground {
	struct bj_archive_lib lib;
	char path[64];
	int dir;
};

static void make_ground(struct ground *g)
{
	struct bj_err err;

	if (bj_archive_load(&g->lib, &err) < 0)
		abort();
	snprintf(g->path, sizeof(g->path), "/tmp/bjt-fuzz-XXXXXX");
	if (!mkdtemp(g->path))
		abort();
	g->dir = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int victim = openat(g->dir, "victim", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (victim < 0 || write(victim, "precious", 8) != 8)
		abort();
}

/* What lies beside the tree is as it was: three names, and the file's eight bytes with one link. */
static void check_ground(const struct ground *g)
{
	struct stat st, dir;

	if (fstatat(g->dir, "victim", &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_size != 8 ||
	    st.st_nlink != 1 || fstat(g->dir, &dir) < 0 || dir.st_nlink != 4)
		abort();
}

static void unpack(const struct ground *g, const uint8_t *data, size_t size)
{
	struct bj_unpack_report report = { 0 };
	struct bj_err err = { 0 };
	AUTO_FD int archive = bj_fd_memfile("archive", data, size);

	if (archive < 0 || mkdirat(g->dir, "root", 0755) < 0 || mkdirat(g->dir, "spool", 0755) < 0)
		abort();
	AUTO_FD int root = openat(g->dir, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int spool = openat(g->dir, "spool", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct bj_unpack_plan plan = {
		.archive = archive, .rootfs = size & 1, .dir = g->dir, .limits = { 1 << 20, 200 }
	};
	const int r = bj_unpack_here(&g->lib, &plan, root, spool, &report, &err);

	if ((r < 0) != (err.code != 0) || report.bytes > 1 << 20 || report.files > 200)
		abort();
	if (r == 0 && bj_tree_settle(root, (uid_t)-1, (gid_t)-1, &err) < 0)
		abort();
	check_ground(g);
	if (bj_tree_remove(g->dir, "root", &err) < 0 || bj_tree_remove(g->dir, "spool", &err) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ground g = { .dir = -1 };

	umask(022);
	make_ground(&g);
	unpack(&g, data, size);
	if (unlinkat(g.dir, "victim", 0) < 0 || rmdir(g.path) < 0)
		abort();
	close(g.dir);
	return 0;
}
