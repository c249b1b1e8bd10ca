/* SPDX-License-Identifier: Apache-2.0 */

/* `belljar audit`: check the audit log, look at it, hand it on. */

#include "base/cleanup.h"
#include "base/err.h"
#include "base/size.h"
#include "cli/options.h"
#include "cli/records.h"
#include "record/audit_verify.h"
#include "record/folder.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "key", .arg = "FILE", .help = "verify: check with this public or signing key" },
	{ .name = "from", .arg = "SEQ", .help = "begin with this line" },
	{ .name = "kind", .arg = "KIND", .help = "show: only this kind, such as run or run.start" },
	{ .name = "run", .arg = "ID", .help = "show: only lines about this run" },
	{ .name = "tenant", .arg = "NAME", .help = "show: only lines about this tenant" },
	{ .name = "since",
	  .arg = "TIME",
	  .help = "show: not older, such as 2026-01-31T12:00 or 2h" },
	{ .name = "follow", .letter = 'f', .help = "export, show: wait for further lines" },
	{ .name = "json", .help = "print JSON" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

struct line {
	const char *what; /* verify, show, export, head */
	const char *key, *kind, *run, *tenant, *config;
	char since[32]; /* empty: from the beginning */
	uint64_t from;
	bool follow, json;
	char state_dir[BJ_FOLDER_PATH];
	char *key_setting; /* owned */
};

/* --- parsing ---------------------------------------------------------------------------------- */

static int take_from(struct line *line, const char *value, struct bj_err *err)
{
	if (bj_u64_parse(value, &line->from) < 0 || line->from == 0)
		return bj_err_set(err, BJ_E_INVALID, 0, "--from: a number from 1 on is needed");
	return 0;
}

/* The log has its times as text that sorts. */
static int take_since(struct line *line, const char *value, struct bj_err *err)
{
	uint64_t ms;
	struct tm utc;
	const int r = bj_records_time(value, &ms, err);

	if (r < 0)
		return bj_err_wrap(err, "--since");

	const time_t seconds = (time_t)(ms / 1000);

	gmtime_r(&seconds, &utc);
	strftime(line->since, sizeof(line->since), "%Y-%m-%dT%H:%M:%S", &utc);
	return 0;
}

static int take_option(struct line *line, const char *name, const char *value, struct bj_err *err)
{
	const struct {
		const char *name;
		const char **to;
	} texts[] = {
		{ "key", &line->key },       { "kind", &line->kind },     { "run", &line->run },
		{ "tenant", &line->tenant }, { "config", &line->config },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++)
		if (strcmp(name, texts[i].name) == 0)
			*texts[i].to = value;
	if (strcmp(name, "follow") == 0)
		line->follow = true;
	if (strcmp(name, "json") == 0)
		line->json = true;
	if (strcmp(name, "since") == 0)
		return take_since(line, value, err);
	return strcmp(name, "from") == 0 ? take_from(line, value, err) : 0;
}

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (p.option) {
			r = take_option(line, p.option->name, p.value, err);
			if (r < 0)
				return r;
		} else if (line->what) {
			return bj_err_set(err, BJ_E_INVALID, 0, "one thing at a time: %s or %.40s",
					  line->what, p.value);
		} else {
			line->what = p.value;
		}
	}
	if (r == 0 && !line->what)
		return bj_err_set(err, BJ_E_INVALID, 0, "say verify, show, export or head");
	return r;
}

static int find_log(struct line *line, struct bj_err *err)
{
	struct bj_settings *settings = NULL;
	int r = bj_settings_load(line->config, NULL, 0, &settings, err);

	if (r < 0)
		return r;
	r = bj_folder_path(settings, line->state_dir, err);
	line->key_setting = settings->audit.key ? strdup(settings->audit.key) : NULL;
	bj_settings_free(settings);
	return r;
}

