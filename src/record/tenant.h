/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/store.h"

#include <jansson.h>

/* Tenants, and the API keys that speak for them.
 *
 * A key is bj_PREFIX_SECRET. It is shown once; kept are its prefix, by which it is known, and a
 * salted hash. A key without a tenant is an operator's: it sees all tenants. */

enum {
	BJ_TENANT_NAME = 33,
	BJ_KEY_PREFIX = 9,
	BJ_KEY_NAME = 65,
	BJ_KEY_TEXT = 64, /* the whole key with its NUL */
};

/* What a key may do; admin may everything. */
enum bj_role {
	BJ_ROLE_RUN = 1,
	BJ_ROLE_APPROVE = 2,
	BJ_ROLE_READ = 4,
	BJ_ROLE_ADMIN = 8,
	BJ_ROLE_ALL = 15,
};

/* The most that a tenant may use; 0: no limit. */
struct bj_quota {
	uint64_t runs_per_minute;
	uint64_t concurrency;
	uint64_t cpu_seconds;    /* a day (UTC) */
	uint64_t gb_seconds;     /* of memory, a day */
	uint64_t output_bytes;   /* a day */
	uint64_t artifact_bytes; /* a day */
};

struct bj_tenant {
	char name[BJ_TENANT_NAME];
	bool enabled;
	uint64_t created_ms;
	struct bj_quota quota;
};

/* Who asks. */
struct bj_caller {
	char tenant[BJ_TENANT_NAME]; /* "": none, sees all */
	char key[BJ_KEY_PREFIX];     /* "": no key of the store */
	char name[BJ_KEY_NAME];      /* of the key or the user, for records */
	unsigned int roles;
	bool noted; /* this use is the first one in a while */
};

/* Roles from a list such as "run,read" and back. 0: there is no such role. */
unsigned int bj_roles_parse(const char *text);
enum { BJ_ROLES_TEXT = 32 };
void bj_roles_format(unsigned int roles, char text[BJ_ROLES_TEXT]);

/* Set one limit of @quota by its name, such as runs_per_minute. */
int bj_quota_set(struct bj_quota *quota, const char *name, const char *value, struct bj_err *err);

int bj_tenant_add(struct bj_store *store, const char *name, const struct bj_quota *quota,
		  struct bj_err *err);
int bj_tenant_get(struct bj_store *store, const char *name, struct bj_tenant *ret,
		  struct bj_err *err);
int bj_tenant_set(struct bj_store *store, const struct bj_tenant *tenant, struct bj_err *err);

/* Forget @name and revoke its keys. What it used stays on record. */
int bj_tenant_remove(struct bj_store *store, const char *name, struct bj_err *err);

/* {"tenants": [...]}; @name: only this one, or NULL. The caller drops *@ret. */
int bj_tenant_list(struct bj_store *store, const char *name, json_t **ret, struct bj_err *err);
json_t *bj_tenant_json(const struct bj_tenant *tenant);

struct bj_key_init {
	const char *tenant; /* NULL: an operator's */
	const char *name;   /* NULL: none */
	unsigned int roles;
	uint64_t expires_ms; /* 0: never */
};

/* Make a key: its text, which is nowhere else, goes to @key. */
int bj_key_add(struct bj_store *store, const struct bj_key_init *init, char key[BJ_KEY_TEXT],
	       struct bj_err *err);

/* Revoke the key with this prefix (or whose whole text this is). @tenant: only of this one, or
 * NULL. */
int bj_key_revoke(struct bj_store *store, const char *prefix, const char *tenant,
		  struct bj_err *err);

/* {"keys": [...]} without secrets. The caller drops *@ret. */
int bj_key_list(struct bj_store *store, const char *tenant, json_t **ret, struct bj_err *err);

/* Whose key @text is. -BJ_E_DENIED: unknown, expired, revoked, or its tenant is switched off; the
 * message says which. How long it takes says nothing about the secret. */
int bj_key_check(struct bj_store *store, const char *text, struct bj_caller *ret,
		 struct bj_err *err);

/* Whether the key with this prefix, which was checked before, may still be used. Fails as
 * bj_key_check(). */
int bj_key_stands(struct bj_store *store, const char *prefix, struct bj_err *err);
