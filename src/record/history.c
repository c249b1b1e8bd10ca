/* SPDX-License-Identifier: Apache-2.0 */
#include "record/history.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/utf8.h"
#include "record/approval.h"
#include "record/held.h"
#include "spec/names.h"

#include <inttypes.h>
#include <string.h>

#define COLUMNS                                                                                    \
	"e.seq, e.id, e.name, e.tenant, e.actor, e.tool, e.through, e.language, e.backend,"        \
	" e.policy, e.trusted, e.script_sha256, e.risk, e.effective_risk, e.state, e.cause,"       \
	" e.exit_code, e.signal, e.started_ms, e.ended_ms, e.duration_us, e.cpu_us,"               \
	" e.peak_memory, e.approver, e.artifact, a.state, a.reason, e.limits"

enum column {
	SEQ,
	ID,
	NAME,
	TENANT,
	ACTOR,
	TOOL,
	THROUGH,
	LANGUAGE,
	BACKEND,
	POLICY,
	TRUSTED,
	SHA256,
	RISK,
	EFFECTIVE,
	STATE,
	CAUSE,
	EXIT_CODE,
	SIGNAL,
	STARTED,
	ENDED,
	DURATION,
	CPU,
	MEMORY,
	APPROVER,
	ARTIFACT,
	APPROVAL,
	REASON,
	LIMITS,
	AFTER_COLUMNS,
};

/* --- one row as an object --------------------------------------------------------------------- */

static json_t *text(sqlite3_stmt *st, int column)
{
	const char *s = (const char *)sqlite3_column_text(st, column);
	size_t n = 0;
	AUTO_FREE char *good = s ? bj_utf8_repair(s, strlen(s), &n) : NULL;

	return good ? json_stringn_nocheck(good, n) : json_null();
}

static json_t *number(sqlite3_stmt *st, int column)
{
	if (sqlite3_column_type(st, column) == SQLITE_NULL)
		return json_null();
	return json_integer(sqlite3_column_int64(st, column));
}

static json_t *millis(sqlite3_stmt *st, int column)
{
	if (sqlite3_column_type(st, column) == SQLITE_NULL)
		return json_null();
	return json_real((double)sqlite3_column_int64(st, column) / 1000.0);
}

static json_t *cause(sqlite3_stmt *st)
{
	const int v = sqlite3_column_int(st, CAUSE);

	return v == BJ_CAUSE_NONE ? json_null() : json_string(bj_cause_name((enum bj_cause)v));
}

static json_t *success(sqlite3_stmt *st)
{
	if (sqlite3_column_int(st, STATE) != BJ_FINISHED)
		return json_null();
	return json_boolean(sqlite3_column_int(st, CAUSE) == BJ_CAUSE_EXITED &&
			    sqlite3_column_int(st, EXIT_CODE) == 0);
}

/* Whether a person was asked, and what came of it. */
static json_t *approval(sqlite3_stmt *st)
{
	const int v = sqlite3_column_int(st, APPROVAL);

	if (sqlite3_column_type(st, APPROVAL) == SQLITE_NULL)
		return json_null();
	return json_string(v == BJ_DECISION_NONE ? "waiting"
						 : bj_decision_name((enum bj_decision_kind)v));
}

static const char *through(sqlite3_stmt *st)
{
	if (sqlite3_column_type(st, TOOL) != SQLITE_NULL)
		return "tool";
	return sqlite3_column_int(st, THROUGH) == BJ_THROUGH_API ? "api" : "own";
}

