/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/office.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/size.h"
#include "record/audit_tail.h"
#include "record/quota.h"
#include "serve/auth.h"
#include "serve/query.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

/* --- shared ----------------------------------------------------------------------------------- */

/* The database; NULL, and the answer is made, when there is none. */
static struct bj_store *store_of(struct bj_service *s, struct bj_answer *answer)
{
	if (!s->archive)
		bj_problem_answer(answer, BJ_PROBLEM_UNAVAILABLE,
				  "tenants are kept in the records; set record.enabled to true");
	return s->archive ? &s->archive->store : NULL;
}

static void refuse(struct bj_answer *answer, const struct bj_err *err)
{
	static const struct {
		int code;
		enum bj_problem problem;
	} problems[] = {
		{ BJ_E_INVALID, BJ_PROBLEM_BAD_REQUEST },
		{ BJ_E_NOT_FOUND, BJ_PROBLEM_NOT_FOUND },
		{ BJ_E_DENIED, BJ_PROBLEM_FORBIDDEN },
	};
	enum bj_problem problem = bj_problem_of(err);

	for (size_t i = 0; i < BJ_ARRAY_SIZE(problems); i++)
		if (problems[i].code == err->code)
			problem = problems[i].problem;
	bj_problem_answer(answer, problem, "%s", err->msg);
}

static void answer_json(struct bj_answer *answer, unsigned int status, json_t *value_take)
{
	bj_answer_take(answer, status, BJ_TYPE_JSON,
		       value_take ? json_dumps(value_take, JSON_COMPACT | JSON_REAL_PRECISION(15))
				  : NULL);
	json_decref(value_take);
}

/* The body as an object; NULL, and the answer is made, when it is none. */
static json_t *read_body(const struct bj_request *req, struct bj_answer *answer)
{
	json_t *body = json_loadb(req->body, req->body_size, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(body))
		return body;
	json_decref(body);
	bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST, "the body must be a JSON object");
	return NULL;
}

static int note(struct bj_service *s, const struct bj_request *req, const char *kind,
		json_t *data_take, struct bj_err *err)
{
	json_object_set_new(data_take, "actor",
			    bj_audit_text(!req->caller           ? "?"
					  : req->caller->name[0] ? req->caller->name
								 : req->caller->key));
	return bj_audit_append(s->archive->audit, kind, data_take, err);
}

/* --- usage ------------------------------------------------------------------------------------ */

/* A day such as 2026-01-31, in milliseconds since 1970. */
static bool read_day(const char *text, uint64_t *ret)
{
	struct tm day = { 0 };
	const char *end = strptime(text, "%Y-%m-%d", &day);

	if (!end || *end)
		return false;
	*ret = (uint64_t)timegm(&day) * 1000;
	return true;
}

/* The currency of the settings in force, copied. */
static void currency_of(struct bj_service *s, char text[16])
{
	pthread_mutex_lock(&s->lock);
	snprintf(text, 16, "%s", s->current ? s->current->bj->settings->price.currency : "");
	pthread_mutex_unlock(&s->lock);
}

void bj_office_usage(struct bj_service *s, const struct bj_request *req, const char *id,
		     struct bj_answer *answer)
{
	struct bj_store *store = store_of(s, answer);
	const char *since = req->query(req->ctx, "since");
	const char *tenant = req->query(req->ctx, "tenant"), *own = bj_auth_tenant(req->caller);
	struct bj_err err = { 0 };
	json_t *list = NULL;
	uint64_t from = 0;
	bool days = false;
	char currency[16];

	(void)id;
	if (!store || !bj_query_flag(req, "days", &days, answer))
		return;
	if (since && !read_day(since, &from)) {
		bj_problem_answer(answer, BJ_PROBLEM_BAD_REQUEST,
				  "since: a day such as 2026-01-31");
		return;
	}
	currency_of(s, currency);
	if (bj_usage_list(store, own ? own : tenant, from, days, currency, &list, &err) < 0)
		refuse(answer, &err);
	else
		answer_json(answer, 200, list);
}

/* --- audit ------------------------------------------------------------------------------------ */

enum { AUDIT_DEFAULT = 100, AUDIT_MAX = 500 };

void bj_office_audit(struct bj_service *s, const struct bj_request *req, const char *id,
		     struct bj_answer *answer)
{
	uint64_t max = AUDIT_DEFAULT;
	struct bj_err err = { 0 };
	json_t *lines = NULL;

	(void)id;
	if (!store_of(s, answer) || !bj_query_number(req, "limit", 1, AUDIT_MAX, &max, answer))
		return;
	if (bj_audit_tail(s->archive->audit, max, &lines, &err) < 0)
		refuse(answer, &err);
	else
		answer_json(answer, 200, json_pack("{s:o}", "lines", lines));
}

