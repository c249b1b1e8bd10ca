/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/size.h"
#include "base/visible.h"
#include "cli/ask.h"
#include "cli/options.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/pin.h"
#include "serve/remote.h"
#include "spec/names.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

enum { NOT_TAKEN = 1000, SENT_STDIN_MAX = 8 << 20 };

static const struct bj_option OPTIONS[] = {
	{ .name = "language",
	  .letter = 'l',
	  .arg = "LANG",
	  .help = "python or bash; else by first line or suffix" },
	{ .name = "timeout",
	  .letter = 't',
	  .arg = "TIME",
	  .key = "limits.timeout",
	  .help = "wall-clock limit: 30, 1.5s, 2m" },
	{ .name = "memory",
	  .letter = 'm',
	  .arg = "SIZE",
	  .key = "limits.memory",
	  .help = "memory limit: 512MiB, 1G" },
	{ .name = "cpus", .arg = "N", .key = "limits.cpus", .help = "CPU limit: 0.5, 2" },
	{ .name = "pids", .arg = "N", .key = "limits.pids", .help = "processes and threads" },
	{ .name = "tmp-size",
	  .arg = "SIZE",
	  .key = "limits.tmp_size",
	  .help = "room in /tmp and in the working directory, each" },
	{ .name = "max-output",
	  .arg = "SIZE",
	  .key = "limits.max_output",
	  .help = "bytes kept per stream in the result" },
	{ .name = "profile",
	  .arg = "NAME",
	  .key = "profile",
	  .help = "a named set of limits: default, analysis" },
	{ .name = "backend", .arg = "NAME", .key = "backend", .help = "native, docker, direct" },
	{ .name = "image",
	  .arg = "NAME",
	  .key = "image",
	  .help = "where the interpreters come from: host" },
	{ .name = "policy", .arg = "NAME", .key = "check.policy", .help = "strict, default, off" },
	{ .name = "trust", .help = "skip the import and danger checks for this run; recorded" },
	{ .name = "seccomp",
	  .arg = "FILE",
	  .key = "seccomp",
	  .help = "a seccomp profile in Docker's JSON format" },
	{ .name = "env",
	  .letter = 'e',
	  .arg = "K=V",
	  .help = "add a variable to the script's environment" },
	{ .name = "stdin", .arg = "FILE", .help = "what the script reads; - is belljar's own" },
	{ .name = "in",
	  .letter = 'i',
	  .arg = "FILE",
	  .help = "a read-only input in the working directory" },
	{ .name = "out", .letter = 'o', .arg = "DIR", .help = "where files from out/ go" },
	{ .name = "jobs",
	  .letter = 'j',
	  .arg = "N",
	  .help = "run several scripts, N at once; a table tells how they ended" },
	{ .name = "json", .help = "print the result object and nothing else" },
	{ .name = "quiet", .letter = 'q', .help = "print only what the script prints" },
	{ .name = "no-service", .help = "run here, even where a service could do it" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ .name = "log-level",
	  .arg = "LEVEL",
	  .key = "log_level",
	  .help = "error, warn, info, debug" },
	{ 0 },
};

/* --- parsing ---------------------------------------------------------------------------------- */

static int line_init(struct bj_run_line *line, int argc, struct bj_err *err)
{
	const size_t room = (size_t)argc + 1;

	line->files = calloc(room, sizeof(*line->files));
	line->args = calloc(room, sizeof(*line->args));
	line->env = calloc(room, sizeof(*line->env));
	line->inputs = calloc(room, sizeof(*line->inputs));
	if (!line->files || !line->args || !line->env || !line->inputs)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the command line");
	return 0;
}

static void line_done(struct bj_run_line *line)
{
	free(line->files);
	free(line->args);
	free(line->env);
	free(line->inputs);
}

#define AUTO_LINE __attribute__((cleanup(line_done)))

static int add_env(struct bj_run_line *line, const char *value, struct bj_err *err)
{
	const char *p = value;

	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	if (p == value || *p != '=' || isdigit((unsigned char)value[0]))
		return bj_err_set(
			err, BJ_E_INVALID, 0,
			"--env %.60s: say NAME=VALUE, where NAME is letters, digits and _, "
			"and begins with no digit",
			value);
	line->env[line->n_env++] = value;
	return 0;
}

