/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/cgroup_file.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int bj_cgfile_write(int dir_fd, const char *file, const char *value, struct bj_err *err)
{
	const size_t len = strlen(value);
	AUTO_FD int fd = openat(dir_fd, file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %s", file);

	/* The kernel takes one write as one value: a short write cannot be resumed. */
	const ssize_t n = write(fd, value, len);
	if (n != (ssize_t)len)
		return bj_err_set(err, BJ_E_SYSTEM, n < 0 ? errno : EIO, "cannot set %s", file);
	return 0;
}

int bj_cgfile_write_number(int dir_fd, const char *file, uint64_t value, struct bj_err *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return bj_cgfile_write(dir_fd, file, text, err);
}

bool bj_cgfile_read(int dir_fd, const char *file, char *text, size_t size)
{
	AUTO_FD int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The number after @key in a flat file such as memory.events, or the whole file's number when
 * @key is "". 0 when it is not there. */
uint64_t bj_cgfile_read_number(int dir_fd, const char *file, const char *key)
{
	char text[4096];
	const size_t len = strlen(key);

	if (dir_fd < 0 || !bj_cgfile_read(dir_fd, file, text, sizeof(text)))
		return 0;
	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, key, len) == 0 && (len == 0 || p[len] == ' '))
			return strtoull(p + len, NULL, 10);
		if (*p == '\0')
			break;
	}
	return 0;
}
