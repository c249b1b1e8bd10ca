/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "record/quota.h"

#include <string.h>
#include <time.h>

#define DAY_MS UINT64_C(86400000)

enum { DATE_TEXT = 16 };

static void print_day(uint64_t day, char text[DATE_TEXT])
{
	const time_t seconds = (time_t)(day * 86400);
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(text, DATE_TEXT, "%Y-%m-%d", &utc);
}

static json_t *row_json(sqlite3_stmt *st, bool days, const char *currency)
{
	char date[DATE_TEXT];
	json_t *row = json_pack("{s:s,s:I,s:f,s:f,s:I,s:I,s:f,s:s}", "tenant",
				(const char *)sqlite3_column_text(st, 0), "runs",
				(json_int_t)sqlite3_column_int64(st, 2), "cpu_seconds",
				(double)sqlite3_column_int64(st, 3) / 1e6, "gb_seconds",
				(double)sqlite3_column_int64(st, 4) / 1024000.0, "output_bytes",
				(json_int_t)sqlite3_column_int64(st, 5), "artifact_bytes",
				(json_int_t)sqlite3_column_int64(st, 6), "cost",
				(double)sqlite3_column_int64(st, 7) / 1e6, "currency", currency);

	if (row && days) {
		print_day((uint64_t)sqlite3_column_int64(st, 1), date);
		json_object_set_new(row, "day", json_string(date));
	}
	return row;
}

int bj_usage_list(struct bj_store *store, const char *tenant, uint64_t since_ms, bool days,
		  const char *currency, json_t **ret, struct bj_err *err)
{
	static const char by_day[] = "SELECT tenant, day, runs, cpu_us, memory_mib_ms,"
				     " output_bytes, artifact_bytes, cost_micros FROM usage"
				     " WHERE (?1 IS NULL OR tenant = ?1) AND day >= ?2"
				     " ORDER BY tenant, day";
	static const char in_all[] = "SELECT tenant, 0, sum(runs), sum(cpu_us),"
				     " sum(memory_mib_ms), sum(output_bytes), sum(artifact_bytes),"
				     " sum(cost_micros) FROM usage WHERE (?1 IS NULL OR tenant ="
				     " ?1) AND day >= ?2 GROUP BY tenant ORDER BY tenant";
	sqlite3 *db = bj_store_read(store, err);
	int r;

	if (!db)
		return -err->code;

	json_t *list = json_array();

	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, days ? by_day : in_all, err);

		if (st && tenant)
			sqlite3_bind_text(st, 1, tenant, -1, SQLITE_TRANSIENT);
		if (st)
			sqlite3_bind_int64(st, 2, (sqlite3_int64)(since_ms / DAY_MS));
		while ((r = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW)
			json_array_append_new(list, row_json(st, days, currency));
	}
	if (r != SQLITE_DONE) {
		json_decref(list);
		bj_store_err(db, err, "usage cannot be read");
	}
	bj_store_let_go(store);
	if (r != SQLITE_DONE)
		return -err->code;
	*ret = json_pack("{s:o}", "usage", list);
	return 0;
}
