/* SPDX-License-Identifier: Apache-2.0 */
#include "check/hs_compile.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <dlfcn.h>
#include <errno.h>

/* The calls we need of the full library. Both halves are of the same version, or the
 * deserialiser says so. */
struct compiler {
	void *library;
	hs_error_t (*compile_multi)(const char *const *, const unsigned *, const unsigned *,
				    unsigned, unsigned, const hs_platform_info_t *,
				    hs_database_t **, hs_compile_error_t **);
	hs_error_t (*serialize)(const hs_database_t *, char **, size_t *);
	hs_error_t (*free_database)(hs_database_t *);
	hs_error_t (*free_error)(hs_compile_error_t *);
};

static bool load(struct compiler *c)
{
	c->library = dlopen("libhs.so.5", RTLD_NOW | RTLD_LOCAL);
	if (!c->library)
		return false;
	c->compile_multi = dlsym(c->library, "hs_compile_multi");
	c->serialize = dlsym(c->library, "hs_serialize_database");
	c->free_database = dlsym(c->library, "hs_free_database");
	c->free_error = dlsym(c->library, "hs_free_compile_error");
	if (c->compile_multi && c->serialize && c->free_database && c->free_error)
		return true;
	dlclose(c->library);
	return false;
}

static int compile(const struct compiler *c, const struct bj_secret_rule *rules, size_t n,
		   hs_database_t **ret, size_t *ret_bad, struct bj_err *err)
{
	AUTO_FREE const char **patterns = calloc(n, sizeof(*patterns));
	AUTO_FREE unsigned *flags = calloc(n, sizeof(*flags));
	AUTO_FREE unsigned *ids = calloc(n, sizeof(*ids));
	hs_compile_error_t *error = NULL;

	if (!patterns || !flags || !ids)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot compile secret patterns");
	for (unsigned i = 0; i < n; i++) {
		patterns[i] = rules[i].pattern;
		flags[i] = bj_secret_flags(rules[i].kind);
		ids[i] = i;
	}
	if (c->compile_multi(patterns, flags, ids, (unsigned)n, HS_MODE_BLOCK, NULL, ret, &error) ==
	    HS_SUCCESS)
		return 0;
	if (error && error->expression >= 0)
		*ret_bad = (size_t)error->expression;
	bj_err_set(err, BJ_E_INVALID, 0, "the pattern does not compile: %.120s",
		   error ? error->message : "no reason given");
	if (error)
		c->free_error(error);
	return -BJ_E_INVALID;
}

/* Hand the database from their library to ours. */
static int move_database(const struct compiler *c, const hs_database_t *theirs, hs_database_t **ret,
			 struct bj_err *err)
{
	AUTO_FREE char *bytes = NULL;
	size_t size = 0;

	if (c->serialize(theirs, &bytes, &size) != HS_SUCCESS ||
	    hs_deserialize_database(bytes, size, ret) != HS_SUCCESS)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "libhs.so.5 is not of the version belljar was built with (%s)",
				  hs_version());
	return 0;
}

int bj_hs_compile(const struct bj_secret_rule *rules, size_t n, hs_database_t **ret,
		  size_t *ret_bad, struct bj_err *err)
{
	struct compiler c = { 0 };
	hs_database_t *theirs = NULL;

	if (!load(&c))
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "cannot compile patterns of your own: install libhyperscan5");

	int r = compile(&c, rules, n, &theirs, ret_bad, err);
	if (r == 0)
		r = move_database(&c, theirs, ret, err);
	if (theirs)
		c.free_database(theirs);
	dlclose(c.library);
	return r;
}