static int take_option(struct bj_run_line *line, const struct bj_parse *p, struct bj_err *err)
{
	const struct {
		const char *name;
		const char **text;
		bool *flag;
	} plain[] = {
		{ "language", &line->language, NULL },
		{ "stdin", &line->stdin_path, NULL },
		{ "out", &line->out, NULL },
		{ "config", &line->config, NULL },
		{ "jobs", &line->jobs, NULL },
		{ "json", NULL, &line->json },
		{ "quiet", NULL, &line->quiet },
		{ "trust", NULL, &line->trust },
		{ "no-service", NULL, &line->no_service },
	};
	const char *name = p->option->name;

	if (p->option->key) {
		if (line->n_overrides == BJ_ARRAY_SIZE(line->overrides))
			return bj_err_set(err, BJ_E_LIMIT, 0, "too many options");
		line->overrides[line->n_overrides++] = (struct bj_override){ .key = p->option->key,
									     .value = p->value,
									     .flag = name };
		return 0;
	}
	if (strcmp(name, "env") == 0)
		return add_env(line, p->value, err);
	if (strcmp(name, "in") == 0)
		line->inputs[line->n_inputs++] = p->value;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(plain); i++)
		if (strcmp(name, plain[i].name) == 0) {
			if (plain[i].flag)
				*plain[i].flag = true;
			else
				*plain[i].text = p->value;
		}
	return 0;
}

static int take_word(struct bj_run_line *line, const struct bj_parse *p, struct bj_err *err)
{
	if (p->option)
		return take_option(line, p, err);
	if (p->only_plain && line->n_files > 0)
		line->args[line->n_args++] = p->value;
	else
		line->files[line->n_files++] = p->value;
	return 0;
}

/* Standard input is read to its end by whoever comes first. */
static int check_streams(const struct bj_run_line *line, struct bj_err *err)
{
	size_t n = line->stdin_path && strcmp(line->stdin_path, "-") == 0;

	for (size_t i = 0; i < line->n_files; i++)
		n += strcmp(line->files[i], "-") == 0;
	if (n > 1)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "- names standard input %zu times, which can be read once; name "
				  "a file",
				  n);
	return 0;
}

static int parse(int argc, char **argv, struct bj_run_line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	struct bj_err later;
	int r = line_init(line, argc, err), word;

	if (r < 0)
		return r;
	/* The first mistake is told. The rest is read all the same: it may say in which form. */
	while ((word = bj_options_next(&p, OPTIONS, r < 0 ? &later : err)) != 0) {
		if (word > 0)
			word = take_word(line, &p, r < 0 ? &later : err);
		if (word < 0 && r == 0)
			r = word;
	}
	if (r == 0 && line->n_files == 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "no script given: belljar run FILE, or - for standard input");
	if (r == 0 && line->language)
		r = bj_script_language(line->language, err);
	return r < 0 ? r : check_streams(line, err);
}

static int count_jobs(const struct bj_run_line *line, unsigned int *ret, struct bj_err *err)
{
	uint64_t n;

	if (!line->jobs) {
		*ret = line->n_files > 1 ? (unsigned int)sysconf(_SC_NPROCESSORS_ONLN) : 0;
		return 0;
	}
	if (bj_u64_parse(line->jobs, &n) < 0 || n < 1 || n > 1000)
		return bj_err_set(err, BJ_E_INVALID, 0, "--jobs %.40s: say a number from 1 to 1000",
				  line->jobs);
	*ret = (unsigned int)n;
	return 0;
}

/* --- one script ------------------------------------------------------------------------------- */

static void fill_spec(const struct bj_run_request *req, const struct bj_script *script,
		      struct bj_spec *spec)
{
	spec->script = script->text.data;
	spec->script_size = script->text.size;
	spec->name = script->name[0] ? script->name : NULL;
	spec->trust = req->trust;
	spec->args = req->args;
	spec->env = req->env;
	spec->inputs = req->inputs;
	spec->n_inputs = req->n_inputs;
	spec->stdin_fd = req->stdin_fd;
	spec->out_dir_fd = req->out_dir_fd;
}

