/* SPDX-License-Identifier: Apache-2.0 */
/* Compile the secret patterns into a libhs database at build time: bj-generate-secrets OUT.inc
 *
 * The database is made for the plainest CPU that libhs runs on, so one program fits all. It is
 * written as it would lie in memory at a multiple of 64, which is all that libhs asks of its
 * place: the program uses it where it stands, with nothing to copy or check at start. */
#include "check/secrets.h"

#include <hs/hs.h>
#include <stdio.h>

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

int main(int argc, char **argv)
{
	const char *patterns[N_RULES];
	unsigned flags[N_RULES], ids[N_RULES];
	const hs_platform_info_t plain = { 0 };
	hs_database_t *db = NULL, *placed = NULL;
	char *bytes = NULL;
	hs_compile_error_t *error = NULL;
	size_t size = 0, placed_size = 0;

	if (argc != 2)
		return 2;
	for (unsigned i = 0; i < N_RULES; i++) {
		patterns[i] = SECRET_RULES[i].pattern;
		flags[i] = bj_secret_flags(SECRET_RULES[i].kind);
		ids[i] = i;
	}
	if (hs_compile_multi(patterns, flags, ids, N_RULES, HS_MODE_BLOCK, &plain, &db, &error)) {
		fprintf(stderr, "bj-generate-secrets: %s: %s\n",
			error->expression < 0 ? "all" : SECRET_RULES[error->expression].rule.id,
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
