/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/watchdog.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The inode that names the pid namespace of @pid; 0 when it is gone. */
static ino_t namespace_of(int proc_fd, const char *pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%.20s/ns/pid", pid);
	return fstatat(proc_fd, path, &st, 0) == 0 ? st.st_ino : 0;
}

static uint64_t resident_of(int proc_fd, const char *pid)
{
	char path[64], text[128];
	unsigned long long pages = 0;

	snprintf(path, sizeof(path), "%.20s/statm", pid);
	AUTO_FD int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t bj_watchdog_resident(pid_t init_pid)
{
	char init[24];
	uint64_t total = 0;
	struct dirent *e;
	AUTO_DIR DIR *proc = opendir("/proc");

	if (!proc)
		return 0;
	snprintf(init, sizeof(init), "%d", init_pid);

	const ino_t ours = namespace_of(dirfd(proc), init);

	while (ours && (e = readdir(proc)))
		if (isdigit((unsigned char)e->d_name[0]) &&
		    namespace_of(dirfd(proc), e->d_name) == ours)
			total += resident_of(dirfd(proc), e->d_name);
	return total;
}
