/* SPDX-License-Identifier: Apache-2.0 */
/* Compile the secret patterns into a libhs database at build time: bj-generate-secrets OUT.inc
 *
 * The database is made for the plainest CPU that libhs runs on, so one program fits all. It is
 * written as it would lie in memory at a multiple of 64, which is all that libhs asks of its
 * place: the program uses it where it stands, with nothing to copy or check at start. */
#include "check/secrets.h"

#include <hs/hs.h>
#include <stdio.h>
#include <string.h>

#include "secrets_rules.inc"

#define N_RULES (sizeof(SECRET_RULES) / sizeof(SECRET_RULES[0]))

static int write_bytes(const char *path, const char *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return -1;
	fprintf(f, "static const _Alignas(64) unsigned char SECRETS_DB[%zu] = {", size);
	for (size_t i = 0; i < size; i++)
		fprintf(f, "%s%u,", i % 24 ? "" : "\n", (unsigned char)bytes[i]);
	fprintf(f, "\n};\n");
	return fclose(f);
}

#define MOST (2 * N_RULES)

/* What libhs is given: a rule's patterns are one a line, and all are known by the rule's number. */
struct expressions {
	const char *patterns[MOST];
	unsigned flags[MOST], ids[MOST];
	unsigned n;
};

static int add_rule(struct expressions *all, unsigned id)
{
	char *lines = strdup(SECRET_RULES[id].pattern);

	for (char *next; lines; lines = next) {
		next = strchr(lines, '\n');
		if (next)
			*next++ = '\0';
		if (all->n == MOST)
			return -1;
		all->patterns[all->n] = lines;
		all->flags[all->n] = bj_secret_flags(SECRET_RULES[id].kind);
		all->ids[all->n++] = id;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct expressions all;
	const hs_platform_info_t plain = { 0 };
	hs_database_t *db = NULL, *placed = NULL;
	char *bytes = NULL;
	hs_compile_error_t *error = NULL;
	size_t size = 0, placed_size = 0;

	if (argc != 2)
		return 2;
	for (unsigned i = 0; i < N_RULES; i++)
		if (add_rule(&all, i) < 0) {
			fprintf(stderr, "bj-generate-secrets: too many patterns\n");
			return 1;
		}
	if (hs_compile_multi(all.patterns, all.flags, all.ids, all.n, HS_MODE_BLOCK, &plain, &db,
			     &error)) {
		fprintf(stderr, "bj-generate-secrets: %s: %s\n",
			error->expression < 0 ? "all"
					      : SECRET_RULES[all.ids[error->expression]].rule.id,
			error->message);
		return 1;
	}
	if (hs_serialize_database(db, &bytes, &size) ||
	    hs_serialized_database_size(bytes, size, &placed_size) ||
	    !(placed = aligned_alloc(64, (placed_size + 63) / 64 * 64)) ||
	    hs_deserialize_database_at(bytes, size, placed) ||
	    write_bytes(argv[1], (const char *)placed, placed_size)) {
		fprintf(stderr, "bj-generate-secrets: cannot write %s\n", argv[1]);
		return 1;
	}
	free(placed);
	free(bytes);
	hs_free_database(db);
	return 0;
}
