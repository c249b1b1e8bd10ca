/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"
#include "record/owner.h"
#include "record/tenant.h"

/* What tenants use: held against their quotas before a run, put right after it, and priced.
 *
 * A run reserves the most that its limits let it use, so that a tenant's use of a day never goes
 * over its quota, however many runs are under way. A reservation belongs to the process that made
 * it and goes when that process dies. */

/* What a run uses, or could use at most. */
struct bj_use {
	uint64_t runs;
	uint64_t cpu_us;
	uint64_t memory_mib_ms; /* memory times time */
	uint64_t output_bytes;  /* in the result */
	uint64_t artifact_bytes;
	uint64_t cost_micros; /* millionths of the currency */
};

/* The most that a run with these limits can use, and what one that ended did use; both priced. */
struct bj_use bj_use_worst(const struct bj_limits *limits, const struct bj_price_settings *price);
struct bj_use bj_use_actual(const struct bj_result *result, const struct bj_price_settings *price);

/* Millionths of the currency for the other fields of @use. */
uint64_t bj_price_of(const struct bj_use *use, const struct bj_price_settings *price);

/* Reserve @worst for the run @id of @tenant (NULL: the local user, who has no quota). Once more for
 * the same run does nothing. -BJ_E_LIMIT: over quota; the message says which, and *@ret_retry_s
 * when to try again. */
int bj_quota_reserve(struct bj_store *store, const struct bj_owner *owner, const char *tenant,
		     const char *id, const struct bj_use *worst, unsigned int *ret_retry_s,
		     struct bj_err *err);

/* The run @id has used @use: add it to the day's sum of its tenant and end the reservation. With
 * @use NULL nothing ran, and only the reservation ends. Where somebody else has ended it, nothing
 * is added. A failure leaves the reservation, which counts as the most that the run could use,
 * until a sweep settles it. */
int bj_quota_settle(struct bj_store *store, const char *tenant, const char *id,
		    const struct bj_use *use, struct bj_err *err);

/* Settle what nobody else will: the reservations of processes that died, and those of our own runs
 * that @lives (NULL: all live) says have ended. Runs that the records call finished are charged
 * for. Returns how many. */
int bj_quota_sweep(struct bj_store *store, const struct bj_owner *owner,
		   const struct bj_price_settings *price, bool (*lives)(void *ctx, const char *id),
		   void *ctx, struct bj_err *err);

/* What was used, by tenant: {"usage": [...]}, each with its quota and what is left of the day.
 * @tenant: only this one, or NULL. @since_ms: from that day on. @days: one row a day. The caller
 * drops *@ret. */
int bj_usage_list(struct bj_store *store, const char *tenant, uint64_t since_ms, bool days,
		  const char *currency, json_t **ret, struct bj_err *err);
