/* SPDX-License-Identifier: Apache-2.0 */
#include "record/retention.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "record/artifact.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { STEP = 200 };

struct gone {
	int64_t last; /* the newest that goes; 0: none */
	char *artifacts[STEP];
	size_t n_artifacts;
};

static void gone_done(struct gone *g)
{
	for (size_t i = 0; i < g->n_artifacts; i++)
		free(g->artifacts[i]);
}

/* --- how much there is ------------------------------------------------------------------------ */

static int64_t pragma(sqlite3 *db, const char *sql)
{
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, NULL);

	return st && sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
}

/* Pages in use: those that rows left free are used again. */
static uint64_t database_bytes(sqlite3 *db)
{
	return (uint64_t)((pragma(db, "PRAGMA page_count") - pragma(db, "PRAGMA freelist_count")) *
			  pragma(db, "PRAGMA page_size"));
}

static uint64_t artifact_bytes(sqlite3 *db)
{
	return (uint64_t)pragma(db, "SELECT coalesce(sum(artifact_bytes), 0) FROM executions WHERE"
				    " artifact IS NOT NULL");
}

/* --- one step --------------------------------------------------------------------------------- */

/* The oldest rows that have ended, up to the time @before_us (or all, when there is too much). */
static int find_gone(sqlite3 *db, int64_t before_us, unsigned int max, struct gone *ret,
		     struct bj_err *err)
{
	static const char sql[] = "SELECT seq, artifact FROM executions WHERE seq < ?1 AND state IN"
				  " (3, 4) ORDER BY seq LIMIT ?2";
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, err);
	int r;

	if (!st)
		return -err->code;
	sqlite3_bind_int64(st, 1, before_us);
	sqlite3_bind_int(st, 2, (int)max);
	while ((r = sqlite3_step(st)) == SQLITE_ROW) {
		ret->last = sqlite3_column_int64(st, 0);
		if (sqlite3_column_type(st, 1) != SQLITE_NULL)
			ret->artifacts[ret->n_artifacts++] = bj_store_text(st, 1);
	}
	return r == SQLITE_DONE ? 0 : bj_store_err(db, err, "the records cannot be read");
}

static int delete_up_to(sqlite3 *db, int64_t last)
{
	static const char *const sql[] = {
		"DELETE FROM approvals WHERE id IN (SELECT id FROM executions WHERE seq <= ?1 AND"
		" state IN (3, 4)) AND state <> 0",
		"DELETE FROM details WHERE seq IN (SELECT seq FROM executions WHERE seq <= ?1 AND"
		" state IN (3, 4))",
		"DELETE FROM executions WHERE seq <= ?1 AND state IN (3, 4)",
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(sql); i++) {
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql[i], NULL);

		if (!st)
			return -1;
		sqlite3_bind_int64(st, 1, last);
		if (sqlite3_step(st) != SQLITE_DONE)
			return -1;
	}
	return 0;
}

static int forget(const struct bj_record *rec, const struct gone *g, struct bj_err *err)
{
	struct bj_store *store = &rec->archive->store;

	/* Files first: a row that outlives its files says that they are gone; files that outlive
	 * their row would stay for ever. */
	for (size_t i = 0; i < g->n_artifacts; i++)
		if (g->artifacts[i])
			bj_artifact_remove(rec->archive, g->artifacts[i]);

	int r = bj_store_begin(store, err);

	if (r < 0)
		return r;
	if (delete_up_to(store->db, g->last) < 0) {
		r = bj_store_err(store->db, err, "old records cannot be removed");
		bj_store_rollback(store);
		return r;
	}
	return bj_store_commit(store, err);
}

int bj_retention_step(const struct bj_record *rec, struct bj_err *err)
{
	__attribute__((cleanup(gone_done))) struct gone g = { 0 };
	const struct bj_record_settings *set = &rec->settings->record;
	const uint64_t now_ms = bj_clock_unix_ms();
	const uint64_t keep_ms = set->keep_time_ms < now_ms ? set->keep_time_ms : now_ms;
	struct bj_store *store = &rec->archive->store;
	sqlite3 *db = bj_store_read(store, err);

	if (!db)
		return -err->code;

	int r = find_gone(db, (int64_t)(now_ms - keep_ms) * 1000, STEP, &g, err);

	if (r == 0 && !g.last && database_bytes(db) + artifact_bytes(db) > set->keep_bytes)
		r = find_gone(db, INT64_MAX, STEP, &g, err);
	bj_store_let_go(store);
	if (r < 0 || !g.last)
		return r;
	r = forget(rec, &g, err);
	return r < 0 ? r : 1;
}