void bj_run_fill_spec(const struct bj_run_request *req, const struct bj_script *script,
		      const struct belljar *bj, struct bj_spec *spec)
{
	bj_spec_init(bj, script->language, spec);
	fill_spec(req, script, spec);
}

int bj_run_exit_status(const struct bj_result *r)
{
	switch (r->cause) {
	case BJ_CAUSE_EXITED:
		return r->exit_code;
	case BJ_CAUSE_TIMEOUT:
		return BJ_EXIT_TIMEOUT;
	case BJ_CAUSE_REJECTED:
	case BJ_CAUSE_DENIED:
	case BJ_CAUSE_EXPIRED:
	case BJ_CAUSE_QUOTA:
		return BJ_EXIT_REJECTED;
	case BJ_CAUSE_CANCELLED:
		return 128 + SIGINT;
	case BJ_CAUSE_SIGNAL:
	case BJ_CAUSE_OOM:
	case BJ_CAUSE_PIDS:
	case BJ_CAUSE_OUTPUT:
	case BJ_CAUSE_SECCOMP:
		return 128 + (r->signal ? r->signal : SIGKILL);
	default:
		return r->no_interpreter ? BJ_EXIT_NO_INTERPRETER : BJ_EXIT_FAILED;
	}
}

/* Where live output goes. */
struct live {
	int cancel_fd;
	bool terminal[2];
	struct bj_visible visible[2];
	int broken; /* errno of the first write that failed */
};

static void write_visible(struct live *live, int fd, const char *data, size_t size)
{
	AUTO_BUF struct bj_buf text = { 0 };

	bj_visible_add(&live->visible[fd - 1], &text, data, size);
	bj_fd_write_all(fd, text.data, text.size);
}

/* The script is over: half a character, if there is one, will not be completed. */
static void end_visible(struct live *live)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		AUTO_BUF struct bj_buf text = { 0 };

		bj_visible_end(&live->visible[fd - 1], &text);
		bj_fd_write_all(fd, text.data, text.size);
	}
}

static void on_event(void *ctx, const struct bj_event *event)
{
	struct live *live = ctx;

	/* What goes on before the script starts, such as the pull of an image. */
	if (event->kind == BJ_EV_STATE && event->data && isatty(STDERR_FILENO))
		fprintf(stderr, "belljar: %.*s\n", (int)event->size, event->data);
	if (event->kind == BJ_EV_STATE || live->broken)
		return;

	const int fd = event->kind == BJ_EV_STDOUT ? STDOUT_FILENO : STDERR_FILENO;

	if (live->terminal[fd - 1]) {
		write_visible(live, fd, event->data, event->size);
		return;
	}

	const int r = bj_fd_write_all(fd, event->data, event->size);

	if (r < 0) {
		live->broken = -r;
		eventfd_write(live->cancel_fd, 1);
	}
}

static void add_findings(struct bj_buf *to, const struct bj_result *r)
{
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct bj_finding *f = &r->findings[i];

		if (!f->blocks)
			continue;
		bj_buf_puts(to, "  ");
		if (f->line)
			bj_buf_printf(to, "line %u: ", f->line);
		bj_buf_printf(to, "%s [%s, %s]\n", f->message, f->rule,
			      bj_severity_name(f->severity));
	}
}

/* What happened, for a person, when it is not plain from the script's own output. */
static void tell(const struct bj_run_request *req, const struct bj_result *r)
{
	if (!req->quiet && r->out_refused)
		fprintf(stderr,
			"belljar: %u of what was left in out/ %s not collected: only plain files "
			"are, up to limits.out_files and limits.out_bytes\n",
			r->out_refused, r->out_refused == 1 ? "was" : "were");
	if (req->quiet || !r->error || r->cause == BJ_CAUSE_EXITED)
		return;

	/* A message may quote the script. */
	AUTO_BUF struct bj_buf text = { 0 };
	AUTO_BUF struct bj_buf shown = { 0 };
	struct bj_visible visible = { .judged = true };

	bj_buf_printf(&text, "belljar: %s (cause: %s)\n", r->error, bj_cause_name(r->cause));
	if (r->cause == BJ_CAUSE_REJECTED)
		add_findings(&text, r);
	bj_visible_add(&visible, &shown, text.data, text.size);
	bj_fd_write_all(STDERR_FILENO, shown.data, shown.size);
}

