/* SPDX-License-Identifier: Apache-2.0 */
#include "record/quota.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"

#include <inttypes.h>
#include <string.h>

enum { MINUTE_MS = 60000 };

#define DAY_MS UINT64_C(86400000)

/* A GB second, as the price and the quota know it. */
#define GB_SECOND UINT64_C(1024000)

static const char *name_of(const char *tenant)
{
	return tenant && tenant[0] ? tenant : "local";
}

/* --- prices ----------------------------------------------------------------------------------- */

uint64_t bj_price_of(const struct bj_use *use, const struct bj_price_settings *price)
{
	const double cost = (double)use->runs * price->run +
			    (double)use->cpu_us / 1e6 * price->cpu_second +
			    (double)use->memory_mib_ms / (double)GB_SECOND * price->gb_second;

	return (uint64_t)(cost + 0.5);
}

struct bj_use bj_use_worst(const struct bj_limits *limits, const struct bj_price_settings *price)
{
	struct bj_use use = {
		.runs = 1,
		.cpu_us = limits->timeout_ms * limits->cpu_milli,
		.memory_mib_ms = (limits->memory >> 20) * limits->timeout_ms,
		.output_bytes = 2 * limits->max_output,
		.artifact_bytes = limits->out_bytes,
	};

	use.cost_micros = bj_price_of(&use, price);
	return use;
}

struct bj_use bj_use_actual(const struct bj_result *result, const struct bj_price_settings *price)
{
	struct bj_use use = {
		.runs = 1,
		.cpu_us = result->cpu_us,
		/* Rounded up: a run of half a millisecond used something. */
		.memory_mib_ms =
			((result->peak_memory >> 10) * result->duration_us + 1023999) / 1024000,
		.output_bytes = result->out.size + result->err.size,
		.artifact_bytes = result->out_bytes,
	};

	use.cost_micros = bj_price_of(&use, price);
	return use;
}

/* --- reserving -------------------------------------------------------------------------------- */

/* What a tenant has used of this day, and holds. */
struct balance {
	uint64_t live;     /* reservations */
	uint64_t recent;   /* runs begun in the last minute */
	uint64_t first_ms; /* the first of those */
	struct bj_use use;
};

/* With the store's lock, in a transaction. */
static int read_balance(struct bj_store *store, const char *tenant, uint64_t now,
			struct balance *ret, struct bj_err *err)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM reservations WHERE tenant = ?1),"
		" (SELECT count(*) FROM starts WHERE tenant = ?1 AND at_ms > ?2),"
		" (SELECT min(at_ms) FROM starts WHERE tenant = ?1 AND at_ms > ?2),"
		" coalesce((SELECT cpu_us FROM usage WHERE tenant = ?1 AND day = ?3), 0) +"
		" coalesce((SELECT sum(cpu_us) FROM reservations WHERE tenant = ?1), 0),"
		" coalesce((SELECT memory_mib_ms FROM usage WHERE tenant = ?1 AND day = ?3), 0) +"
		" coalesce((SELECT sum(memory_mib_ms) FROM reservations WHERE tenant = ?1), 0),"
		" coalesce((SELECT output_bytes FROM usage WHERE tenant = ?1 AND day = ?3), 0) +"
		" coalesce((SELECT sum(output_bytes) FROM reservations WHERE tenant = ?1), 0),"
		" coalesce((SELECT artifact_bytes FROM usage WHERE tenant = ?1 AND day = ?3), 0) +"
		" coalesce((SELECT sum(artifact_bytes) FROM reservations WHERE tenant = ?1), 0)";
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(store->db, sql, err);

	if (!st)
		return -err->code;
	sqlite3_bind_text(st, 1, tenant, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)(now - MINUTE_MS));
	sqlite3_bind_int64(st, 3, (sqlite3_int64)(now / DAY_MS));
	if (sqlite3_step(st) != SQLITE_ROW)
		return bj_store_err(store->db, err, "quotas cannot be read");
	*ret = (struct balance){ .live = (uint64_t)sqlite3_column_int64(st, 0),
				 .recent = (uint64_t)sqlite3_column_int64(st, 1),
				 .first_ms = (uint64_t)sqlite3_column_int64(st, 2),
				 .use = { .cpu_us = (uint64_t)sqlite3_column_int64(st, 3),
					  .memory_mib_ms = (uint64_t)sqlite3_column_int64(st, 4),
					  .output_bytes = (uint64_t)sqlite3_column_int64(st, 5),
					  .artifact_bytes =
						  (uint64_t)sqlite3_column_int64(st, 6) } };
	return 0;
}