/* --- tenants ---------------------------------------------------------------------------------- */

void bj_office_tenants(struct bj_service *s, const struct bj_request *req, const char *id,
		       struct bj_answer *answer)
{
	struct bj_store *store = store_of(s, answer);
	struct bj_err err = { 0 };
	json_t *list = NULL;

	(void)req, (void)id;
	if (!store)
		return;
	if (bj_tenant_list(store, NULL, &list, &err) < 0)
		refuse(answer, &err);
	else
		answer_json(answer, 200, list);
}

static int read_quota(const json_t *quota, struct bj_quota *ret, struct bj_err *err)
{
	const char *name;
	json_t *value;

	if (quota && !json_is_object(quota))
		return bj_err_set(err, BJ_E_INVALID, 0, "quota: an object is needed");
	json_object_foreach((json_t *)quota, name, value)
	{
		char text[32] = "0";

		if (json_is_integer(value))
			snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
				 json_integer_value(value));
		else if (!json_is_null(value))
			snprintf(text, sizeof(text), "?");

		const int r = bj_quota_set(ret, name, text, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* What the body changes about @tenant. */
static int read_tenant(const json_t *body, struct bj_tenant *tenant, struct bj_err *err)
{
	const json_t *enabled = json_object_get(body, "enabled");
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)body, name, value)
	{
		if (strcmp(name, "enabled") != 0 && strcmp(name, "quota") != 0)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "there is no field %.40s; say enabled and quota", name);
	}
	if (enabled && !json_is_boolean(enabled))
		return bj_err_set(err, BJ_E_INVALID, 0, "enabled: say true or false");
	if (enabled)
		tenant->enabled = json_is_true(enabled);
	return read_quota(json_object_get(body, "quota"), &tenant->quota, err);
}

static int put_tenant(struct bj_service *s, struct bj_store *store, const struct bj_request *req,
		      const char *name, const json_t *body, struct bj_tenant *tenant,
		      struct bj_err *err)
{
	int r = bj_tenant_get(store, name, tenant, err);
	const bool made = r == -BJ_E_NOT_FOUND;

	if (made) {
		*tenant = (struct bj_tenant){ .enabled = true };
		snprintf(tenant->name, sizeof(tenant->name), "%s", name);
		r = 0;
	}
	if (r == 0)
		r = read_tenant(body, tenant, err);
	if (r == 0 && made)
		r = bj_tenant_add(store, name, &tenant->quota, err);
	if (r == 0) {
		struct bj_err ignored;

		r = note(s, req, made ? "tenant.add" : "tenant.set",
			 json_pack("{s:s, s:o}", "tenant", name, "set", bj_tenant_json(tenant)),
			 err);
		if (r < 0 && made)
			bj_tenant_remove(store, name, &ignored);
	}
	if (r == 0)
		r = bj_tenant_set(store, tenant, err);
	if (r == 0)
		r = bj_tenant_get(store, name, tenant, err);
	return r < 0 ? r : made;
}

void bj_office_put_tenant(struct bj_service *s, const struct bj_request *req, const char *id,
			  struct bj_answer *answer)
{
	struct bj_store *store = store_of(s, answer);
	json_t *body = store ? read_body(req, answer) : NULL;
	struct bj_tenant tenant;
	struct bj_err err = { 0 };

	if (!body)
		return;

	const int r = put_tenant(s, store, req, id, body, &tenant, &err);

	if (r < 0)
		refuse(answer, &err);
	else
		answer_json(answer, r ? 201 : 200, bj_tenant_json(&tenant));
	json_decref(body);
}

void bj_office_delete_tenant(struct bj_service *s, const struct bj_request *req, const char *id,
			     struct bj_answer *answer)
{
	struct bj_store *store = store_of(s, answer);
	struct bj_err err = { 0 };

	if (!store)
		return;
	if (bj_tenant_remove(store, id, &err) < 0 ||
	    note(s, req, "tenant.rm", json_pack("{s:s}", "tenant", id), &err) < 0)
		refuse(answer, &err);
	else
		answer_json(answer, 200, json_pack("{s:s}", "status", "ok"));
}

/* --- keys ------------------------------------------------------------------------------------- */

void bj_office_keys(struct bj_service *s, const struct bj_request *req, const char *id,
		    struct bj_answer *answer)
{
	struct bj_store *store = store_of(s, answer);
	const char *own = bj_auth_tenant(req->caller);
	struct bj_err err = { 0 };
	json_t *list = NULL;