/* The key to check with: what was named, else the signing key, else its public half. */
static int find_key(const struct line *line, struct bj_audit_key *ret, struct bj_err *err)
{
	char path[PATH_MAX + 32];

	if (line->key)
		return bj_audit_key_read(line->key, ret, err);
	if (line->key_setting)
		snprintf(path, sizeof(path), "%s", line->key_setting);
	else
		snprintf(path, sizeof(path), "%s/keys/audit.key", line->state_dir);

	const int r = bj_audit_key_read(path, ret, err);

	if (r < 0)
		return bj_err_wrap(err, "no key to check the log with (--key FILE)");
	return r;
}

/* --- verify and head -------------------------------------------------------------------------- */

static void tell(void *ctx, const char *where, const char *what)
{
	const struct line *line = ctx;

	if (line->json) {
		json_t *o = json_pack("{s:s,s:s}", "where", where, "what", what);

		json_dumpf(o, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
		putchar('\n');
		json_decref(o);
	} else {
		printf("%s: %s\n", where, what);
	}
}

static int verify(struct line *line, struct bj_err *err)
{
	struct bj_audit_key key;
	struct bj_audit_report report = { 0 };
	int r = find_key(line, &key, err);

	if (r == 0)
		r = bj_audit_verify(line->state_dir, &key, line->from, tell, line, &report, err);
	if (r < 0)
		return r;
	if (line->json)
		printf("{\"lines\":%" PRIu64 ",\"first_seq\":%" PRIu64 ",\"last_seq\":%" PRIu64
		       ",\"hash\":\"%s\",\"problems\":%" PRIu64 "}\n",
		       report.lines, report.first_seq, report.last_seq, report.hash,
		       report.problems);
	else if (report.problems)
		printf("%" PRIu64 " problem(s) in %" PRIu64 " lines\n", report.problems,
		       report.lines);
	else
		printf("ok: %" PRIu64 " lines, seq %" PRIu64 " to %" PRIu64 ", hash %s\n",
		       report.lines, report.first_seq, report.last_seq, report.hash);
	return report.problems ? 1 : 0;
}

/* What to keep on another machine: whoever has it knows when the log is set back. */
static int print_head(struct line *line, struct bj_err *err)
{
	struct bj_audit_key key;
	struct bj_audit_head head;
	char page[BJ_AUDIT_PAGE];
	int r = find_key(line, &key, err);

	if (r == 0)
		r = bj_audit_head_load(line->state_dir, &key, &head, err);
	if (r == 0 && !key.can_sign)
		printf("{\"file\":%u,\"seq\":%" PRIu64 ",\"hash\":\"%s\"}\n", head.file, head.seq,
		       head.hash);
	if (r < 0 || !key.can_sign)
		return r;
	r = bj_audit_head_print(&key, &head, true, page, err);
	if (r == 0)
		printf("%.*s\n", (int)strcspn(page, "\n"), page);
	return r;
}

/* --- show and export -------------------------------------------------------------------------- */

static bool text_is(const json_t *object, const char *name, const char *wanted)
{
	const char *text = json_string_value(json_object_get(object, name));

	return !wanted || (text && strcmp(text, wanted) == 0);
}

/* run fits run.start. */
static bool kind_fits(const char *kind, const char *wanted)
{
	const size_t n = wanted ? strlen(wanted) : 0;

	return !wanted || (strncmp(kind, wanted, n) == 0 && (kind[n] == '\0' || kind[n] == '.'));
}

static bool fits(const struct line *line, const json_t *root)
{
	const json_t *data = json_object_get(root, "data");
	const char *kind = json_string_value(json_object_get(root, "kind"));
	const char *when = json_string_value(json_object_get(root, "time"));

	return kind && when &&
	       (uint64_t)json_integer_value(json_object_get(root, "seq")) >= line->from &&
	       kind_fits(kind, line->kind) && text_is(data, "run", line->run) &&
	       text_is(data, "tenant", line->tenant) && strcmp(when, line->since) >= 0;
}

static void print_line(const json_t *root)
{
	const json_t *data = json_object_get(root, "data");
	const char *key;
	json_t *value;

	printf("%6" JSON_INTEGER_FORMAT " %s %-16s",
	       json_integer_value(json_object_get(root, "seq")),
	       json_string_value(json_object_get(root, "time")),
	       json_string_value(json_object_get(root, "kind")));
	json_object_foreach((json_t *)data, key, value)
	{
		/* ASCII only: nothing in it can play tricks with a terminal. */
		AUTO_FREE char *text =
			json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);

		printf(" %s=%s", key, text ? text : "?");
	}
	putchar('\n');
}

