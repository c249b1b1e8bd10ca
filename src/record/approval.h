/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"

/* Questions to a person and what came of them. A question is asked once for a run that waits; of
 * two who decide at the same time, one wins. */

/* Where a question stands. The numbers are those of enum bj_decision_kind, and stand in the
 * database: 0 waits. */

/* Ask: the run of @spec waits from now on, with the order held and sealed. @rule: the approval rule
 * that asks. @once: nobody will run it later; what is decided holds for the next time. */
int bj_approval_ask(const struct bj_record *record, const struct bj_spec *spec,
		    const struct bj_result *result, const char *rule, bool once,
		    struct bj_err *err);

/* Whether the very run of @spec was approved: under its own id, or by a decision that the settings
 * let hold for it. 1 with *@ret filled (the caller frees its texts), 0, or negative. */
int bj_approval_holds(const struct bj_record *record, const struct bj_spec *spec,
		      struct bj_decision *ret, struct bj_err *err);

/* Keep a decision that was made in place. */
int bj_approval_note(const struct bj_record *record, const struct bj_spec *spec, const char *rule,
		     const struct bj_decision *decision, struct bj_err *err);

/* Decide about the run @id, in the records and in the audit log: in both or in none.
 * -BJ_E_NOT_FOUND, -BJ_E_DENIED as bj_decide() says. */
int bj_approval_decide(const struct bj_record *record, const char *id, bool approve, const char *by,
		       const char *reason, struct bj_err *err);

/* End what has waited too long. Returns how many. */
int bj_approval_expire(const struct bj_record *record, struct bj_err *err);

/* Take the approved run @id for this process: 1 when it is ours to run now, with the sealed order
 * opened into *@ret. */
int bj_approval_claim(const struct bj_record *record, const char *id, struct bj_buf *ret,
		      struct bj_err *err);

/* The order of a run that waits, opened into *@ret. -BJ_E_NOT_FOUND: none is held. */
int bj_approval_held(struct bj_archive *archive, const char *id, struct bj_buf *ret,
		     struct bj_err *err);

/* The limits of a run that is held. */
int bj_approval_limits(struct bj_archive *archive, const char *id, struct bj_limits *ret,
		       struct bj_err *err);

/* A run that was approved and not begun; false: there is none. */
bool bj_approval_next(struct bj_archive *archive, char ret_id[33]);

/* How many runs wait for a decision. */
unsigned int bj_approval_waiting(struct bj_archive *archive);

/* A request that may be sent again: who asked under which key, and for what. */
struct bj_approval_request {
	unsigned char key[32], body[32];
};

/* The question about the run @id came from @request. */
int bj_approval_keep_request(const struct bj_record *record, const char *id,
			     const struct bj_approval_request *request, struct bj_err *err);

/* The run that waits because of the key of @request, or that was decided about after @since_ms.
 * *@ret_same: it was this very request. 1, 0 when there is none, or negative. */
int bj_approval_find_request(struct bj_archive *archive, const struct bj_approval_request *request,
			     uint64_t since_ms, char ret_id[33], bool *ret_same,
			     struct bj_err *err);

/* The script that was approved last under the name, the tool and the tenant of @spec, as far as the
 * settings kept it. The caller frees it; NULL: none. */
char *bj_approval_last(const struct bj_record *record, const struct bj_spec *spec);