/* @line: the object as it came from a service; NULL: it is made here. */
static int print_json(const struct bj_result *r, const char *line)
{
	AUTO_FREE char *own = line ? NULL : bj_result_to_json(r);

	line = line ? line : own;
	if (!line || puts(line) == EOF || fflush(stdout) != 0) {
		fprintf(stderr, "belljar: cannot write to standard output: %s\n", strerror(errno));
		return -1;
	}
	return 0;
}

/* Print how it ended; the exit status. */
static int report(const struct bj_run_request *req, const struct live *live,
		  const struct bj_result *result, const char *line)
{
	if (req->json)
		return print_json(result, line) < 0 ? BJ_EXIT_FAILED : bj_run_exit_status(result);
	if (live->broken) {
		fprintf(stderr, "belljar: cannot write the script's output: %s\n",
			strerror(live->broken));
		return BJ_EXIT_FAILED;
	}
	tell(req, result);
	return bj_run_exit_status(result);
}

/* Run the one script of @req: by @client when there is one, else by @bj. */
static int run_one(struct belljar *bj, struct bj_client *client, const struct bj_settings *settings,
		   const struct bj_run_request *req, struct bj_err *err)
{
	struct live live = { .cancel_fd = req->cancel_fd,
			     .terminal = { isatty(STDOUT_FILENO), isatty(STDERR_FILENO) } };
	struct bj_result *result = NULL;
	AUTO_FREE char *line = NULL;
	struct bj_spec spec = { .language = req->scripts[0].language };
	int r;

	if (bj)
		bj_spec_init(bj, spec.language, &spec);
	fill_spec(req, &req->scripts[0], &spec);
	spec.cancel_fd = req->cancel_fd;
	if (!req->json) {
		spec.on_event = on_event;
		spec.event_ctx = &live;
		spec.on_ask = bj_ask;
	}
	r = client ? bj_remote_run(client, &spec, settings, &result, &line, err)
		   : bj_run(bj, &spec, &result, err);
	if (r > 0)
		return NOT_TAKEN;
	if (r == 0) {
		end_visible(&live);
		r = report(req, &live, result, line);
	}
	bj_result_free(result);
	return r;
}

/* --- the verb --------------------------------------------------------------------------------- */

static volatile sig_atomic_t cancel_event = -1; /* for the handler alone */

static void on_signal(int sig)
{
	const int saved = errno;

	(void)sig;
	if (cancel_event >= 0)
		eventfd_write(cancel_event, 1);
	errno = saved;
}

static int watch_signals(void)
{
	const struct sigaction cancel = { .sa_handler = on_signal };

	cancel_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGINT, &cancel, NULL);
	sigaction(SIGTERM, &cancel, NULL);
	sigaction(SIGHUP, &cancel, NULL);
	return cancel_event;
}

static int fail(bool json, const struct belljar *bj, const struct bj_err *err)
{
	if (json) {
		struct bj_result *result = bj_engine_failure(bj, err->msg);

		if (result)
			print_json(result, NULL);
		bj_result_free(result);
	}
	fprintf(stderr, "belljar: %s\n", err->msg);
	return BJ_EXIT_FAILED;
}

/* --- by a service ----------------------------------------------------------------------------- */

/* Standard input that can be sent along: a file, and not a large one. */
static bool stdin_fits(const char *path)
{
	struct stat st;

	return !path || (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
			 st.st_size <= SENT_STDIN_MAX);
}

/* Whether a request to the service can say all that was asked for. */
static bool service_fits(const struct bj_run_line *line, const struct bj_settings *settings)
{
	/* Who may have to be asked is asked here. */
	if (bj_gate_minds_own(settings))
		return false;
	return !line->no_service && !line->trust && !line->out && !line->jobs && !line->config &&
	       line->n_files == 1 && stdin_fits(line->stdin_path) && bj_remote_fits(settings);
}

