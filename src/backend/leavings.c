/* SPDX-License-Identifier: Apache-2.0 */

/* Directories are lifted to the top, level by level, and emptied there: so neither the number of
 * descriptors nor the depth of calls follows what a script has nested. */

#include "backend/leavings.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

struct heap {
	int top;
	uint64_t lifted; /* names what is lifted */
	bool moved;      /* something was removed or lifted in this round */
};

/* Who owns a directory may have taken all rights away, from himself too. */
static void reach(int at, const char *name)
{
	(void)!fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW);
}

static DIR *open_dir(int at, const char *name)
{
	const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

/* The next entry, without the two that every directory has; NULL at the end. */
static const char *next_name(DIR *dir)
{
	const struct dirent *e;

	while ((e = readdir(dir)) && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0))
		;
	return e ? e->d_name : NULL;
}

/* To the top, under a name that is free there or one of an empty directory. */
static int lift(struct heap *heap, int from, const char *name)
{
	char to[24];

	reach(from, name); /* it writes down where it is */
	do {
		snprintf(to, sizeof(to), "%" PRIu64, heap->lifted++);
		if (renameat(from, name, heap->top, to) == 0) {
			heap->moved = true;
			return 0;
		}
	} while (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR);
	return -errno;
}

/* Empty the directory @name of the top and remove it. */
static int level(struct heap *heap, const char *name)
{
	const char *below;

	reach(heap->top, name);
	AUTO_DIR DIR *dir = open_dir(heap->top, name);
	if (!dir)
		return -errno;
	while ((below = next_name(dir))) {
		if (unlinkat(dirfd(dir), below, 0) == 0) {
			heap->moved = true;
			continue;
		}

		const int r = errno == EISDIR ? lift(heap, dirfd(dir), below) : -errno;

		if (r < 0)
			return r;
	}
	/* What came while it was read waits for the next round. */
	heap->moved |= unlinkat(heap->top, name, AT_REMOVEDIR) == 0;
	return 0;
}

/* One round over the top: 1 when it met anything there, 0 when it is empty, or -errno. */
static int round_of(struct heap *heap, DIR *top)
{
	const char *name;
	int met = 0;

	rewinddir(top);
	heap->moved = false;
	for (; (name = next_name(top)); met = 1) {
		if (unlinkat(heap->top, name, 0) == 0) {
			heap->moved = true;
			continue;
		}

		const int r = errno == EISDIR ? level(heap, name) : -errno;

		if (r < 0)
			return r;
	}
	return met && !heap->moved ? -ENOTEMPTY : met;
}

int bj_leavings_remove(int at, const char *name)
{
	int r;

	reach(at, name);
	AUTO_DIR DIR *top = open_dir(at, name);
	if (!top)
		return errno == ENOENT ? 0 : -errno;

	struct heap heap = { .top = dirfd(top) };

	do
		r = round_of(&heap, top);
	while (r > 0);
	if (r < 0)
		return r;
	return unlinkat(at, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
