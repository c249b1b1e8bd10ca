/* SPDX-License-Identifier: Apache-2.0 */

/* What answers on the socket of a service, as its client reads it. The first byte picks between a
 * run, whose answer is a stream of events, and a plain call; the rest is the answer, byte for
 * byte. A run that is said to have ended has a result that can be shown to a person. */

#include "fuzz.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "serve/remote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWER_MAX = 100 << 10 };

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_event(void *ctx, const struct bj_event *event)
{
	(void)ctx;
	require(event->kind == BJ_EV_STDOUT || event->kind == BJ_EV_STDERR);
	require(event->data != NULL);
}

static void check_result(const struct bj_result *r)
{
	require(r->cause > BJ_CAUSE_NONE && r->cause <= BJ_CAUSE_INFRASTRUCTURE);
	require(r->exit_code >= -1 && r->exit_code <= 255);
	require(r->signal >= 0 && r->signal <= 127);
	require(!r->success || (r->cause == BJ_CAUSE_EXITED && r->exit_code == 0));
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct bj_finding *f = &r->findings[i];

		require(f->layer && f->rule && f->message && f->severity <= BJ_SEV_CRITICAL);
	}
}

static void check_failure(int r, const struct bj_err *err)
{
	require(r >= 0 || (err->code == -r && err->msg[0]));
}

static void run(struct bj_client *client)
{
	static struct bj_settings *settings;
	const struct bj_spec spec = { .script = "1",
				      .script_size = 1,
				      .stdin_fd = -1,
				      .out_dir_fd = -1,
				      .cancel_fd = -1,
				      .on_event = check_event };
	struct bj_result *result = NULL;
	struct bj_err err = { 0 };
	char *line = NULL;

	if (!settings) {
		clearenv();
		require(bj_settings_load("/dev/null", NULL, 0, &settings, NULL) == 0);
	}

	const int r = bj_remote_run(client, &spec, settings, &result, &line, &err);

	check_failure(r, &err);
	if (r == 0) {
		require(result && line && line[0] == '{');
		check_result(result);
	}
	bj_result_free(result);
	free(line);
}

static void call(struct bj_client *client)
{
	AUTO_BUF struct bj_buf body = { 0 };
	struct bj_err err = { 0 };
	const int r = bj_client_call(client, "GET", "/v1/x", &body, &err);

	check_failure(r, &err);
	require(r < 0 || client->status / 100 == 2);
	require(strlen(client->id) < sizeof(client->id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bj_client client = { .wake_fd = -1 };
	int pair[2];

	if (size == 0 || size > ANSWER_MAX)
		return 0;
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	client.fd = pair[0];
	require(send(pair[1], data + 1, size - 1, MSG_DONTWAIT) == (ssize_t)size - 1);
	shutdown(pair[1], SHUT_WR);
	if (data[0] & 1)
		call(&client);
	else
		run(&client);
	bj_client_done(&client);
	close(pair[1]);
	return 0;
}
