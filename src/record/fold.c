/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * One transaction takes some MiB of lines at most: it applies them in their order and moves the
 * place that the database keeps, so both are there or neither is. Two processes that fold at the
 * same time follow each other, and the second one finds nothing left to do.
 *
 * Whoever reads runs, or changes rows without the journal, folds first (bj_store_read(),
 * bj_store_begin()): so the order of what happens to one run is the order of its rows too. A line
 * that does not parse, or that no row fits, is skipped and counted: it must not hold up the rest.
 *
 * A line that is applied a second time changes nothing: a beginning does not reopen a run that
 * ended after it, and what a run used is added when its row becomes finished. */

#include "record/fold.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

/* While lines come, the thread looks by itself: waking it costs a run more than it takes. */
enum { GROUP_MS = 500, AGAIN_MS = 1000, IDLE_GROUPS = 4 };

#define DAY_MS 86400000

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC); /* NULL is NULL */
}

static int step(sqlite3_stmt *st)
{
	const int r = sqlite3_step(st);

	sqlite3_reset(st);
	return r == SQLITE_DONE ? 0 : -1;
}

/* --- rows ------------------------------------------------------------------------------------- */

int bj_fold_row(struct bj_store *store, const struct bj_entry *e)
{
	sqlite3_stmt *st = bj_store_get(store, BJ_ST_BEGIN);
	const char *const texts[] = { e->id, e->tenant, e->actor, e->tool };
	const int64_t numbers[] = { e->through, e->language, e->backend, e->policy, e->trusted };

	sqlite3_bind_int64(st, 1, e->created_us);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++)
		bind_text(st, 2 + (int)i, texts[i]);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(numbers); i++)
		sqlite3_bind_int64(st, 6 + (int)i, numbers[i]);
	bind_text(st, 11, e->script_sha256);
	bind_text(st, 13, e->binding);
	bind_text(st, 14, e->limits);
	sqlite3_bind_int64(st, 15, e->risk);
	sqlite3_bind_int64(st, 16, e->effective_risk);
	sqlite3_bind_int64(st, 17, e->state);
	sqlite3_bind_int64(st, 18, e->started_ms);
	if (e->owner)
		sqlite3_bind_int64(st, 19, e->owner);
	sqlite3_bind_int64(st, 20, e->approval);
	bind_text(st, 21, e->approver);
	bind_text(st, 22, e->name);
	return step(st);
}

static int finish_row(struct bj_store *store, const struct bj_entry *e)
{
	sqlite3_stmt *st = bj_store_get(store, BJ_ST_FINISH);

	bind_text(st, 1, e->id);
	sqlite3_bind_int(st, 2, BJ_FINISHED);
	sqlite3_bind_int64(st, 3, e->cause);
	if (e->exit_code >= 0)
		sqlite3_bind_int64(st, 4, e->exit_code);
	if (e->signal)
		sqlite3_bind_int64(st, 5, e->signal);
	sqlite3_bind_int64(st, 6, e->ended_ms);
	sqlite3_bind_int64(st, 7, e->duration_us);
	sqlite3_bind_int64(st, 8, e->cpu_us);
	sqlite3_bind_int64(st, 9, e->peak_memory);
	if (e->artifact) {
		bind_text(st, 10, e->artifact);
		sqlite3_bind_int64(st, 14, e->artifact_bytes);
	}
	sqlite3_bind_int64(st, 11, e->backend);
	sqlite3_bind_int64(st, 12, e->approval);
	bind_text(st, 13, e->approver);
	return step(st);
}

int bj_fold_detail(struct bj_store *store, const char *id, const char *result, const char *script,
		   size_t script_size)
{
	sqlite3_stmt *st = bj_store_get(store, BJ_ST_DETAIL);

	bind_text(st, 1, id);
	bind_text(st, 2, result);
	if (script)
		sqlite3_bind_blob64(st, 3, script, script_size, SQLITE_STATIC);

	const int r = step(st);

	sqlite3_clear_bindings(st);
	return r;
}

