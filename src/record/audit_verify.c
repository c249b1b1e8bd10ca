/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation: what each kind of change looks like.
 *
 *	changed      the signature does not fit the line
 *	removed      the next line's number and hash do not follow
 *	reordered,
 *	repeated     a number that is not the next one
 *	cut off      the head names a later line; cutting the last line alone gains nothing, since
 *		     the head holds it
 *	replaced     lines signed by another key, or a head that is missing or names another line
 *
 * The head is read before the lines: what is appended meanwhile is looked at next time. */

#include "record/audit_verify.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

struct verify {
	struct bj_audit_reader *reader;
	const struct bj_audit_key *key;
	uint64_t from;
	void (*tell)(void *ctx, const char *where, const char *what);
	void *ctx;
	struct bj_audit_report report;
	bool unsure; /* the line before was broken: its hash is not known */
	struct bj_audit_head head;
	bool has_head;
	bool head_seen; /* a line of the log has the head's number and hash */
};

static void problem(struct verify *v, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void problem(struct verify *v, const char *where, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	v->report.problems++;
	v->tell(v->ctx, where, what);
}

/* How @line follows the one before. */
static void check_order(struct verify *v, const char *where, const struct bj_audit_line *line)
{
	const struct bj_audit_report *r = &v->report;
	const uint64_t next = r->last_seq + 1;

	if (r->lines == 0 && !v->unsure) {
		if (line->seq > v->from)
			problem(v, where,
				"seq %" PRIu64 ": the log does not begin with seq %" PRIu64,
				line->seq, v->from);
		else if (line->seq == 1 && strcmp(line->prev, bj_audit_no_hash) != 0)
			problem(v, where, "seq 1: something is said to have stood before it");
	} else if (line->seq > next && !v->unsure) {
		problem(v, where, "seq %" PRIu64 ": %" PRIu64 " line(s) before it were removed",
			line->seq, line->seq - next);
	} else if (line->seq < next) {
		problem(v, where,
			"seq %" PRIu64 ": out of order or repeated, seq %" PRIu64
			" should stand here",
			line->seq, next);
	} else if (!v->unsure && strcmp(line->prev, r->hash) != 0) {
		problem(v, where, "seq %" PRIu64 ": does not follow from the line before it",
			line->seq);
	}
}

static void check_line(struct verify *v, const char *where, const char *text, size_t size)
{
	struct bj_audit_report *r = &v->report;
	struct bj_audit_line line = { 0 };

	if (bj_audit_line_read(v->key, text, size, &line, NULL) < 0) {
		problem(v, where,
			"after seq %" PRIu64 ": the line was changed, or another key "
			"signed it",
			r->last_seq);
		v->unsure = true;
		return;
	}
	if (line.seq >= v->from) {
		const char *kind = json_string_value(json_object_get(line.root, "kind"));
		const json_t *data = json_object_get(line.root, "data");
		const char *why = json_string_value(json_object_get(data, "why"));

		check_order(v, where, &line);
		if (kind && strcmp(kind, "audit.broken") == 0)
			problem(v, where, "seq %" PRIu64 ": belljar found the log broken here: %s",
				line.seq, why ? why : "?");
		if (r->lines++ == 0)
			r->first_seq = line.seq;
	}
	r->last_seq = line.seq;
	memcpy(r->hash, line.hash, sizeof(r->hash));
	v->unsure = false;
	if (v->has_head && line.seq == v->head.seq && strcmp(line.hash, v->head.hash) == 0)
		v->head_seen = true;
	bj_audit_line_done(&line);
}

/* A piece of the line that the head holds: its writer died, and the next one writes the rest. */
static bool is_piece_of_head(const struct verify *v, const char *text, size_t size)
{
	return v->has_head && !bj_audit_reader_whole(v->reader) && size < v->head.size &&
	       v->report.last_seq + 1 == v->head.seq && memcmp(text, v->head.line, size) == 0;
}

static int check_lines(struct verify *v, struct bj_err *err)
{
	const char *text;
	size_t size;
	int r;

	while ((r = bj_audit_reader_next(v->reader, &text, &size, err)) > 0) {
		char where[PATH_MAX + 96];

		if (is_piece_of_head(v, text, size))
			continue;
		snprintf(where, sizeof(where), "%s:%" PRIu64, bj_audit_reader_file(v->reader),
			 bj_audit_reader_line(v->reader));
		check_line(v, where, text, size);
	}
	return r;
}

/* The prev of the line that the head holds. */
static bool head_follows(const struct verify *v)
{
	struct bj_audit_line line = { 0 };
	const bool follows =
		bj_audit_line_read(v->key, v->head.line, v->head.size - 1, &line, NULL) == 0 &&
		strcmp(line.prev, v->report.hash) == 0;

	bj_audit_line_done(&line);
	return follows;
}

static void check_head(struct verify *v, const char *where)
{
	const struct bj_audit_report *r = &v->report;

	if (!v->has_head || v->head_seen)
		return;
	if (r->last_seq + 1 == v->head.seq && head_follows(v))
		v->report.head_ahead = true;
	else if (r->last_seq < v->head.seq)
		problem(v, where,
			"cut off: the head says seq %" PRIu64 ", the log ends with seq %" PRIu64,
			v->head.seq, r->last_seq);
	else
		problem(v, where, "replaced: the head names another line seq %" PRIu64,
			v->head.seq);
}

static int read_page(const char *state_dir, char page[BJ_AUDIT_PAGE], struct bj_err *err)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/" BJ_AUDIT_HEAD, state_dir);

	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	const ssize_t n = fd < 0 ? -1 : pread(fd, page, BJ_AUDIT_PAGE, 0);

	if (n != BJ_AUDIT_PAGE)
		return bj_err_set(err, BJ_E_NOT_FOUND, n < 0 ? errno : 0,
				  "the audit log's head %.160s is missing", path);
	return 0;
}

