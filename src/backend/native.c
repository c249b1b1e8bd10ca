/* SPDX-License-Identifier: Apache-2.0 */

/* The front's side of a run in the native jar: it packs the spec, hands it to the launcher, and
 * reads what comes back. One call runs one script and may wait in any thread. */

#include "backend/backend.h"
#include "backend/capture.h"
#include "backend/harvest.h"
#include "backend/peer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/layers.h"
#include "jar/pack.h"
#include "jar/role.h"
#include "jar/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { HOLD_MS = 2 };

/* The descriptors of one run, in the order in which they are polled. */
enum slot { OUT, ERR, VERDICT, REPLY, CANCEL, HARVEST, STDIN_FROM, STDIN_TO, SLOTS };

struct run {
	const struct bj_spec *spec;
	const char *peer; /* who runs it, for messages */
	bool samples;     /* it can be asked what it uses */
	bool again;       /* a waiting interpreter lost it */
	bool took_stdin;
	unsigned int n_samples;
	uint64_t next_sample;     /* clock nanoseconds */
	struct bj_result *result; /* keeps the samples */
	int fd[SLOTS];            /* -1: done, or not used; CANCEL and STDIN_FROM are borrowed */
	struct bj_capture capture[2];
	bool over_cap;
	bool ended;
	struct bj_wire_reply reply;
	struct bj_wire_verdict verdict;
	size_t verdict_have;
	struct bj_harvest harvest;
	char pending[16384]; /* standard input read and not yet passed on */
	size_t pending_at, pending_size;
	struct bj_err err; /* the first failure of the front itself */
};

static void close_slot(struct run *run, enum slot slot)
{
	if (run->fd[slot] >= 0 && slot != CANCEL && slot != STDIN_FROM)
		close(run->fd[slot]);
	run->fd[slot] = -1;
}

/* --- sending ---------------------------------------------------------------------------------- */

static void pack_strings(struct bj_buf *pack, enum bj_pack_type type, const char *const *list)
{
	for (; list && *list; list++)
		bj_pack_add(pack, type, "", *list, strlen(*list) + 1);
}

static int pack_spec(const struct bj_spec *spec, struct bj_err *err)
{
	AUTO_BUF struct bj_buf pack = { .max = BJ_WIRE_SPEC_MAX };

	pack_strings(&pack, BJ_PACK_ARG, spec->args);
	pack_strings(&pack, BJ_PACK_ENV, spec->env);
	for (size_t i = 0; i < spec->n_inputs; i++)
		bj_pack_add(&pack, BJ_PACK_INPUT, spec->inputs[i].name, spec->inputs[i].data,
			    spec->inputs[i].size);
	bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	if (pack.failed)
		return bj_err_set(err, BJ_E_LIMIT, 0, "the inputs are over %llu MiB",
				  (unsigned long long)BJ_WIRE_SPEC_MAX >> 20);

	const int fd = bj_fd_memfile("spec", pack.data, pack.size);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -fd, "cannot hold the inputs in memory");
	return fd;
}

/* A pipe: our end goes to @slot without blocking, the jar's end to *@ret_theirs. */
static int make_pipe(struct run *run, enum slot slot, bool we_read, int *ret_theirs,
		     struct bj_err *err)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a pipe");
	run->fd[slot] = p[we_read ? 0 : 1];
	*ret_theirs = p[we_read ? 1 : 0];
	if (fcntl(run->fd[slot], F_SETFL, O_NONBLOCK) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot set up a pipe");
	return 0;
}

static bool is_plain(const struct bj_spec *spec)
{
	return (!spec->args || !spec->args[0]) && (!spec->env || !spec->env[0]);
}

static struct bj_wire_launch launch_message(const struct bj_spec *spec, bool again)
{
	const struct bj_limits *lim = &spec->limits;

