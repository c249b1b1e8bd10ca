/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "record/fold.h"
#include "record/quota.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { JOURNAL_MAX = 4 << 20 };

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

/* The texts that an entry borrows. */
struct texts {
	char *actor, *name;
	char binding[65], limits[256];
};

static void texts_done(struct texts *t)
{
	free(t->actor);
	free(t->name);
}
#define AUTO_TEXTS __attribute__((cleanup(texts_done)))

/* Nothing is that large; what claims to be must not become negative. */
static int64_t number(uint64_t n)
{
	return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

static void describe_begin(const struct bj_record *rec, const struct bj_spec *spec,
			   const struct bj_result *result, enum bj_state state, struct texts *t,
			   struct bj_entry *e)
{
	t->actor = masked_name(rec, spec->actor);
	t->name = masked_name(rec, spec->name);
	bj_record_binding(spec, t->binding);
	print_limits(&spec->limits, t->limits, sizeof(t->limits));
	*e = (struct bj_entry){
		.parts = BJ_ENTRY_BEGIN,
		.id = spec->id,
		.backend = spec->backend,
		.approval = result->decision.kind,
		.approver = result->decision.by,
		.created_us = number(bj_clock_unix_us()),
		.started_ms = number(result->started_unix_ms),
		.owner = state == BJ_QUEUED || state == BJ_RUNNING ? rec->archive->owner.number : 0,
		.tenant = spec->tenant,
		.actor = t->actor,
		.tool = spec->tool,
		.name = t->name,
		.script_sha256 = result->script_sha256,
		.binding = t->binding,
		.limits = t->limits,
		.through = spec->through,
		.language = spec->language,
		.policy = spec->policy,
		.trusted = spec->trust,
		.risk = result->risk,
		.effective_risk = result->effective_risk,
		.state = state,
	};
}

int bj_record_row(const struct bj_record *rec, const struct bj_spec *spec,
		  const struct bj_result *result, enum bj_state state)
{
	AUTO_TEXTS struct texts texts = { 0 };
	struct bj_entry e;

	describe_begin(rec, spec, result, state, &texts, &e);
	return bj_fold_row(&rec->archive->store, &e);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Whoever watches the service wants to hear of records that fail. */
static int counted(const struct bj_record *rec, int r)
{
	if (r < 0)
		rec->archive->errors++;
	return r;
}

static int write_line(const struct bj_record *rec, const struct bj_entry *e, const char *what,
		      struct bj_err *err)
{
	AUTO_BUF struct bj_buf line = { 0 };

	bj_entry_print(e, &line);

	const int r =
		line.failed ? -ENOMEM
			    : bj_journal_append(&rec->archive->store.journal, line.data, line.size);

	if (r == -ENOSPC || r == -EDQUOT || r == -EFBIG)
		return bj_err_set(err, BJ_E_LIMIT, -r,
				  "%s; free some space, or point state_dir elsewhere", what);
	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "%s", what) : 0;
}

static int begin(const struct bj_record *rec, const struct bj_spec *spec,
		 const struct bj_result *result, enum bj_state state, struct bj_err *err)
{
	AUTO_TEXTS struct texts texts = { 0 };
	struct bj_entry e;

	/* Without it there might be no room for how this run ends. */
	if (!bj_store_reserve(&rec->archive->store))
		return bj_err_set(err, BJ_E_LIMIT, ENOSPC,
				  "no room to record runs in %.100s; free some space",
				  rec->archive->path);
	describe_begin(rec, spec, result, state, &texts, &e);
	return write_line(rec, &e, "cannot record this run", err);
}

int bj_record_begin(const struct bj_record *rec, const struct bj_spec *spec,
		    const struct bj_result *result, enum bj_state state, struct bj_err *err)
{
	return rec->archive ? counted(rec, begin(rec, spec, result, state, err)) : 0;
}

/* --- ending ----------------------------------------------------------------------------------- */

/* A run that was refused before it began may have no row yet. */
static bool may_be_new(enum bj_cause cause)
{
	return cause == BJ_CAUSE_REJECTED || cause == BJ_CAUSE_DENIED ||
	       cause == BJ_CAUSE_EXPIRED || cause == BJ_CAUSE_QUOTA ||
	       cause == BJ_CAUSE_INFRASTRUCTURE;
}

static void describe_end(const struct bj_record *rec, const struct bj_spec *spec,
			 const struct bj_result *r, struct texts *t, struct bj_entry *e)
{
	*e = (struct bj_entry){ .id = spec->id };
	if (may_be_new(r->cause))
		describe_begin(rec, spec, r, BJ_RUNNING, t, e);
	e->parts |= BJ_ENTRY_END;
	e->backend = r->runtime;
	e->approval = r->decision.kind;
	e->approver = r->decision.by;
	e->cause = r->cause;
	e->exit_code = r->exit_code >= 0 ? r->exit_code : -1;
	e->signal = r->signal;
	e->ended_ms = number(bj_clock_unix_ms());
	e->duration_us = number(r->duration_us);
	e->cpu_us = number(r->cpu_us);
	e->peak_memory = number(r->peak_memory);
}

/* What a tenant used is settled with its quota. */
static void describe_use(const struct bj_record *rec, const struct bj_spec *spec,
			 const struct bj_result *r, struct bj_entry *e)
{
	const struct bj_use use = bj_use_actual(r, &rec->settings->price);

	if ((spec->tenant && spec->tenant[0]) || (!r->duration_us && !r->cpu_us))
		return;
	e->runs = number(use.runs);
	e->memory_mib_ms = number(use.memory_mib_ms);
	e->output_bytes = number(use.output_bytes);
	e->out_bytes = number(use.artifact_bytes);
	e->cost_micros = number(use.cost_micros);
}

bool bj_record_keeps_code(const struct bj_record *rec, const struct bj_result *result)
{
	const enum bj_store_code policy = rec->settings->store_code;

	return policy == BJ_STORE_ALWAYS || (policy == BJ_STORE_ON_ERROR && !result->success);
}

static int write_end(const struct bj_record *rec, struct bj_entry *e, struct bj_err *err)
{
	static const char what[] = "cannot record how this run ended";
	int r = write_line(rec, e, what, err);

	if (r == -BJ_E_LIMIT) {
		/* That is what the space was held back for. */
		bj_store_spend_reserve(&rec->archive->store);
		r = write_line(rec, e, what, err);
	}
	if (r == -BJ_E_LIMIT) {
		e->result = e->script = NULL; /* better how it ended than nothing */
		r = write_line(rec, e, what, err);
	}
	return r;
}

/* Where nobody reads and nobody folds, the journal must not grow for ever. */
static void tidy(struct bj_archive *ar)
{
	struct bj_err ignored;

	if (!ar->folding && bj_journal_unseen(&ar->store.journal) > JOURNAL_MAX)
		bj_fold(&ar->store, &ignored);
}

int bj_record_finish(const struct bj_record *rec, const struct bj_spec *spec,
		     const struct bj_result *result, const struct bj_artifact *artifact,
		     struct bj_err *err)
{
	if (!rec->archive)
		return 0;

	const bool code = bj_record_keeps_code(rec, result);
	AUTO_FREE char *json = bj_record_result(rec, result, code);
	AUTO_FREE char *script = code ? bj_record_mask(rec, spec->script, spec->script_size) : NULL;
	AUTO_TEXTS struct texts texts = { 0 };
	struct bj_entry e;

	describe_end(rec, spec, result, &texts, &e);
	describe_use(rec, spec, result, &e);
	e.artifact = artifact ? artifact->name : NULL;
	e.artifact_bytes = artifact ? number(artifact->bytes) : 0;
	e.result = json;
	e.script = script;
	e.script_size = spec->script_size;

	const int r = counted(rec, write_end(rec, &e, err));

	tidy(rec->archive);
	return r;
}
