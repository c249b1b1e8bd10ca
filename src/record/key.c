/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "record/tenant.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

enum {
	SECRET_BYTES = 32,
	SALT_BYTES = 16,
	HASH_BYTES = 32,
	SECRET_TEXT = 44, /* base64 without padding, with its NUL */
	USE_MS = 60000,   /* how exact the time of the last use is */
};

/* A secret has 256 random bits: a fast hash hides it as well as a slow one. */
static void hash_key(const char *key, const unsigned char salt[SALT_BYTES],
		     unsigned char hash[HASH_BYTES])
{
	crypto_generichash(hash, HASH_BYTES, (const unsigned char *)key, strlen(key), salt,
			   SALT_BYTES);
}

static void make_key(char key[BJ_KEY_TEXT], char prefix[BJ_KEY_PREFIX])
{
	unsigned char bytes[SECRET_BYTES];
	char secret[SECRET_TEXT];

	randombytes_buf(bytes, (BJ_KEY_PREFIX - 1) / 2);
	sodium_bin2hex(prefix, BJ_KEY_PREFIX, bytes, (BJ_KEY_PREFIX - 1) / 2);
	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2base64(secret, sizeof(secret), bytes, sizeof(bytes),
			  sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	snprintf(key, BJ_KEY_TEXT, "bj_%s_%s", prefix, secret);
	sodium_memzero(bytes, sizeof(bytes));
	sodium_memzero(secret, sizeof(secret));
}

/* The prefix of a key or the prefix itself; false: it is neither. */
static bool prefix_of(const char *text, char prefix[BJ_KEY_PREFIX])
{
	if (strncmp(text, "bj_", 3) == 0)
		text += 3;
	if (strspn(text, "0123456789abcdef") != BJ_KEY_PREFIX - 1 ||
	    (text[BJ_KEY_PREFIX - 1] != '_' && text[BJ_KEY_PREFIX - 1] != '\0'))
		return false;
	memcpy(prefix, text, BJ_KEY_PREFIX - 1);
	prefix[BJ_KEY_PREFIX - 1] = '\0';
	return true;
}

static bool name_is_fine(const char *name)
{
	const size_t n = strlen(name);

	if (n == 0 || n >= BJ_KEY_NAME)
		return false;
	for (size_t i = 0; i < n; i++)
		if (name[i] < ' ' || name[i] > '~' || name[i] == '"' || name[i] == '\\')
			return false;
	return true;
}

/* --- making and revoking ---------------------------------------------------------------------- */

static int insert(struct bj_store *store, const struct bj_key_init *init, const char *prefix,
		  const unsigned char *salt, const unsigned char *hash, struct bj_err *err)
{
	int r = bj_store_begin_aside(store, err);

	if (r < 0)
		return r;

	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
		store->db, "INSERT INTO keys VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0)", err);

	if (!st) {
		bj_store_rollback(store);
		return -err->code;
	}
	sqlite3_bind_text(st, 1, prefix, -1, SQLITE_TRANSIENT);
	if (init->tenant)
		sqlite3_bind_text(st, 2, init->tenant, -1, SQLITE_TRANSIENT);
	if (init->name)
		sqlite3_bind_text(st, 3, init->name, -1, SQLITE_TRANSIENT);
	sqlite3_bind_blob(st, 4, salt, SALT_BYTES, SQLITE_TRANSIENT);
	sqlite3_bind_blob(st, 5, hash, HASH_BYTES, SQLITE_TRANSIENT);
	sqlite3_bind_int64(st, 6, init->roles);
	sqlite3_bind_int64(st, 7, (sqlite3_int64)bj_clock_unix_ms());
	sqlite3_bind_int64(st, 8, (sqlite3_int64)init->expires_ms);
	if (sqlite3_step(st) != SQLITE_DONE) {
		r = bj_store_err(store->db, err, "the key cannot be kept");
		sqlite3_reset(st);
		bj_store_rollback(store);
		return r;
	}
	sqlite3_reset(st);
	return bj_store_commit(store, err);
}

int bj_key_add(struct bj_store *store, const struct bj_key_init *init, char key[BJ_KEY_TEXT],
	       struct bj_err *err)
{
	unsigned char salt[SALT_BYTES], hash[HASH_BYTES];
	char text[BJ_KEY_TEXT], prefix[BJ_KEY_PREFIX];
	struct bj_tenant tenant;
	int r = 0;