	return (struct bj_wire_launch){
		.magic = BJ_WIRE_MAGIC,
		.version = BJ_WIRE_VERSION,
		.flags = (spec->check_only ? (uint32_t)BJ_WIRE_CHECK_ONLY : 0u) |
			 (spec->seccomp ? (uint32_t)BJ_WIRE_HAS_SECCOMP : 0u) |
			 (spec->out_dir_fd >= 0 ? (uint32_t)BJ_WIRE_HAS_OUT : 0u) |
			 (spec->n_inputs ? (uint32_t)BJ_WIRE_HAS_INPUTS : 0u) |
			 (is_plain(spec) ? (uint32_t)BJ_WIRE_PLAIN : 0u) |
			 (spec->heavy ? (uint32_t)BJ_WIRE_HEAVY : 0u) |
			 (again ? (uint32_t)BJ_WIRE_AGAIN : 0u),
		.language = spec->language,
		.memory = lim->memory,
		.tmp_size = lim->tmp_size,
		.timeout_ns = lim->timeout_ms * 1000000u,
		.out_bytes = lim->out_bytes,
		.out_files = lim->out_files,
		.cpu_milli = lim->cpu_milli,
		.pids = lim->pids,
		.image = spec->image_place,
	};
}

/* Make every descriptor of the run: ours in run->fd, the jar's in @theirs. */
static int make_descriptors(struct run *run, int *theirs, size_t *ret_n, struct bj_err *err)
{
	const struct bj_spec *spec = run->spec;
	size_t n = BJ_WIRE_FD_FIXED;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");
	run->fd[REPLY] = pair[0];
	theirs[BJ_WIRE_FD_REPLY] = pair[1];
	r = theirs[BJ_WIRE_FD_SCRIPT] = bj_fd_memfile("script", spec->script, spec->script_size);
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot hold the script in memory");
	r = theirs[BJ_WIRE_FD_SPEC] = pack_spec(spec, err);
	if (r >= 0)
		r = make_pipe(run, STDIN_TO, false, &theirs[BJ_WIRE_FD_STDIN], err);
	if (r >= 0)
		r = make_pipe(run, OUT, true, &theirs[BJ_WIRE_FD_STDOUT], err);
	if (r >= 0)
		r = make_pipe(run, ERR, true, &theirs[BJ_WIRE_FD_STDERR], err);
	if (r >= 0)
		r = make_pipe(run, VERDICT, true, &theirs[BJ_WIRE_FD_VERDICT], err);
	if (r >= 0 && spec->seccomp) {
		r = theirs[n++] = bj_fd_memfile("filter", spec->seccomp, spec->seccomp_size);
		if (r < 0)
			bj_err_set(err, BJ_E_SYSTEM, -r, "cannot hold the filter in memory");
	}
	if (r >= 0 && spec->out_dir_fd >= 0)
		r = make_pipe(run, HARVEST, true, &theirs[n++], err);
	*ret_n = n;
	return r < 0 ? -err->code : 0;
}

