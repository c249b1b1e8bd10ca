/* SPDX-License-Identifier: Apache-2.0 */
#include "record/approval.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "record/fold.h"
#include "record/held.h"
#include "spec/finding_json.h"
#include "spec/names.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

enum { NONCE = crypto_secretbox_NONCEBYTES, MAC = crypto_secretbox_MACBYTES };

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static int64_t now_ms(void)
{
	return (int64_t)bj_clock_unix_ms();
}

/* --- sealing ---------------------------------------------------------------------------------- */

static int seal(const struct bj_archive *ar, const struct bj_buf *plain, struct bj_buf *ret)
{
	char *to = bj_buf_reserve(ret, NONCE + MAC + plain->size);

	if (!to)
		return -1;
	randombytes_buf(to, NONCE);
	crypto_secretbox_easy((unsigned char *)to + NONCE, (const unsigned char *)plain->data,
			      plain->size, (const unsigned char *)to, ar->seal_key);
	ret->size += NONCE + MAC + plain->size;
	return 0;
}

static int unseal(const struct bj_archive *ar, const char *data, size_t size, struct bj_buf *ret)
{
	char *to = size > NONCE + MAC ? bj_buf_reserve(ret, size - NONCE - MAC) : NULL;

	if (!to ||
	    crypto_secretbox_open_easy((unsigned char *)to, (const unsigned char *)data + NONCE,
				       size - NONCE, (const unsigned char *)data, ar->seal_key) < 0)
		return -1;
	ret->size += size - NONCE - MAC;
	return 0;
}

/* --- asking ----------------------------------------------------------------------------------- */

static int insert(const struct bj_record *rec, const struct bj_spec *spec, const char *rule,
		  const struct bj_decision *decision, const struct bj_buf *held)
{
	static const char sql[] =
		"INSERT INTO approvals (id, binding, tenant, tool, name, rule, state, asked_ms,"
		" expires_ms, decided_ms, decider, reason, held)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(rec->archive->store.db, sql, NULL);
	AUTO_FREE char *reason =
		decision && decision->reason
			? bj_record_mask(rec, decision->reason, strlen(decision->reason))
			: NULL;
	char binding[65];

	if (!st)
		return -1;
	bj_record_binding(spec, binding);
	bind_text(st, 1, spec->id);
	bind_text(st, 2, binding);
	bind_text(st, 3, spec->tenant);
	bind_text(st, 4, spec->tool);
	bind_text(st, 5, spec->name);
	bind_text(st, 6, rule);
	sqlite3_bind_int(st, 7, decision ? decision->kind : BJ_DECISION_NONE);
	sqlite3_bind_int64(st, 8, now_ms());
	sqlite3_bind_int64(st, 9, now_ms() + (int64_t)rec->settings->approval.expire_ms);
	if (decision)
		sqlite3_bind_int64(st, 10, (sqlite3_int64)decision->decided_ms);
	bind_text(st, 11, decision ? decision->by : NULL);
	bind_text(st, 12, reason);
	if (held)
		sqlite3_bind_blob64(st, 13, held->data, held->size, SQLITE_STATIC);
	return sqlite3_step(st) == SQLITE_DONE ? 0 : -1;
}

/* What is known while it waits is kept like a result. */
static int keep_pending(const struct bj_record *rec, const struct bj_spec *spec,
			const struct bj_result *result)
{
	AUTO_FREE char *text = bj_record_result(rec, result, false);

	if (!text || bj_record_row(rec, spec, result, BJ_PENDING) < 0)
		return -1;
	return bj_fold_detail(&rec->archive->store, spec->id, text, NULL, 0);
}

