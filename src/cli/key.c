/* SPDX-License-Identifier: Apache-2.0 */

/* `belljar key`: API keys. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/size.h"
#include "cli/office.h"
#include "cli/options.h"
#include "record/tenant.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "tenant", .arg = "NAME", .help = "whose key; none: an operator's, for all" },
	{ .name = "role", .arg = "LIST", .help = "run, approve, read, admin; run,read by default" },
	{ .name = "name", .arg = "TEXT", .help = "what the key is for" },
	{ .name = "expires", .arg = "TIME", .help = "how long it is good for, such as 720h" },
	{ .name = "json", .help = "print JSON" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

struct line {
	const char *what, *prefix;
	const char *tenant, *role, *name, *expires, *config;
	bool json;
};

static void take_option(struct line *line, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **to;
	} texts[] = {
		{ "tenant", &line->tenant },   { "role", &line->role },     { "name", &line->name },
		{ "expires", &line->expires }, { "config", &line->config },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++)
		if (strcmp(name, texts[i].name) == 0)
			*texts[i].to = value;
	if (strcmp(name, "json") == 0)
		line->json = true;
}

static int parse(int argc, char **argv, struct line *line, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (p.option)
			take_option(line, p.option->name, p.value);
		else if (!line->what)
			line->what = p.value;
		else if (!line->prefix)
			line->prefix = p.value;
		else
			return bj_err_set(err, BJ_E_INVALID, 0, "one key at a time, not %.40s too",
					  p.value);
	}
	if (r == 0 && !line->what)
		return bj_err_set(err, BJ_E_INVALID, 0, "say add, ls or revoke");
	return r;
}

/* Revoke the key with @prefix, which may stand behind bj_, and write that down. */
static int withdraw(struct bj_office *office, const char *prefix, const char *tenant,
		    struct bj_err *err)
{
	const int r = bj_key_revoke(&office->archive->store, prefix, tenant, err);

	if (r < 0)
		return r;
	/* Only the prefix, whatever was typed. */
	return bj_office_note(
		office, "key.revoke",
		json_pack("{s:o}", "key",
			  json_stringn(prefix + (strncmp(prefix, "bj_", 3) == 0 ? 3 : 0),
				       BJ_KEY_PREFIX - 1)),
		err);
}

