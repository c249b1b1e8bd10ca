/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/log.h"
#include "cli/mcp_install.h"
#include "cli/options.h"
#include "mcp/local.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "install",
	  .arg = "CLIENT",
	  .help = "write this into the configuration of claude, cursor, vscode or codex" },
	{ .name = "yes", .letter = 'y', .help = "with --install: do not ask" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
#ifdef BJ_FAULTS
	{ .name = "conformance", .help = "test builds only: offer the fixtures of the suite" },
#endif
	{ 0 },
};

struct command {
	const char *config, *install;
	bool yes, fixtures;
};

static int parse(int argc, char **argv, struct command *c, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			return bj_err_set(err, BJ_E_INVALID, 0, "mcp takes no argument %.40s",
					  p.value);
		if (strcmp(p.option->name, "config") == 0)
			c->config = p.value;
		else if (strcmp(p.option->name, "install") == 0)
			c->install = p.value;
		else if (strcmp(p.option->name, "yes") == 0)
			c->yes = true;
		else
			c->fixtures = true;
	}
	return r;
}

static volatile sig_atomic_t stop_event = -1; /* for the handler alone */

static void on_signal(int sig)
{
	const int saved = errno;

	(void)sig;
	eventfd_write(stop_event, 1);
	errno = saved;
}

static int watch_signals(void)
{
	const struct sigaction stop = { .sa_handler = on_signal };

	stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	return stop_event;
}

static int serve(struct belljar *bj, const struct command *c, struct bj_err *err)
{
	AUTO_FREE struct bj_mcp_local *local = calloc(1, sizeof(*local));
	struct bj_mcp_host host;
	struct bj_mcp *mcp;
	int r;

	if (!local)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot start");
	bj_mcp_local_init(local, bj, &host);
	mcp = bj_mcp_new(&host, c->fixtures);
	r = mcp ? bj_mcp_stdio(mcp, STDIN_FILENO, STDOUT_FILENO, watch_signals(), err)
		: bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot start");
	bj_mcp_free(mcp);
	bj_mcp_local_done(local);
	return r;
}

static int offer(const struct command *c, struct bj_err *err)
{
	struct bj_settings *settings = NULL;
	struct belljar *bj = NULL;
	int r = bj_settings_load(c->config, NULL, 0, &settings, err);

	if (r == 0) {
		bj_log_set_level(settings->log_level);
		r = bj_engine_new(settings, &bj, err);
	}
	if (r == 0)
		r = bj_engine_drop_privileges(err);
	if (r == 0)
		r = serve(bj, c, err);
	bj_close(bj);
	return r;
}

static int run(int argc, char **argv)
{
	struct command command = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &command, &err);

	if (r == 0 && command.install)
		r = bj_mcp_install(command.install, command.config, command.yes, &err);
	else if (r == 0)
		r = offer(&command, &err);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_mcp = {
	.name = "mcp",
	.args = "[OPTIONS]",
	.summary = "offer the tools to one agent over the Model Context Protocol, on stdin and "
		   "stdout",
	.example = "  belljar mcp\n"
		   "  belljar mcp --install cursor\n"
		   "  claude mcp add belljar -- belljar mcp",
	.options = OPTIONS,
	.run = run,
};
