/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

#include <sys/types.h>

/* File descriptors: whole reads and writes, sealed memory files, descriptors over sockets.
 * Nothing here allocates but bj_fd_read_all(). */

/* Write all of it, through EINTR and short writes. 0 or -errno. */
int bj_fd_write_all(int fd, const void *data, size_t size);

/* As write(2), but a broken pipe is an error only, whatever the program does about SIGPIPE. The
 * count or -errno. */
ssize_t bj_fd_write_quiet(int fd, const void *data, size_t size);

/* Read until end of file into @buf; buf->max is the ceiling: reaching it is -EFBIG. 0 or -errno. */
int bj_fd_read_all(int fd, struct bj_buf *buf);

/* Read exactly @size bytes. 0, -errno, or -EPIPE at an early end of file. */
int bj_fd_read_exact(int fd, void *data, size_t size);

/* A sealed memory file that holds @data: no one can change, grow or shrink it. fd or -errno. */
int bj_fd_memfile(const char *name, const void *data, size_t size);

/* Whether @fd carries all four seals of bj_fd_memfile(). */
bool bj_fd_is_sealed(int fd);

/* Close what somebody sent who may mean ill. To close the last descriptor of a connection may take
 * as long as he likes: it is broken off first. */
void bj_fd_drop(int fd);

/* Send @size bytes and @n_fds descriptors as one packet. 0 or -errno. */
int bj_fd_send(int sock, const void *data, size_t size, const int *fds, size_t n_fds);

/* The same without descriptors, to who may not listen: -EAGAIN when there is no room. */
int bj_fd_send_now(int sock, const void *data, size_t size);

/* Receive one packet of at most @size bytes. Descriptors arrive close-on-exec in @fds (at most
 * @max_fds; more is -EPROTO, and then none is leaked). Returns the packet's size, 0 at the end,
 * -errno otherwise. *@ret_n_fds is set on success. */
ssize_t bj_fd_recv(int sock, void *data, size_t size, int *fds, size_t max_fds, size_t *ret_n_fds,
		   int flags);

/* Allow this process as many descriptors as the hard limit does, and return how many these are. */
uint64_t bj_fd_raise_limit(void);
