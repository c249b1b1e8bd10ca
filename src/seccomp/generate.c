/* SPDX-License-Identifier: Apache-2.0 */

/* Build tool: compile profiles to a C file. Usage: generate OUT.c NAME=PROFILE.json
 * [+PROFILE.json]... gives bj_filter_NAME each; one that begins with + is loaded on top of the one
 * before it. */

#include "base/cleanup.h"
#include "base/err.h"
#include "seccomp/compact.h"
#include "seccomp/filters.h"
#include "seccomp/profile.h"

#include <stdio.h>
#include <string.h>

static void print_filter(FILE *out, const char *name, const struct bj_buf *code)
{
	fprintf(out, "\nstatic const _Alignas(8) unsigned char code_%s[] = {", name);
	for (size_t i = 0; i < code->size; i++)
		fprintf(out, "%s0x%02x,", i % 16 == 0 ? "\n\t" : " ", (unsigned char)code->data[i]);
	fprintf(out, "\n};\nconst struct bj_filter bj_filter_%s = { code_%s, sizeof(code_%s) };\n",
		name, name, name);
}

/* One program of @first and, unless it is NULL, of @second on top of it. */
static int compile(const char *first, const char *second, struct bj_buf *ret_code,
		   struct bj_err *err)
{
	AUTO_BUF struct bj_buf a = { 0 }, b = { 0 };
	int r = bj_profile_compile_file(first, &a, err);

	if (r == 0 && second)
		r = bj_profile_compile_file(second, &b, err);
	if (r < 0)
		return r;

	const struct bj_buf codes[] = { a, b };

	return bj_compact(codes, second ? 2 : 1, ret_code, err);
}

static int generate(FILE *out, const char *arg, const char *second, struct bj_err *err)
{
	const char *equals = strchr(arg, '=');
	AUTO_BUF struct bj_buf code = { 0 };
	char name[32];

	if (!equals || (size_t)(equals - arg) >= sizeof(name))
		return bj_err_set(err, BJ_E_INVALID, 0, "%s is not NAME=FILE", arg);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - arg), arg);

	const int r = compile(equals + 1, second, &code, err);

	if (r < 0)
		return r;
	print_filter(out, name, &code);
	return 0;
}

int main(int argc, char **argv)
{
	struct bj_err err = { 0 };

	if (argc < 3) {
		fprintf(stderr, "usage: generate OUT.c NAME=PROFILE.json [+PROFILE.json]...\n");
		return 1;
	}

	FILE *out = fopen(argv[1], "we");

	if (!out) {
		perror(argv[1]);
		return 1;
	}
	fprintf(out, "/* Compiled from profiles/ by generate; do not edit. */\n"
		     "#include \"seccomp/filters.h\"\n");
	for (int i = 2; i < argc; i++) {
		const char *first = argv[i];
		const char *second = i + 1 < argc && argv[i + 1][0] == '+' ? argv[++i] + 1 : NULL;

		if (generate(out, first, second, &err) < 0) {
			fprintf(stderr, "%s\n", err.msg);
			fclose(out);
			return 1;
		}
	}
	return fclose(out) == 0 ? 0 : 1;
}
