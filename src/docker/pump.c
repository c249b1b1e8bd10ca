/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/pump.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "docker/container.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

/* After a kill the streams end at once, or the engine has a problem. */
#define AFTER_KILL_NS (UINT64_C(10) * 1000000000u)

enum { ATTACH, REPLY, TERM, SINK, STDIN, POLLED };
enum { STATS_MS = 200 };

static void kill_container(struct bj_pump *p, enum bj_cause cause)
{
	if (p->killed)
		return;
	p->killed = true;
	/* A script that had come to its end in the same moment keeps its own. */
	if (!p->have_end)
		p->cause = cause;
	/* After it there is nothing to count; an engine that does not answer at once is not
	 * waited for. */
	(void)bj_container_stats(p->docker, p->container, STATS_MS, &p->usage, NULL);
	/* The engine answers a kill when the streams are read to their end, and that is our work.
	 */
	if (bj_attach_ask(&p->killer, p->docker, p->container, "kill", NULL) < 0)
		bj_container_kill(p->docker, p->container, NULL);
	p->deadline = bj_clock_now() + AFTER_KILL_NS;
}

/* --- from the container ----------------------------------------------------------------------- */

/* The pipe for a part of a stream. */
static int sink_of(const struct bj_pump *p, int stream, enum bj_records_part part)
{
	switch (part) {
	case BJ_PART_VERDICT:
		return p->run->fds[BJ_WIRE_FD_VERDICT];
	case BJ_PART_OUTPUT:
		return p->run->fds[stream == 2 ? BJ_WIRE_FD_STDERR : BJ_WIRE_FD_STDOUT];
	case BJ_PART_PACK:
		return stream == 2 ? -1 : p->run->out_fd;
	default:
		return -1;
	}
}

static void take_piece(struct bj_pump *p, int stream)
{
	p->sink = sink_of(p, stream, p->piece.part);
	if (p->piece.part == BJ_PART_END && stream == 2) {
		p->err_ended = true;
	} else if (p->piece.part == BJ_PART_END) {
		memcpy(&p->end, p->piece.data, sizeof(p->end));
		p->have_end = true;
	}
	if (p->sink < 0)
		p->piece.size = 0;
	/* What is collected from out/ comes behind the end, and has an end of its own. */
	if (p->have_end && p->err_ended && p->run->out_fd < 0)
		p->over = true;
}

/* Hand on what is at hand. False: the front's pipe is full. */
static bool flush_piece(struct bj_pump *p)
{
	while (p->piece.size > 0) {
		const ssize_t n = write(p->sink, p->piece.data, p->piece.size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		/* A front that does not read any more misses it. */
		if (n < 0)
			p->piece.size = 0;
		else {
			p->piece.data += n;
			p->piece.size -= (size_t)n;
		}
	}
	return true;
}

/* The next piece of the frame at hand. */
static void split_frame(struct bj_pump *p)
{
	const int stream = p->frame.stream;
	const size_t used = bj_records_next(stream == 2 ? &p->err_records : &p->records,
					    p->frame.data, p->frame.size, &p->piece);

	p->frame.data += used;
	p->frame.size -= used;
	take_piece(p, stream);
}

/* The streams are over: what was held back is handed on, one piece a call. */
static void end_stream(struct bj_pump *p)
{
	for (int stream = 1; stream <= 2 && p->piece.size == 0; stream++) {
		bj_records_finish(stream == 2 ? &p->err_records : &p->records, &p->piece);
		take_piece(p, stream);
	}
	p->over = p->piece.size == 0;
}

/* Read and hand on until something blocks. */
static void read_container(struct bj_pump *p)
{
	while (flush_piece(p) && !p->over) {
		if (p->ended) {
			end_stream(p);
			continue;
		}
		if (p->frame.size > 0) {
			split_frame(p);
			continue;
		}
		if (p->in_at < p->in_size) {
			const ssize_t used = bj_demux_next(&p->demux, p->in + p->in_at,
							   p->in_size - p->in_at, &p->frame);

			if (used < 0)
				p->ended = true;
			else
				p->in_at += (size_t)used;
			continue;
		}

		const ssize_t n = bj_attach_read(p->attach, p->in, sizeof(p->in));

		if (n == -EAGAIN)
			return;
		p->in_at = 0;
		p->in_size = n > 0 ? (size_t)n : 0;
		if (n <= 0)
			p->ended = true;
	}
}

/* --- to the container ------------------------------------------------------------------------- */

static void read_stdin(struct bj_pump *p)
{
	const ssize_t n = read(p->run->fds[BJ_WIRE_FD_STDIN], p->stdin_frame + sizeof(uint32_t),
			       BJ_INSIDE_FRAME);
	const uint32_t size = n > 0 ? (uint32_t)n : 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	p->stdin_ended = n <= 0;
	memcpy(p->stdin_frame, &size, sizeof(size));
	p->stdin_at = 0;
	p->stdin_size = sizeof(size) + size;
}

static void write_stdin(struct bj_pump *p)
{
	const ssize_t n = bj_attach_write(p->attach, p->stdin_frame + p->stdin_at,
					  p->stdin_size - p->stdin_at);

	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		p->stdin_ended = true;
		p->stdin_at = p->stdin_size;
		return;
	}
	p->stdin_at += (size_t)n;
}