/* A line that cannot be read is shown by `show` as what it is; `export` hands on every byte. */
static void print_text(const struct line *line, const char *text, size_t size, bool raw)
{
	json_t *root = json_loadb(text, size, 0, NULL);

	if (root && fits(line, root)) {
		if (raw || line->json)
			printf("%.*s\n", (int)size, text);
		else
			print_line(root);
	} else if (!root && raw && line->from <= 1) {
		printf("%.*s\n", (int)size, text);
	}
	json_decref(root);
}

static int print_lines(const struct line *line, struct bj_audit_reader *reader, bool raw,
		       struct bj_err *err)
{
	const char *text;
	size_t size;
	int r;

	while ((r = bj_audit_reader_next(reader, &text, &size, err)) > 0)
		print_text(line, text, size, raw);
	if (r == 0 && fflush(stdout) != 0)
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write to standard output");
	return r;
}

/* Wait until something is written to the log, or the reader of our output is gone. */
static int wait_change(int watch)
{
	struct pollfd polls[] = { { .fd = watch, .events = POLLIN },
				  { .fd = STDOUT_FILENO, .events = 0 } };
	char events[4096];

	while (poll(polls, 2, -1) < 0 && errno == EINTR)
		;
	if (polls[1].revents & (POLLERR | POLLHUP))
		return 0;
	return read(watch, events, sizeof(events)) > 0;
}

static int list(struct line *line, bool raw, struct bj_err *err)
{
	struct bj_audit_reader *reader = NULL;
	char dir[PATH_MAX + 16];
	AUTO_FD int watch = line->follow ? inotify_init1(IN_CLOEXEC) : -1;

	snprintf(dir, sizeof(dir), "%s/" BJ_AUDIT_DIR, line->state_dir);
	if (line->follow && inotify_add_watch(watch, dir, IN_MODIFY | IN_CREATE) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot watch %.160s", dir);

	int r = bj_audit_reader_open(line->state_dir, &reader, err);

	if (r == 0)
		r = print_lines(line, reader, raw, err);
	while (r == 0 && line->follow && wait_change(watch)) {
		r = bj_audit_reader_refresh(reader, err);
		if (r == 0)
			r = print_lines(line, reader, raw, err);
	}
	bj_audit_reader_free(reader);
	return r;
}

static int show(struct line *line, struct bj_err *err)
{
	return list(line, false, err);
}

static int export_lines(struct line *line, struct bj_err *err)
{
	return list(line, true, err);
}

static const struct {
	const char *name;
	int (*run)(struct line *line, struct bj_err *err);
} ACTIONS[] = {
	{ "verify", verify },
	{ "show", show },
	{ "export", export_lines },
	{ "head", print_head },
};

static int act(struct line *line, struct bj_err *err)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, line->what) == 0) {
			const int r = find_log(line, err);

			return r < 0 ? r : ACTIONS[i].run(line, err);
		}
	return bj_err_set(err, BJ_E_INVALID, 0,
			  "audit cannot %.40s; say verify, show, export or head", line->what);
}

static int verb_audit(int argc, char **argv)
{
	struct line line = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = act(&line, &err);
	free(line.key_setting);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : r;
}

const struct bj_verb bj_verb_audit = {
	.name = "audit",
	.args = "verify|show|export|head [OPTIONS]",
	.words = "verify show export head",
	.summary = "check, show and export the audit log",
	.example = "  belljar audit verify\n"
		   "  belljar audit show --kind run --since 2026-01-31\n"
		   "  belljar audit export --from 1000 --follow | collector",
	.options = OPTIONS,
	.run = verb_audit,
};
