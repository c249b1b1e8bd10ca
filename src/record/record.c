/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC); /* NULL is NULL */
}

static void print_limits(const struct bj_limits *l, char *to, size_t size)
{
	snprintf(to, size,
		 "{\"memory\":%" PRIu64 ",\"cpu_milli\":%u,\"pids\":%u,\"timeout_ms\":%" PRIu64
		 ",\"tmp_size\":%" PRIu64 ",\"max_output\":%" PRIu64 ",\"output_cap\":%" PRIu64 "}",
		 l->memory, l->cpu_milli, l->pids, l->timeout_ms, l->tmp_size, l->max_output,
		 l->output_cap);
}

/* What a person typed as a name could hold anything. */
static char *masked_name(const struct bj_record *rec, const char *name)
{
	return name ? bj_record_mask(rec, name, strlen(name)) : NULL;
}

int bj_record_row(const struct bj_record *rec, const struct bj_spec *spec,
		  const struct bj_result *result, enum bj_state state)
{
	sqlite3_stmt *st = bj_store_get(&rec->archive->store, BJ_ST_BEGIN);
	AUTO_FREE char *actor = masked_name(rec, spec->actor);
	AUTO_FREE char *name = masked_name(rec, spec->name);
	char binding[65], limits[256];
	const bool live = state == BJ_QUEUED || state == BJ_RUNNING;

	bj_record_binding(spec, binding);
	print_limits(&spec->limits, limits, sizeof(limits));
	sqlite3_bind_int64(st, 1, (sqlite3_int64)bj_clock_unix_ms() * 1000);
	bind_text(st, 2, spec->id);
	bind_text(st, 3, spec->tenant);
	bind_text(st, 4, actor);
	bind_text(st, 5, spec->tool);
	sqlite3_bind_int(st, 6, spec->through);
	sqlite3_bind_int(st, 7, spec->language);
	sqlite3_bind_int(st, 8, spec->backend);
	sqlite3_bind_int(st, 9, spec->policy);
	sqlite3_bind_int(st, 10, spec->trust);
	bind_text(st, 11, result->script_sha256);
	bind_text(st, 13, binding);
	bind_text(st, 14, limits);
	sqlite3_bind_int(st, 15, result->risk);
	sqlite3_bind_int(st, 16, result->effective_risk);
	sqlite3_bind_int(st, 17, state);
	sqlite3_bind_int64(st, 18, (sqlite3_int64)result->started_unix_ms);
	if (live)
		sqlite3_bind_int64(st, 19, rec->archive->owner.number);
	sqlite3_bind_int(st, 20, result->decision.kind);
	bind_text(st, 21, result->decision.by);
	bind_text(st, 22, name);

	const int r = sqlite3_step(st);

	sqlite3_reset(st);
	return r == SQLITE_DONE ? 0 : -1;
}

/* Whoever watches the service wants to hear of records that fail. */
static int counted(const struct bj_record *rec, int r)
{
	if (r < 0)
		rec->archive->errors++;
	return r;
}

static int begin(const struct bj_record *rec, const struct bj_spec *spec,
		 const struct bj_result *result, enum bj_state state, struct bj_err *err)
{
	/* Without it there might be no room for how this run ends. */
	if (!bj_store_reserve(&rec->archive->store))
		return bj_err_set(err, BJ_E_LIMIT, ENOSPC,
				  "no room to record runs in %.100s (free some space)",
				  rec->archive->path);

	pthread_mutex_lock(&rec->archive->store.lock);

	const int r = bj_record_row(rec, spec, result, state);
	const int failed =
		r < 0 ? bj_store_err(rec->archive->store.db, err, "cannot record this run") : 0;

	pthread_mutex_unlock(&rec->archive->store.lock);
	return failed;
}

int bj_record_begin(const struct bj_record *rec, const struct bj_spec *spec,
		    const struct bj_result *result, enum bj_state state, struct bj_err *err)
{
	return rec->archive ? counted(rec, begin(rec, spec, result, state, err)) : 0;
}

