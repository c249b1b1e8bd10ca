/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/engine.h"

/* What is written down of a run beside its record: lines of the audit log, and what its tenant
 * used. Without an archive none of it happens. */

/* The run of @spec is about to begin: hold it against its tenant's quota and write down what of it
 * is out of the ordinary. 1: go. 0: it is over quota, and @result says so. Negative: it cannot be
 * written down, so it must not begin. */
int bj_ledger_begin(struct belljar *bj, const struct bj_spec *spec, struct bj_result *result,
		    struct bj_err *err);

/* The line about its start: in the log before anybody hears how it ended. */
int bj_ledger_start(struct belljar *bj, const struct bj_spec *spec, const struct bj_result *result,
		    struct bj_err *err);

/* Put into @result what it cost. */
void bj_ledger_price(const struct belljar *bj, struct bj_result *result);

/* The run of @spec has ended or never began: write down how, and settle its quota. Fails when the
 * audit log cannot take it: then its result must not be handed out. */
int bj_ledger_end(struct belljar *bj, const struct bj_spec *spec, const struct bj_result *result,
		  struct bj_err *err);

/* Another backend takes over. */
int bj_ledger_fallback(struct belljar *bj, const struct bj_spec *spec, enum bj_backend_id to,
		       const char *reason, struct bj_err *err);

/* A run waits for a person, or @by decided about the run @id. */
int bj_ledger_ask(struct belljar *bj, const struct bj_spec *spec, const struct bj_result *result,
		  struct bj_err *err);
int bj_ledger_decide(struct belljar *bj, const char *id, bool approve, const char *by,
		     const char *reason, struct bj_err *err);

/* Hold the run @id against the quota of @tenant before it gets in line. The same run holds its
 * place when it begins. -BJ_E_LIMIT: over quota, *@ret_retry_s says when to try again. */
int bj_ledger_reserve(struct belljar *bj, const struct bj_spec *spec, unsigned int *ret_retry_s,
		      struct bj_err *err);

/* A run that was held never began. */
void bj_ledger_release(struct belljar *bj, const struct bj_spec *spec);

/* What the run of @spec costs at most, in millionths of the currency. */
uint64_t bj_ledger_estimate(const struct belljar *bj, const struct bj_spec *spec);
