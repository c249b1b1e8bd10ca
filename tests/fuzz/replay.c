/* SPDX-License-Identifier: Apache-2.0 */

/* Feed a fuzz target every file of a corpus, without a fuzzer: the corpus as an ordinary test. */

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>

enum { MAX_BYTES = 16 << 20 };

static int replay_file(int dir_fd, const char *name)
{
	AUTO_BUF struct bj_buf buf = { .max = MAX_BYTES };
	AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || bj_fd_read_all(fd, &buf) < 0) {
		fprintf(stderr, "cannot read %s\n", name);
		return -1;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)(buf.data ? buf.data : ""), buf.size);
	return 0;
}

static int replay_directory(const char *path)
{
	AUTO_DIR DIR *dir = opendir(path);
	int n = 0;

	if (!dir) {
		fprintf(stderr, "cannot open %s\n", path);
		return -1;
	}
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		if (entry->d_type != DT_REG)
			continue;
		if (replay_file(dirfd(dir), entry->d_name) < 0)
			return -1;
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: replay CORPUS_DIRECTORY\n");
		return 2;
	}

	const int n = replay_directory(argv[1]);

	printf("%d inputs\n", n);
	return n > 0 ? 0 : 1;
}
