/* SPDX-License-Identifier: Apache-2.0 */

/* Build tool: compile profiles to a C file. Usage: generate OUT.c NAME=PROFILE.json
 * [+PROFILE.json] [@CALL,CALL | -CALL,CALL]... gives bj_filter_NAME each; one that begins with + is
 * loaded on top of the one before it. @ is the part for these calls, - that for all others. */

#include "base/cleanup.h"
#include "base/err.h"
#include "seccomp/compact.h"
#include "seccomp/filters.h"
#include "seccomp/profile.h"

#include <seccomp.h>
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

/* "@setns,unshare" */
static int read_part(const char *arg, struct bj_compact_part *ret, struct bj_err *err)
{
	char name[32];
	size_t len;

	*ret = (struct bj_compact_part){ .others = *arg == '-' };
	for (const char *p = arg + 1; *p; p += len + (p[len] == ',')) {
		len = strcspn(p, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, p);

		const int number = seccomp_syscall_resolve_name(name);

		if (number < 0 || ret->n == BJ_COMPACT_NUMBERS)
			return bj_err_set(err, BJ_E_INVALID, 0, "bad call in %s", arg);
		ret->numbers[ret->n++] = (uint32_t)number;
	}
	return 0;
}

/* One program of @first and, unless they are NULL, of @second on top of it, or a part of it. */
static int compile(const char *first, const char *second, const char *calls,
		   struct bj_buf *ret_code, struct bj_err *err)
{
	struct bj_compact_part part;
	AUTO_BUF struct bj_buf a = { 0 }, b = { 0 };
	int r = bj_profile_compile_file(first, &a, err);

	if (r == 0 && second)
		r = bj_profile_compile_file(second, &b, err);
	if (r == 0 && calls)
		r = read_part(calls, &part, err);
	if (r < 0)
		return r;

	const struct bj_buf codes[] = { a, b };

	return bj_compact_part(codes, second ? 2 : 1, calls ? &part : NULL, ret_code, err);
}

static int generate(FILE *out, const char *arg, const char *second, const char *calls,
		    struct bj_err *err)
{
	const char *equals = strchr(arg, '=');
	AUTO_BUF struct bj_buf code = { 0 };
	char name[32];

	if (!equals || (size_t)(equals - arg) >= sizeof(name))
		return bj_err_set(err, BJ_E_INVALID, 0, "%s is not NAME=FILE", arg);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - arg), arg);

	const int r = compile(equals + 1, second, calls, &code, err);

	if (r < 0)
		return r;
	print_filter(out, name, &code);
	return 0;
}

int main(int argc, char **argv)
{
	struct bj_err err = { 0 };

	if (argc < 3) {
		fprintf(stderr, "usage: generate OUT.c NAME=PROFILE.json [+PROFILE.json] "
				"[@CALLS | -CALLS]...\n");
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

		const char *calls = i + 1 < argc && strchr("@-", argv[i + 1][0]) ? argv[++i] : NULL;

		if (generate(out, first, second, calls, &err) < 0) {
			fprintf(stderr, "%s\n", err.msg);
			fclose(out);
			return 1;
		}
	}
	return fclose(out) == 0 ? 0 : 1;
}
