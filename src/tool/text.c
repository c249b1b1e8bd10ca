/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/text.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "spec/names.h"

#include <string.h>

enum {
	NOTE_ROOM = 64,    /* for the sentence about what was left out */
	MAX_FINDINGS = 20, /* the rest is counted */
	FINDING_ROOM = 300,
	SENTENCE_ROOM = 500,
	LEAST_OUTPUT = 40, /* less of an output is not worth showing */
};

/* --- cutting ---------------------------------------------------------------------------------- */

/* A character is not torn apart: step back to where one begins. */
static size_t whole_before(const char *text, size_t n)
{
	size_t back = 0;

	while (back < 3 && n > back && ((unsigned char)text[n - back] & 0xc0) == 0x80)
		back++;
	return n - back;
}

static size_t whole_after(const char *text, size_t size, size_t at)
{
	size_t skip = 0;

	while (skip < 3 && at + skip < size && ((unsigned char)text[at + skip] & 0xc0) == 0x80)
		skip++;
	return at + skip;
}

/* UTF-8 without NUL bytes, which texts of this kind end at. */
static void add_clean(struct bj_buf *buf, const char *text, size_t size)
{
	size_t n = 0;
	AUTO_FREE char *good = bj_utf8_repair(text, size, &n);

	for (size_t at = 0; good && at < n; at++) {
		const size_t run = strnlen(good + at, n - at);

		bj_buf_add(buf, good + at, run);
		at += run;
		if (at < n)
			bj_buf_puts(buf, "\xef\xbf\xbd");
	}
}

/* Head and tail of about @keep bytes together. */
static void add_ends(struct bj_buf *buf, const char *text, size_t size, uint64_t total, size_t keep)
{
	const size_t head = whole_before(text, keep / 2);
	const size_t tail = whole_after(text, size, size - (keep - keep / 2));

	add_clean(buf, text, head);
	bj_buf_printf(buf, "\n[... %llu bytes left out ...]\n",
		      (unsigned long long)(total - head - (size - tail)));
	add_clean(buf, text + tail, size - tail);
}

void bj_tool_add_cut(struct bj_buf *buf, const char *text, size_t size, uint64_t total, size_t room)
{
	const size_t start = buf->size;

	if (size <= room) {
		add_clean(buf, text, size);
		if (buf->size - start <= room)
			return;
	}
	/* Bytes that are no UTF-8 grow when they are replaced: try with less until it fits. */
	for (size_t keep = room > NOTE_ROOM ? room - NOTE_ROOM : 0;; keep /= 2) {
		buf->size = start;
		if (keep < size)
			add_ends(buf, text, size, total, keep);
		if ((keep < size && buf->size - start <= room) || keep == 0)
			return;
	}
}

/* --- what happened ---------------------------------------------------------------------------- */

static void add_time(const struct bj_result *r, struct bj_buf *to)
{
	bj_buf_printf(to, " after %.2f s", (double)r->duration_us / 1e6);
}

/* It waits for a person. */
static void add_pending(const struct bj_result *r, struct bj_buf *to)
{
	bj_buf_printf(to,
		      "Not run yet: this script waits for a person's approval as run %s.\n"
		      "Hint: ask the person to decide (`belljar approve %s`, or the approval queue "
		      "of the page) and do not send the script again meanwhile. Once it is "
		      "approved, read_result with this id gives the result.\n",
		      r->id, r->id);
}

static void add_event(const struct bj_result *r, struct bj_buf *to)
{
	const char *error = r->error ? r->error : "";

	if (r->state == BJ_PENDING) {
		add_pending(r, to);
		return;
	}
	if (r->success)
		bj_buf_puts(to, "The script succeeded: exit code 0");
	else if (r->cause == BJ_CAUSE_EXITED)
		bj_buf_printf(to, "The script failed: exit code %d", r->exit_code);
	else if (r->cause == BJ_CAUSE_REJECTED)
		bj_buf_puts(to, "Refused, nothing ran: ");
	else if (error[0] == '\0')
		bj_buf_printf(to, "The script did not finish: %s", bj_cause_name(r->cause));
	if (r->cause == BJ_CAUSE_EXITED)
		add_time(r, to);
	else
		bj_tool_add_cut(to, error, strlen(error), strlen(error), SENTENCE_ROOM);
	bj_buf_puts(to, r->cause == BJ_CAUSE_EXITED ? ".\n" : "\n");
	if (r->asked.timeout_ms > r->effective.timeout_ms)
		bj_buf_printf(to, "The timeout of %g s was cut to the %g s that are allowed.\n",
			      (double)r->asked.timeout_ms / 1e3,
			      (double)r->effective.timeout_ms / 1e3);
}

