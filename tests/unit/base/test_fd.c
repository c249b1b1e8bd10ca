/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

static void memfile_is_sealed(void **state)
{
	AUTO_FD int fd = bj_fd_memfile("t", "abc", 3);
	AUTO_BUF struct bj_buf buf = { .max = 3 };

	(void)state;
	assert_true(fd >= 0);
	assert_true(bj_fd_is_sealed(fd));
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(bj_fd_read_all(fd, &buf), 0);
	assert_string_equal(buf.data, "abc");
}

static void read_all_refuses_one_byte_too_many(void **state)
{
	AUTO_FD int fd = bj_fd_memfile("t", "abcd", 4);
	AUTO_BUF struct bj_buf buf = { .max = 3 };

	(void)state;
	assert_int_equal(bj_fd_read_all(fd, &buf), -EFBIG);
}

static void descriptors_travel_close_on_exec(void **state)
{
	int pair[2], got[2];
	size_t n = 0;
	char data[4];
	AUTO_FD int file = bj_fd_memfile("t", "abc", 3);

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(bj_fd_send(pair[0], "hi", 2, &file, 1), 0);
	assert_int_equal(bj_fd_recv(pair[1], data, sizeof(data), got, 2, &n, 0), 2);
	assert_int_equal(n, 1);
	assert_int_equal(fcntl(got[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(got[0]);
	close(pair[0]);
	close(pair[1]);
}

static void too_many_descriptors_are_closed(void **state)
{
	int pair[2], got[1];
	size_t n = 0;
	char data[4];
	AUTO_FD int file = bj_fd_memfile("t", "abc", 3);
	const int two[] = { file, file };

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(bj_fd_send(pair[0], "hi", 2, two, 2), 0);

	const int before = dup(0);

	close(before);
	assert_int_equal(bj_fd_recv(pair[1], data, sizeof(data), got, 1, &n, 0), -EPROTO);

	const int after = dup(0);

	close(after);
	assert_int_equal(before, after);
	close(pair[0]);
	close(pair[1]);
}

/* The last word of a peer counts, whatever of ours it left unread. */
static void a_peer_that_left_is_heard(void **state)
{
	int pair[2], got[1];
	size_t n = 0;
	char data[4];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(bj_fd_send(pair[1], "?", 1, NULL, 0), 0);
	assert_int_equal(bj_fd_send(pair[0], "end", 3, NULL, 0), 0);
	close(pair[0]);
	assert_int_equal(bj_fd_recv(pair[1], data, sizeof(data), got, 1, &n, 0), 3);
	assert_memory_equal(data, "end", 3);
	assert_int_equal(bj_fd_recv(pair[1], data, sizeof(data), got, 1, &n, 0), 0);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memfile_is_sealed),
		cmocka_unit_test(read_all_refuses_one_byte_too_many),
		cmocka_unit_test(descriptors_travel_close_on_exec),
		cmocka_unit_test(too_many_descriptors_are_closed),
		cmocka_unit_test(a_peer_that_left_is_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
