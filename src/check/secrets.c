/* SPDX-License-Identifier: Apache-2.0 */
#include "check/secrets.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/utf8.h"
#include "check/hs_compile.h"
#include "check/pieces.h"
#include "secrets_db.inc"
#include "secrets_rules.inc"

#include <errno.h>
#include <pthread.h>

enum { POOL = 16 };

/* Memory for scans, which fits both databases: one at a time uses each. A scan is often shorter
 * than making it, so those that are free are kept. */
struct pool {
	pthread_mutex_t lock;
	const hs_database_t *user; /* NULL: none */
	hs_scratch_t *free[POOL];
	size_t n;
};

struct bj_secrets {
	hs_database_t *user; /* NULL: no rules of the user */
	struct pool *pool;
	const struct bj_secret_rule *extra;
	size_t n_extra;
};

/* One scan under way. */
struct scan {
	const struct bj_secret_rule *rules;
	size_t n_rules;
	unsigned first_rank;
	enum bj_rule_language language;
	const char *text;
	size_t size;
	struct bj_spans *spans;
	size_t *latest; /* by rule: 1 + index of its latest span */
};

const struct bj_secret_rule *bj_rules_secrets(size_t *ret_n)
{
	*ret_n = BJ_ARRAY_SIZE(SECRET_RULES);
	return SECRET_RULES;
}

/* The database of the built-in rules, used where it stands. */
static const hs_database_t *builtin(void)
{
	return (const hs_database_t *)SECRETS_DB;
}

void bj_spans_done(struct bj_spans *spans)
{
	bj_piece_free(spans->items);
	*spans = (struct bj_spans){ 0 };
}

void bj_spans_add(struct bj_spans *spans, const struct bj_span *span)
{
	if (spans->n == spans->room) {
		struct bj_span *items = bj_piece_grow(spans->items, &spans->room, sizeof(*items));

		if (!items) {
			spans->failed = true;
			return;
		}
		spans->items = items;
	}
	spans->items[spans->n++] = *span;
}

/* libhs reports every end of a match: ghp_ and 36 letters or more ends at each letter from the
 * 36th on. The longest one counts. */
static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
		    void *ctx)
{
	struct scan *scan = ctx;
	const struct bj_secret_rule *rule = &scan->rules[id];
	size_t start, end;

	(void)flags;
	if (rule->rule.language != BJ_RULE_ANY && scan->language != BJ_RULE_ANY &&
	    rule->rule.language != scan->language)
		return 0;
	/* Inside a value that counts already there is nothing new; so no text is judged twice. */
	if (rule->kind != BJ_SECRET_TOKEN && scan->latest[id] &&
	    to <= scan->spans->items[scan->latest[id] - 1].end)
		return 0;
	if (!bj_secret_judge(rule, scan->language, scan->text, scan->size, (size_t)from, (size_t)to,
			     &start, &end))
		return 0;
	if (scan->latest[id]) {
		struct bj_span *last = &scan->spans->items[scan->latest[id] - 1];

		if (last->start <= start && start < last->end) {
			last->end = end > last->end ? end : last->end;
			return 0;
		}
	}

	bj_spans_add(scan->spans,
		     &(struct bj_span){ &rule->rule, start, end,
					((unsigned)rule->kind << 16) + scan->first_rank + id });
	scan->latest[id] = scan->spans->n;
	return scan->spans->failed;
}

/* --- in order --------------------------------------------------------------------------------- */

static bool is_before(const struct bj_span *x, const struct bj_span *y)
{
	return x->start != y->start ? x->start < y->start : x->rank < y->rank;
}

/* Where the spans that are in order from @from on end. */
static size_t run_end(const struct bj_spans *spans, size_t from)
{
	size_t end = from + 1;

	while (end < spans->n && !is_before(&spans->items[end], &spans->items[end - 1]))
		end++;
	return end < spans->n ? end : spans->n;
}

/* Write the spans of each two runs in order to @to. */
static void merge_runs(const struct bj_spans *spans, struct bj_span *to)
{
	const struct bj_span *items = spans->items;

	for (size_t from = 0; from < spans->n;) {
		const size_t middle = run_end(spans, from);
		const size_t end = middle < spans->n ? run_end(spans, middle) : spans->n;
		size_t x = from, y = middle;

		while (x < middle || y < end)
			*to++ = y == end || (x < middle && !is_before(&items[y], &items[x]))
					? items[x++]
					: items[y++];
		from = end;
	}
}

/* Spans come in order from each of a few sources. */
static void sort(struct bj_spans *spans)
{
	while (spans->n && run_end(spans, 0) < spans->n) {
		struct bj_span *sorted = bj_piece_new(spans->room * sizeof(*sorted));

		if (!sorted) {
			spans->failed = true;
			return;
		}
		merge_runs(spans, sorted);
		bj_piece_free(spans->items);
		spans->items = sorted;
	}
}

/* One finding for one secret: spans that overlap become one, named by the best rule. */
void bj_spans_merge(struct bj_spans *spans)
{
	size_t kept = 0;

	sort(spans);
	for (size_t i = 0; i < spans->n; i++) {
		struct bj_span *last = kept ? &spans->items[kept - 1] : NULL;
		const struct bj_span *next = &spans->items[i];

		if (!last || next->start >= last->end) {
			spans->items[kept++] = *next;
			continue;
		}
		if (next->rank < last->rank) {
			last->rule = next->rule;
			last->rank = next->rank;
		}
		if (next->end > last->end)
			last->end = next->end;
	}
	spans->n = kept;
}

