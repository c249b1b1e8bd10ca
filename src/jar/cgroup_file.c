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

/* The number after @key in the lines of @text, or the first number when @key is "". */
static uint64_t find_number(const char *text, const char *key)
{
	const size_t len = strlen(key);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, key, len) == 0 && (len == 0 || p[len] == ' '))
			return strtoull(p + len, NULL, 10);
		if (*p == '\0')
			break;
	}
	return 0;
}

uint64_t bj_cgfile_number_of(int fd, const char *key)
{
	char text[4096];
	const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return find_number(text, key);
}

uint64_t bj_cgfile_read_number(int dir_fd, const char *file, const char *key)
{
	AUTO_FD int fd = dir_fd == -1 ? -1 : openat(dir_fd, file, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? 0 : bj_cgfile_number_of(fd, key);
}

int bj_cgfile_write_quota(int dir_fd, bool v2, uint32_t milli, struct bj_err *err)
{
	enum { PERIOD_US = 100000, LEAST_US = 1000 };
	const uint64_t wanted = (uint64_t)milli * PERIOD_US / 1000;
	const uint64_t quota = wanted < LEAST_US ? LEAST_US : wanted;
	char text[48];

	if (!v2)
		return bj_cgfile_write_number(dir_fd, "cpu.cfs_quota_us", quota, err);
	snprintf(text, sizeof(text), "%llu %d", (unsigned long long)quota, PERIOD_US);
	return bj_cgfile_write(dir_fd, "cpu.max", text, err);
}

bool bj_cgfile_has_word(const char *list, const char *word)
{
	static const char space[] = " \t\n";
	const size_t len = strlen(word);

	for (const char *p = list + strspn(list, space); *p; p += strspn(p, space)) {
		const size_t n = strcspn(p, space);

		if (n == len && memcmp(p, word, n) == 0)
			return true;
		p += n;
	}
	return false;
}