static int add_use(struct bj_store *store, const struct bj_entry *e)
{
	const int64_t values[] = { e->ended_ms / DAY_MS, e->runs,         e->cpu_us,
				   e->memory_mib_ms,     e->output_bytes, e->out_bytes,
				   e->cost_micros };
	sqlite3_stmt *st = bj_store_get(store, BJ_ST_USE);

	bind_text(st, 1, "local");
	for (size_t i = 0; i < BJ_ARRAY_SIZE(values); i++)
		sqlite3_bind_int64(st, 2 + (int)i, values[i]);
	return step(st);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* The state of the run @id; -1: there is no such row. Negative: the database cannot say. */
static int read_state(struct bj_store *store, const char *id, int *ret)
{
	sqlite3_stmt *st = bj_store_get(store, BJ_ST_STATE);

	bind_text(st, 1, id);

	const int r = sqlite3_step(st);

	*ret = r == SQLITE_ROW ? sqlite3_column_int(st, 0) : -1;
	sqlite3_reset(st);
	return r == SQLITE_ROW || r == SQLITE_DONE ? 0 : -1;
}

/* 1: applied; 0: there is nothing it could be applied to; negative: the database says why not. */
static int apply_end(struct bj_store *store, const struct bj_entry *e)
{
	int before;

	if (read_state(store, e->id, &before) < 0)
		return -1;
	if (before < 0 && !(e->parts & BJ_ENTRY_BEGIN))
		return 0;
	if (before < 0 && bj_fold_row(store, e) < 0)
		return -1;
	if (finish_row(store, e) < 0)
		return -1;
	if (e->runs && before != BJ_FINISHED && add_use(store, e) < 0)
		return -1;
	if ((e->result || e->script) &&
	    bj_fold_detail(store, e->id, e->result, e->script, e->script_size) < 0)
		return -1;
	return 1;
}

static int apply(struct bj_store *store, const char *line, size_t size)
{
	struct bj_entry e;

	if (bj_entry_parse(line, size, &e) < 0)
		return 0;

	int r = e.parts & BJ_ENTRY_END ? apply_end(store, &e) : bj_fold_row(store, &e) < 0 ? -1 : 1;

	/* Such a line would be refused for ever. */
	if (r < 0 && sqlite3_errcode(store->db) == SQLITE_CONSTRAINT)
		r = 0;
	bj_entry_done(&e);
	return r;
}

static int apply_all(struct bj_store *store, const struct bj_buf *lines)
{
	const char *at = lines->data, *end = lines->data + lines->size;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		const int r = apply(store, at, (size_t)(stop - at));

		if (r < 0)
			return r;
		store->skipped += r == 0;
		at = stop + 1;
	}
	return 0;
}

/* --- places ----------------------------------------------------------------------------------- */

static int read_place(struct bj_store *store, struct bj_journal_place *ret)
{
	sqlite3_stmt *st = bj_store_get(store, BJ_ST_PLACE);
	const int r = sqlite3_step(st);

	*ret = (struct bj_journal_place){ 0 };
	if (r == SQLITE_ROW) {
		snprintf(ret->mark, sizeof(ret->mark), "%s", sqlite3_column_text(st, 0));
		ret->offset = (uint64_t)sqlite3_column_int64(st, 1);
	}
	sqlite3_reset(st);
	return r == SQLITE_ROW || r == SQLITE_DONE ? 0 : -1;
}

static int write_place(struct bj_store *store, const struct bj_journal_place *place)
{
	sqlite3_stmt *st = bj_store_get(store, BJ_ST_MOVE);

	bind_text(st, 1, place->mark);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)place->offset);
	return step(st);
}

/* --- folding ---------------------------------------------------------------------------------- */

