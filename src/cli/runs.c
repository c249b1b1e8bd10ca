/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/runs.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "config/settings.h"

#include <stdio.h>
#include <string.h>

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

int bj_runs_fetch(struct bj_client *client, const char *target, json_t **ret, struct bj_err *err)
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

void bj_runs_table(const json_t *list, bool all)
{
	const json_t *runs = json_object_get(list, "executions");

	printf("%-32s %-8s %-10s %-14s %9s %9s %9s\n", "id", "language", "state", "cause",
	       "seconds", "cpu s", "peak MiB");
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);

		if (all || strcmp(text_of(run, "state"), "finished") != 0)
			print_run(run);
	}
}
