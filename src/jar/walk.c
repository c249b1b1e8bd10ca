/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/walk.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/pack.h"
#include "jar/sys.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* One walk over out/. */
struct walk {
	int to;
	uint32_t max_files;
	uint64_t max_bytes;
	uint32_t files;
	uint64_t bytes;
};

static int send_head(int fd, enum bj_pack_type type, const char *name, uint64_t size)
{
	const struct bj_pack_head head = { .type = type,
					   .name_size = (uint32_t)strlen(name),
					   .data_size = size };
	const int r = bj_fd_write_all(fd, &head, sizeof(head));

	return r < 0 ? r : bj_fd_write_all(fd, name, head.name_size);
}

/* Open @name if it is a plain file with no other name. Never follows, never hangs. */
static int open_plain(int dir_fd, const char *name, struct stat *ret_st)
{
	AUTO_FD int fd =
		bj_sys_openat2(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0,
			       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);

	if (fd < 0 || fstat(fd, ret_st) < 0 || !S_ISREG(ret_st->st_mode) || ret_st->st_nlink != 1)
		return -1;
	return bj_take_fd(&fd);
}

static int copy_bytes(int from, int to, uint64_t size)
{
	static char block[65536];

	while (size > 0) {
		const size_t want = size < sizeof(block) ? (size_t)size : sizeof(block);

		if (bj_fd_read_exact(from, block, want) < 0 || bj_fd_write_all(to, block, want) < 0)
			return -1;
		size -= want;
	}
	return 0;
}

static int collect_one(struct walk *walk, int dir_fd, const char *name)
{
	const int out = walk->to;
	struct stat st;
	AUTO_FD int fd = open_plain(dir_fd, name, &st);

	if (fd < 0 || !bj_pack_name_ok(name, strlen(name)) || walk->files >= walk->max_files ||
	    (uint64_t)st.st_size > walk->max_bytes - walk->bytes)
		return send_head(out, BJ_PACK_REFUSED, "", 0);
	walk->files++;
	walk->bytes += (uint64_t)st.st_size;
	if (send_head(out, BJ_PACK_FILE, name, (uint64_t)st.st_size) < 0)
		return -1;
	return copy_bytes(fd, out, (uint64_t)st.st_size);
}

int bj_walk_out(const char *out, int to, uint32_t max_files, uint64_t max_bytes)
{
	struct walk walk = { .to = to, .max_files = max_files, .max_bytes = max_bytes };
	const int fd =
		bj_sys_openat2(AT_FDCWD, out, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0,
			       RESOLVE_NO_SYMLINKS);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir)
		return send_head(to, BJ_PACK_END, "", 0); /* the script removed out/ */
	while ((e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (collect_one(&walk, fd, e->d_name) < 0)
			return -1;
	}
	return send_head(to, BJ_PACK_END, "", 0);
}