static int update(const struct bj_record *rec, const struct bj_spec *spec,
		  const struct bj_result *r, const struct bj_artifact *artifact)
{
	sqlite3_stmt *st = bj_store_get(&rec->archive->store, BJ_ST_FINISH);

	bind_text(st, 1, spec->id);
	sqlite3_bind_int(st, 2, BJ_FINISHED);
	sqlite3_bind_int(st, 3, r->cause);
	if (r->exit_code >= 0)
		sqlite3_bind_int(st, 4, r->exit_code);
	if (r->signal)
		sqlite3_bind_int(st, 5, r->signal);
	sqlite3_bind_int64(st, 6, (sqlite3_int64)bj_clock_unix_ms());
	sqlite3_bind_int64(st, 7, (sqlite3_int64)r->duration_us);
	sqlite3_bind_int64(st, 8, (sqlite3_int64)r->cpu_us);
	sqlite3_bind_int64(st, 9, (sqlite3_int64)r->peak_memory);
	if (artifact) {
		bind_text(st, 10, artifact->name);
		sqlite3_bind_int64(st, 14, (sqlite3_int64)artifact->bytes);
	}
	sqlite3_bind_int(st, 11, r->runtime);
	sqlite3_bind_int(st, 12, r->decision.kind);
	bind_text(st, 13, r->decision.by);

	const int step = sqlite3_step(st);

	sqlite3_reset(st);
	return step == SQLITE_DONE && sqlite3_changes(rec->archive->store.db) == 1 ? 0 : -1;
}

int bj_record_detail(const struct bj_record *rec, const char *id, const char *result,
		     const char *script, size_t script_size)
{
	sqlite3_stmt *st = bj_store_get(&rec->archive->store, BJ_ST_DETAIL);

	bind_text(st, 1, id);
	bind_text(st, 2, result);
	if (script)
		sqlite3_bind_blob64(st, 3, script, script_size, SQLITE_STATIC);

	const int step = sqlite3_step(st);

	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	return step == SQLITE_DONE ? 0 : -1;
}

/* A run that was refused before it began has no row yet. */
static int is_known(const struct bj_record *rec, const char *id)
{
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
		rec->archive->store.db, "SELECT 1 FROM executions WHERE id = ?1", NULL);

	if (!st)
		return -1;
	bind_text(st, 1, id);
	return sqlite3_step(st) == SQLITE_ROW;
}

struct ending {
	const struct bj_spec *spec;
	const struct bj_result *result;
	const struct bj_artifact *artifact;
	const char *json;
	const char *script;
};

static int write_ending(const struct bj_record *rec, const struct ending *e, struct bj_err *err)
{
	int r = bj_store_begin(&rec->archive->store, err);

	if (r < 0)
		return r;
	if (e->result->cause == BJ_CAUSE_REJECTED || e->result->cause == BJ_CAUSE_DENIED ||
	    e->result->cause == BJ_CAUSE_EXPIRED || e->result->cause == BJ_CAUSE_QUOTA ||
	    e->result->cause == BJ_CAUSE_INFRASTRUCTURE) {
		r = is_known(rec, e->spec->id);
		if (r == 0)
			r = bj_record_row(rec, e->spec, e->result, BJ_RUNNING);
	}
	if (r >= 0)
		r = update(rec, e->spec, e->result, e->artifact);
	if (r >= 0 && (e->json || e->script))
		r = bj_record_detail(rec, e->spec->id, e->json, e->script, e->spec->script_size);
	if (r < 0) {
		r = bj_store_err(rec->archive->store.db, err, "cannot record how this run ended");
		bj_store_rollback(&rec->archive->store);
		return r;
	}
	return bj_store_commit(&rec->archive->store, err);
}

bool bj_record_keeps_code(const struct bj_record *rec, const struct bj_result *result)
{
	const enum bj_store_code policy = rec->settings->store_code;

	return policy == BJ_STORE_ALWAYS || (policy == BJ_STORE_ON_ERROR && !result->success);
}

int bj_record_finish(const struct bj_record *rec, const struct bj_spec *spec,
		     const struct bj_result *result, const struct bj_artifact *artifact,
		     struct bj_err *err)
{
	if (!rec->archive)
		return 0;

	const bool code = bj_record_keeps_code(rec, result);
	json_t *object = bj_record_result(rec, result, code);
	AUTO_FREE char *json =
		object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
	AUTO_FREE char *script = code ? bj_record_mask(rec, spec->script, spec->script_size) : NULL;
	struct ending e = {
		.spec = spec, .result = result, .artifact = artifact, .json = json, .script = script
	};

	json_decref(object);

	int r = write_ending(rec, &e, err);

	if (r == -BJ_E_LIMIT) {
		/* That is what the space was held back for. */
		bj_store_spend_reserve(&rec->archive->store);
		r = write_ending(rec, &e, err);
	}
	if (r == -BJ_E_LIMIT) {
		e.json = e.script = NULL; /* better how it ended than nothing */
		r = write_ending(rec, &e, err);
	}
	return counted(rec, r);
}
