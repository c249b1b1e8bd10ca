/* SPDX-License-Identifier: Apache-2.0 */

/* A pack comes from the other side of a wall. Read as a spec inside the jar, it must not lead past
 * its end; read as a stream of files outside, it must write nothing but plain files, within limits.
 */

#include "fuzz.h"

#include "backend/harvest.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/exec.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILES = 8, MAX_BYTES = 4096, MOST_INPUT = 60000 /* fits into a pipe */ };

static void read_as_spec(const uint8_t *data, size_t size)
{
	/* Just as long as it says, so that a step past the end is seen. */
	AUTO_FREE char *pack = malloc(size ? size : 1);
	struct bj_exec exec = { .language = BJ_LANG_PYTHON };

	if (!pack)
		abort();
	memcpy(pack, data, size);
	if (bj_exec_prepare(&exec, pack, size, NULL) < 0)
		return;
	if (!exec.script[0] || exec.n_args > BJ_EXEC_MAX_ARGS || exec.n_env > BJ_EXEC_MAX_ENV)
		abort();
	for (size_t i = 0; i < exec.n_args; i++)
		if (strlen(exec.args[i]) > size)
			abort();
	for (size_t i = 0; i < exec.n_env; i++)
		if (!strchr(exec.env[i], '='))
			abort();
}

/* Remove what the harvest left and abort on what it must not leave. */
static void inspect(int dir_fd, const struct bj_harvest *h)
{
	AUTO_DIR DIR *dir = fdopendir(dup(dir_fd));
	uint64_t bytes = 0;
	struct dirent *e;
	uint32_t n = 0;

	if (!dir)
		abort();
	rewinddir(dir);
	while ((e = readdir(dir))) {
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode) || !bj_pack_name_ok(e->d_name, strlen(e->d_name)) ||
		    strcmp(e->d_name, h->partial) == 0)
			abort();
		bytes += (uint64_t)st.st_size;
		n++;
		unlinkat(dir_fd, e->d_name, 0);
	}
	if (n > MAX_FILES || bytes > MAX_BYTES || n > h->files || bytes > h->bytes)
		abort();
}

static void read_as_files(int dir_fd, const uint8_t *data, size_t size)
{
	struct bj_harvest h;
	struct bj_err err = { 0 };
	int p[2], r;

	if (pipe2(p, O_CLOEXEC) < 0 || bj_fd_write_all(p[1], data, size) < 0)
		abort();
	close(p[1]);
	bj_harvest_init(&h, "id", p[0], dir_fd, MAX_FILES, MAX_BYTES);
	do
		r = bj_harvest_read(&h, &err);
	while (r == 0);
	if (r < 0 && err.code != -r)
		abort();
	bj_harvest_done(&h);
	inspect(dir_fd, &h);
}

static char top[] = "/tmp/bj-fuzz-pack-XXXXXX";

static void remove_top(void)
{
	rmdir(top);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int dir_fd = -1;

	if (size > MOST_INPUT)
		return 0;
	if (dir_fd < 0) {
		if (!mkdtemp(top) || atexit(remove_top) != 0)
			abort();
		dir_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	read_as_spec(data, size);
	read_as_files(dir_fd, data, size);
	return 0;
}
