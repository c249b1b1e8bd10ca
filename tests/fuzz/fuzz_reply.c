/* SPDX-License-Identifier: Apache-2.0 */

/* What comes back of a run: from the launcher or a role, which may have been taken over, and from
 * the jar. We are the other side of bj_peer_run(). The input is a list of messages, each with a
 * byte that says what it is, one for half its length, and its bytes, which are laid over a sound
 *one:
 *
 *	h  the hello
 *	r  a reply                 R  one of just that length
 *	v  bytes of the verdict
 *	o  output, e  errors
 *
 * The run ends, with a result that can be shown or with words of why there is none. */

#include "fuzz.h"

#include "backend/peer.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/process.h"
#include "jar/role.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct script {
	const uint8_t *data;
	size_t size;
	int control;   /* our end; -1: closed */
	uint32_t last; /* kind of the reply that ended the run; 0: none did */
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* --- the other side --------------------------------------------------------------------------- */

/* The next message of @s from @at on that is one of @kinds. */
static const uint8_t *next(const struct script *s, size_t *at, const char *kinds, size_t *ret_size)
{
	while (*at + 2 <= s->size) {
		const uint8_t *m = s->data + *at;
		const size_t left = s->size - *at - 2, want = 2u * m[1],
			     n = want < left ? want : left;

		*at += 2 + n;
		if (m[0] && strchr(kinds, m[0])) {
			*ret_size = n;
			return m;
		}
	}
	return NULL;
}

static struct bj_wire_reply lay_over(enum bj_wire_reply_kind kind, const uint8_t *bytes,
				     size_t size)
{
	struct bj_wire_reply reply = {
		.magic = BJ_WIRE_MAGIC, .kind = kind, .cause = BJ_CAUSE_EXITED, .cleanup_ok = 1
	};

	/* The magic stays: without it nothing is read. */
	memcpy((char *)&reply + sizeof(reply.magic), bytes,
	       size < sizeof(reply) - sizeof(reply.magic) ? size
							  : sizeof(reply) - sizeof(reply.magic));
	return reply;
}

static void greet(const struct script *s)
{
	struct bj_wire_reply hello = { .magic = BJ_WIRE_MAGIC, .kind = BJ_REPLY_HELLO };
	size_t at = 0, size = 0;
	const uint8_t *m = next(s, &at, "h", &size);

	if (m)
		hello = lay_over(BJ_REPLY_HELLO, m + 2, size);
	bj_fd_send(s->control, &hello, sizeof(hello), NULL, 0);
}

static void say(struct script *s, const uint8_t *m, size_t size, const int *fds)
{
	static const enum bj_wire_fd streams[] = {
		['o' - 'a'] = BJ_WIRE_FD_STDOUT,
		['e' - 'a'] = BJ_WIRE_FD_STDERR,
		['v' - 'a'] = BJ_WIRE_FD_VERDICT,
	};
	const struct bj_wire_reply reply = lay_over(BJ_REPLY_ENDED, m + 2, size);

	if (m[0] == 'r' && !s->last && reply.kind != BJ_REPLY_STARTED &&
	    reply.kind != BJ_REPLY_NOTE && reply.kind != BJ_REPLY_SAMPLE)
		s->last = reply.kind;
	if (m[0] == 'r')
		bj_fd_send(fds[BJ_WIRE_FD_REPLY], &reply, sizeof(reply), NULL, 0);
	else if (m[0] == 'R')
		bj_fd_send(fds[BJ_WIRE_FD_REPLY], &reply,
			   size < sizeof(reply) ? size : sizeof(reply), NULL, 0);
	else
		bj_fd_write_all(fds[streams[m[0] - 'a']], m + 2, size);
}

/* The launch is on its way to us: take it, say all there is to say, and be gone. */
static int answer(void *ctx, struct bj_err *err)
{
	struct script *s = ctx;
	struct bj_role_message msg;
	int fds[BJ_WIRE_FD_MAX];
	size_t n = 0, at = 0, size = 0, said = 0;
	const uint8_t *m;

	(void)err;
	require(bj_fd_recv(s->control, &msg, sizeof(msg), fds, BJ_WIRE_FD_MAX, &n, 0) > 0);
	require(n == BJ_WIRE_FD_FIXED);
	/* As many as fit into its socket and its pipes. */
	while (said++ < 32 && (m = next(s, &at, "rRvoe", &size)))
		say(s, m, size, fds);
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
	close(s->control);
	s->control = -1;
	return 0;
}

/* --- our side --------------------------------------------------------------------------------- */

static void check_event(void *ctx, const struct bj_event *event)
{
	(void)ctx;
	if (event->kind == BJ_EV_STDOUT || event->kind == BJ_EV_STDERR)
		require(event->data && event->size > 0);
	else if (event->kind == BJ_EV_STATE && event->data)
		require(strlen(event->data) == event->size &&
			event->size < sizeof(((struct bj_err *)NULL)->msg));
}

static void check_result(const struct bj_result *r, const struct bj_verdict *verdict)
{
	require(r->cause > BJ_CAUSE_NONE && r->cause <= BJ_CAUSE_INFRASTRUCTURE);
	require(r->exit_code >= -1 && r->exit_code <= 255);
	require(r->signal >= 0 && r->signal <= 127);
	require(!r->success || (r->cause == BJ_CAUSE_EXITED && r->exit_code == 0 && !r->signal));
	require(r->cgroup && r->uid_mode);
	require(memchr(verdict->message, 0, sizeof(verdict->message)));
}

static void check_failure(int r, const struct bj_err *err)
{
	require(r < 0 && err->code == -r && err->code <= BJ_E_CANCELLED);
	require(err->msg[0] && memchr(err->msg, 0, sizeof(err->msg)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script script = { .data = data, .size = size };
	const struct bj_spec spec = {
		.script = "1",
		.script_size = 1,
		.limits = { .timeout_ms = 1000, .max_output = 1 << 16, .output_cap = 1 << 10 },
		.stdin_fd = -1,
		.out_dir_fd = -1,
		.cancel_fd = -1,
		.samples = true,
		.on_event = check_event,
		.on_launched = answer,
		.launched_ctx = &script
	};
	struct bj_peer peer = { .role = size > 0 && data[0] == 'o' };
	struct bj_result *result = calloc(1, sizeof(*result));
	struct bj_verdict verdict = { 0 };
	struct bj_err err = { 0 };
	int pair[2];

	require(result && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	script.control = pair[1];
	require(bj_process_adopt("launcher", pair[0], &peer.process, NULL) == 0);
	greet(&script);

	result->exit_code = -1;

	const int r = bj_peer_run(&peer, &spec, result, &verdict, &err);

	require(r < 0 || script.last == BJ_REPLY_ENDED);
	if (r == 0)
		check_result(result, &verdict);
	else
		check_failure(r, &err);
	bj_result_free(result);
	if (script.control >= 0)
		close(script.control);
	bj_process_free(peer.process);
	return 0;
}
