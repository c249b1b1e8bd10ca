/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "socket",
	  .arg = "PATH",
	  .key = "serve.socket",
	  .help = "the Unix socket to make" },
	{ .name = "listen",
	  .arg = "HOST:PORT",
	  .key = "serve.listen",
	  .help = "also listen on TCP; needs an API key" },
	{ .name = "api-key-file",
	  .arg = "FILE",
	  .key = "serve.api_key_file",
	  .help = "a file that holds the API key" },
	{ .name = "user",
	  .arg = "NAME",
	  .key = "serve.user",
	  .help = "whom the front becomes when root starts it" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ .name = "log-level",
	  .arg = "LEVEL",
	  .key = "log_level",
	  .help = "error, warn, info, debug" },
#ifdef BJ_FAULTS
	{ .name = "conformance", .help = "test builds only: offer what the MCP suite looks for" },
#endif
	{ 0 },
};

/* The command line as it was parsed. */
struct line {
	struct bj_override overrides[16];
	size_t n;
	const char *config;
};

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "serve takes no argument %.60s; --help lists its options",
					  p.value);
		if (!p.option->key && !p.option->arg)
			setenv("BELLJAR_CONFORMANCE", "1", 1); /* for the front, which asks */
		else if (!p.option->key)
			line->config = p.value;
		else if (line->n == BJ_ARRAY_SIZE(line->overrides))
			return bj_err_set(err, BJ_E_LIMIT, 0, "too many options");
		else
			line->overrides[line->n++] = (struct bj_override){ .key = p.option->key,
									   .value = p.value,
									   .flag = p.option->name };
	}
	return r;
}

static int verb_serve(int argc, char **argv)
{
	struct line line = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = bj_serve(line.config, line.overrides, line.n, &err);
	if (r < 0) {
		fprintf(stderr, "belljar: %s\n", err.msg);
		return BJ_EXIT_FAILED;
	}
	return 0;
}

const struct bj_verb bj_verb_serve = {
	.name = "serve",
	.args = "[OPTIONS]",
	.summary = "take scripts over a socket and keep the jars ready",
	.example = "  belljar serve\n"
		   "  belljar serve --socket /run/belljar/belljar.sock\n"
		   "  belljar serve --listen 127.0.0.1:8080 --api-key-file /etc/belljar/key",
	.options = OPTIONS,
	.run = verb_serve,
};