static int over(struct bj_err *err, unsigned int *ret_retry_s, unsigned int retry_s,
		const char *what)
{
	*ret_retry_s = retry_s > 0 ? retry_s : 1;
	return bj_err_set(err, BJ_E_LIMIT, 0, "over quota: %s; try again in %u s", what,
			  *ret_retry_s);
}

/* The quotas of a day. */
static int check_day(const struct bj_quota *quota, const struct bj_use *used,
		     const struct bj_use *worst, unsigned int rest_s, unsigned int *ret_retry_s,
		     struct bj_err *err)
{
	const struct {
		const char *name;
		uint64_t quota, used, wanted;
		double unit;
	} days[] = {
		{ "cpu_seconds", quota->cpu_seconds * 1000000, used->cpu_us, worst->cpu_us, 1e6 },
		{ "gb_seconds", quota->gb_seconds * GB_SECOND, used->memory_mib_ms,
		  worst->memory_mib_ms, (double)GB_SECOND },
		{ "output_bytes", quota->output_bytes, used->output_bytes, worst->output_bytes, 1 },
		{ "artifact_bytes", quota->artifact_bytes, used->artifact_bytes,
		  worst->artifact_bytes, 1 },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(days); i++) {
		char what[160];
		const uint64_t left =
			days[i].quota > days[i].used ? days[i].quota - days[i].used : 0;

		if (days[i].quota == 0 || days[i].wanted <= left)
			continue;
		snprintf(what, sizeof(what),
			 "%s: the run could use %.10g, %.10g of %.10g are left today; ask for less",
			 days[i].name, (double)days[i].wanted / days[i].unit,
			 (double)left / days[i].unit, (double)days[i].quota / days[i].unit);
		return over(err, ret_retry_s, rest_s, what);
	}
	return 0;
}

static int check(const struct bj_tenant *tenant, const struct balance *b,
		 const struct bj_use *worst, uint64_t now, unsigned int *ret_retry_s,
		 struct bj_err *err)
{
	const struct bj_quota *q = &tenant->quota;
	const uint64_t rest_ms = DAY_MS - now % DAY_MS;
	char what[96];

	if (q->runs_per_minute && b->recent >= q->runs_per_minute) {
		snprintf(what, sizeof(what), "runs_per_minute is %" PRIu64, q->runs_per_minute);
		return over(err, ret_retry_s,
			    (unsigned int)((b->first_ms + MINUTE_MS - now + 999) / 1000), what);
	}
	if (q->concurrency && b->live >= q->concurrency) {
		snprintf(what, sizeof(what), "concurrency is %" PRIu64, q->concurrency);
		return over(err, ret_retry_s, 1, what);
	}
	return check_day(q, &b->use, worst, (unsigned int)((rest_ms + 999) / 1000), ret_retry_s,
			 err);
}

static int step(struct bj_store *store, sqlite3_stmt *st, struct bj_err *err)
{
	const int r = st ? sqlite3_step(st) : SQLITE_ERROR;

	if (st)
		sqlite3_reset(st);
	return r == SQLITE_DONE || r == SQLITE_ROW
		       ? 0
		       : bj_store_err(store->db, err, "quotas cannot be written");
}

