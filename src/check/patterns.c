/* SPDX-License-Identifier: Apache-2.0 */
#include "check/patterns.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "check/hs_compile.h"

#include <errno.h>

struct bj_patterns {
	hs_database_t *database;
};

/* One match under way. */
struct match {
	uint32_t wanted;
	bool found;
};

int bj_patterns_new(const char *const *patterns, size_t n, struct bj_patterns **ret,
		    size_t *ret_bad, struct bj_err *err)
{
	AUTO_FREE struct bj_secret_rule *rules = calloc(n ? n : 1, sizeof(*rules));
	struct bj_patterns *made = calloc(1, sizeof(*made));
	size_t size = 0;
	int r = 0;

	*ret_bad = n;
	if (!rules || !made) {
		free(made);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot compile patterns");
	}
	for (size_t i = 0; i < n && r == 0; i++) {
		/* Where a match ends is enough; that is what this kind says. */
		rules[i] =
			(struct bj_secret_rule){ .pattern = patterns[i], .kind = BJ_SECRET_FLAG };
		if (strlen(patterns[i]) > BJ_PATTERN_MAX) {
			*ret_bad = i;
			r = bj_err_set(err, BJ_E_INVALID, 0, "the pattern is longer than %d bytes",
				       BJ_PATTERN_MAX);
		}
	}
	if (r == 0)
		r = bj_hs_compile(rules, n, &made->database, ret_bad, err);
	if (r == 0 &&
	    (hs_database_size(made->database, &size) != HS_SUCCESS || size > BJ_PATTERNS_SIZE)) {
		*ret_bad = n;
		r = bj_err_set(err, BJ_E_INVALID, 0, "the patterns are too big together");
	}
	if (r < 0) {
		bj_patterns_free(made);
		return r;
	}
	*ret = made;
	return 0;
}

void bj_patterns_free(struct bj_patterns *patterns)
{
	if (!patterns)
		return;
	if (patterns->database)
		hs_free_database(patterns->database);
	free(patterns);
}

static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
		    void *ctx)
{
	struct match *m = ctx;

	(void)from;
	(void)to;
	(void)flags;
	m->found |= id == m->wanted;
	return m->found;
}

bool bj_patterns_match(const struct bj_patterns *patterns, uint32_t id, const char *text,
		       size_t size, hs_scratch_t **scratch)
{
	struct match m = { .wanted = id };

	if (!*scratch && hs_alloc_scratch(patterns->database, scratch) != HS_SUCCESS)
		return true;

	const hs_error_t r =
		hs_scan(patterns->database, text, (unsigned)size, 0, *scratch, on_match, &m);

	return m.found || (r != HS_SUCCESS && r != HS_SCAN_TERMINATED);
}