int bj_approval_ask(const struct bj_record *rec, const struct bj_spec *spec,
		    const struct bj_result *result, const char *rule, bool once, struct bj_err *err)
{
	struct bj_store *store = &rec->archive->store;
	AUTO_BUF struct bj_buf plain = { .max = BJ_HELD_MAX };
	AUTO_BUF struct bj_buf held = { 0 };
	int r = bj_held_pack(spec, &plain, err);

	if (r < 0)
		return r;
	if (seal(rec->archive, &plain, &held) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for a run that waits");
	sodium_memzero(plain.data, plain.size);
	r = bj_store_begin(store, err);
	if (r < 0)
		return r;
	r = once ? 0 : keep_pending(rec, spec, result);
	if (r == 0)
		r = insert(rec, spec, rule, NULL, &held);
	if (r < 0) {
		r = bj_store_err(store->db, err, "cannot record that this run waits");
		bj_store_rollback(store);
		return r;
	}
	return bj_store_commit(store, err);
}

int bj_approval_note(const struct bj_record *rec, const struct bj_spec *spec, const char *rule,
		     const struct bj_decision *decision, struct bj_err *err)
{
	struct bj_store *store = &rec->archive->store;
	int r = bj_store_begin_aside(store, err);

	if (r < 0)
		return r;
	if (insert(rec, spec, rule, decision, NULL) < 0) {
		r = bj_store_err(store->db, err, "cannot record the decision");
		bj_store_rollback(store);
		return r;
	}
	return bj_store_commit(store, err);
}

/* --- what holds ------------------------------------------------------------------------------- */

static void read_decision(sqlite3_stmt *st, struct bj_decision *ret)
{
	*ret = (struct bj_decision){ .kind = BJ_DECISION_APPROVED,
				     .by = bj_store_text(st, 0),
				     .reason = bj_store_text(st, 1),
				     .decided_ms = (uint64_t)sqlite3_column_int64(st, 2) };
}

int bj_approval_holds(const struct bj_record *rec, const struct bj_spec *spec,
		      struct bj_decision *ret, struct bj_err *err)
{
	static const char sql[] =
		"SELECT decider, reason, decided_ms FROM approvals WHERE state = 1 AND binding = ?1"
		" AND (id = ?2 OR (decided_ms > ?3 AND (?4 = 2 OR (tenant IS ?5 AND (?4 = 1 OR"
		" tool IS ?6))))) ORDER BY decided_ms DESC LIMIT 1";
	const struct bj_approval_settings *set = &rec->settings->approval;
	struct bj_store *store = &rec->archive->store;
	sqlite3 *db = bj_store_read_aside(store, err);
	char binding[65];
	int r = 0;

	if (!db)
		return -err->code;
	bj_record_binding(spec, binding);
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, err);

		if (st) {
			bind_text(st, 1, binding);
			bind_text(st, 2, spec->id);
			sqlite3_bind_int64(st, 3, now_ms() - (int64_t)set->reuse_ms);
			sqlite3_bind_int(st, 4, set->scope);
			bind_text(st, 5, spec->tenant);
			bind_text(st, 6, spec->tool);
			r = sqlite3_step(st);
		}
		if (r == SQLITE_ROW)
			read_decision(st, ret);
		else if (r != SQLITE_DONE)
			bj_store_err(db, err, "decisions cannot be read");
	}
	bj_store_let_go(store);
	return r == SQLITE_ROW ? 1 : r == SQLITE_DONE ? 0 : -err->code;
}

char *bj_approval_last(const struct bj_record *rec, const struct bj_spec *spec)
{
	static const char sql[] =
		"SELECT d.script FROM approvals a JOIN executions e ON e.id = a.id JOIN details d"
		" ON d.seq = e.seq WHERE a.state = 1 AND a.name IS ?1 AND a.tenant IS ?2 AND"
		" a.tool IS ?3 AND e.language = ?4 AND d.script IS NOT NULL"
		" ORDER BY a.decided_ms DESC LIMIT 1";
	struct bj_store *store = &rec->archive->store;
	sqlite3 *db = bj_store_read(store, NULL);
	char *found = NULL;

	if (!db)
		return NULL;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, NULL);

		if (st) {
			bind_text(st, 1, spec->name);
			bind_text(st, 2, spec->tenant);
			bind_text(st, 3, spec->tool);
			sqlite3_bind_int(st, 4, spec->language);
		}
		if (st && sqlite3_step(st) == SQLITE_ROW)
			found = bj_store_text(st, 0);
	}
	bj_store_let_go(store);
	return found;
}