int bj_audit_head_load(const char *state_dir, const struct bj_audit_key *key,
		       struct bj_audit_head *ret, struct bj_err *err)
{
	static const struct timespec moment = { .tv_nsec = 100000000 };
	char page[BJ_AUDIT_PAGE];
	int r = 0;

	/* Whoever has only the public half waits for the signature of a running service. */
	for (int i = 0; i < 5; i++) {
		r = read_page(state_dir, page, err);
		if (r == 0)
			r = bj_audit_head_read(key, page, ret, err);
		if (r != -BJ_E_DENIED || key->can_sign)
			return r;
		nanosleep(&moment, NULL);
	}
	return r;
}

int bj_audit_verify(const char *state_dir, const struct bj_audit_key *key, uint64_t from,
		    void (*tell)(void *ctx, const char *where, const char *what), void *ctx,
		    struct bj_audit_report *ret, struct bj_err *err)
{
	struct verify v = { .key = key, .from = from ? from : 1, .tell = tell, .ctx = ctx };
	struct bj_err head_err = { 0 };
	char where[PATH_MAX + 16];

	snprintf(where, sizeof(where), "%s/" BJ_AUDIT_HEAD, state_dir);
	memcpy(v.report.hash, bj_audit_no_hash, sizeof(v.report.hash));
	v.has_head = bj_audit_head_load(state_dir, key, &v.head, &head_err) == 0;

	int r = bj_audit_reader_open(state_dir, &v.reader, err);

	if (r == -BJ_E_NOT_FOUND && v.has_head) {
		problem(&v, where, "the log is gone; its head says seq %" PRIu64, v.head.seq);
		*ret = v.report;
		return 0;
	}
	if (r < 0)
		return r;
	r = check_lines(&v, err);
	if (r == 0 && !v.has_head)
		problem(&v, where, "%s", head_err.msg);
	if (r == 0)
		check_head(&v, where);
	bj_audit_reader_free(v.reader);
	if (r == 0)
		*ret = v.report;
	return r;
}