static int send_launch(struct run *run, const struct bj_peer *peer, struct bj_err *err)
{
	struct bj_role_message msg = { .launch = launch_message(run->spec, run->again) };
	int theirs[BJ_WIRE_FD_MAX];
	size_t n = 0;

	for (size_t i = 0; i < BJ_WIRE_FD_MAX; i++)
		theirs[i] = -1;

	int r = make_descriptors(run, theirs, &n, err);

	if (r == 0) {
		memcpy(msg.run_id, run->spec->id, sizeof(msg.run_id));
		r = bj_fd_send(bj_process_socket(peer->process), &msg,
			       peer->role ? sizeof(msg) : sizeof(msg.launch), theirs, n);
		if (r == -ETOOMANYREFS)
			r = bj_err_set(err, BJ_E_LIMIT, ETOOMANYREFS,
				       "too many descriptors are in flight; run fewer at once");
		else if (r < 0)
			r = bj_err_set(err, BJ_E_SYSTEM, -r, "the %s is gone", run->peer);
	}
	for (size_t i = 0; i < BJ_WIRE_FD_MAX; i++)
		if (theirs[i] >= 0)
			close(theirs[i]);
	return r;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void wish(struct run *run, enum bj_wire_wish what)
{
	const char byte = (char)what;

	if (run->fd[REPLY] >= 0)
		bj_fd_send(run->fd[REPLY], &byte, 1, NULL, 0);
}

static void tell(struct run *run, enum bj_event_kind kind, const char *data, size_t size)
{
	const struct bj_event event = {
		.kind = kind, .state = BJ_RUNNING, .data = data, .size = size
	};

	if (run->spec->on_event)
		run->spec->on_event(run->spec->event_ctx, &event);
}

/* What goes on before the script starts. */
static void note(struct run *run, const char *text)
{
	const struct bj_event event = {
		.kind = BJ_EV_STATE, .state = BJ_QUEUED, .data = text, .size = strlen(text)
	};

	if (run->spec->on_event)
		run->spec->on_event(run->spec->event_ctx, &event);
}

/* Samples are close at first and far apart later: short runs show detail, long ones stay small. */
static const struct {
	unsigned int up_to;
	uint64_t interval_ns;
} SAMPLES[] = {
	{ 20, UINT64_C(200000000) },
	{ 50, UINT64_C(1000000000) },
	{ BJ_WIRE_SAMPLES_MAX, UINT64_C(12000000000) },
};

static void plan_sample(struct run *run)
{
	size_t i = 0;

	while (i < BJ_ARRAY_SIZE(SAMPLES) && run->n_samples >= SAMPLES[i].up_to)
		i++;
	if (i == BJ_ARRAY_SIZE(SAMPLES))
		run->samples = false;
	else if (run->samples)
		run->next_sample = bj_clock_now() + SAMPLES[i].interval_ns;
	run->n_samples++;
}

static void keep_sample(struct bj_result *r, const struct bj_event *e)
{
	struct bj_sample *list = r->n_samples < BJ_WIRE_SAMPLES_MAX
					 ? realloc(r->samples, (r->n_samples + 1) * sizeof(*list))
					 : NULL;

	if (!list)
		return;
	r->samples = list;
	list[r->n_samples++] = (struct bj_sample){ .elapsed_us = e->elapsed_us,
						   .cpu_us = e->cpu_us,
						   .memory = e->memory };
}

static void tell_sample(struct run *run, const struct bj_wire_reply *reply)
{
	const struct bj_event event = { .kind = BJ_EV_SAMPLE,
					.state = BJ_RUNNING,
					.elapsed_us = reply->duration_ns / 1000,
					.cpu_us = reply->cpu_ns / 1000,
					.memory = reply->peak_memory };

	keep_sample(run->result, &event);
	if (run->spec->on_event)
		run->spec->on_event(run->spec->event_ctx, &event);
}

/* How long to poll, and the wish when it is time. */
static int ask_sample(struct run *run)
{
	const uint64_t now = bj_clock_now();

	if (!run->samples || run->ended)
		return -1;
	if (now >= run->next_sample) {
		wish(run, BJ_WISH_SAMPLE);
		plan_sample(run);
	}
	return run->samples ? (int)((run->next_sample - now) / 1000000) + 1 : -1;
}

static void read_stream(struct run *run, enum slot slot)
{
	struct bj_capture *c = &run->capture[slot];
	const uint64_t cap = run->spec->limits.output_cap;
	char block[65536];
	const ssize_t n = read(run->fd[slot], block, sizeof(block));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_slot(run, slot);
		return;
	}

	/* Past the cap the rest is drained and thrown away until the kill has worked. */
	const uint64_t room = c->total < cap ? cap - c->total : 0;
	const size_t keep = (uint64_t)n <= room ? (size_t)n : (size_t)room;

	if (keep > 0 && !bj_capture_add(c, block, keep)) {
		bj_err_set(&run->err, BJ_E_LIMIT, ENOMEM, "no memory for the output");
		wish(run, BJ_WISH_CANCEL);
	}
	if (keep > 0)
		tell(run, slot == OUT ? BJ_EV_STDOUT : BJ_EV_STDERR, block, keep);
	c->total += (size_t)n - keep;
	if (keep < (size_t)n && !run->over_cap) {
		run->over_cap = true;
		wish(run, BJ_WISH_OUTPUT);
	}
}

static void read_verdict(struct run *run)
{
	char *to = (char *)&run->verdict + run->verdict_have;
	const size_t left = sizeof(run->verdict) - run->verdict_have;
	char extra;
	const ssize_t n = read(run->fd[VERDICT], left ? to : &extra, left ? left : 1);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		close_slot(run, VERDICT);
	else if (left)
		run->verdict_have += (size_t)n;
}

/* Whether @reply says what can be believed: one that ends a run has a cause, one that says why
 * there was none has a reason. */