/* --- deciding --------------------------------------------------------------------------------- */

/* The result of a run that will never be: what is kept of it so far, with how it ended. */
static int end_without_run(const struct bj_record *rec, const char *id, enum bj_decision_kind kind,
			   const char *by, const char *reason)
{
	static const char find[] = "SELECT d.result FROM executions e JOIN details d ON d.seq ="
				   " e.seq WHERE e.id = ?1 AND e.state = 0";
	static const char end[] = "UPDATE executions SET state = 3, cause = ?2, ended_ms = ?3,"
				  " approval = ?4, approver = ?5 WHERE id = ?1 AND state = 0";
	sqlite3 *db = rec->archive->store.db;
	const enum bj_cause cause = kind == BJ_DECISION_DENIED ? BJ_CAUSE_DENIED : BJ_CAUSE_EXPIRED;
	AUTO_STMT sqlite3_stmt *old = bj_store_prepare(db, find, NULL);
	AUTO_STMT sqlite3_stmt *up = bj_store_prepare(db, end, NULL);
	AUTO_BUF struct bj_buf error = { 0 };

	if (!old || !up)
		return -1;
	bind_text(old, 1, id);
	if (sqlite3_step(old) != SQLITE_ROW)
		return 0; /* asked in place or by a run that did not wait: nothing to end */

	json_t *object = json_loads((const char *)sqlite3_column_text(old, 0), 0, NULL);

	if (kind == BJ_DECISION_EXPIRED)
		bj_buf_puts(&error, "nobody approved this run in time; ask again");
	else
		bj_buf_printf(&error, "denied by %s%s%s", by ? by : "somebody", reason ? ": " : "",
			      reason ? reason : "");
	json_object_set_new(object, "state", json_string("finished"));
	json_object_set_new(object, "cause", json_string(bj_cause_name(cause)));
	json_object_set_new(object, "error", json_string(error.data));
	json_object_set_new(object, "stderr", json_string(error.data));
	json_object_set_new(object, "decision",
			    json_pack("{s:s, s:s?, s:s?, s:I}", "decision", bj_decision_name(kind),
				      "by", by, "reason", reason, "decided_ms",
				      (json_int_t)now_ms()));

	AUTO_FREE char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12));

	json_decref(object);
	bind_text(up, 1, id);
	sqlite3_bind_int(up, 2, cause);
	sqlite3_bind_int64(up, 3, now_ms());
	sqlite3_bind_int(up, 4, kind);
	bind_text(up, 5, by);
	if (!text || sqlite3_step(up) != SQLITE_DONE)
		return -1;
	return bj_fold_detail(&rec->archive->store, id, text, NULL, 0);
}

/* Move a question that is open to @kind. 1: done; 0: it was not open. */
static int close_question(const struct bj_record *rec, const char *id, enum bj_decision_kind kind,
			  const char *by, const char *reason)
{
	/* What was approved is held until it begins; what was not is wiped at once. */
	static const char sql[] =
		"UPDATE approvals SET state = ?2, decided_ms = ?3, decider = ?4, reason = ?5,"
		" held = CASE WHEN ?2 = 1 AND EXISTS (SELECT 1 FROM executions WHERE id = ?1 AND"
		" state = 0) THEN held END"
		" WHERE id = ?1 AND state = 0 AND (?2 = 3 OR expires_ms > ?3)";
	sqlite3 *db = rec->archive->store.db;
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, NULL);

	if (!st)
		return -1;
	bind_text(st, 1, id);
	sqlite3_bind_int(st, 2, kind);
	sqlite3_bind_int64(st, 3, now_ms());
	bind_text(st, 4, by);
	bind_text(st, 5, reason);
	if (sqlite3_step(st) != SQLITE_DONE)
		return -1;
	return sqlite3_changes(db) == 1;
}

