/* SPDX-License-Identifier: Apache-2.0 */

/* Log-ins of browsers: what a cookie is worth, and when it is worth nothing. TENANT. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "record/tenant.h"
#include "serve/page.h"
#include "serve/session.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct headers {
	const char *name, *value;
};

static const char *find(void *ctx, const char *name)
{
	for (const struct headers *h = ctx; h->name; h++)
		if (strcasecmp(h->name, name) == 0)
			return h->value;
	return NULL;
}

static struct bj_request request(const char *method, struct headers *headers)
{
	return (struct bj_request){
		.method = method, .path = "/", .header = find, .query = find, .ctx = headers
	};
}

/* Open a session of @tenant and write its cookie, as a browser would send it, to @cookie. */
static void open_of(struct bj_sessions *s, const char *tenant, const char *key, char cookie[128])
{
	struct headers with_key[] = { { "X-API-Key", key }, { 0 } };
	struct bj_request req = request("POST", with_key);
	struct bj_caller caller = { .roles = BJ_ROLE_ALL };
	struct bj_answer answer = { 0 };

	snprintf(caller.tenant, sizeof(caller.tenant), "%s", tenant);
	req.caller = &caller;
	bj_sessions_open(s, &req, &answer);
	assert_int_equal(answer.status, 200);
	for (size_t i = 0; i < answer.n_headers; i++)
		if (strcmp(answer.headers[i].name, "Set-Cookie") == 0)
			snprintf(cookie, 128, "a=b; %.*s",
				 (int)strcspn(answer.headers[i].value, ";"),
				 answer.headers[i].value);
	bj_answer_done(&answer);
}

static void open_session(struct bj_sessions *s, const char *key, char cookie[128])
{
	open_of(s, "", key, cookie);
}

static int set_up(void **state)
{
	*state = bj_sessions_new();
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	bj_sessions_free(*state);
	bj_sessions_free(NULL);
	return 0;
}

static void headers_bring_the_key(void **state)
{
	struct headers bearer[] = { { "Authorization", "Bearer abc" }, { 0 } };
	struct headers plain[] = { { "X-API-Key", "def" }, { 0 } };
	struct headers other[] = { { "Authorization", "Basic abc" }, { 0 } };
	struct headers empty[] = { { "X-API-Key", "" }, { 0 } };
	char key[BJ_KEY_MAX], huge[BJ_KEY_MAX + 1];
	struct headers too_long[] = { { "X-API-Key", huge }, { 0 } };
	struct bj_request req = request("GET", bearer);

	assert_true(bj_sessions_key(*state, &req, key));
	assert_string_equal(key, "abc");
	req = request("GET", plain);
	assert_true(bj_sessions_key(*state, &req, key));
	assert_string_equal(key, "def");
	memset(huge, 'x', BJ_KEY_MAX);
	huge[BJ_KEY_MAX] = '\0';
	struct headers *bad[] = { other, empty, too_long };
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++) {
		req = request("GET", bad[i]);
		assert_false(bj_sessions_key(*state, &req, key));
	}
}

static void a_cookie_stands_for_the_key(void **state)
{
	char cookie[128], key[BJ_KEY_MAX];
	struct headers h[] = { { "Cookie", cookie }, { 0 } };
	const struct bj_request req = request("GET", h);

	open_session(*state, "the-key", cookie);
	assert_true(bj_sessions_key(*state, &req, key));
	assert_string_equal(key, "the-key");
	cookie[strlen(cookie) - 1] ^= 1;
	assert_false(bj_sessions_key(*state, &req, key));
}

/* One row for each way another site could try it: only our own page may. */
static void other_sites_get_nothing(void **state)
{
	char cookie[128], key[BJ_KEY_MAX];
	const struct {
		const char *method, *site, *origin, *page;
		bool good;
	} rows[] = {
		{ "GET", NULL, NULL, NULL, true },
		{ "GET", "same-origin", NULL, NULL, true },
		{ "GET", "none", NULL, NULL, true },
		{ "GET", "cross-site", NULL, NULL, false },
		{ "GET", "same-site", NULL, NULL, false },
		{ "GET", NULL, "http://evil", NULL, false },
		{ "POST", "same-origin", "http://host:1", NULL, false },
		{ "POST", "same-origin", "http://host:1", "1", true },
		{ "POST", "same-origin", "http://host:2", "1", false },
		{ "POST", "same-origin", "null", "1", false },
		{ "POST", "cross-site", "http://host:1", "1", false },
		{ "DELETE", NULL, NULL, NULL, false },
		{ "DELETE", NULL, NULL, "1", true },
	};

	open_session(*state, "the-key", cookie);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		struct headers h[6] = { { "Cookie", cookie }, { "Host", "host:1" } };
		size_t n = 2;

		if (rows[i].site)
			h[n++] = (struct headers){ "Sec-Fetch-Site", rows[i].site };
		if (rows[i].origin)
			h[n++] = (struct headers){ "Origin", rows[i].origin };
		if (rows[i].page)
			h[n++] = (struct headers){ "X-Belljar-Page", rows[i].page };

		const struct bj_request req = request(rows[i].method, h);

		if (bj_sessions_key(*state, &req, key) != rows[i].good)
			fail_msg("row %zu", i);
	}
}