	if (init->roles == 0 || init->roles & ~(unsigned int)BJ_ROLE_ALL)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "roles: a list of run, approve, read and admin is needed");
	if (init->name && !name_is_fine(init->name))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "name: 1 to 64 printable characters are needed");
	if (init->tenant)
		r = bj_tenant_get(store, init->tenant, &tenant, err);
	if (r < 0)
		return r;
	make_key(text, prefix);
	randombytes_buf(salt, sizeof(salt));
	hash_key(text, salt, hash);
	r = insert(store, init, prefix, salt, hash, err);
	if (r == 0)
		memcpy(key, text, BJ_KEY_TEXT);
	sodium_memzero(text, sizeof(text));
	return r;
}

int bj_key_revoke(struct bj_store *store, const char *text, const char *tenant, struct bj_err *err)
{
	char prefix[BJ_KEY_PREFIX];
	int r;

	if (!prefix_of(text, prefix))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "a key's prefix is needed, the 8 characters after bj_");
	r = bj_store_begin_aside(store, err);
	if (r < 0)
		return r;

	AUTO_STMT sqlite3_stmt *st =
		bj_store_prepare(store->db,
				 "UPDATE keys SET revoked_ms = ?2 WHERE prefix = ?1 AND revoked_ms"
				 " = 0 AND (?3 IS NULL OR tenant = ?3)",
				 err);

	if (!st) {
		bj_store_rollback(store);
		return -err->code;
	}
	sqlite3_bind_text(st, 1, prefix, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)bj_clock_unix_ms());
	if (tenant)
		sqlite3_bind_text(st, 3, tenant, -1, SQLITE_TRANSIENT);
	r = sqlite3_step(st);

	const int n = sqlite3_changes(store->db);

	sqlite3_reset(st);
	if (r != SQLITE_DONE) {
		r = bj_store_err(store->db, err, "the key cannot be revoked");
		bj_store_rollback(store);
		return r;
	}
	r = bj_store_commit(store, err);
	if (r == 0 && n == 0)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "there is no key %s, or it is revoked already", prefix);
	return r;
}

/* --- listing ---------------------------------------------------------------------------------- */

static json_t *time_json(sqlite3_stmt *st, int column)
{
	const sqlite3_int64 ms = sqlite3_column_int64(st, column);

	return ms ? json_integer(ms) : json_null();
}

static json_t *text_json(sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	return text ? json_string(text) : json_null();
}

static json_t *key_json(sqlite3_stmt *st)
{
	char roles[BJ_ROLES_TEXT];
	json_t *list = json_array();

	bj_roles_format((unsigned int)sqlite3_column_int(st, 3), roles);
	for (const char *p = roles; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
		json_array_append_new(list, json_stringn(p, strcspn(p, ",")));
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "prefix", text_json(st, 0), "tenant",
			 text_json(st, 1), "name", text_json(st, 2), "roles", list, "created_ms",
			 time_json(st, 4), "expires_ms", time_json(st, 5), "revoked_ms",
			 time_json(st, 6), "used_ms", time_json(st, 7));
}