static int refuse_late(const struct bj_record *rec, const char *id, struct bj_err *err)
{
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
		rec->archive->store.db, "SELECT state, decider FROM approvals WHERE id = ?1", err);

	if (!st)
		return -err->code;
	bind_text(st, 1, id);

	const int r = sqlite3_step(st);

	if (r == SQLITE_DONE)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "no run %.32s waits for a decision; `belljar history --state "
				  "pending` lists those that do",
				  id);
	if (r != SQLITE_ROW)
		return bj_store_err(rec->archive->store.db, err, "decisions cannot be read");

	const int state = sqlite3_column_int(st, 0);
	const char *by = (const char *)sqlite3_column_text(st, 1);

	if (state == BJ_DECISION_NONE || state == BJ_DECISION_EXPIRED)
		return bj_err_set(err, BJ_E_DENIED, 0, "too late: run %.32s has expired", id);
	return bj_err_set(err, BJ_E_DENIED, 0, "run %.32s was %s already, by %.60s", id,
			  bj_decision_name((enum bj_decision_kind)state), by ? by : "somebody");
}

/* A line of the audit log, before what it tells of can have an effect: a decision that cannot be
 * written down is none. */
static int note(const struct bj_record *rec, const char *kind, const char *id, const char *by,
		const char *reason, struct bj_err *err)
{
	return bj_audit_append(rec->archive->audit, kind,
			       json_pack("{s:s, s:o*, s:o*}", "run", id, "actor", bj_audit_text(by),
					 "reason", bj_audit_text(reason)),
			       err);
}

int bj_approval_decide(const struct bj_record *rec, const char *id, bool approve, const char *by,
		       const char *reason, struct bj_err *err)
{
	const enum bj_decision_kind kind = approve ? BJ_DECISION_APPROVED : BJ_DECISION_DENIED;
	struct bj_store *store = &rec->archive->store;
	AUTO_FREE char *masked = reason ? bj_record_mask(rec, reason, strlen(reason)) : NULL;
	int r = bj_store_begin(store, err);

	if (r < 0)
		return r;
	r = close_question(rec, id, kind, by, masked);
	if (r == 0) {
		r = refuse_late(rec, id, err);
		bj_store_rollback(store);
		return r;
	}
	if (r > 0 && !approve)
		r = end_without_run(rec, id, kind, by, masked);
	if (r < 0)
		r = bj_store_err(store->db, err, "cannot record the decision");
	else
		r = note(rec, approve ? "approval.approve" : "approval.deny", id, by, masked, err);
	if (r < 0) {
		bj_store_rollback(store);
		return r;
	}
	return bj_store_commit(store, err);
}

/* --- expiry ----------------------------------------------------------------------------------- */

static bool next_late(struct bj_archive *ar, char id[33])
{
	sqlite3 *db = bj_store_read_aside(&ar->store, NULL);
	bool found = false;

	if (!db)
		return false;
	{
		AUTO_STMT sqlite3_stmt *st =
			bj_store_prepare(db,
					 "SELECT id FROM approvals WHERE state = 0 AND expires_ms"
					 " <= ?1 LIMIT 1",
					 NULL);

		if (st)
			sqlite3_bind_int64(st, 1, now_ms());
		if (st && sqlite3_step(st) == SQLITE_ROW) {
			snprintf(id, 33, "%s", sqlite3_column_text(st, 0));
			found = true;
		}
	}
	bj_store_let_go(&ar->store);
	return found;
}