static bool is_sane(struct bj_wire_reply *reply)
{
	switch (reply->kind) {
	case BJ_REPLY_ENDED:
		return reply->cause > BJ_CAUSE_NONE && reply->cause <= BJ_CAUSE_INFRASTRUCTURE;
	case BJ_REPLY_FAILED:
	case BJ_REPLY_STARTED:
	case BJ_REPLY_NOTE:
	case BJ_REPLY_SAMPLE:
		bj_err_received(&reply->err);
		return true;
	default:
		return false;
	}
}

static void read_reply(struct run *run)
{
	struct bj_wire_reply reply;
	struct bj_err err;
	size_t n_fds;
	int none;
	const ssize_t n =
		bj_fd_recv(run->fd[REPLY], &reply, sizeof(reply), &none, 0, &n_fds, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return;
	if (n != sizeof(reply) || reply.magic != BJ_WIRE_MAGIC || !is_sane(&reply)) {
		bj_err_set(&err, BJ_E_SYSTEM, 0,
			   "the %s gave no answer; it died, or had no descriptors left (ulimit -n)",
			   run->peer);
		if (run->err.code == 0)
			run->err = err;
		run->ended = true;
		close_slot(run, REPLY);
		return;
	}
	if (reply.kind == BJ_REPLY_NOTE) {
		note(run, reply.err.msg);
		return;
	}
	if (reply.kind == BJ_REPLY_STARTED) {
		tell(run, BJ_EV_STATE, NULL, 0);
		return;
	}
	if (reply.kind == BJ_REPLY_SAMPLE) {
		tell_sample(run, &reply);
		return;
	}
	run->reply = reply;
	run->ended = true;
	if (reply.kind == BJ_REPLY_FAILED && run->err.code == 0)
		run->err = reply.err;
	close_slot(run, REPLY);
}

static void read_harvest(struct run *run)
{
	struct bj_err err = { 0 };
	const int r = bj_harvest_read(&run->harvest, &err);

	if (r == 0)
		return;
	/* After a kill there is nothing to collect, and that is no failure. */
	if (r < 0 && err.code == BJ_E_SYSTEM && run->err.code == 0)
		run->err = err;
	else if (r < 0)
		run->harvest.refused++;
	run->fd[HARVEST] = -1;
	bj_harvest_done(&run->harvest);
}

/* Standard input goes through us: the script gets a pipe, never the caller's own descriptor. */
static void read_stdin(struct run *run)
{
	const ssize_t n = read(run->fd[STDIN_FROM], run->pending, sizeof(run->pending));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	run->pending_at = 0;
	run->pending_size = n > 0 ? (size_t)n : 0;
	run->took_stdin |= n > 0;
	if (n <= 0)
		close_slot(run, STDIN_FROM);
}

static void write_stdin(struct run *run)
{
	const ssize_t n = bj_fd_write_quiet(run->fd[STDIN_TO], run->pending + run->pending_at,
					    run->pending_size - run->pending_at);

	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n < 0) {
		/* The script does not read any more. */
		close_slot(run, STDIN_TO);
		close_slot(run, STDIN_FROM);
		return;
	}
	run->pending_at += (size_t)n;
}

static void read_out(struct run *run)
{
	read_stream(run, OUT);
}

static void read_err(struct run *run)
{
	read_stream(run, ERR);
}

static void cancel(struct run *run)
{
	wish(run, BJ_WISH_CANCEL);
	close_slot(run, CANCEL);
}

static void (*const HANDLE[SLOTS])(struct run *run) = {
	[OUT] = read_out,          [ERR] = read_err,         [VERDICT] = read_verdict,
	[REPLY] = read_reply,      [CANCEL] = cancel,        [HARVEST] = read_harvest,
	[STDIN_FROM] = read_stdin, [STDIN_TO] = write_stdin,
};

/* What to poll for now. Input is read only when what was read before is passed on. */
static void fill_poll(struct run *run, struct pollfd *polls)
{
	const bool pending = run->pending_at < run->pending_size;

	if (run->fd[STDIN_TO] >= 0 && !pending && run->fd[STDIN_FROM] < 0)
		close_slot(run, STDIN_TO);
	for (int i = 0; i < SLOTS; i++)
		polls[i] = (struct pollfd){ .fd = run->fd[i], .events = POLLIN };
	polls[STDIN_TO].events = pending ? POLLOUT : 0;
	/* It fits into its pipe and is wanted at the end: no need to wake up for it. */
	if (!run->ended)
		polls[VERDICT].fd = -1;
	if (pending || run->fd[STDIN_TO] < 0)
		polls[STDIN_FROM].fd = -1;
	if (run->ended) {
		polls[CANCEL].fd = -1;
		polls[STDIN_FROM].fd = -1;
	}
}