static json_t *row(sqlite3_stmt *st)
{
	return json_pack(
		"{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:s, s:b, s:o, s:s, s:s,"
		" s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
		"id", text(st, ID), "state",
		bj_state_name((enum bj_state)sqlite3_column_int(st, STATE)), "cause", cause(st),
		"success", success(st), "name", text(st, NAME), "tenant", text(st, TENANT), "actor",
		text(st, ACTOR), "tool", text(st, TOOL), "through", through(st), "language",
		bj_language_name((enum bj_language)sqlite3_column_int(st, LANGUAGE)), "backend",
		bj_backend_name((enum bj_backend_id)sqlite3_column_int(st, BACKEND)), "policy",
		bj_policy_name((enum bj_policy)sqlite3_column_int(st, POLICY)), "trusted",
		sqlite3_column_int(st, TRUSTED), "script_sha256", text(st, SHA256), "risk",
		bj_risk_name((enum bj_risk)sqlite3_column_int(st, RISK)), "effective_risk",
		bj_risk_name((enum bj_risk)sqlite3_column_int(st, EFFECTIVE)), "exit_code",
		number(st, EXIT_CODE), "signal", number(st, SIGNAL), "created_ms",
		(json_int_t)(sqlite3_column_int64(st, SEQ) / 1000), "started_ms",
		number(st, STARTED), "ended_ms", number(st, ENDED), "duration_ms",
		millis(st, DURATION), "cpu_ms", millis(st, CPU), "peak_memory_bytes",
		number(st, MEMORY), "approval", approval(st), "approver", text(st, APPROVER),
		"artifacts", sqlite3_column_type(st, ARTIFACT) != SQLITE_NULL);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Values that are numbers stand in the text itself, so that a partial index is seen to fit. */
static void add_where(struct bj_buf *sql, const struct bj_history_filter *f)
{
	/* A plus keeps an index out of it: of two, the one that finds fewer is to be used. */
	const bool few =
		(f->state >= 0 && f->state != BJ_FINISHED) || f->cause > BJ_CAUSE_EXITED || f->tool;
	const char *tenant = few ? "+" : "", *language = few || f->tenant ? "+" : "";

	bj_buf_puts(sql, " WHERE e.seq < ?1 AND e.seq >= ?2");
	if (f->state >= 0)
		bj_buf_printf(sql, " AND e.state = %d%s", f->state,
			      f->state == BJ_FINISHED ? "" : " AND e.state <> 3");
	if (f->cause >= 0)
		bj_buf_printf(sql, " AND e.cause = %d%s", f->cause,
			      f->cause > BJ_CAUSE_EXITED ? " AND e.cause > 1" : "");
	if (f->language >= 0)
		bj_buf_printf(sql, " AND %se.language = %d", language, f->language);
	if (f->tool)
		bj_buf_puts(sql, " AND e.tool = ?3");
	if (f->tenant && strcmp(f->tenant, "local") == 0)
		bj_buf_puts(sql, " AND e.tenant IS NULL");
	else if (f->tenant)
		bj_buf_printf(sql, " AND %se.tenant = ?4", tenant);
	if (f->name)
		bj_buf_puts(sql, " AND e.name = ?5");
	bj_buf_puts(sql, " ORDER BY e.seq DESC LIMIT ?6");
}

/* Where the page begins: the key of the run @before, or the time given. Negative: @err says why. */
static int64_t upper_end(sqlite3 *db, const struct bj_history_filter *f, struct bj_err *err)
{
	int64_t end = f->until_ms ? (int64_t)f->until_ms * 1000 : INT64_MAX;

	if (!f->before)
		return end;

	AUTO_STMT sqlite3_stmt *st =
		bj_store_prepare(db, "SELECT seq FROM executions WHERE id = ?1", err);

	if (!st)
		return -err->code;
	sqlite3_bind_text(st, 1, f->before, -1, SQLITE_STATIC);

	const int r = sqlite3_step(st);

	if (r == SQLITE_DONE)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0, "there is no run %.40s to go on from",
				  f->before);
	if (r != SQLITE_ROW)
		return bj_store_err(db, err, "the records cannot be read");

	const int64_t seq = sqlite3_column_int64(st, 0);

	return seq < end ? seq : end;
}

static json_t *read_page(sqlite3_stmt *st, unsigned int limit)
{
	json_t *list = json_array(), *next = json_null();
	int r;

	while ((r = sqlite3_step(st)) == SQLITE_ROW && json_array_size(list) < limit)
		json_array_append_new(list, row(st));
	if (r == SQLITE_ROW && limit > 0)
		next = json_incref(json_object_get(json_array_get(list, limit - 1), "id"));
	if (r != SQLITE_ROW && r != SQLITE_DONE) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:o, s:o}", "executions", list, "next", next);
}

static json_t *list(sqlite3 *db, const struct bj_history_filter *f, struct bj_err *err)
{
	AUTO_BUF struct bj_buf sql = { 0 };
	const int64_t end = upper_end(db, f, err);

	if (end < 0)
		return NULL;
	bj_buf_puts(&sql,
		    "SELECT " COLUMNS " FROM executions e LEFT JOIN approvals a ON a.id = e.id");
	add_where(&sql, f);

	AUTO_STMT sqlite3_stmt *st = sql.failed ? NULL : bj_store_prepare(db, sql.data, err);

	if (!st)
		return NULL;
	sqlite3_bind_int64(st, 1, end);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)f->since_ms * 1000);
	if (f->tool)
		sqlite3_bind_text(st, 3, f->tool, -1, SQLITE_STATIC);
	if (f->tenant)
		sqlite3_bind_text(st, 4, f->tenant, -1, SQLITE_STATIC);
	if (f->name)
		sqlite3_bind_text(st, 5, f->name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 6, (sqlite3_int64)f->limit + 1);

	json_t *page = read_page(st, f->limit);

	if (!page)
		bj_store_err(db, err, "the records cannot be read");
	return page;
}

json_t *bj_history_list(struct bj_archive *ar, const struct bj_history_filter *filter,
			struct bj_err *err)
{
	sqlite3 *db = bj_store_read(&ar->store, err);

	if (!db)
		return NULL;

	json_t *page = list(db, filter, err);

	bj_store_let_go(&ar->store);
	return page;
}

/* --- one run ---------------------------------------------------------------------------------- */