/* In a transaction: the next lines. *@ret_place is where they end. */
static int take_lines(struct bj_store *store, struct bj_journal_place *ret_place,
		      uint64_t *ret_size, bool *ret_more, struct bj_err *err)
{
	AUTO_BUF struct bj_buf lines = { 0 };
	struct bj_journal_place place;

	if (read_place(store, &place) < 0)
		return bj_store_err(store->db, err, "the records cannot be read");

	const int r = bj_journal_read(&store->journal, &place, &lines, ret_size);

	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot read the journal of runs");
	place.offset += lines.size;
	*ret_more = lines.size > 0;
	*ret_place = place;
	if (lines.size > 0 && (apply_all(store, &lines) < 0 || write_place(store, &place) < 0))
		return bj_store_err(store->db, err, "the records cannot be brought up to date");
	return 0;
}

/* 1: there may be more. */
static int fold_some(struct bj_store *store, struct bj_err *err)
{
	struct bj_journal_place place;
	uint64_t size = 0;
	bool more = false;
	int r = bj_store_begin_aside(store, err);

	if (r < 0)
		return r;
	r = take_lines(store, &place, &size, &more, err);
	if (r < 0) {
		bj_store_rollback(store);
		return r;
	}
	r = bj_store_commit(store, err);
	if (r == 0)
		bj_journal_settle(&store->journal, &place, more ? place.offset : size);
	return r < 0 ? r : more;
}

int bj_fold(struct bj_store *store, struct bj_err *err)
{
	bool spent = false;
	int r = 1;

	while (r > 0 && bj_journal_unseen(&store->journal) > 0) {
		r = fold_some(store, err);
		/* What ended must be told: that is what the space was held back for. */
		if (r == -BJ_E_LIMIT && !spent) {
			bj_store_spend_reserve(store);
			spent = true;
			r = 1;
		}
	}
	return r < 0 ? r : 0;
}

/* --- the thread ------------------------------------------------------------------------------- */

struct bj_fold_thread {
	struct bj_store *store;
	pthread_t thread;
	bool stopping; /* with the journal's lock */
};

/* Sleep, unless it is time to stop. With the journal's lock. */
static void rest(struct bj_fold_thread *t, unsigned int ms)
{
	struct bj_journal *j = &t->store->journal;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (!t->stopping && pthread_cond_timedwait(&j->grown, &j->lock, &until) == 0)
		;
}

static void *fold_thread(void *ctx)
{
	struct bj_fold_thread *t = ctx;
	struct bj_journal *j = &t->store->journal;
	struct bj_err err;
	bool failing = false;
	unsigned int idle = IDLE_GROUPS;

	pthread_mutex_lock(&j->lock);
	while (!t->stopping) {
		if (!j->fresh && idle >= IDLE_GROUPS) {
			j->asleep = true;
			pthread_cond_wait(&j->grown, &j->lock);
			j->asleep = false;
			continue;
		}
		/* Whoever comes in this time shares the cost. */
		rest(t, failing ? AGAIN_MS : GROUP_MS);
		idle = j->fresh ? 0 : idle + 1;
		if (!j->fresh)
			continue;
		j->fresh = false;
		pthread_mutex_unlock(&j->lock);

		const bool failed = bj_fold(t->store, &err) < 0;

		if (failed && !failing)
			bj_log(BJ_LOG_ERROR, "%s", err.msg);
		failing = failed;
		pthread_mutex_lock(&j->lock);
		j->fresh |= failed;
	}
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

int bj_fold_start(struct bj_store *store, struct bj_fold_thread **ret, struct bj_err *err)
{
	struct bj_fold_thread *t = calloc(1, sizeof(*t));
	int r = ENOMEM;

	if (t) {
		t->store = store;
		r = pthread_create(&t->thread, NULL, fold_thread, t);
	}
	if (r) {
		free(t);
		return bj_err_set(err, BJ_E_SYSTEM, r, "cannot start a thread for the records");
	}
	*ret = t;
	return 0;
}

void bj_fold_stop(struct bj_fold_thread *t)
{
	struct bj_err ignored;

	if (!t)
		return;
	pthread_mutex_lock(&t->store->journal.lock);
	t->stopping = true;
	pthread_cond_broadcast(&t->store->journal.grown);
	pthread_mutex_unlock(&t->store->journal.lock);
	pthread_join(t->thread, NULL);
	bj_fold(t->store, &ignored); /* else the next one does */
	free(t);
}