static int print_new(const struct line *line, const char *key, struct bj_err *err)
{
	if (line->json)
		return bj_office_print(json_pack("{s:s}", "key", key), err);
	if (printf("%s\n", key) < 0 || fflush(stdout) != 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write to standard output");
	fprintf(stderr, "belljar: this key is shown only now; keep it safe\n");
	return 0;
}

static int add(struct bj_office *office, const struct line *line, struct bj_err *err)
{
	const char *roles = line->role ? line->role : "run,read";
	struct bj_key_init init = { .tenant = line->tenant,
				    .name = line->name,
				    .roles = bj_roles_parse(roles) };
	uint64_t ms = 0;
	char key[BJ_KEY_TEXT];

	if (line->expires && bj_duration_parse_ms(line->expires, &ms) < 0)
		return bj_err_set(err, BJ_E_INVALID, 0, "--expires: a duration such as 720h");
	if (ms)
		init.expires_ms = bj_clock_unix_ms() + ms;

	int r = bj_key_add(&office->archive->store, &init, key, err);

	if (r < 0)
		return r;
	key[3 + BJ_KEY_PREFIX - 1] = '\0';
	r = bj_office_note(office, "key.add",
			   json_pack("{s:s,s:s*,s:s*,s:s}", "key", key + 3, "tenant", line->tenant,
				     "name", line->name, "roles", roles),
			   err);
	key[3 + BJ_KEY_PREFIX - 1] = '_';
	if (r < 0) {
		/* A key that is not on record must not be good for anything. */
		struct bj_err ignored;

		bj_key_revoke(&office->archive->store, key, NULL, &ignored);
		return r;
	}
	r = print_new(line, key, err);
	if (r < 0) {
		struct bj_err ignored;

		/* Nor must a key that nobody was shown. */
		key[3 + BJ_KEY_PREFIX - 1] = '\0';
		withdraw(office, key + 3, NULL, &ignored);
	}
	return r;
}

static void print_key(const json_t *key)
{
	const char *tenant = json_string_value(json_object_get(key, "tenant"));
	const char *name = json_string_value(json_object_get(key, "name"));
	const json_t *roles = json_object_get(key, "roles");
	char text[BJ_ROLES_TEXT] = "", created[BJ_OFFICE_TIME], ends[BJ_OFFICE_TIME],
	     used[BJ_OFFICE_TIME];

	for (size_t i = 0, n = 0; i < json_array_size(roles); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "," : "",
				      json_string_value(json_array_get(roles, i)));

	const bool revoked = json_is_integer(json_object_get(key, "revoked_ms"));

	printf("%-10s %-16s %-24s %-18s %-18s %-18s %s\n",
	       json_string_value(json_object_get(key, "prefix")), tenant ? tenant : "-", text,
	       bj_office_time(json_object_get(key, "created_ms"), created),
	       revoked ? "revoked" : bj_office_time(json_object_get(key, "expires_ms"), ends),
	       bj_office_time(json_object_get(key, "used_ms"), used), name ? name : "");
}

static int list(struct bj_office *office, const struct line *line, struct bj_err *err)
{
	json_t *keys = NULL;
	const int r = bj_key_list(&office->archive->store, line->tenant, &keys, err);

	if (r < 0)
		return r;
	if (line->json)
		return bj_office_print(keys, err);
	printf("%-10s %-16s %-24s %-18s %-18s %-18s %s\n", "prefix", "tenant", "roles", "created",
	       "ends", "last used", "name");

	const json_t *rows = json_object_get(keys, "keys");

	for (size_t i = 0; i < json_array_size(rows); i++)
		print_key(json_array_get(rows, i));
	json_decref(keys);
	return 0;
}

static int revoke_key(struct bj_office *office, const struct line *line, struct bj_err *err)
{
	if (!line->prefix)
		return bj_err_set(err, BJ_E_INVALID, 0, "say which: `belljar key revoke PREFIX`");
	return withdraw(office, line->prefix, line->tenant, err);
}

static const struct {
	const char *name;
	int (*run)(struct bj_office *office, const struct line *line, struct bj_err *err);
} ACTIONS[] = {
	{ "add", add },           { "ls", list },       { "list", list },
	{ "revoke", revoke_key }, { "rm", revoke_key },
};

static int act(const struct line *line, struct bj_err *err)
{
	struct bj_office office;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(ACTIONS); i++) {
		if (strcmp(ACTIONS[i].name, line->what) != 0)
			continue;
		if (line->prefix && ACTIONS[i].run != revoke_key)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "key %s takes no argument %.40s; a tenant is named with "
					  "--tenant",
					  line->what, line->prefix);

		int r = bj_office_open(line->config, &office, err);

		if (r < 0)
			return r;
		r = ACTIONS[i].run(&office, line, err);
		bj_office_close(&office);
		return r;
	}
	return bj_err_set(err, BJ_E_INVALID, 0, "key cannot %.40s; say add, ls or revoke",
			  line->what);
}

static int verb_key(int argc, char **argv)
{
	struct line line = { 0 };
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &line, &err);

	if (r == 0)
		r = act(&line, &err);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_key = {
	.name = "key",
	.args = "add|ls|revoke [PREFIX] [OPTIONS]",
	.words = "add ls revoke",
	.summary = "make, list and revoke API keys of the service",
	.example = "  belljar key add --tenant acme --role run,read --name ci --expires 720h\n"
		   "  belljar key ls\n"
		   "  belljar key revoke 6fd39091",
	.options = OPTIONS,
	.run = verb_key,
};