/* 1: it did; 0: somebody was faster. */
static int expire_one(const struct bj_record *rec, const char *id, struct bj_err *err)
{
	struct bj_store *store = &rec->archive->store;
	int r = bj_store_begin(store, err);

	if (r < 0)
		return r;

	const int closed = close_question(rec, id, BJ_DECISION_EXPIRED, NULL, NULL);

	if (closed < 0 ||
	    (closed > 0 && end_without_run(rec, id, BJ_DECISION_EXPIRED, NULL, NULL) < 0))
		r = bj_store_err(store->db, err, "cannot end what expired");
	else if (closed > 0)
		r = note(rec, "approval.expire", id, NULL, NULL, err);
	if (r < 0) {
		bj_store_rollback(store);
		return r;
	}
	r = bj_store_commit(store, err);
	return r < 0 ? r : closed;
}

int bj_approval_expire(const struct bj_record *rec, struct bj_err *err)
{
	char id[33];
	int n = 0;

	while (next_late(rec->archive, id)) {
		const int r = expire_one(rec, id, err);

		if (r < 0)
			return r;
		n += r;
	}
	return n;
}

/* --- running what was held -------------------------------------------------------------------- */

int bj_approval_held(struct bj_archive *ar, const char *id, struct bj_buf *ret, struct bj_err *err)
{
	sqlite3 *db = bj_store_read_aside(&ar->store, err);
	int found = SQLITE_ERROR, r = -1;

	if (!db)
		return -BJ_E_SYSTEM;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
			db, "SELECT held FROM approvals WHERE id = ?1 AND held IS NOT NULL", err);

		if (st) {
			bind_text(st, 1, id);
			found = sqlite3_step(st);
		}
		if (found == SQLITE_ROW)
			r = unseal(ar, sqlite3_column_blob(st, 0),
				   (size_t)sqlite3_column_bytes(st, 0), ret);
		else if (found != SQLITE_DONE)
			bj_store_err(db, err, "what waits cannot be read");
	}
	bj_store_let_go(&ar->store);
	if (found != SQLITE_ROW && found != SQLITE_DONE)
		return -BJ_E_SYSTEM;
	return r < 0 ? bj_err_set(err, BJ_E_NOT_FOUND, 0, "no run %.32s is held", id) : 0;
}

int bj_approval_limits(struct bj_archive *ar, const char *id, struct bj_limits *ret,
		       struct bj_err *err)
{
	AUTO_BUF struct bj_buf order = { 0 };
	struct bj_held held = { .stdin_fd = -1 };
	int r = bj_approval_held(ar, id, &order, err);

	if (r == 0)
		r = bj_held_unpack(order.data, order.size, &held, err);
	if (r == 0)
		*ret = held.spec.limits;
	bj_held_done(&held);
	if (order.data)
		sodium_memzero(order.data, order.size);
	return r;
}

static int claim(const struct bj_record *rec, const char *id)
{
	static const char sql[] =
		"UPDATE executions SET state = 1, owner = ?2 WHERE id = ?1 AND state = 0 AND EXISTS"
		" (SELECT 1 FROM approvals WHERE id = ?1 AND state = 1)";
	sqlite3 *db = rec->archive->store.db;
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, NULL);
	AUTO_STMT sqlite3_stmt *wipe =
		bj_store_prepare(db, "UPDATE approvals SET held = NULL WHERE id = ?1", NULL);

	if (!st || !wipe)
		return -1;
	bind_text(st, 1, id);
	sqlite3_bind_int64(st, 2, rec->archive->owner.number);
	if (sqlite3_step(st) != SQLITE_DONE)
		return -1;
	if (sqlite3_changes(db) == 0)
		return 0;
	bind_text(wipe, 1, id);
	return sqlite3_step(wipe) == SQLITE_DONE ? 1 : -1;
}

int bj_approval_claim(const struct bj_record *rec, const char *id, struct bj_buf *ret,
		      struct bj_err *err)
{
	int r = bj_approval_held(rec->archive, id, ret, err);

