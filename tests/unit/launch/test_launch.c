/* SPDX-License-Identifier: Apache-2.0 */

/* A front that means ill, and a launcher that has other runs to look after. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/layers.h"
#include "jar/pack.h"
#include "jar/wire.h"
#include "launch/launch.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static struct bj_process *launcher;
static int deaf = -1; /* our end of a full socket */

static int empty_pack(void)
{
	AUTO_BUF struct bj_buf pack = { .max = 4096 };

	bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	return bj_fd_memfile("spec", pack.data, pack.size);
}

/* Ask for a run of @script that may take @ms, with replies to @reply_take. */
static void launch(const char *script, uint64_t ms, int reply_take)
{
	const struct bj_wire_launch msg = {
		.magic = BJ_WIRE_MAGIC,
		.version = BJ_WIRE_VERSION,
		.language = BJ_LANG_BASH,
		.memory = 64 << 20,
		.tmp_size = 1 << 20,
		.timeout_ns = ms * 1000000u,
		.cpu_milli = 1000,
		.pids = 20,
	};
	int fds[BJ_WIRE_FD_FIXED] = { reply_take, bj_fd_memfile("script", script, strlen(script)),
				      empty_pack() };

	for (int i = BJ_WIRE_FD_STDIN; i < BJ_WIRE_FD_FIXED; i++) {
		int ends[2];

		/* Ours stay open, and nobody reads them. */
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		fds[i] = ends[i != BJ_WIRE_FD_STDIN];
	}
	assert_int_equal(
		bj_fd_send(bj_process_socket(launcher), &msg, sizeof(msg), fds, BJ_WIRE_FD_FIXED),
		0);
	for (int i = 0; i < BJ_WIRE_FD_FIXED; i++)
		close(fds[i]);
}

/* Take replies from @reply until one ends the run. Its cause. */
static enum bj_cause wait_for_end(int reply, int seconds)
{
	struct bj_wire_reply said = { 0 };

	do {
		struct pollfd p = { .fd = reply, .events = POLLIN };

		if (poll(&p, 1, seconds * 1000) != 1)
			fail_msg("nothing came for %d s", seconds);
		assert_int_equal(recv(reply, &said, sizeof(said), 0), sizeof(said));
		if (said.kind == BJ_REPLY_FAILED)
			fail_msg("%s", said.err.msg);
	} while (said.kind != BJ_REPLY_ENDED);
	return (enum bj_cause)said.cause;
}

/* A socket in which there is no room, and nobody makes some. */
static int full_socket(void)
{
	static const int least = 1;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least)), 0);
	while (send(pair[1], "full", 4, MSG_DONTWAIT) == 4)
		;
	deaf = pair[0];
	return pair[1];
}

static int plain_socket(int *ret_ours)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	*ret_ours = pair[0];
	return pair[1];
}

/* What the launcher has to say of a run is nobody's to wait for: others have deadlines. */
static void who_does_not_listen_holds_nobody_up(void **state)
{
	int ours = -1;

	(void)state;
	launch("while :; do :; done", 60000, full_socket());
	launch("while :; do :; done", 300, plain_socket(&ours));
	assert_int_equal(wait_for_end(ours, 10), BJ_CAUSE_TIMEOUT);
	close(ours);
}

/* Nor is a refusal. */
static void nor_does_a_refusal(void **state)
{
	const struct bj_wire_launch rubbish = { .magic = 1 };
	int ours = -1, full = full_socket();

	(void)state;
	assert_int_equal(
		bj_fd_send(bj_process_socket(launcher), &rubbish, sizeof(rubbish), &full, 1), 0);
	close(full);
	launch("while :; do :; done", 300, plain_socket(&ours));
	assert_int_equal(wait_for_end(ours, 10), BJ_CAUSE_TIMEOUT);
	close(ours);
}

/* A connection with more in it than its other end takes, which is to be waited for when it is
 * closed last. */
static int lingering_socket(void)
{
	static const struct linger long_time = { .l_onoff = 1, .l_linger = 30 };
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	AUTO_FD int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char block[4096] = { 0 };

	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	deaf = accept(listener, NULL, NULL);
	while (send(fd, block, sizeof(block), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &long_time, sizeof(long_time)), 0);
	return fd;
}

/* Nor is the end of a descriptor that nobody asked for, in a message that is one of ours or not. */
static void nor_does_an_odd_descriptor(void **state)
{
	const struct bj_wire_launch rubbish = { .magic = 1 };
	const int fd = lingering_socket();
	const int many[] = { fd, fd, fd, fd, fd, fd, fd, fd, fd, fd };
	int ours = -1;

	_Static_assert(BJ_ARRAY_SIZE(many) > BJ_WIRE_FD_MAX, "more than the launcher takes");
	(void)state;
	for (size_t n = 1; n <= BJ_ARRAY_SIZE(many); n += BJ_ARRAY_SIZE(many) - 1)
		assert_int_equal(
			bj_fd_send(bj_process_socket(launcher), &rubbish, sizeof(rubbish), many, n),
			0);
	close(fd);
	launch("while :; do :; done", 300, plain_socket(&ours));
	assert_int_equal(wait_for_end(ours, 10), BJ_CAUSE_TIMEOUT);
	close(ours);
}

/* A launcher that waits goes on, and can end. */
static int listen_again(void **state)
{
	(void)state;
	close(deaf);
	deaf = -1;
	return 0;
}

static int start_launcher(void **state)
{
	const struct bj_launch_settings settings = {
		.uid_base = 1900000000,
		.uid_count = 65536,
		.required = BJ_LAYERS_BASIC,
		.images = { { .there = true, .python = "/usr/bin/python3", .bash = "/bin/bash" } },
		.bound = true,
		.shape = { .limits = { .memory = 64 << 20, .cpu_milli = 1000, .pids = 20 },
			   .tmp_size = 1 << 20 },
	};
	struct bj_err err = { 0 };

	(void)state;
	if (bj_launcher_new(&settings, &launcher, &err) < 0 ||
	    bj_process_ready(launcher, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return -1;
	}
	return 0;
}

static int end_launcher(void **state)
{
	(void)state;
	bj_process_free(launcher);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(who_does_not_listen_holds_nobody_up, listen_again),
		cmocka_unit_test_teardown(nor_does_a_refusal, listen_again),
		cmocka_unit_test_teardown(nor_does_an_odd_descriptor, listen_again),
	};

	return cmocka_run_group_tests(tests, start_launcher, end_launcher);
}
