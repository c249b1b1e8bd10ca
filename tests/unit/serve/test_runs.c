/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "serve/runs.h"
#include "spec/names.h"

#include <string.h>

/* DS-MON: the list of runs forgets each once, and tells those who watch it. */

struct world {
	struct bj_feed *feed;
	struct bj_runs *runs;
};

static int open_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->feed = bj_feed_new();
	w->runs = bj_runs_new(w->feed);
	*state = w;
	return 0;
}

static int close_world(void **state)
{
	struct world *w = *state;

	bj_runs_free(w->runs);
	bj_feed_free(w->feed);
	free(w);
	return 0;
}

static struct bj_execution *add(struct world *w, const char *id, const char *tenant)
{
	struct bj_hangup *hangup = bj_hangup_new(-1);
	const struct bj_run_init init = { .id = id, .tenant = tenant, .hangup = hangup };
	struct bj_execution *x = NULL;

	assert_int_equal(bj_runs_add(w->runs, &init, &x), 0);
	bj_hangup_unref(hangup);
	return x;
}

static void end(struct bj_execution *x, enum bj_state state)
{
	const struct bj_result result = { .state = state, .cause = BJ_CAUSE_EXITED };

	bj_execution_end(x, &result, BJ_PROBLEM_FAILED, "");
}

/* Between the end of a run and the word that it ended, somebody looks at a list that keeps none. */
static void a_run_is_forgotten_once(void **state)
{
	struct world *w = *state;
	unsigned int live, known;

	bj_runs_configure(w->runs, 0, 0, 1024);

	struct bj_execution *x = add(w, "a", NULL);

	end(x, BJ_PENDING);
	assert_null(bj_runs_find(w->runs, "b"));
	bj_runs_ended(w->runs, x);
	bj_runs_count(w->runs, &live, &known);
	assert_int_equal(live, 0);
	assert_int_equal(known, 0);
	assert_string_equal(x->id, "a"); /* ours until we let go of it */
	bj_execution_unref(w->runs, x);
}

static void what_waits_is_forgotten(void **state)
{
	struct world *w = *state;

	bj_runs_configure(w->runs, 10, 60000, 1024);

	struct bj_execution *x = add(w, "a", NULL);

	end(x, BJ_PENDING);
	bj_runs_ended(w->runs, x);
	bj_execution_unref(w->runs, x);
	assert_null(bj_runs_find(w->runs, "a"));
}

static void changes_are_told_to_their_tenant(void **state)
{
	struct world *w = *state;
	struct bj_feed_watcher *all = bj_feed_watch(w->feed, NULL);
	struct bj_feed_watcher *red = bj_feed_watch(w->feed, "red");
	AUTO_BUF struct bj_buf heard = { 0 }, theirs = { 0 };

	bj_runs_configure(w->runs, 10, 60000, 1024);

	struct bj_execution *x = add(w, "a", "red"), *y = add(w, "b", "blue");

	bj_runs_began(w->runs, x);
	end(x, BJ_FINISHED);
	bj_runs_ended(w->runs, x);
	assert_true(bj_feed_next(all, 1000, &heard));
	assert_true(bj_feed_next(red, 1000, &theirs));
	bj_buf_add(&heard, "", 1);
	bj_buf_add(&theirs, "", 1);
	assert_non_null(strstr(heard.data, "{\"id\":\"b\",\"state\":\"queued\"}"));
	assert_null(strstr(theirs.data, "\"b\""));
	assert_string_equal(theirs.data,
			    "event: execution\ndata: {\"id\":\"a\",\"state\":\"queued\"}\n\n"
			    "event: execution\ndata: {\"id\":\"a\",\"state\":\"running\"}\n\n"
			    "event: execution\ndata: {\"id\":\"a\",\"state\":\"finished\"}\n\n");
	bj_execution_unref(w->runs, x);
	end(y, BJ_FINISHED);
	bj_runs_ended(w->runs, y);
	bj_execution_unref(w->runs, y);
	bj_feed_leave(all);
	bj_feed_leave(red);
}

static void who_falls_behind_is_told(void **state)
{
	struct world *w = *state;
	struct bj_feed_watcher *slow = bj_feed_watch(w->feed, NULL);
	AUTO_BUF struct bj_buf heard = { 0 };

	for (int i = 0; i <= BJ_FEED_KEPT; i++)
		bj_feed_tell(w->feed, "a", NULL, BJ_RUNNING);
	assert_true(bj_feed_next(slow, 1000, &heard));
	bj_buf_add(&heard, "", 1);
	assert_string_equal(heard.data, "event: behind\ndata: {}\n\n");
	bj_feed_leave(slow);
}

static void there_is_an_end_to_watchers(void **state)
{
	struct world *w = *state;
	struct bj_feed_watcher *all[BJ_FEED_WATCHERS];
	AUTO_BUF struct bj_buf heard = { 0 };

	for (int i = 0; i < BJ_FEED_WATCHERS; i++)
		assert_non_null(all[i] = bj_feed_watch(w->feed, NULL));
	assert_null(bj_feed_watch(w->feed, NULL));
	bj_feed_leave(all[0]);
	assert_non_null(all[0] = bj_feed_watch(w->feed, "red"));
	bj_feed_close(w->feed);
	for (int i = 0; i < BJ_FEED_WATCHERS; i++) {
		assert_false(bj_feed_next(all[i], 60000, &heard));
		bj_feed_leave(all[i]);
	}
	assert_null(bj_feed_watch(w->feed, NULL));
}

/* TENANT: one that opens all the streams it can leaves room for the others. */
static void a_tenant_has_its_share_of_watchers(void **state)
{
	struct world *w = *state;
	struct bj_feed_watcher *red[BJ_FEED_SHARE], *blue, *all;

	for (int i = 0; i < BJ_FEED_SHARE; i++)
		assert_non_null(red[i] = bj_feed_watch(w->feed, "red"));
	assert_null(bj_feed_watch(w->feed, "red"));
	assert_non_null(blue = bj_feed_watch(w->feed, "blue"));
	assert_non_null(all = bj_feed_watch(w->feed, NULL));
	bj_feed_leave(red[3]);
	assert_non_null(red[3] = bj_feed_watch(w->feed, "red"));
	for (int i = 0; i < BJ_FEED_SHARE; i++)
		bj_feed_leave(red[i]);
	bj_feed_leave(blue);
	bj_feed_leave(all);
}

/* A name that is missing where one is looked up is none: a front once died of it. */
static void no_name_is_no_value(void **state)
{
	(void)state;
	assert_int_equal(bj_language_from_name(NULL), -1);
	assert_int_equal(bj_backend_from_name(NULL), -1);
	assert_int_equal(bj_state_from_name(NULL), -1);
	assert_int_equal(bj_language_from_name("bash"), BJ_LANG_BASH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_run_is_forgotten_once, open_world, close_world),
		cmocka_unit_test_setup_teardown(what_waits_is_forgotten, open_world, close_world),
		cmocka_unit_test_setup_teardown(changes_are_told_to_their_tenant, open_world,
						close_world),
		cmocka_unit_test_setup_teardown(who_falls_behind_is_told, open_world, close_world),
		cmocka_unit_test_setup_teardown(a_tenant_has_its_share_of_watchers, open_world,
						close_world),
		cmocka_unit_test_setup_teardown(there_is_an_end_to_watchers, open_world,
						close_world),
		cmocka_unit_test(no_name_is_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