	if (r == 0)
		r = bj_store_begin(&rec->archive->store, err);
	if (r < 0)
		return r;
	r = claim(rec, id);
	if (r > 0) {
		r = bj_store_commit(&rec->archive->store, err);
		return r < 0 ? r : 1;
	}
	if (r < 0)
		r = bj_store_err(rec->archive->store.db, err, "cannot begin a run that waited");
	bj_store_rollback(&rec->archive->store);
	return r;
}

bool bj_approval_next(struct bj_archive *ar, char ret_id[33])
{
	sqlite3 *db = bj_store_read(&ar->store, NULL);
	bool found = false;

	if (!db)
		return false;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
			db,
			"SELECT e.id FROM executions e JOIN approvals a ON a.id = e.id WHERE"
			" e.state <> 3 AND e.state = 0 AND a.state = 1 ORDER BY e.seq LIMIT 1",
			NULL);

		if (st && sqlite3_step(st) == SQLITE_ROW) {
			snprintf(ret_id, 33, "%s", sqlite3_column_text(st, 0));
			found = true;
		}
	}
	bj_store_let_go(&ar->store);
	return found;
}

unsigned int bj_approval_waiting(struct bj_archive *ar)
{
	sqlite3 *db = bj_store_read_aside(&ar->store, NULL);
	unsigned int n = 0;

	if (!db)
		return 0;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
			db, "SELECT count(*) FROM approvals WHERE state = 0", NULL);

		if (st && sqlite3_step(st) == SQLITE_ROW)
			n = (unsigned int)sqlite3_column_int(st, 0);
	}
	bj_store_let_go(&ar->store);
	return n;
}

/* --- the request it came from ----------------------------------------------------------------- */

int bj_approval_keep_request(const struct bj_record *rec, const char *id,
			     const struct bj_approval_request *request, struct bj_err *err)
{
	struct bj_store *store = &rec->archive->store;
	int r = bj_store_begin_aside(store, err);

	if (r < 0)
		return r;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
			store->db,
			"UPDATE approvals SET request_key = ?2, request_body = ?3 WHERE id = ?1",
			err);

		if (st) {
			bind_text(st, 1, id);
			sqlite3_bind_blob(st, 2, request->key, sizeof(request->key), SQLITE_STATIC);
			sqlite3_bind_blob(st, 3, request->body, sizeof(request->body),
					  SQLITE_STATIC);
		}
		if (!st || sqlite3_step(st) != SQLITE_DONE)
			r = bj_store_err(store->db, err, "cannot record whose question this is");
	}
	if (r < 0) {
		bj_store_rollback(store);
		return r;
	}
	return bj_store_commit(store, err);
}

int bj_approval_find_request(struct bj_archive *ar, const struct bj_approval_request *request,
			     uint64_t since_ms, char ret_id[33], bool *ret_same, struct bj_err *err)
{
	static const char sql[] =
		"SELECT id, request_body = ?2 FROM approvals WHERE request_key = ?1 AND"
		" (state = 0 OR decided_ms > ?3) ORDER BY asked_ms DESC LIMIT 1";
	sqlite3 *db = bj_store_read_aside(&ar->store, err);
	int r = SQLITE_ERROR;

	if (!db)
		return -err->code;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, err);

		if (st) {
			sqlite3_bind_blob(st, 1, request->key, sizeof(request->key), SQLITE_STATIC);
			sqlite3_bind_blob(st, 2, request->body, sizeof(request->body),
					  SQLITE_STATIC);
			sqlite3_bind_int64(st, 3, (sqlite3_int64)since_ms);
			r = sqlite3_step(st);
		}
		if (r == SQLITE_ROW) {
			snprintf(ret_id, 33, "%s", sqlite3_column_text(st, 0));
			*ret_same = sqlite3_column_int(st, 1);
		} else if (r != SQLITE_DONE) {
			bj_store_err(db, err, "requests cannot be looked up");
		}
	}
	bj_store_let_go(&ar->store);
	return r == SQLITE_ROW ? 1 : r == SQLITE_DONE ? 0 : -err->code;
}