static bool is_over(const struct run *run)
{
	return run->ended && run->fd[OUT] < 0 && run->fd[ERR] < 0 && run->fd[VERDICT] < 0 &&
	       run->fd[HARVEST] < 0;
}

static void pump(struct run *run)
{
	struct pollfd polls[SLOTS];

	for (bool first = true; !is_over(run); first = false) {
		fill_poll(run, polls);
		/* Most scripts end right after they have said something. For a moment that waits in
		 * its pipe, so that one wake-up brings both. */
		if (first)
			polls[OUT].fd = polls[ERR].fd = -1;

		/* When the jar is gone, all that it wrote is there. An end of file may never come:
		 * a copy of this process may have been forked while it had the other ends. */
		const bool gone = run->reply.kind != 0;
		const int n = poll(polls, SLOTS, gone ? 0 : first ? HOLD_MS : ask_sample(run));

		if ((n < 0 && errno != EINTR) || (n == 0 && gone))
			break;
		for (int i = 0; i < SLOTS; i++) {
			if (polls[i].fd < 0 || polls[i].revents == 0)
				continue;
			if (i == STDIN_TO && !(polls[i].revents & POLLOUT))
				close_slot(run, STDIN_TO); /* nobody reads it any more */
			else
				HANDLE[i](run);
		}
	}
}

/* --- the result ------------------------------------------------------------------------------- */

static void fill_verdict(const struct run *run, struct bj_verdict *ret)
{
	*ret = (struct bj_verdict){ .said = run->verdict_have == sizeof(run->verdict) };
	if (!ret->said)
		return;
	ret->syntax = run->verdict.kind == BJ_VERDICT_SYNTAX;
	ret->line = run->verdict.line;
	ret->column = run->verdict.column;
	snprintf(ret->message, sizeof(ret->message), "%.*s", (int)sizeof(run->verdict.message),
		 run->verdict.message);
}

static int fill_layers(const struct bj_wire_reply *reply, struct bj_result *result)
{
	result->layers = calloc(BJ_LAYER_COUNT, sizeof(*result->layers));
	if (!result->layers)
		return -1;
	result->n_layers = BJ_LAYER_COUNT;
	for (int i = 0; i < BJ_LAYER_COUNT; i++)
		result->layers[i] =
			(struct bj_layer){ .name = bj_layer_name((enum bj_layer_id)i),
					   .enforced = reply->layers & BJ_LAYER_BIT(i) };
	return 0;
}

static void fill_status(const struct bj_wire_reply *reply, struct bj_result *result)
{
	const int status = reply->wait_status;

	result->cause = (enum bj_cause)reply->cause;
	result->timeout = result->cause == BJ_CAUSE_TIMEOUT;
	if (WIFSIGNALED(status))
		result->signal = WTERMSIG(status);
	else if (result->cause == BJ_CAUSE_EXITED)
		result->exit_code = WEXITSTATUS(status);
	else
		result->signal = SIGKILL; /* it ended in the moment in which we killed it */
	result->success = result->cause == BJ_CAUSE_EXITED && result->exit_code == 0;
}