/* The exit status; NOT_TAKEN when no service does it. Then what was read is kept in @req. */
static int run_by_service(const struct bj_run_line *line, struct bj_settings *settings,
			  struct bj_run_request *req, struct bj_err *err)
{
	struct bj_client client;
	AUTO_OPENED struct bj_opened opened = { 0 };
	int r;

	if (!service_fits(line, settings) ||
	    (bj_settings_was_set(settings, "image") && bj_pin_images(settings, err) < 0) ||
	    bj_client_open(settings->serve.socket, &client, err) < 0)
		return NOT_TAKEN;
	r = bj_request_open(line, &opened, req, err);
	if (r == 0)
		r = bj_request_read(line, &opened, req, err);
	if (r == 0) {
		req->cancel_fd = watch_signals();
		r = run_one(NULL, &client, settings, req, err);
	}
	if (r == NOT_TAKEN && req->stdin_fd >= 0)
		lseek(req->stdin_fd, 0, SEEK_SET);
	bj_client_done(&client);
	return r;
}

/* --- by ourselves ----------------------------------------------------------------------------- */

static int run_here(const struct bj_run_line *line, struct belljar *bj, struct bj_run_request *req,
		    struct bj_err *err)
{
	AUTO_OPENED struct bj_opened opened = { 0 };
	const bool fresh = req->n_scripts == 0;
	int r = count_jobs(line, &req->jobs, err);

	if (r == 0 && line->stdin_path && line->n_files > 1)
		r = bj_err_set(err, BJ_E_INVALID, 0, "--stdin goes to one script; there are %zu",
			       line->n_files);
	if (r == 0 && fresh)
		r = bj_request_open(line, &opened, req, err);
	if (r == 0)
		r = bj_engine_drop_privileges(err);
	if (r == 0 && fresh)
		r = bj_request_read(line, &opened, req, err);
	if (r < 0)
		return r;
	if (req->cancel_fd < 0)
		req->cancel_fd = watch_signals();
	return req->jobs ? bj_jobs_run(bj, req, req->cancel_fd) : run_one(bj, NULL, NULL, req, err);
}

static int run(const struct bj_run_line *line, struct belljar **ret_bj, struct bj_err *err)
{
	AUTO_REQUEST struct bj_run_request req = { .stdin_fd = -1,
						   .out_dir_fd = -1,
						   .cancel_fd = -1,
						   .args = (const char **)line->args,
						   .env = (const char **)line->env,
						   .json = line->json,
						   .quiet = line->quiet,
						   .trust = line->trust };
	struct bj_settings *settings = NULL;
	int r = bj_settings_load(line->config, line->overrides, line->n_overrides, &settings, err);

	if (r < 0)
		return r;
	bj_log_set_level(settings->log_level);
	r = run_by_service(line, settings, &req, err);
	if (r != NOT_TAKEN) {
		bj_settings_free(settings);
		return r;
	}
	/* A jar with inputs cannot be built before they are read. */
	r = line->n_inputs || line->jobs || line->n_files > 1
		    ? bj_engine_new(settings, ret_bj, err)
		    : bj_engine_new_to_run(settings, ret_bj, err);
	return r < 0 ? r : run_here(line, *ret_bj, &req, err);
}

static int verb_run(int argc, char **argv)
{
	AUTO_LINE struct bj_run_line line = { 0 };
	struct bj_err err = { 0 };
	struct belljar *bj = NULL;
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = run(&line, &bj, &err);

	const int status = r < 0 ? fail(line.json, bj, &err) : r;

	bj_engine_leave(bj);
	return status;
}

const struct bj_verb bj_verb_run = {
	.name = "run",
	.args = "[OPTIONS] FILE...|- [-- ARGS]",
	.summary = "check a script, run it sealed, return what it did",
	.example = "  belljar run script.py\n"
		   "  belljar run --timeout 10 --memory 256MiB --in data.csv --out results job.py\n"
		   "  echo 'print(6*7)' | belljar run --language python --json -",
	.options = OPTIONS,
	.run = verb_run,
	.brief = true,
};