static int find(sqlite3 *db, const char *prefix, char ret_id[33], struct bj_err *err)
{
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
		db,
		"SELECT id FROM executions WHERE id >= ?1 AND id < ?1 || x'7f' ORDER BY id LIMIT 2",
		err);
	char id[33] = "";

	if (!st)
		return -err->code;
	sqlite3_bind_text(st, 1, prefix, -1, SQLITE_STATIC);

	const int r = prefix[0] ? sqlite3_step(st) : SQLITE_DONE;

	if (r == SQLITE_ROW)
		snprintf(id, sizeof(id), "%s", sqlite3_column_text(st, 0));
	else if (r != SQLITE_DONE)
		return bj_store_err(db, err, "the records cannot be read");
	if (!id[0])
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "there is no run %.40s; `belljar history` lists them", prefix);
	if (strcmp(id, prefix) != 0 && sqlite3_step(st) == SQLITE_ROW)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "more than one run begins with %.40s; say more of it", prefix);
	memcpy(ret_id, id, sizeof(id));
	return 0;
}

int bj_history_find(struct bj_archive *ar, const char *prefix, char ret_id[33], struct bj_err *err)
{
	sqlite3 *db = bj_store_read(&ar->store, err);

	if (!db)
		return -err->code;

	const int r = find(db, prefix, ret_id, err);

	bj_store_let_go(&ar->store);
	return r;
}

static json_t *parsed(sqlite3_stmt *st, int column)
{
	const char *s = (const char *)sqlite3_column_text(st, column);
	json_t *v = s ? json_loads(s, JSON_ALLOW_NUL, NULL) : NULL;

	return v ? v : json_null();
}

static json_t *script(sqlite3_stmt *st, int column)
{
	const char *data = sqlite3_column_blob(st, column);
	size_t n = 0;
	AUTO_FREE char *good =
		data ? bj_utf8_repair(data, (size_t)sqlite3_column_bytes(st, column), &n) : NULL;

	return good ? json_stringn_nocheck(good, n) : json_null();
}

static json_t *show(sqlite3 *db, const char *id, struct bj_err *err)
{
	static const char sql[] =
		"SELECT " COLUMNS ", d.result, d.script, a.rule, a.asked_ms, a.expires_ms,"
		" a.decided_ms, a.decider FROM executions e"
		" LEFT JOIN approvals a ON a.id = e.id"
		" LEFT JOIN details d ON d.seq = e.seq WHERE e.id = ?1";
	enum { RESULT = AFTER_COLUMNS, SCRIPT, RULE, ASKED, EXPIRES, DECIDED, DECIDER };
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, err);

	if (!st)
		return NULL;
	sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);

	const int r = sqlite3_step(st);

	if (r == SQLITE_DONE)
		bj_err_set(err, BJ_E_NOT_FOUND, 0,
			   "there is no run %.40s; `belljar history` lists them", id);
	else if (r != SQLITE_ROW)
		bj_store_err(db, err, "the records cannot be read");
	if (r != SQLITE_ROW)
		return NULL;

	json_t *object = row(st);

	json_object_set_new(object, "limits", parsed(st, LIMITS));
	json_object_set_new(object, "result", parsed(st, RESULT));
	json_object_set_new(object, "script", script(st, SCRIPT));
	if (sqlite3_column_type(st, APPROVAL) == SQLITE_NULL)
		json_object_set_new(object, "question", json_null());
	else
		json_object_set_new(object, "question",
				    json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "rule",
					      text(st, RULE), "asked_ms", number(st, ASKED),
					      "expires_ms", number(st, EXPIRES), "decided_ms",
					      number(st, DECIDED), "by", text(st, DECIDER),
					      "reason", text(st, REASON)));
	return object;
}

/* What waits is held: whoever decides must see it. */
static void add_held(const struct bj_record *rec, const char *id, json_t *object)
{
	AUTO_BUF struct bj_buf order = { 0 };
	struct bj_held held = { .stdin_fd = -1 };

	if (!json_is_null(json_object_get(object, "script")) ||
	    bj_approval_held(rec->archive, id, &order, NULL) < 0)
		return;
	if (bj_held_unpack(order.data, order.size, &held, NULL) == 0) {
		AUTO_FREE char *masked =
			bj_record_mask(rec, held.spec.script, held.spec.script_size);
		size_t n = 0;
		AUTO_FREE char *good =
			masked ? bj_utf8_repair(masked, held.spec.script_size, &n) : NULL;

		if (good)
			json_object_set_new(object, "script", json_stringn_nocheck(good, n));
	}
	bj_held_done(&held);
}

json_t *bj_history_show(const struct bj_record *rec, const char *id, struct bj_err *err)
{
	sqlite3 *db = bj_store_read(&rec->archive->store, err);

	if (!db)
		return NULL;

	json_t *object = show(db, id, err);

	bj_store_let_go(&rec->archive->store);
	if (object)
		add_held(rec, id, object);
	return object;
}