static int insert(struct bj_store *store, const struct bj_owner *owner, const char *tenant,
		  const char *id, const struct bj_use *worst, uint64_t now, struct bj_err *err)
{
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
		store->db, "INSERT INTO reservations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", err);
	AUTO_STMT sqlite3_stmt *start =
		bj_store_prepare(store->db, "INSERT INTO starts VALUES (?1, ?2)", err);
	AUTO_STMT sqlite3_stmt *old = bj_store_prepare(
		store->db, "DELETE FROM starts WHERE tenant = ?1 AND at_ms <= ?2", err);

	if (!st || !start || !old)
		return -err->code;
	sqlite3_bind_text(st, 1, id, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(st, 2, tenant, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(st, 3, owner->number);
	sqlite3_bind_int64(st, 4, (sqlite3_int64)worst->cpu_us);
	sqlite3_bind_int64(st, 5, (sqlite3_int64)worst->memory_mib_ms);
	sqlite3_bind_int64(st, 6, (sqlite3_int64)worst->output_bytes);
	sqlite3_bind_int64(st, 7, (sqlite3_int64)worst->artifact_bytes);
	sqlite3_bind_text(start, 1, tenant, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(start, 2, (sqlite3_int64)now);
	sqlite3_bind_text(old, 1, tenant, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(old, 2, (sqlite3_int64)(now - MINUTE_MS));

	int r = step(store, st, err);

	if (r == 0)
		r = step(store, old, err);
	return r == 0 ? step(store, start, err) : r;
}

/* Whether the run @id holds a reservation. With the lock. */
static bool holds(struct bj_store *store, const char *id)
{
	AUTO_STMT sqlite3_stmt *st =
		bj_store_prepare(store->db, "SELECT 1 FROM reservations WHERE id = ?1", NULL);

	if (!st)
		return false;
	sqlite3_bind_text(st, 1, id, -1, SQLITE_TRANSIENT);
	return sqlite3_step(st) == SQLITE_ROW;
}

static int reserve(struct bj_store *store, const struct bj_owner *owner,
		   const struct bj_tenant *tenant, const char *id, const struct bj_use *worst,
		   unsigned int *ret_retry_s, struct bj_err *err)
{
	const uint64_t now = bj_clock_unix_ms();
	struct balance balance = { 0 };

	if (holds(store, id))
		return 0;

	int r = read_balance(store, tenant->name, now, &balance, err);

	if (r == 0)
		r = check(tenant, &balance, worst, now, ret_retry_s, err);
	if (r == 0)
		r = insert(store, owner, tenant->name, id, worst, now, err);
	return r;
}

int bj_quota_reserve(struct bj_store *store, const struct bj_owner *owner, const char *tenant_name,
		     const char *id, const struct bj_use *worst, unsigned int *ret_retry_s,
		     struct bj_err *err)
{
	struct bj_tenant tenant;
	int r;

	if (!tenant_name || !tenant_name[0])
		return 0;
	r = bj_tenant_get(store, tenant_name, &tenant, err);
	if (r == 0 && !tenant.enabled)
		r = bj_err_set(err, BJ_E_DENIED, 0, "the tenant %.32s is switched off",
			       tenant_name);
	if (r == 0)
		r = bj_store_begin_aside(store, err);
	if (r < 0)
		return r;
	r = reserve(store, owner, &tenant, id, worst, ret_retry_s, err);
	if (r < 0) {
		bj_store_rollback(store);
		return r;
	}
	return bj_store_commit(store, err);
}

/* --- settling --------------------------------------------------------------------------------- */

static int add_use(struct bj_store *store, const char *tenant, const struct bj_use *use,
		   struct bj_err *err)
{
	static const char sql[] =
		"INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
		" ON CONFLICT (tenant, day) DO UPDATE SET runs = runs + excluded.runs,"
		" cpu_us = cpu_us + excluded.cpu_us,"
		" memory_mib_ms = memory_mib_ms + excluded.memory_mib_ms,"
		" output_bytes = output_bytes + excluded.output_bytes,"
		" artifact_bytes = artifact_bytes + excluded.artifact_bytes,"
		" cost_micros = cost_micros + excluded.cost_micros";
	const uint64_t values[] = { bj_clock_unix_ms() / DAY_MS,
				    use->runs,
				    use->cpu_us,
				    use->memory_mib_ms,
				    use->output_bytes,
				    use->artifact_bytes,
				    use->cost_micros };
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(store->db, sql, err);

	if (!st)
		return -err->code;
	sqlite3_bind_text(st, 1, tenant, -1, SQLITE_TRANSIENT);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(values); i++)
		sqlite3_bind_int64(st, 2 + (int)i, (sqlite3_int64)values[i]);
	return step(store, st, err);
}

/* 1: it was there. */
static int end_reservation(struct bj_store *store, const char *id, struct bj_err *err)
{
	AUTO_STMT sqlite3_stmt *st =
		bj_store_prepare(store->db, "DELETE FROM reservations WHERE id = ?1", err);
	int r;

	if (!st)
		return -err->code;
	sqlite3_bind_text(st, 1, id, -1, SQLITE_TRANSIENT);
	r = step(store, st, err);
	return r < 0 ? r : sqlite3_changes(store->db) > 0;
}

int bj_quota_settle(struct bj_store *store, const char *tenant, const char *id,
		    const struct bj_use *use, struct bj_err *err)
{
	const bool local = !tenant || !tenant[0];
	int r;

	if (local && !use)
		return 0;
	r = bj_store_begin_aside(store, err);
	if (r < 0)
		return r;
	/* Whoever ends the reservation charges for it: a run is never charged twice. */
	r = local ? 1 : end_reservation(store, id, err);
	if (r > 0 && use)
		r = add_use(store, name_of(tenant), use, err);
	if (r < 0) {
		bj_store_rollback(store);
		return r;
	}
	return bj_store_commit(store, err);
}

/* --- what nobody settled ---------------------------------------------------------------------- */

/* A reservation, and what the records say of its run. */
struct held {
	char id[33], tenant[BJ_TENANT_NAME];
	int64_t owner;
	bool ended;
	struct bj_use use;
};

static void read_held(sqlite3_stmt *st, const struct bj_price_settings *price, struct held *ret)
{
	struct bj_result like = { .duration_us = (uint64_t)sqlite3_column_int64(st, 4),
				  .cpu_us = (uint64_t)sqlite3_column_int64(st, 5),
				  .peak_memory = (uint64_t)sqlite3_column_int64(st, 6),
				  .out_bytes = (uint64_t)sqlite3_column_int64(st, 7) };

	snprintf(ret->id, sizeof(ret->id), "%s", sqlite3_column_text(st, 0));
	snprintf(ret->tenant, sizeof(ret->tenant), "%s", sqlite3_column_text(st, 1));
	ret->owner = sqlite3_column_int64(st, 2);
	ret->ended = sqlite3_column_int(st, 3) == BJ_FINISHED && like.duration_us > 0;
	ret->use = bj_use_actual(&like, price);
	/* How much of its output the answer held is not on record: what it could hold counts. */
	ret->use.output_bytes = (uint64_t)sqlite3_column_int64(st, 8);
}

/* The reservation after @after: 1, 0 at the end. */
static int next_held(struct bj_store *store, const char *after,
		     const struct bj_price_settings *price, struct held *ret)
{
	static const char sql[] =
		"SELECT r.id, r.tenant, r.owner, e.state, e.duration_us, e.cpu_us, e.peak_memory,"
		" e.artifact_bytes, r.output_bytes FROM reservations r LEFT JOIN executions e ON"
		" e.id = r.id WHERE r.id > ?1 ORDER BY r.id LIMIT 1";
	sqlite3 *db = bj_store_read(store, NULL);
	int found = 0;

	if (!db)
		return 0;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, NULL);

		if (st)
			sqlite3_bind_text(st, 1, after, -1, SQLITE_TRANSIENT);
		if (st && sqlite3_step(st) == SQLITE_ROW) {
			read_held(st, price, ret);
			found = 1;
		}
	}
	bj_store_let_go(store);
	return found;
}

int bj_quota_sweep(struct bj_store *store, const struct bj_owner *owner,
		   const struct bj_price_settings *price, bool (*lives)(void *ctx, const char *id),
		   void *ctx, struct bj_err *err)
{
	struct held held = { 0 };
	int n = 0;

	while (next_held(store, held.id, price, &held)) {
		const bool ours = held.owner == owner->number;

		if (ours ? !lives || lives(ctx, held.id) : bj_owner_lives(owner, held.owner))
			continue;

		const int r = bj_quota_settle(store, held.tenant, held.id,
					      held.ended ? &held.use : NULL, err);

		if (r < 0)
			return r;
		n++;
	}
	return n;
}
