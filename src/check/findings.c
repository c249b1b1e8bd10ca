/* SPDX-License-Identifier: Apache-2.0 */
#include "check/layer.h"
#include "check/pieces.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct bj_findings *findings)
{
	if (findings->n < findings->room)
		return true;

	struct bj_hit *items = bj_piece_grow(findings->items, &findings->room, sizeof(*items));

	if (!items)
		return false;
	findings->items = items;
	return true;
}

void bj_findings_add(struct bj_findings *findings, const struct bj_rule *rule, size_t start,
		     size_t end, const char *message)
{
	char *copy = message ? strdup(message) : NULL;

	if (findings->failed || (message && !copy) || !make_room(findings)) {
		findings->failed = true;
		free(copy);
		return;
	}
	findings->items[findings->n++] = (struct bj_hit){ rule, start, end, copy };
}

void bj_findings_done(struct bj_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		free(findings->items[i].message);
	bj_piece_free(findings->items);
	*findings = (struct bj_findings){ 0 };
}

void bj_modules_add(struct bj_modules *modules, const char *name)
{
	for (size_t i = 0; i < modules->n; i++)
		if (strcmp(modules->items[i], name) == 0)
			return;

	char **items = reallocarray(modules->items, modules->n + 1, sizeof(*items));

	if (items)
		modules->items = items;

	char *copy = items ? strdup(name) : NULL;

	if (!copy) {
		modules->failed = true;
		return;
	}
	modules->items[modules->n++] = copy;
}

void bj_modules_done(struct bj_modules *modules)
{
	for (size_t i = 0; i < modules->n; i++)
		free(modules->items[i]);
	free(modules->items);
	*modules = (struct bj_modules){ 0 };
}
