/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/again.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "record/approval.h"
#include "record/history.h"
#include "spec/names.h"

#include <sodium.h>
#include <string.h>

_Static_assert(sizeof(((struct bj_approval_request *)0)->body) == BJ_RUN_HASH, "one hash");

/* The key itself is the client's secret as much as anybody's: only a hash is kept. */
static void name_request(const char *tenant, const char *key, const unsigned char *hash,
			 struct bj_approval_request *ret)
{
	crypto_generichash_state h;

	crypto_generichash_init(&h, NULL, 0, sizeof(ret->key));
	crypto_generichash_update(&h, (const unsigned char *)tenant, strlen(tenant) + 1);
	crypto_generichash_update(&h, (const unsigned char *)key, strlen(key) + 1);
	crypto_generichash_final(&h, ret->key, sizeof(ret->key));
	memcpy(ret->body, hash, sizeof(ret->body));
}

void bj_again_keep(const struct bj_generation *g, const struct bj_execution *x)
{
	struct bj_approval_request request;
	struct bj_err err = { 0 };

	name_request(x->tenant, x->key, x->hash, &request);
	if (bj_approval_keep_request(&g->bj->record, x->id, &request, &err) < 0)
		bj_log(BJ_LOG_ERROR, "%s", err.msg);
}

/* A run that never took place does not hold its key: the client may try again. */
static bool holds_key(const json_t *record)
{
	const char *state = json_string_value(json_object_get(record, "state"));
	const char *cause = json_string_value(json_object_get(record, "cause"));
	const int c = cause ? bj_cause_from_name(cause) : BJ_CAUSE_NONE;

	return state && strcmp(state, bj_state_name(BJ_INTERRUPTED)) != 0 &&
	       c != BJ_CAUSE_INFRASTRUCTURE && c != BJ_CAUSE_QUOTA;
}

/* Records that cannot be read may hold it: nothing runs a second time for that. */
static int answer_failure(struct bj_answer *answer, const struct bj_err *err)
{
	bj_problem_answer(answer, bj_problem_of(err), "%s", err->msg);
	return 1;
}

static int answer_record(struct bj_service *s, const struct bj_generation *g,
			 const struct bj_request *req, const char *id, bool wants_result,
			 struct bj_answer *answer)
{
	struct bj_err err = { 0 };
	json_t *record = bj_history_show(&g->bj->record, id, &err);
	const json_t *result = json_object_get(record, "result");
	const char *cause = json_string_value(json_object_get(record, "cause"));
	bool answered = false;

	if (!record && err.code != BJ_E_NOT_FOUND)
		return answer_failure(answer, &err);
	if (!record || !holds_key(record)) {
		json_decref(record);
		return 0;
	}
	if (wants_result && cause && json_is_object(result)) {
		bj_answer_take(answer, 200, BJ_TYPE_JSON,
			       json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(15)));
		answered = true;
	} else if (bj_records_execution(s, req, id, answer)) {
		answered = true;
		if (answer->status == 200) {
			answer->status = 202;
			bj_answer_header(answer, "Location", "/v1/executions/%s", id);
			bj_answer_header(answer, "Preference-Applied", "respond-async");
		}
	}
	json_decref(record);
	return answered;
}

int bj_again_answer(struct bj_service *s, const struct bj_generation *g,
		    const struct bj_request *req, const struct bj_run_init *init, bool result,
		    struct bj_execution **ret, struct bj_answer *answer)
{
	const uint64_t keep_ms = g->bj->settings->serve.keep_time_ms;
	const uint64_t now = bj_clock_unix_ms();
	struct bj_approval_request request;
	struct bj_err err = { 0 };
	char id[33];
	bool same;

	if (!init->key || !g->bj->record.archive)
		return 0;
	name_request(init->tenant ? init->tenant : "", init->key, init->hash, &request);

	const int found =
		bj_approval_find_request(g->bj->record.archive, &request,
					 now > keep_ms ? now - keep_ms : 0, id, &same, &err);

	if (found <= 0)
		return found < 0 ? answer_failure(answer, &err) : 0;
	if (!same) {
		bj_problem_answer(answer, BJ_PROBLEM_KEY_REUSED,
				  "this key came with another request; use a fresh one");
		return 1;
	}
	*ret = bj_runs_find(s->runs, id);
	return *ret ? 2 : answer_record(s, g, req, id, result, answer);
}