static void close_ends_it(void **state)
{
	char cookie[128], key[BJ_KEY_MAX];
	struct headers h[] = { { "Cookie", cookie }, { "X-Belljar-Page", "1" }, { 0 } };
	struct headers none[] = { { 0 } };
	struct bj_request req = request("DELETE", h);
	struct bj_answer answer = { 0 };

	open_session(*state, "the-key", cookie);
	bj_sessions_get(*state, &req, &answer);
	assert_non_null(strstr(answer.body, "\"session\":true"));
	bj_answer_done(&answer);
	answer = (struct bj_answer){ 0 };
	bj_sessions_close(*state, &req, &answer);
	assert_non_null(strstr(answer.body, "\"session\":false"));
	bj_answer_done(&answer);
	assert_false(bj_sessions_key(*state, &req, key));
	answer = (struct bj_answer){ 0 };
	req = request("POST", none);
	bj_sessions_open(*state, &req, &answer);
	assert_int_equal(answer.status, 400);
	bj_answer_done(&answer);
}

/* The table is bounded: the oldest go, the newest stay. */
static void floods_push_out_the_oldest(void **state)
{
	char first[128], last[128], key[BJ_KEY_MAX];
	struct headers h[] = { { "Cookie", first }, { 0 } };
	const struct bj_request req = request("GET", h);

	open_session(*state, "first", first);
	for (int i = 0; i < 1000; i++)
		open_session(*state, "more", last);
	assert_false(bj_sessions_key(*state, &req, key));
	h[0].value = last;
	assert_true(bj_sessions_key(*state, &req, key));
}

/* A flood of one tenant pushes out its own, however many others there are. */
static void floods_push_out_nobody_else(void **state)
{
	char few[3][128], last[128], key[BJ_KEY_MAX];
	struct headers h[] = { { "Cookie", NULL }, { 0 } };
	const struct bj_request req = request("GET", h);

	open_of(*state, "", "operator", few[0]);
	open_of(*state, "acme", "first", few[1]);
	open_of(*state, "acme", "second", few[2]);
	for (int i = 0; i < 1000; i++)
		open_of(*state, "flood", "more", last);
	for (int i = 0; i < 3; i++) {
		h[0].value = few[i];
		assert_true(bj_sessions_key(*state, &req, key));
	}
	h[0].value = last;
	assert_true(bj_sessions_key(*state, &req, key));
}

static void broken_cookies_are_none(void **state)
{
	static const char *const bad[] = {
		"",
		";",
		"belljar_session",
		"belljar_session=",
		"belljar_session=short",
		";;;=;belljar_session=;",
		"xbelljar_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"belljar_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	};
	char key[BJ_KEY_MAX];

	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++) {
		struct headers h[] = { { "Cookie", bad[i] }, { 0 } };
		const struct bj_request req = request("GET", h);

		assert_false(bj_sessions_key(*state, &req, key));
	}
}

static void tls_before_us_makes_it_secure(void **state)
{
	struct headers h[] = { { "X-API-Key", "k" }, { "X-Forwarded-Proto", "https" }, { 0 } };
	const struct bj_request req = request("POST", h);
	struct bj_answer answer = { 0 };
	bool secure = false;

	bj_sessions_open(*state, &req, &answer);
	for (size_t i = 0; i < answer.n_headers; i++)
		secure |= strstr(answer.headers[i].value, "; Secure") != NULL;
	assert_true(secure);
	bj_answer_done(&answer);
}

static void the_page_has_its_files_only(void **state)
{
	struct headers none[] = { { 0 } };
	struct bj_request req = request("GET", none);
	struct bj_answer answer = { 0 };

	(void)state;
	assert_true(bj_page_has("/") && bj_page_has("/page.js") && !bj_page_has("/page.jsx"));
	req.path = "/../etc/passwd";
	bj_page_answer(&req, &answer);
	assert_int_equal(answer.status, 404);
	bj_answer_done(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(headers_bring_the_key, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_cookie_stands_for_the_key, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_sites_get_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(close_ends_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(floods_push_out_the_oldest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(floods_push_out_nobody_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(broken_cookies_are_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tls_before_us_makes_it_secure, set_up, tear_down),
		cmocka_unit_test(the_page_has_its_files_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