int bj_key_list(struct bj_store *store, const char *tenant, json_t **ret, struct bj_err *err)
{
	sqlite3 *db = bj_store_read_aside(store, err);
	json_t *list = db ? json_array() : NULL;
	int r;

	if (!db)
		return -err->code;
	{
		AUTO_STMT sqlite3_stmt *st =
			bj_store_prepare(db,
					 "SELECT prefix, tenant, name, roles, created_ms,"
					 " expires_ms, revoked_ms, used_ms FROM keys WHERE ?1 IS"
					 " NULL OR tenant = ?1 ORDER BY created_ms, prefix",
					 err);

		if (st && tenant)
			sqlite3_bind_text(st, 1, tenant, -1, SQLITE_TRANSIENT);
		while ((r = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW)
			json_array_append_new(list, key_json(st));
	}
	bj_store_let_go(store);
	if (r != SQLITE_DONE) {
		json_decref(list);
		return bj_store_err(db, err, "keys cannot be read");
	}
	*ret = json_pack("{s:o}", "keys", list);
	return 0;
}

/* --- checking --------------------------------------------------------------------------------- */

struct found {
	bool there;
	unsigned char salt[SALT_BYTES], hash[HASH_BYTES];
	uint64_t expires_ms, revoked_ms, used_ms;
	bool tenant_on;
	struct bj_caller caller;
};

static void copy_text(sqlite3_stmt *st, int column, char *to, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	snprintf(to, size, "%s", text ? text : "");
}

static void read_found(sqlite3_stmt *st, struct found *f)
{
	if (sqlite3_column_bytes(st, 0) != SALT_BYTES || sqlite3_column_bytes(st, 1) != HASH_BYTES)
		return;
	f->there = true;
	memcpy(f->salt, sqlite3_column_blob(st, 0), SALT_BYTES);
	memcpy(f->hash, sqlite3_column_blob(st, 1), HASH_BYTES);
	f->expires_ms = (uint64_t)sqlite3_column_int64(st, 2);
	f->revoked_ms = (uint64_t)sqlite3_column_int64(st, 3);
	f->used_ms = (uint64_t)sqlite3_column_int64(st, 4);
	f->caller.roles = (unsigned int)sqlite3_column_int(st, 5);
	copy_text(st, 6, f->caller.tenant, sizeof(f->caller.tenant));
	copy_text(st, 7, f->caller.name, sizeof(f->caller.name));
	f->tenant_on = f->caller.tenant[0] == '\0' || sqlite3_column_int(st, 8) == 1;
}

static int find(struct bj_store *store, const char *prefix, struct found *f, struct bj_err *err)
{
	static const char sql[] = "SELECT k.salt, k.hash, k.expires_ms, k.revoked_ms, k.used_ms,"
				  " k.roles, k.tenant, k.name, t.enabled FROM keys k LEFT JOIN"
				  " tenants t ON t.name = k.tenant WHERE k.prefix = ?1";
	sqlite3 *db = bj_store_read_aside(store, err);
	int r;

	if (!db)
		return -err->code;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, err);

		if (st)
			sqlite3_bind_text(st, 1, prefix, -1, SQLITE_TRANSIENT);
		r = st ? sqlite3_step(st) : SQLITE_ERROR;
		if (r == SQLITE_ROW)
			read_found(st, f);
	}
	bj_store_let_go(store);
	return r == SQLITE_ROW || r == SQLITE_DONE ? 0
						   : bj_store_err(db, err, "keys cannot be read");
}

/* Not worth failing a request for. */
static void note_use(struct bj_store *store, const char *prefix, uint64_t now)
{
	if (bj_store_begin_aside(store, NULL) < 0)
		return;

	AUTO_STMT sqlite3_stmt *st =
		bj_store_prepare(store->db, "UPDATE keys SET used_ms = ?2 WHERE prefix = ?1", NULL);

	if (st) {
		sqlite3_bind_text(st, 1, prefix, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int64(st, 2, (sqlite3_int64)now);
		sqlite3_step(st);
		sqlite3_reset(st);
	}
	bj_store_commit(store, NULL);
}

/* Whether a key that is there may be used. */
static int stands(const struct found *f, const char *prefix, uint64_t now, struct bj_err *err)
{
	if (f->revoked_ms)
		return bj_err_set(err, BJ_E_DENIED, 0, "the API key %s was revoked", prefix);
	if (f->expires_ms && f->expires_ms <= now)
		return bj_err_set(err, BJ_E_DENIED, 0, "the API key %s has expired", prefix);
	if (!f->tenant_on)
		return bj_err_set(err, BJ_E_DENIED, 0, "the tenant %.32s is switched off",
				  f->caller.tenant);
	return 0;
}

int bj_key_stands(struct bj_store *store, const char *prefix, struct bj_err *err)
{
	struct found f = { 0 };
	const int r = find(store, prefix, &f, err);

	if (r < 0)
		return r;
	if (!f.there)
		return bj_err_set(err, BJ_E_DENIED, 0, "this API key is not known");
	return stands(&f, prefix, bj_clock_unix_ms(), err);
}

int bj_key_check(struct bj_store *store, const char *text, struct bj_caller *ret,
		 struct bj_err *err)
{
	const uint64_t now = bj_clock_unix_ms();
	struct found f = { 0 };
	unsigned char hash[HASH_BYTES];
	char prefix[BJ_KEY_PREFIX] = "";
	int r = 0;

	if (prefix_of(text, prefix))
		r = find(store, prefix, &f, err);
	if (r < 0)
		return r;
	/* Also for a key that is not there: both take as long. */
	hash_key(text, f.salt, hash);

	const bool fits = sodium_memcmp(hash, f.hash, sizeof(hash)) == 0;

	if (!f.there || !fits)
		return bj_err_set(err, BJ_E_DENIED, 0, "this API key is not known");
	memcpy(f.caller.key, prefix, sizeof(prefix));
	r = stands(&f, prefix, now, err);
	if (r < 0)
		return r;
	if (now - f.used_ms > USE_MS) {
		note_use(store, prefix, now);
		f.caller.noted = true;
	}
	*ret = f.caller;
	return 0;
}
