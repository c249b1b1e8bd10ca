/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/session.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "record/tenant.h"
#include "serve/problem.h"

#include <jansson.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define COOKIE        "belljar_session"
#define PAGE_HEADER   "X-Belljar-Page"
#define LIFE_SECONDS  43200 /* 12 hours */
#define SECONDS_IN_NS UINT64_C(1000000000)

enum { SESSIONS = 64, TOKEN_BYTES = 32, TOKEN_TEXT = 44, HASH = 32 };

/* The token itself is not kept, only its hash: what leaks from here opens nothing. */
struct session {
	unsigned char hash[HASH];
	char key[BJ_KEY_MAX]; /* "": the place is free */
	char tenant[BJ_TENANT_NAME];
	uint64_t until; /* monotonic ns */
};

struct bj_sessions {
	pthread_mutex_t lock;
	struct session sessions[SESSIONS];
};

struct bj_sessions *bj_sessions_new(void)
{
	struct bj_sessions *s = calloc(1, sizeof(*s));

	if (s)
		pthread_mutex_init(&s->lock, NULL);
	return s;
}

void bj_sessions_free(struct bj_sessions *s)
{
	if (!s)
		return;
	sodium_memzero(s->sessions, sizeof(s->sessions));
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void hash_token(const char *token, unsigned char hash[HASH])
{
	crypto_generichash(hash, HASH, (const unsigned char *)token, strlen(token), NULL, 0);
}

/* The live session of a token, or NULL. With the lock. */
static struct session *find(struct bj_sessions *s, const char *token)
{
	const uint64_t now = bj_clock_now();
	unsigned char hash[HASH];

	hash_token(token, hash);
	for (size_t i = 0; i < SESSIONS; i++) {
		struct session *one = &s->sessions[i];

		if (one->key[0] && one->until <= now)
			sodium_memzero(one, sizeof(*one));
		if (one->key[0] && sodium_memcmp(one->hash, hash, HASH) == 0)
			return one;
	}
	return NULL;
}

/* How many sessions @tenant has. With the lock. */
static size_t count(const struct bj_sessions *s, const char *tenant)
{
	size_t n = 0;

	for (size_t i = 0; i < SESSIONS; i++)
		n += s->sessions[i].key[0] && strcmp(s->sessions[i].tenant, tenant) == 0;
	return n;
}

/* A free place for @tenant, or that of the session that would end first among those of the tenant
 * that has most: nobody logs others out by logging in often. With the lock. */
static struct session *take_place(struct bj_sessions *s, const char *tenant)
{
	const uint64_t now = bj_clock_now();
	struct session *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < SESSIONS; i++) {
		struct session *one = &s->sessions[i];

		if (!one->key[0] || one->until <= now)
			return one;

		const size_t n = count(s, one->tenant) + (strcmp(one->tenant, tenant) == 0);

		if (!best || n > most || (n == most && one->until < best->until)) {
			best = one;
			most = n;
		}
	}
	return best;
}

/* --- requests --------------------------------------------------------------------------------- */

/* The token in the header Cookie; false: there is none that could be ours. */
static bool read_cookie(const struct bj_request *req, char token[TOKEN_TEXT])
{
	const char *p = req->header(req->ctx, "Cookie");

	while (p && *p) {
		p += strspn(p, " \t;");

		const size_t n = strcspn(p, ";");

		if (strncmp(p, COOKIE "=", sizeof(COOKIE)) == 0 &&
		    n == sizeof(COOKIE) + TOKEN_TEXT - 1) {
			memcpy(token, p + sizeof(COOKIE), TOKEN_TEXT - 1);
			token[TOKEN_TEXT - 1] = '\0';
			return true;
		}
		p += n;
	}
	return false;
}

/* Whether an Origin is the very host that the request went to. */
static bool same_origin(const char *origin, const char *host)
{
	const char *rest = strstr(origin, "://");

	return rest && host && strcasecmp(rest + 3, host) == 0;
}

/* SameSite keeps the cookie from other sites, but a site includes other ports of the same host. */
static bool from_our_page(const struct bj_request *req)
{
	const char *site = req->header(req->ctx, "Sec-Fetch-Site");
	const char *origin = req->header(req->ctx, "Origin");

	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return false;
	if (origin && !same_origin(origin, req->header(req->ctx, "Host")))
		return false;
	return strcmp(req->method, "GET") == 0 || req->header(req->ctx, PAGE_HEADER);
}

