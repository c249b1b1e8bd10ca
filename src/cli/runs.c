/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/runs.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "config/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_MAX = 500 };

int bj_runs_connect(const char *socket, struct bj_client *ret, struct bj_err *err)
{
	struct bj_settings *settings = NULL;
	int r = bj_settings_load(NULL, NULL, 0, &settings, err);

	if (r < 0)
		return r;
	r = bj_client_open(socket ? socket : settings->serve.socket, ret, err);
	bj_settings_free(settings);
	return r;
}

static int fetch(struct bj_client *client, const char *target, json_t **ret, struct bj_err *err)
{
	AUTO_BUF struct bj_buf body = { 0 };
	const int r = bj_client_call(client, "GET", target, &body, err);

	if (r < 0)
		return r;
	*ret = json_loadb(body.data ? body.data : "", body.size, 0, NULL);
	if (!*ret)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "the service does not answer with JSON");
	return 0;
}

/* Add the runs of one page to @list unless they are there. */
static int add_page(json_t *list, json_t *seen, const json_t *page)
{
	json_t *runs = json_object_get(page, "executions"), *run;
	size_t i;
	int r = 0;

	json_array_foreach(runs, i, run)
	{
		const char *id = json_string_value(json_object_get(run, "id"));

		if (r == 0 && id && !json_object_get(seen, id))
			r = json_array_append(list, run) |
			    json_object_set_new(seen, id, json_true());
	}
	return r;
}

/* Add what the service lists in @state, page after page, until there are @most in all. */
static int add_state(struct bj_client *client, const char *state, size_t most, json_t *list,
		     json_t *seen, struct bj_err *err)
{
	char target[160], before[64] = "";

	while (json_array_size(list) < most) {
		const size_t left = most - json_array_size(list);
		json_t *page = NULL;

		snprintf(target, sizeof(target), "/v1/executions?limit=%zu%s%s%s%s",
			 left < PAGE_MAX ? left : PAGE_MAX, state[0] ? "&state=" : "", state,
			 before[0] ? "&before=" : "", before);

		int r = fetch(client, target, &page, err);

		/* Where the page would begin is forgotten, and so is what ended before that. */
		if (r == -BJ_E_NOT_FOUND && before[0])
			return 0;
		if (r < 0)
			return r;

		const char *next = json_string_value(json_object_get(page, "next"));

		snprintf(before, sizeof(before), "%s", next ? next : "");
		r = add_page(list, seen, page);
		json_decref(page);
		if (r < 0)
			return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for the list");
		if (!before[0])
			return 0;
	}
	return 0;
}

int bj_runs_list(struct bj_client *client, const char *const *states, size_t most, json_t **ret,
		 struct bj_err *err)
{
	json_t *list = json_array(), *seen = json_object();
	int r = 0;

	for (; r == 0 && *states; states++)
		r = add_state(client, *states, most, list, seen, err);
	json_decref(seen);
	if (r == 0)
		*ret = json_pack("{s:O, s:n}", "executions", list, "next");
	json_decref(list);
	return r;
}

static const char *text_of(const json_t *run, const char *name)
{
	const char *text = json_string_value(json_object_get(run, name));

	return text ? text : "-";
}

static double number_of(const json_t *run, const char *name)
{
	return json_number_value(json_object_get(run, name));
}

/* How long it took, or takes so far. */
static double seconds_of(const json_t *run)
{
	const double started = number_of(run, "started_ms");
	const json_t *took = json_object_get(run, "duration_ms");

	if (json_is_number(took))
		return json_number_value(took) / 1e3;
	return started > 0 ? ((double)bj_clock_unix_ms() - started) / 1e3 : 0;
}

static void print_run(const json_t *run)
{
	char cpu[32] = "-", memory[32] = "-";

	if (json_is_number(json_object_get(run, "cpu_ms"))) {
		snprintf(cpu, sizeof(cpu), "%.3f", number_of(run, "cpu_ms") / 1e3);
		snprintf(memory, sizeof(memory), "%.1f",
			 number_of(run, "peak_memory_bytes") / (1 << 20));
	}
	printf("%-32s %-8s %-10s %-14s %9.3f %9s %9s\n", text_of(run, "id"),
	       text_of(run, "language"), text_of(run, "state"), text_of(run, "cause"),
	       seconds_of(run), cpu, memory);
}

void bj_runs_table(const json_t *list)
{
	const json_t *runs = json_object_get(list, "executions");

	printf("%-32s %-8s %-10s %-14s %9s %9s %9s\n", "id", "language", "state", "cause",
	       "seconds", "cpu s", "peak MiB");
	for (size_t i = 0; i < json_array_size(runs); i++)
		print_run(json_array_get(runs, i));
}