/* What to change, by cause. */
static const char *const HINTS[] = {
	[BJ_CAUSE_TIMEOUT] = "do less work, print partial results early, or ask for a longer "
			     "timeout",
	[BJ_CAUSE_OOM] = "hold less in memory at once: read in pieces, use generators, delete "
			 "what is not needed; files in /tmp count too",
	[BJ_CAUSE_PIDS] = "start fewer processes and threads, and wait for each before the next",
	[BJ_CAUSE_OUTPUT] = "print a summary instead of everything, or write files into out/",
	[BJ_CAUSE_SECCOMP] = "leave out the system call that is not allowed here: no ptrace, "
			     "mounts, namespaces or kernel interfaces",
	[BJ_CAUSE_REJECTED] = "change the lines named below and send the script again; a refusal "
			      "by the check cannot be approved",
	[BJ_CAUSE_DENIED] = "a person said no: read the reason and do it another way, do not send "
			    "the same script again",
	[BJ_CAUSE_EXPIRED] =
		"nobody decided in time: ask the person to look at the approval queue, "
		"then send it again",
	[BJ_CAUSE_QUOTA] = "the quota is used up: wait, or do it in fewer and shorter runs",
	[BJ_CAUSE_CANCELLED] = "somebody cancelled it: ask before you send it again",
	[BJ_CAUSE_INFRASTRUCTURE] = "the script is not to blame: try once more, then tell the "
				    "person that `belljar doctor` explains it",
};

static void add_hint(const struct bj_result *r, struct bj_buf *to)
{
	const char *hint = (size_t)r->cause < BJ_ARRAY_SIZE(HINTS) ? HINTS[r->cause] : NULL;

	if (hint)
		bj_buf_printf(to, "Hint: %s.\n", hint);
}

/* --- findings --------------------------------------------------------------------------------- */

static void add_finding(const struct bj_finding *f, struct bj_buf *to)
{
	if (f->line)
		bj_buf_printf(to, "line %u: ", f->line);
	bj_tool_add_cut(to, f->message, strlen(f->message), strlen(f->message), FINDING_ROOM);
	bj_buf_printf(to, " [%s, %s%s]\n", f->rule, bj_severity_name(f->severity),
		      f->blocks ? ", blocks" : "");
}

/* Those that block come first. @room: what there is for all. */
static void add_findings(const struct bj_result *r, bool all, size_t room, struct bj_buf *to)
{
	const size_t start = to->size;
	size_t shown = 0, wanted = 0;

	for (int blocks = 1; blocks >= (all ? 0 : 1); blocks--)
		for (size_t i = 0; i < r->n_findings; i++) {
			if (r->findings[i].blocks != (blocks == 1))
				continue;
			wanted++;
			if (shown == MAX_FINDINGS || to->size - start + FINDING_ROOM > room)
				continue;
			add_finding(&r->findings[i], to);
			shown++;
		}
	if (wanted > shown)
		bj_buf_printf(to, "and %zu more findings\n", wanted - shown);
}

/* --- output ----------------------------------------------------------------------------------- */

static void add_output(const char *name, const struct bj_output *out, size_t room,
		       struct bj_buf *to)
{
	const size_t label = strlen(name) + 3;

	if (!out->data || out->size == 0 || room < label + LEAST_OUTPUT)
		return;
	bj_buf_printf(to, "%s:\n", name);
	bj_tool_add_cut(to, out->data, out->size, out->total, room - label);
	if (to->data && to->data[to->size - 1] != '\n')
		bj_buf_puts(to, "\n");
}

static void add_outputs(const struct bj_result *r, size_t max, struct bj_buf *to)
{
	size_t room = max > to->size ? max - to->size : 0;
	/* Each stream may have half; what one does not need the other gets. */
	const size_t want_err = r->err.size + NOTE_ROOM;
	const size_t for_err = want_err < room / 2 ? want_err : room / 2;

	if (r->cause == BJ_CAUSE_REJECTED)
		return; /* stderr repeats the refusal */
	add_output("stdout", &r->out, room - for_err, to);
	room = max > to->size ? max - to->size : 0;
	add_output("stderr", &r->err, room, to);
	if (r->success && r->out.total == 0 && r->err.total == 0)
		bj_buf_puts(to, "It printed nothing; print() or echo what you want to see.\n");
}

/* A ceiling is a ceiling, however small somebody set it. */
static void hold_to(struct bj_buf *buf, size_t max)
{
	if (buf->failed || buf->size <= max)
		return;
	buf->size = whole_before(buf->data, max);
	buf->data[buf->size] = '\0';
}

void bj_tool_text(const struct bj_result *r, size_t max, struct bj_buf *ret)
{
	add_event(r, ret);
	add_hint(r, ret);
	add_findings(r, false, max / 2, ret);
	add_outputs(r, max, ret);
	hold_to(ret, max);
}

void bj_tool_check_text(const struct bj_result *r, size_t max, struct bj_buf *ret)
{
	if (r->validation_failed)
		bj_buf_printf(ret, "This script would be refused: %s\n",
			      r->validation_error ? r->validation_error : "see the findings");
	else
		bj_buf_printf(ret, "Nothing keeps this script from running. Risk: %s.\n",
			      bj_risk_name(r->risk));
	add_findings(r, true, max > ret->size ? max - ret->size : 0, ret);
	hold_to(ret, max);
}