static int scan_with(const hs_database_t *db, hs_scratch_t *scratch, struct scan *scan,
		     struct bj_err *err)
{
	AUTO_FREE size_t *latest = calloc(scan->n_rules, sizeof(*latest));

	if (!latest)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot look for secrets");
	scan->latest = latest;

	const hs_error_t status =
		hs_scan(db, scan->text, (unsigned)scan->size, 0, scratch, on_match, scan);

	if (scan->spans->failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot look for secrets");
	if (status != HS_SUCCESS)
		return bj_err_set(err, BJ_E_SYSTEM, 0, "cannot look for secrets: libhs error %d",
				  status);
	return 0;
}

/* --- memory for scans ------------------------------------------------------------------------- */

static void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	while (pool->n > 0)
		hs_free_scratch(pool->free[--pool->n]);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* NULL: no memory. */
static hs_scratch_t *new_scratch(const struct pool *pool)
{
	hs_scratch_t *scratch = NULL;

	if (hs_alloc_scratch(builtin(), &scratch) == HS_SUCCESS &&
	    (!pool->user || hs_alloc_scratch(pool->user, &scratch) == HS_SUCCESS))
		return scratch;
	hs_free_scratch(scratch);
	return NULL;
}

/* With memory for the first scan: most processes have one at a time. */
static struct pool *pool_new(const hs_database_t *user)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pool->user = user;
	pool->free[0] = new_scratch(pool);
	if (!pool->free[0]) {
		pool_free(pool);
		return NULL;
	}
	pool->n = 1;
	return pool;
}

/* NULL: no memory. */
static hs_scratch_t *take_scratch(struct pool *pool)
{
	hs_scratch_t *scratch = NULL;

	pthread_mutex_lock(&pool->lock);
	if (pool->n > 0)
		scratch = pool->free[--pool->n];
	pthread_mutex_unlock(&pool->lock);
	return scratch ? scratch : new_scratch(pool);
}

static void give_scratch(struct pool *pool, hs_scratch_t *scratch_take)
{
	pthread_mutex_lock(&pool->lock);
	if (pool->n < POOL)
		pool->free[pool->n++] = BJ_TAKE_PTR(scratch_take);
	pthread_mutex_unlock(&pool->lock);
	hs_free_scratch(scratch_take);
}

/* --- scanning --------------------------------------------------------------------------------- */

static int find_all(const struct bj_secrets *secrets, struct scan *scan, struct bj_err *err)
{
	hs_scratch_t *scratch = take_scratch(secrets->pool);

	if (!scratch)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot look for secrets");

	int r = scan_with(builtin(), scratch, scan, err);

	if (r == 0 && secrets->user) {
		scan->first_rank = BJ_ARRAY_SIZE(SECRET_RULES);
		scan->rules = secrets->extra;
		scan->n_rules = secrets->n_extra;
		r = scan_with(secrets->user, scratch, scan, err);
	}
	give_scratch(secrets->pool, scratch);
	return r;
}

int bj_secrets_find(const struct bj_secrets *secrets, enum bj_rule_language language,
		    const char *text, size_t size, struct bj_spans *ret, struct bj_err *err)
{
	struct bj_spans spans = { 0 };
	struct scan scan = { .rules = SECRET_RULES,
			     .n_rules = BJ_ARRAY_SIZE(SECRET_RULES),
			     .language = language,
			     .text = text,
			     .size = size,
			     .spans = &spans };

	if (size > UINT32_MAX)
		return bj_err_set(err, BJ_E_LIMIT, 0, "the text is too long to look for secrets");

	const int r = find_all(secrets, &scan, err);

	if (r < 0) {
		bj_spans_done(&spans);
		return r;
	}
	bj_spans_merge(&spans);
	if (spans.failed) {
		bj_spans_done(&spans);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot look for secrets");
	}
	*ret = spans;
	return 0;
}

void bj_secrets_mask(char *text, size_t size, const struct bj_spans *spans)
{
	for (size_t i = 0; i < spans->n; i++) {
		size_t start = spans->items[i].start, end = spans->items[i].end;

		bj_utf8_widen(text, size, &start, &end);
		for (size_t at = start; at < end; at++)
			if (text[at] != '\n' && text[at] != '\r')
				text[at] = '*';
	}
}

static int try_builtin(struct bj_err *err)
{
	size_t size;
	const hs_error_t status = hs_database_size(builtin(), &size);

	if (status == HS_ARCH_ERROR)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "this CPU cannot match patterns: SSSE3 is needed");
	if (status != HS_SUCCESS)
		return bj_err_set(err, BJ_E_SYSTEM, 0,
				  "cannot load the secret rules: libhs error %d", status);
	return 0;
}

int bj_secrets_new(const struct bj_secret_rule *extra, size_t n_extra, struct bj_secrets **ret,
		   size_t *ret_bad, struct bj_err *err)
{
	struct bj_secrets *secrets = calloc(1, sizeof(*secrets));

	*ret_bad = n_extra;
	if (!secrets)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot load the secret rules");
	secrets->extra = extra;
	secrets->n_extra = n_extra;

	int r = try_builtin(err);

	if (r == 0 && n_extra)
		r = bj_hs_compile(extra, n_extra, &secrets->user, ret_bad, err);
	if (r == 0) {
		secrets->pool = pool_new(secrets->user);
		if (!secrets->pool)
			r = bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot load the secret rules");
	}
	if (r < 0) {
		bj_secrets_free(secrets);
		return r;
	}
	*ret = secrets;
	return 0;
}

void bj_secrets_free(struct bj_secrets *secrets)
{
	if (!secrets)
		return;
	pool_free(secrets->pool);
	hs_free_database(secrets->user);
	free(secrets);
}
