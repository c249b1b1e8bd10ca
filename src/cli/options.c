/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OPTIONS = 64 };

static int unknown(const char *word, const struct bj_option *options, struct bj_err *err)
{
	const char *names[MAX_OPTIONS];
	size_t n = 0;

	for (const struct bj_option *o = options; o->name && n < MAX_OPTIONS; o++)
		names[n++] = o->name;

	const char *near = bj_nearest(word, names, n);

	if (near)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "unknown option --%.40s; did you mean --%s?", word, near);
	return bj_err_set(err, BJ_E_INVALID, 0, "unknown option --%.40s; --help lists them", word);
}

static int take_value(struct bj_parse *p, const char *inline_value, struct bj_err *err)
{
	if (!p->option->arg) {
		p->value = NULL;
		if (inline_value)
			return bj_err_set(err, BJ_E_INVALID, 0, "option --%s takes no value",
					  p->option->name);
		return 1;
	}
	if (inline_value) {
		p->value = inline_value;
		return 1;
	}
	if (p->next >= p->argc)
		return bj_err_set(err, BJ_E_INVALID, 0, "option --%s needs a value: --%s %s",
				  p->option->name, p->option->name, p->option->arg);
	p->value = p->argv[p->next++];
	return 1;
}

static int long_option(struct bj_parse *p, const struct bj_option *options, const char *word,
		       struct bj_err *err)
{
	const char *equals = strchr(word, '=');
	const size_t len = equals ? (size_t)(equals - word) : strlen(word);

	for (const struct bj_option *o = options; o->name; o++)
		if (strlen(o->name) == len && memcmp(o->name, word, len) == 0) {
			p->option = o;
			return take_value(p, equals ? equals + 1 : NULL, err);
		}

	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)(len < 63 ? len : 63), word);
	return unknown(name, options, err);
}

int bj_options_next(struct bj_parse *p, const struct bj_option *options, struct bj_err *err)
{
	p->option = NULL;
	p->value = NULL;
	if (p->next >= p->argc)
		return 0;

	const char *word = p->argv[p->next++];

	if (!p->only_plain && strcmp(word, "--") == 0) {
		p->only_plain = true;
		return bj_options_next(p, options, err);
	}
	if (p->only_plain || word[0] != '-' || word[1] == '\0') {
		p->value = word;
		return 1;
	}
	if (word[1] == '-')
		return long_option(p, options, word + 2, err);
	for (const struct bj_option *o = options; o->name; o++)
		if (o->letter && o->letter == word[1]) {
			p->option = o;
			return take_value(p, word[2] ? word + 2 : NULL, err);
		}
	return bj_err_set(err, BJ_E_INVALID, 0, "unknown option %.40s; --help lists them", word);
}

void bj_options_help(const struct bj_verb *verb)
{
	printf("usage: belljar %s %s\n\n%s\n", verb->name, verb->args, verb->summary);
	if (verb->options->name)
		printf("\noptions:\n");
	for (const struct bj_option *o = verb->options; o->name; o++) {
		char left[64];
		const char short_form[] = { '-', o->letter, ',', ' ', '\0' };

		snprintf(left, sizeof(left), "%s--%s%s%s", o->letter ? short_form : "", o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		printf("  %-26s %s\n", left, o->help);
	}
	printf("\nexample:\n%s\n", verb->example);
}