	(void)id;
	if (!store)
		return;
	if (bj_key_list(store, own ? own : req->query(req->ctx, "tenant"), &list, &err) < 0)
		refuse(answer, &err);
	else
		answer_json(answer, 200, list);
}

static unsigned int read_roles(const json_t *list)
{
	unsigned int roles = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		const unsigned int role = name ? bj_roles_parse(name) : 0;

		if (!role)
			return 0;
		roles |= role;
	}
	return roles;
}

static int refuse_unknown(const json_t *body, struct bj_err *err)
{
	static const char *const known[] = { "tenant", "name", "roles", "expires_ms" };
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)body, name, value)
	{
		size_t i = 0;

		while (i < BJ_ARRAY_SIZE(known) && strcmp(known[i], name) != 0)
			i++;
		if (i == BJ_ARRAY_SIZE(known))
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "there is no field %.40s; say tenant, name, roles and "
					  "expires_ms",
					  name);
	}
	return 0;
}

static int text_or_null(const json_t *body, const char *name, const char **ret, struct bj_err *err)
{
	const json_t *value = json_object_get(body, name);

	if (value && !json_is_null(value) && !json_is_string(value))
		return bj_err_set(err, BJ_E_INVALID, 0, "%s: a text is needed", name);
	*ret = json_string_value(value);
	return 0;
}

static int read_key(const json_t *body, const struct bj_caller *caller, struct bj_key_init *ret,
		    struct bj_err *err)
{
	const char *own = bj_auth_tenant(caller);
	const json_t *expires = json_object_get(body, "expires_ms");

	*ret = (struct bj_key_init){ .roles = read_roles(json_object_get(body, "roles")),
				     .expires_ms = (uint64_t)json_integer_value(expires) };
	if (refuse_unknown(body, err) < 0 || text_or_null(body, "tenant", &ret->tenant, err) < 0 ||
	    text_or_null(body, "name", &ret->name, err) < 0)
		return -err->code;
	/* Who runs a tenant makes keys for it and for nobody else. */
	if (own && ret->tenant && strcmp(own, ret->tenant) != 0)
		return bj_err_set(err, BJ_E_DENIED, 0, "this key can make keys only for %s", own);
	if (own)
		ret->tenant = own;
	if (expires && !json_is_null(expires) &&
	    (!json_is_integer(expires) || ret->expires_ms <= bj_clock_unix_ms()))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "expires_ms: a time to come is needed, in ms since 1970");
	return 0;
}

static int make_key(struct bj_service *s, struct bj_store *store, const struct bj_request *req,
		    const json_t *body, char key[BJ_KEY_TEXT], struct bj_err *err)
{
	struct bj_key_init init;
	char roles[BJ_ROLES_TEXT], prefix[BJ_KEY_PREFIX] = "";
	int r = read_key(body, req->caller, &init, err);

	if (r == 0)
		r = bj_key_add(store, &init, key, err);
	if (r < 0)
		return r;
	memcpy(prefix, key + 3, BJ_KEY_PREFIX - 1);
	bj_roles_format(init.roles, roles);
	r = note(s, req, "key.add",
		 json_pack("{s:s, s:s*, s:s*, s:s}", "key", prefix, "tenant", init.tenant, "name",
			   init.name, "roles", roles),
		 err);
	if (r < 0) {
		struct bj_err ignored;

		bj_key_revoke(store, prefix, NULL, &ignored);
	}
	return r;
}

void bj_office_post_key(struct bj_service *s, const struct bj_request *req, const char *id,
			struct bj_answer *answer)
{
	struct bj_store *store = store_of(s, answer);
	json_t *body = store ? read_body(req, answer) : NULL;
	struct bj_err err = { 0 };
	char key[BJ_KEY_TEXT];

	(void)id;
	if (!body)
		return;
	if (make_key(s, store, req, body, key, &err) < 0)
		refuse(answer, &err);
	else
		answer_json(answer, 201, json_pack("{s:s}", "key", key));
	bj_answer_header(answer, "Cache-Control", "no-store");
	sodium_memzero(key, sizeof(key));
	json_decref(body);
}

void bj_office_delete_key(struct bj_service *s, const struct bj_request *req, const char *id,
			  struct bj_answer *answer)
{
	struct bj_store *store = store_of(s, answer);
	struct bj_err err = { 0 };

	if (!store)
		return;
	if (bj_key_revoke(store, id, bj_auth_tenant(req->caller), &err) < 0 ||
	    note(s, req, "key.revoke", json_pack("{s:o}", "key", json_stringn(id, strnlen(id, 8))),
		 &err) < 0)
		refuse(answer, &err);
	else
		answer_json(answer, 200, json_pack("{s:s}", "status", "ok"));
}
