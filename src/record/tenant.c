/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tenant.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/size.h"

#include <errno.h>
#include <string.h>

/* --- words ------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	enum bj_role role;
} ROLES[] = {
	{ "run", BJ_ROLE_RUN },
	{ "approve", BJ_ROLE_APPROVE },
	{ "read", BJ_ROLE_READ },
	{ "admin", BJ_ROLE_ADMIN },
};

unsigned int bj_roles_parse(const char *text)
{
	unsigned int roles = 0;

	while (*text) {
		const size_t n = strcspn(text, ",");
		unsigned int role = 0;

		for (size_t i = 0; i < BJ_ARRAY_SIZE(ROLES); i++)
			if (strlen(ROLES[i].name) == n && memcmp(ROLES[i].name, text, n) == 0)
				role = ROLES[i].role;
		if (!role)
			return 0;
		roles |= role;
		text += n + (text[n] == ',');
	}
	return roles;
}

void bj_roles_format(unsigned int roles, char text[BJ_ROLES_TEXT])
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < BJ_ARRAY_SIZE(ROLES); i++)
		if (roles & ROLES[i].role)
			n += (size_t)snprintf(text + n, BJ_ROLES_TEXT - n, "%s%s", n ? "," : "",
					      ROLES[i].name);
}

/* The limits, in the order of the table's columns. */
static const struct {
	const char *name;
	size_t offset;
	bool size; /* 512MiB is understood */
} QUOTAS[] = {
	{ "runs_per_minute", offsetof(struct bj_quota, runs_per_minute), false },
	{ "concurrency", offsetof(struct bj_quota, concurrency), false },
	{ "cpu_seconds", offsetof(struct bj_quota, cpu_seconds), false },
	{ "gb_seconds", offsetof(struct bj_quota, gb_seconds), false },
	{ "output_bytes", offsetof(struct bj_quota, output_bytes), true },
	{ "artifact_bytes", offsetof(struct bj_quota, artifact_bytes), true },
};

static uint64_t *field(struct bj_quota *quota, size_t i)
{
	return (uint64_t *)(void *)((char *)quota + QUOTAS[i].offset);
}

static int refuse_name(const char *name, const char *const *names, size_t n, struct bj_err *err)
{
	const char *near = bj_nearest(name, names, n);
	AUTO_BUF struct bj_buf all = { 0 };

	if (near)
		return bj_err_set(err, BJ_E_INVALID, 0, "there is no quota %.40s; did you mean %s?",
				  name, near);
	for (size_t i = 0; i < n; i++)
		bj_buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	return bj_err_set(err, BJ_E_INVALID, 0, "there is no quota %.40s; there are: %s", name,
			  all.failed ? "?" : all.data);
}

int bj_quota_set(struct bj_quota *quota, const char *name, const char *value, struct bj_err *err)
{
	const char *names[BJ_ARRAY_SIZE(QUOTAS)];
	uint64_t n = 0;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(QUOTAS); i++) {
		names[i] = QUOTAS[i].name;
		if (strcmp(name, names[i]) != 0)
			continue;
		/* Seconds are held against microseconds and more: what is asked fits there, too. */
		if ((QUOTAS[i].size ? bj_size_parse(value, &n) : bj_u64_parse(value, &n)) < 0 ||
		    n > UINT64_C(1) << (QUOTAS[i].size ? 50 : 40))
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "%s: a whole number is needed (0: no limit)", name);
		*field(quota, i) = n;
		return 0;
	}

	return refuse_name(name, names, BJ_ARRAY_SIZE(names), err);
}

/* local stands for runs without a tenant. */
static bool name_is_fine(const char *name)
{
	const size_t n =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n > 0 && n < BJ_TENANT_NAME && name[n] == '\0' && name[0] != '.' && name[0] != '-' &&
	       strcmp(name, "local") != 0;
}

/* --- tenants ---------------------------------------------------------------------------------- */

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(st, at);
}

static void bind_quota(sqlite3_stmt *st, int at, const struct bj_quota *quota)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(QUOTAS); i++)
		sqlite3_bind_int64(st, at + (int)i,
				   (sqlite3_int64)*field((struct bj_quota *)quota, i));
}

/* One statement as a transaction. How many rows it changed. */
static int change(struct bj_store *store, sqlite3_stmt *st, struct bj_err *err)
{
	if (sqlite3_step(st) != SQLITE_DONE) {
		const int r = sqlite3_errcode(store->db) == SQLITE_CONSTRAINT
				      ? -BJ_E_DENIED
				      : bj_store_err(store->db, err, "tenants cannot be written");

		sqlite3_reset(st);
		bj_store_rollback(store);
		return r;
	}

	const int n = sqlite3_changes(store->db);

	sqlite3_reset(st);

	const int r = bj_store_commit(store, err);

	return r < 0 ? r : n;
}

/* Begin a transaction with the statement @sql; NULL when that failed. */
static sqlite3_stmt *begin(struct bj_store *store, const char *sql, struct bj_err *err)
{
	if (bj_store_begin_aside(store, err) < 0)
		return NULL;

	sqlite3_stmt *st = bj_store_prepare(store->db, sql, err);

	if (!st)
		bj_store_rollback(store);
	return st;
}