static int fill_result(struct run *run, struct bj_result *result, struct bj_err *err)
{
	static const char *const cgroups[] = { "none", "v1", "v2" };
	const struct bj_wire_reply *reply = &run->reply;

	if (!bj_capture_take(&run->capture[OUT], &result->out) ||
	    !bj_capture_take(&run->capture[ERR], &result->err) || fill_layers(reply, result) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for the result");
	result->cgroup = cgroups[reply->cgroup_version < 3 ? reply->cgroup_version : 0];
	result->uid_mode = reply->own_uid ? "own" : "shared";
	result->landlock_abi = reply->landlock_abi;
	result->warm = reply->warm;
	result->duration_us = reply->duration_ns / 1000;
	result->cpu_us = reply->cpu_ns / 1000;
	result->peak_memory = reply->peak_memory;
	result->cleanup_success = reply->cleanup_ok;
	result->out_files = run->harvest.files;
	result->out_bytes = run->harvest.bytes;
	result->out_refused = run->harvest.refused;
	if (run->err.code) {
		result->cause = BJ_CAUSE_INFRASTRUCTURE;
		*err = run->err;
		return -err->code;
	}
	fill_status(reply, result);
	return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void start_over(struct run *run, const struct bj_peer *peer, const struct bj_spec *spec,
		       struct bj_result *result, bool again)
{
	*run = (struct run){ .spec = spec,
			     .result = result,
			     .peer = bj_process_name(peer->process),
			     .again = again,
			     .harvest = { .pipe = -1, .file = -1 } };
	for (int i = 0; i < SLOTS; i++)
		run->fd[i] = -1;
	bj_capture_init(&run->capture[OUT], spec->limits.max_output);
	bj_capture_init(&run->capture[ERR], spec->limits.max_output);
}

static void clean(struct run *run)
{
	if (run->harvest.pipe >= 0) {
		bj_harvest_done(&run->harvest);
		run->fd[HARVEST] = -1;
	}
	for (int i = 0; i < SLOTS; i++)
		close_slot(run, (enum slot)i);
	bj_capture_done(&run->capture[OUT]);
	bj_capture_done(&run->capture[ERR]);
}

/* Send the run and see it through. */
static int go_through(struct run *run, const struct bj_peer *peer, struct bj_err *err)
{
	const struct bj_spec *spec = run->spec;
	/* The message waits for a process that is still coming up. One that cannot come up says
	 * why, and that is the better reason. */
	int r = send_launch(run, peer, err);

	/* What is written about its beginning costs no time now. */
	if (r == 0 && spec->on_launched && !run->again)
		r = spec->on_launched(spec->launched_ctx, err);

	struct bj_err late = { 0 };
	const int up = bj_process_ready(peer->process, NULL, &late);

	if (up < 0) {
		r = up;
		if (err)
			*err = late;
	}
	if (r < 0)
		return r;
	run->fd[CANCEL] = spec->cancel_fd;
	run->fd[STDIN_FROM] = spec->stdin_fd;
	if (run->fd[HARVEST] >= 0)
		bj_harvest_init(&run->harvest, spec->id, run->fd[HARVEST], spec->out_dir_fd,
				spec->limits.out_files, spec->limits.out_bytes);
	/* The other backends know no such wish. */
	run->samples = spec->samples && !peer->role && !spec->check_only;
	plan_sample(run);
	pump(run);
	return 0;
}

/* Whether the interpreter that waited ended by itself before it said a word about the script, and
 * so before its first line: that end is not the script's. */
static bool was_lost(const struct run *run)
{
	return run->err.code == 0 && run->reply.kind == BJ_REPLY_ENDED && run->reply.warm &&
	       run->verdict_have == 0 &&
	       (run->reply.cause == BJ_CAUSE_EXITED || run->reply.cause == BJ_CAUSE_SIGNAL);
}

static bool has_traces(const struct run *run)
{
	return run->took_stdin || run->capture[OUT].total > 0 || run->capture[ERR].total > 0;
}

int bj_peer_run(const struct bj_peer *peer, const struct bj_spec *spec, struct bj_result *result,
		struct bj_verdict *ret_verdict, struct bj_err *err)
{
	struct run run;

	start_over(&run, peer, spec, result, false);

	int r = go_through(&run, peer, err);
	const bool lost = r == 0 && !peer->role && was_lost(&run);

	if (lost && has_traces(&run)) {
		bj_err_set(&run.err, BJ_E_SYSTEM, 0, "the waiting interpreter did not begin");
	} else if (lost) {
		clean(&run);
		start_over(&run, peer, spec, result, true);
		r = go_through(&run, peer, err);
	}
	if (r == 0) {
		fill_verdict(&run, ret_verdict);
		r = fill_result(&run, result, err);
	}
	clean(&run);
	return r;
}

static int native_run(void *self, const struct bj_spec *spec, struct bj_result *result,
		      struct bj_verdict *ret_verdict, struct bj_err *err)
{
	const struct bj_peer peer = { .process = self };

	return bj_peer_run(&peer, spec, result, ret_verdict, err);
}

const struct bj_backend bj_backend_native = { .id = BJ_BACKEND_NATIVE, .run = native_run };