/* --- the loop --------------------------------------------------------------------------------- */

static void read_wish(struct bj_pump *p)
{
	char wish = 0;
	const ssize_t n = recv(p->run->fds[BJ_WIRE_FD_REPLY], &wish, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	kill_container(p, wish == BJ_WISH_OUTPUT ? BJ_CAUSE_OUTPUT : BJ_CAUSE_CANCELLED);
}

static void fill_poll(const struct bj_pump *p, struct pollfd *polls)
{
	const bool full = p->piece.size > 0;
	const bool out = p->stdin_at < p->stdin_size;

	polls[ATTACH] = (struct pollfd){
		.fd = p->attach->fd,
		.events = (short)((full ? 0 : POLLIN) | (out ? POLLOUT : 0)),
	};
	/* A socket whose other end is gone wakes us for nothing while a pipe is full. */
	if (full && !out)
		polls[ATTACH].fd = -1;
	polls[REPLY] = (struct pollfd){ .fd = p->killed ? -1 : p->run->fds[BJ_WIRE_FD_REPLY],
					.events = POLLIN };
	polls[TERM] = (struct pollfd){ .fd = p->killed ? -1 : p->term, .events = POLLIN };
	polls[SINK] = (struct pollfd){ .fd = full ? p->sink : -1, .events = POLLOUT };
	polls[STDIN] = (struct pollfd){
		.fd = out || p->stdin_ended ? -1 : p->run->fds[BJ_WIRE_FD_STDIN],
		.events = POLLIN,
	};
}

static void pump_round(struct bj_pump *p)
{
	struct pollfd polls[POLLED];
	const uint64_t now = bj_clock_now();
	const uint64_t left_ms = now < p->deadline ? (p->deadline - now) / 1000000u + 1 : 0;

	fill_poll(p, polls);
	if (poll(polls, POLLED, left_ms > 60000 ? 60000 : (int)left_ms) < 0)
		return;
	if (bj_clock_now() >= p->deadline) {
		if (p->killed) {
			p->over = true;
			p->piece.size = 0;
		}
		kill_container(p, BJ_CAUSE_TIMEOUT);
	}
	if (polls[TERM].revents)
		kill_container(p, BJ_CAUSE_CANCELLED);
	if (polls[REPLY].revents)
		read_wish(p);
	if (polls[STDIN].revents)
		read_stdin(p);
	if (p->stdin_at < p->stdin_size)
		write_stdin(p);
	read_container(p);
}

static int watch_term(void)
{
	sigset_t term;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	return signalfd(-1, &term, SFD_CLOEXEC | SFD_NONBLOCK);
}

enum bj_cause bj_pump_run(struct bj_pump *p, uint64_t deadline)
{
	static const int pipes[] = { BJ_WIRE_FD_STDOUT, BJ_WIRE_FD_STDERR, BJ_WIRE_FD_VERDICT };
	AUTO_FD int term = watch_term();

	for (size_t i = 0; i < BJ_ARRAY_SIZE(pipes); i++)
		fcntl(p->run->fds[pipes[i]], F_SETFL, O_NONBLOCK);
	if (p->run->out_fd >= 0)
		fcntl(p->run->out_fd, F_SETFL, O_NONBLOCK);
	p->term = term;
	p->sink = -1;
	p->deadline = deadline;
	p->cause = BJ_CAUSE_NONE;
	read_container(p);
	while (!p->over || p->piece.size > 0)
		pump_round(p);
	bj_attach_close(&p->killer);
	return p->cause;
}
