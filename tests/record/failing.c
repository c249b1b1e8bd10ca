/* SPDX-License-Identifier: Apache-2.0 */

/* A file system that fails, for tests: preloaded, it makes calls that write to one device fail now
 * and then, as a dying disk does. BJTEST_FAILING names a file of three numbers that all processes
 * map: the device, how many calls of a thousand fail, and how many have failed so far. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct control {
	atomic_ullong device, permille, failed;
};

static struct control *control;

__attribute__((constructor)) static void map_control(void)
{
	const char *path = getenv("BJTEST_FAILING");
	const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED
			  : mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at != MAP_FAILED)
		control = at;
	if (fd >= 0)
		close(fd);
}

static int fails(int fd)
{
	const int saved = errno;
	unsigned int random = 0;
	struct stat st;

	if (!control || !control->permille || fstat(fd, &st) < 0 ||
	    (unsigned long long)st.st_dev != control->device ||
	    getrandom(&random, sizeof(random), 0) != sizeof(random) ||
	    random % 1000 >= control->permille) {
		errno = saved;
		return 0;
	}
	control->failed++;
	errno = EIO;
	return 1;
}

#define FAILING(type, name, args, ...)                                                             \
	type name args                                                                             \
	{                                                                                          \
		static type(*real) args;                                                           \
                                                                                                   \
		if (!real)                                                                         \
			real = (type(*) args)dlsym(RTLD_NEXT, #name);                              \
		return fails(fd) ? -1 : real(__VA_ARGS__);                                         \
	}

FAILING(ssize_t, write, (int fd, const void *data, size_t size), fd, data, size)
FAILING(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), fd, data, size, at)
FAILING(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), fd, data, size, at)
FAILING(ssize_t, pwritev, (int fd, const struct iovec *iov, int n, off_t at), fd, iov, n, at)
FAILING(ssize_t, pwritev64, (int fd, const struct iovec *iov, int n, off64_t at), fd, iov, n, at)
FAILING(int, fsync, (int fd), fd)
FAILING(int, fdatasync, (int fd), fd)
FAILING(int, ftruncate, (int fd, off_t size), fd, size)
FAILING(int, ftruncate64, (int fd, off64_t size), fd, size)
FAILING(int, fallocate, (int fd, int mode, off_t at, off_t size), fd, mode, at, size)
FAILING(int, fallocate64, (int fd, int mode, off64_t at, off64_t size), fd, mode, at, size)
FAILING(int, mkdirat, (int fd, const char *name, mode_t mode), fd, name, mode)
FAILING(int, renameat, (int fd, const char *from, int to_fd, const char *to), fd, from, to_fd, to)