static bool copy_key(const char *value, char key[BJ_KEY_MAX])
{
	const size_t n = strlen(value);

	if (n == 0 || n >= BJ_KEY_MAX)
		return false;
	memcpy(key, value, n + 1);
	return true;
}

bool bj_sessions_key(struct bj_sessions *s, const struct bj_request *req, char key[BJ_KEY_MAX])
{
	static const char bearer[] = "Bearer ";
	const char *authorization = req->header(req->ctx, "Authorization");
	const char *x_api_key = req->header(req->ctx, "X-API-Key");
	char token[TOKEN_TEXT];

	if (authorization && strncasecmp(authorization, bearer, sizeof(bearer) - 1) == 0)
		return copy_key(authorization + sizeof(bearer) - 1, key);
	if (x_api_key)
		return copy_key(x_api_key, key);
	if (!read_cookie(req, token) || !from_our_page(req))
		return false;
	pthread_mutex_lock(&s->lock);

	const struct session *one = find(s, token);

	if (one)
		memcpy(key, one->key, BJ_KEY_MAX);
	pthread_mutex_unlock(&s->lock);
	return one;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* A cookie over plain HTTP cannot be Secure; behind a proxy with TLS it is. */
static void set_cookie(const struct bj_request *req, const char *token, int seconds,
		       struct bj_answer *answer)
{
	const char *proto = req->header(req->ctx, "X-Forwarded-Proto");
	const bool tls = proto && strcmp(proto, "https") == 0;

	bj_answer_header(answer, "Set-Cookie",
			 COOKIE "=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s", token,
			 seconds, tls ? "; Secure" : "");
}

/* Whether there is a session, and who the caller is, so that a page offers only what he may. */
static void answer_state(const struct bj_request *req, bool session, struct bj_answer *answer)
{
	static const struct bj_caller unknown = { .roles = BJ_ROLE_ALL };
	const struct bj_caller *who = req->caller ? req->caller : &unknown;
	char roles[BJ_ROLES_TEXT];

	bj_roles_format(who->roles, roles);

	json_t *object = json_pack("{s:b,s:s,s:s?,s:s}", "session", session, "name",
				   who->name[0] ? who->name : who->key, "tenant",
				   who->tenant[0] ? who->tenant : NULL, "roles", roles);

	bj_answer_take(answer, 200, BJ_TYPE_JSON, object ? json_dumps(object, JSON_COMPACT) : NULL);
	json_decref(object);
	bj_answer_header(answer, "Cache-Control", "no-store");
}

void bj_sessions_get(struct bj_sessions *s, const struct bj_request *req, struct bj_answer *answer)
{
	char token[TOKEN_TEXT];
	bool there = read_cookie(req, token) && from_our_page(req);

	pthread_mutex_lock(&s->lock);
	there = there && find(s, token);
	pthread_mutex_unlock(&s->lock);
	answer_state(req, there, answer);
}

void bj_sessions_open(struct bj_sessions *s, const struct bj_request *req, struct bj_answer *answer)
{
	const char *tenant = req->caller ? req->caller->tenant : "";
	unsigned char random[TOKEN_BYTES];
	char token[TOKEN_TEXT], key[BJ_KEY_MAX];

	if (!bj_sessions_key(s, req, key)) {
		bj_problem_answer(
			answer, BJ_PROBLEM_BAD_REQUEST,
			"send the key as Authorization: Bearer; the socket needs no session");
		return;
	}
	randombytes_buf(random, sizeof(random));
	sodium_bin2base64(token, sizeof(token), random, sizeof(random),
			  sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	pthread_mutex_lock(&s->lock);

	struct session *one = take_place(s, tenant);

	hash_token(token, one->hash);
	memcpy(one->key, key, sizeof(key));
	snprintf(one->tenant, sizeof(one->tenant), "%s", tenant);
	one->until = bj_clock_now() + LIFE_SECONDS * SECONDS_IN_NS;
	pthread_mutex_unlock(&s->lock);
	answer_state(req, true, answer);
	set_cookie(req, token, LIFE_SECONDS, answer);
	sodium_memzero(key, sizeof(key));
}

void bj_sessions_close(struct bj_sessions *s, const struct bj_request *req,
		       struct bj_answer *answer)
{
	char token[TOKEN_TEXT];

	if (read_cookie(req, token)) {
		pthread_mutex_lock(&s->lock);

		struct session *one = find(s, token);

		if (one)
			sodium_memzero(one, sizeof(*one));
		pthread_mutex_unlock(&s->lock);
	}
	answer_state(req, false, answer);
	set_cookie(req, "", 0, answer);
}