int bj_tenant_add(struct bj_store *store, const char *name, const struct bj_quota *quota,
		  struct bj_err *err)
{
	if (!name_is_fine(name))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "a tenant's name has 1 to 32 letters, digits and ._- and is not "
				  "local");

	AUTO_STMT sqlite3_stmt *st = begin(store,
					   "INSERT INTO tenants VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6,"
					   " ?7, ?8)",
					   err);

	if (!st)
		return -err->code;
	bind_text(st, 1, name);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)bj_clock_unix_ms());
	bind_quota(st, 3, quota);

	const int r = change(store, st, err);

	if (r == -BJ_E_DENIED)
		return bj_err_set(err, BJ_E_DENIED, 0, "there is a tenant %.40s already", name);
	return r < 0 ? r : 0;
}

static void read_tenant(sqlite3_stmt *st, struct bj_tenant *ret)
{
	*ret = (struct bj_tenant){ .created_ms = (uint64_t)sqlite3_column_int64(st, 1),
				   .enabled = sqlite3_column_int(st, 2) };
	snprintf(ret->name, sizeof(ret->name), "%s", (const char *)sqlite3_column_text(st, 0));
	for (size_t i = 0; i < BJ_ARRAY_SIZE(QUOTAS); i++)
		*field(&ret->quota, i) = (uint64_t)sqlite3_column_int64(st, 3 + (int)i);
}

int bj_tenant_get(struct bj_store *store, const char *name, struct bj_tenant *ret,
		  struct bj_err *err)
{
	sqlite3 *db = bj_store_read_aside(store, err);
	int r;

	if (!db)
		return -err->code;
	{
		AUTO_STMT sqlite3_stmt *st =
			bj_store_prepare(db, "SELECT * FROM tenants WHERE name = ?1", err);

		bind_text(st, 1, name);
		r = st ? sqlite3_step(st) : SQLITE_ERROR;
		if (r == SQLITE_ROW)
			read_tenant(st, ret);
	}
	bj_store_let_go(store);
	if (r == SQLITE_ROW)
		return 0;
	if (r == SQLITE_DONE)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0, "there is no tenant %.40s", name);
	return bj_store_err(db, err, "tenants cannot be read");
}

int bj_tenant_set(struct bj_store *store, const struct bj_tenant *tenant, struct bj_err *err)
{
	AUTO_STMT sqlite3_stmt *st = begin(store,
					   "UPDATE tenants SET enabled = ?2, runs_per_minute = ?3,"
					   " concurrency = ?4, cpu_seconds = ?5, gb_seconds = ?6,"
					   " output_bytes = ?7, artifact_bytes = ?8"
					   " WHERE name = ?1",
					   err);

	if (!st)
		return -err->code;
	bind_text(st, 1, tenant->name);
	sqlite3_bind_int(st, 2, tenant->enabled);
	bind_quota(st, 3, &tenant->quota);

	const int r = change(store, st, err);

	if (r == 0)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0, "there is no tenant %.40s", tenant->name);
	return r < 0 ? r : 0;
}

int bj_tenant_remove(struct bj_store *store, const char *name, struct bj_err *err)
{
	int r = bj_store_begin_aside(store, err);

	if (r < 0)
		return r;

	AUTO_STMT sqlite3_stmt *keys = bj_store_prepare(
		store->db, "UPDATE keys SET revoked_ms = ?2 WHERE tenant = ?1 AND revoked_ms = 0",
		err);
	AUTO_STMT sqlite3_stmt *st =
		bj_store_prepare(store->db, "DELETE FROM tenants WHERE name = ?1", err);

	if (!keys || !st) {
		bj_store_rollback(store);
		return -err->code;
	}
	bind_text(keys, 1, name);
	sqlite3_bind_int64(keys, 2, (sqlite3_int64)bj_clock_unix_ms());
	bind_text(st, 1, name);
	if (sqlite3_step(keys) != SQLITE_DONE) {
		r = bj_store_err(store->db, err, "keys cannot be revoked");
		sqlite3_reset(keys);
		bj_store_rollback(store);
		return r;
	}
	sqlite3_reset(keys);
	r = change(store, st, err);
	if (r == 0)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0, "there is no tenant %.40s", name);
	return r < 0 ? r : 0;
}

json_t *bj_tenant_json(const struct bj_tenant *tenant)
{
	json_t *quota = json_object();

	for (size_t i = 0; i < BJ_ARRAY_SIZE(QUOTAS); i++) {
		const uint64_t n = *field((struct bj_quota *)&tenant->quota, i);

		json_object_set_new(quota, QUOTAS[i].name,
				    n ? json_integer((json_int_t)n) : json_null());
	}
	return json_pack("{s:s,s:b,s:I,s:o}", "name", tenant->name, "enabled", (int)tenant->enabled,
			 "created_ms", (json_int_t)tenant->created_ms, "quota", quota);
}

int bj_tenant_list(struct bj_store *store, const char *name, json_t **ret, struct bj_err *err)
{
	sqlite3 *db = bj_store_read_aside(store, err);
	json_t *list = db ? json_array() : NULL;
	int r;

	if (!db)
		return -err->code;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
			db, "SELECT * FROM tenants WHERE ?1 IS NULL OR name = ?1 ORDER BY name",
			err);

		bind_text(st, 1, name);
		while ((r = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
			struct bj_tenant tenant;

			read_tenant(st, &tenant);
			json_array_append_new(list, bj_tenant_json(&tenant));
		}
	}
	bj_store_let_go(store);
	if (r != SQLITE_DONE) {
		json_decref(list);
		return bj_store_err(db, err, "tenants cannot be read");
	}
	*ret = json_pack("{s:o}", "tenants", list);
	return 0;
}
