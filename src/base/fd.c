/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_SENT_FDS = 16 };

#define ALL_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int bj_fd_write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size > 0) {
		const ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

ssize_t bj_fd_write_quiet(int fd, const void *data, size_t size)
{
	const struct timespec now = { 0 };
	sigset_t broken, before, pending;

	/* The signal of a broken pipe goes to the thread that writes: hold it back, take it away.
	 * One that was pending already is not ours. */
	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &broken, &before);

	const ssize_t n = write(fd, data, size);
	const int errnum = errno;

	if (n < 0 && errnum == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&broken, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n < 0 ? -errnum : n;
}

int bj_fd_read_all(int fd, struct bj_buf *buf)
{
	for (;;) {
		/* One byte past the ceiling tells a file that fits from one that does not. */
		const size_t left = buf->max ? buf->max - buf->size : 65536;
		const size_t want = left < 65536 ? left : 65536;

		if (want == 0) {
			char probe;
			const ssize_t more = read(fd, &probe, 1);

			return more == 0 ? 0 : more < 0 ? -errno : -EFBIG;
		}

		char *to = bj_buf_reserve(buf, want);

		if (!to)
			return -ENOMEM;

		const ssize_t n = read(fd, to, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		buf->size += (size_t)n;
		buf->data[buf->size] = '\0';
	}
}

int bj_fd_read_exact(int fd, void *data, size_t size)
{
	char *p = data;

	while (size > 0) {
		const ssize_t n = read(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EPIPE;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

int bj_fd_memfile(const char *name, const void *data, size_t size)
{
	AUTO_FD int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;

	const int r = bj_fd_write_all(fd, data, size);

	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0 || fcntl(fd, F_ADD_SEALS, ALL_SEALS) < 0)
		return -errno;
	return bj_take_fd(&fd);
}

bool bj_fd_is_sealed(int fd)
{
	return fcntl(fd, F_GET_SEALS) == ALL_SEALS;
}

static int send_with(int sock, const void *data, size_t size, const int *fds, size_t n_fds,
		     int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * MAX_SENT_FDS)];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)data, .iov_len = size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n_fds > MAX_SENT_FDS)
		return -EINVAL;
	if (n_fds > 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);

		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
	}

	ssize_t n;

	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EMSGSIZE;
}

int bj_fd_send(int sock, const void *data, size_t size, const int *fds, size_t n_fds)
{
	return send_with(sock, data, size, fds, n_fds, 0);
}

int bj_fd_send_now(int sock, const void *data, size_t size)
{
	return send_with(sock, data, size, NULL, 0, MSG_DONTWAIT);
}

void bj_fd_drop(int fd)
{
	static const struct linger not_at_all = { .l_onoff = 1, .l_linger = 0 };
	static const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	/* The first alone could be undone before the close; a connection takes time to make. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &not_at_all, sizeof(not_at_all));
	(void)!connect(fd, &nobody, sizeof(nobody));
	close(fd);
}

static void drop_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bj_fd_drop(fds[i]);
}

/* Take the descriptors out of @msg. The count that arrived, or -EPROTO when it is over @max. */
static ssize_t take_fds(struct msghdr *msg, int *fds, size_t max)
{
	size_t count = 0;
	bool bad = false;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;

		const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int got[MAX_SENT_FDS];

		if (n > MAX_SENT_FDS)
			return -EPROTO; /* cannot be: the control buffer has no room for it */
		memcpy(got, CMSG_DATA(c), n * sizeof(int));
		if (bad || count + n > max) {
			drop_all(got, n);
			bad = true;
			continue;
		}
		memcpy(fds + count, got, n * sizeof(int));
		count += n;
	}
	if (bad || (msg->msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		drop_all(fds, count);
		return -EPROTO;
	}
	return (ssize_t)count;
}

ssize_t bj_fd_recv(int sock, void *data, size_t size, int *fds, size_t max_fds, size_t *ret_n_fds,
		   int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * MAX_SENT_FDS)];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = data, .iov_len = size };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	bool heard = false; /* of the reset */
	ssize_t n;

	/* A peer that left with a message of ours unread is a reset. The kernel says that first,
	 * and once; what the peer sent before is still there. */
	while ((n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | flags)) < 0) {
		if (errno == ECONNRESET && !heard)
			heard = true;
		else if (errno != EINTR)
			return -errno;
	}

	const ssize_t count = take_fds(&msg, fds, max_fds);

	if (count < 0)
		return count;
	*ret_n_fds = (size_t)count;
	return n;
}

uint64_t bj_fd_raise_limit(void)
{
	struct rlimit lim = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return 0;
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	return lim.rlim_max;
}
