/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "check/decode.h"
#include "check/joined.h"
#include "check/length.h"
#include "check/report.h"
#include "check/risk.h"
#include "check/user_rules.h"

#include <errno.h>
#include <malloc.h>

/* Theory of operation. The layers run from the cheapest to the dearest: length, secrets, dangers,
 * imports. Each adds hits; none knows the policy. A text that the length layer refuses gets no
 * syntax tree: it is too long to be worth it, or we would read another text than the
 * interpreter. Then risk looks at the hits, and the report puts lines, masks and the verdict to
 * them. */

struct bj_checker {
	struct bj_secrets *secrets;
	struct bj_user_rules *user; /* NULL: none */
};

/* What one check works with. */
struct work {
	struct bj_findings findings;
	struct bj_modules modules;
	struct bj_spans secrets;
	char *text; /* a copy with line ends made plain, or NULL */
};

static void work_done(struct work *work)
{
	bj_findings_done(&work->findings);
	bj_modules_done(&work->modules);
	bj_spans_done(&work->secrets);
	free(work->text);
}

/* The examples of a user's rule show that it does what its author thinks. */
static int try_examples(const struct bj_checker *checker, const char *path, struct bj_err *err)
{
	for (size_t i = 0; i < checker->user->n_secrets; i++) {
		const struct bj_rule *rule = &checker->user->secrets[i].rule;
		const char *const examples[] = { rule->negative, rule->positive };

		for (size_t wanted = 0; wanted < 2; wanted++) {
			struct bj_spans spans = { 0 };
			bool found = false;

			if (!examples[wanted])
				continue;

			const int r =
				bj_secrets_find(checker->secrets, rule->language, examples[wanted],
						strlen(examples[wanted]), &spans, err);

			for (size_t k = 0; r == 0 && k < spans.n; k++)
				found |= spans.items[k].rule == rule;
			bj_spans_done(&spans);
			if (r < 0)
				return r;
			if (found != (bool)wanted)
				return bj_err_set(err, BJ_E_INVALID, 0,
						  "%s:%u: the %s example of rule %s is %s", path,
						  checker->user->secret_lines[i],
						  wanted ? "positive" : "negative", rule->id,
						  wanted ? "not found by it" : "found by it");
		}
	}
	return 0;
}

static int load(struct bj_checker *checker, const char *user_rules, struct bj_err *err)
{
	size_t bad = 0;
	int r = user_rules ? bj_user_rules_load(user_rules, &checker->user, err) : 0;

	if (r < 0)
		return r;

	const struct bj_user_rules *user = checker->user;

	r = bj_secrets_new(user ? user->secrets : NULL, user ? user->n_secrets : 0,
			   &checker->secrets, &bad, err);
	if (r < 0 && user && bad < user->n_secrets)
		return bj_err_wrap(err, "%s:%u: rule %s", user_rules, user->secret_lines[bad],
				   user->secrets[bad].rule.id);
	return r == 0 && user ? try_examples(checker, user_rules, err) : r;
}

int bj_checker_new(const char *user_rules, struct bj_checker **ret, struct bj_err *err)
{
	struct bj_checker *checker = calloc(1, sizeof(*checker));

	if (!checker)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot load the rules");

	const int r = load(checker, user_rules, err);

	if (r < 0) {
		bj_checker_free(checker);
		return r;
	}
	*ret = checker;
	return 0;
}

void bj_checker_free(struct bj_checker *checker)
{
	if (!checker)
		return;
	bj_secrets_free(checker->secrets);
	bj_user_rules_free(checker->user);
	free(checker);
}

const struct bj_secrets *bj_checker_secrets(const struct bj_checker *checker)
{
	return checker->secrets;
}

const struct bj_user_rules *bj_checker_user_rules(const struct bj_checker *checker)
{
	return checker->user;
}

char *bj_checker_mask(const struct bj_checker *checker, const char *text, size_t size)
{
	struct bj_spans spans = { 0 };
	char *copy = malloc(size + 1);

	if (!copy)
		return NULL;
	if (size)
		memcpy(copy, text, size);
	copy[size] = '\0';
	if (bj_secrets_find(checker->secrets, BJ_RULE_ANY, text, size, &spans, NULL) < 0) {
		free(copy);
		return NULL;
	}
	bj_secrets_mask(copy, size, &spans);
	bj_spans_done(&spans);
	return copy;
}

static int find_secrets(const struct bj_checker *checker, const struct bj_check_request *request,
			struct work *work, struct bj_err *err)
{
	const int r = bj_secrets_find(checker->secrets, (enum bj_rule_language)request->language,
				      request->text, request->size, &work->secrets, err);

	for (size_t i = 0; r == 0 && i < work->secrets.n; i++) {
		const struct bj_span *span = &work->secrets.items[i];

		bj_findings_add(&work->findings, span->rule, span->start, span->end, NULL);
	}
	return r;
}

/* The text as the interpreter splits it into lines. CPython ends a line at a lone carriage return
 * and skips a byte-order mark; the grammar does neither, so "# x\rcode()" would hide in a comment.
 * The copy has the same size: places stay true. */
static int plain_lines(const struct bj_check_request *request, struct work *work,
		       struct bj_check_request *ret, struct bj_err *err)
{
	const bool bom = request->size >= 3 && memcmp(request->text, "\xef\xbb\xbf", 3) == 0;

	*ret = *request;
	if (!request->size || request->language != BJ_LANG_PYTHON ||
	    (!bom && !memchr(request->text, '\r', request->size)))
		return 0;
	work->text = malloc(request->size);
	if (!work->text)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot check the script");
	memcpy(work->text, request->text, request->size);
	if (bom)
		memcpy(work->text, "\n\n\n", 3);
	for (size_t i = 0; i < request->size; i++)
		if (work->text[i] == '\r')
			work->text[i] = '\n';
	ret->text = work->text;
	return 0;
}

/* Whether a secret was found already where @node is. */
static bool is_known(const struct bj_spans *spans, size_t n, size_t start, size_t end)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (spans->items[mid].end <= start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && spans->items[lo].start < end;
}

#define PIECED 16 /* secrets whose pieces are masked wherever they stand */

/* Secrets that the script puts together. What follows a telling name is not judged here: the name
 * of a variable is no part of these texts. */
static int find_joined(const struct bj_checker *checker, const struct bj_tree *tree,
		       struct work *work, struct bj_err *err)
{
	struct bj_joined joined;
	struct bj_spans spans = { 0 };
	const size_t known = work->secrets.n;
	size_t pieced = 0, behind = 0; /* @behind: the end of the last one */
	int r = bj_joined_find(tree, &joined, err);

	if (r < 0)
		return r;
	if (joined.n)
		r = bj_secrets_find(checker->secrets, BJ_RULE_ANY, joined.text.data,
				    joined.text.size, &spans, err);
	for (size_t i = 0; r == 0 && i < spans.n; i++) {
		const struct bj_span *span = &spans.items[i];
		const size_t at = bj_joined_at(&joined, span->start)->node;
		const struct bj_node *node = &tree->nodes[at];
		const char *s = joined.text.data + span->start; /* up to its line end */

		if (span->rank >> 16 == BJ_SECRET_ASSIGN || node->start < behind ||
		    is_known(&work->secrets, known, node->start, node->end))
			continue;
		behind = node->end;
		bj_findings_add(&work->findings, span->rule, node->start, node->end, NULL);
		bj_spans_add(&work->secrets,
			     &(struct bj_span){ span->rule, node->start, node->end, span->rank });
		if (pieced++ < PIECED)
			bj_joined_pieces(tree, s, strcspn(s, "\n"), span->rule, &work->secrets);
	}
	bj_spans_merge(&work->secrets);
	bj_spans_done(&spans);
	bj_joined_done(&joined);
	return r < 0 || !work->secrets.failed
		       ? r
		       : bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot look for secrets");
}

static int run_tree_layers(const struct bj_checker *checker, const struct bj_check_request *request,
			   struct work *work, struct bj_err *err)
{
	const bool imports =
		request->imports != BJ_LAYER_OFF || request->policy == BJ_POLICY_STRICT;
	const struct bj_user_rules *user = checker->user;
	struct bj_check_request plain;
	struct bj_tree *tree = NULL;
	int r = plain_lines(request, work, &plain, err);

	if (r == 0)
		r = bj_tree_new(&plain, &tree, err);
	if (r == 0)
		r = find_joined(checker, tree, work, err);
	if (r == 0 && !request->trust)
		r = bj_layer_dangers(&plain, tree, user ? user->calls : NULL,
				     user ? user->n_calls : 0, &work->findings, err);
	if (r == 0 && imports && !request->trust)
		r = bj_layer_imports(&plain, tree, &work->findings, &work->modules, err);
	bj_tree_free(tree);
	return r;
}

static int run_layers(const struct bj_checker *checker, const struct bj_check_request *request,
		      struct work *work, struct bj_err *err)
{
	enum bj_text_verdict text = bj_layer_length(request, &work->findings);
	/* Secrets are looked for even in a text that is refused: its lines are shown. */
	int r = text == BJ_TEXT_TOO_LARGE ? 0 : find_secrets(checker, request, work, err);

	if (r == 0 && text == BJ_TEXT_FINE)
		r = run_tree_layers(checker, request, work, err);
	if (r < 0)
		return r;
	if (work->findings.failed || work->modules.failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot check the script");
	return 0;
}

int bj_check(const struct bj_checker *checker, const struct bj_check_request *asked,
	     struct bj_report *ret, struct bj_err *err)
{
	struct work work = { 0 };
	struct bj_report report = { 0 };
	struct bj_check_request request;
	AUTO_FREE char *decoded = NULL;

	if (bj_decode(asked, &request, &decoded) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot check the script");

	int r = run_layers(checker, &request, &work, err);

	if (r == 0)
		r = bj_risk_rate(&request, &work.findings, &report, err);
	if (r == 0)
		r = bj_report_build(&request, &work.findings, &work.secrets, &report, err);
	if (r == 0) {
		report.blocked_imports = BJ_TAKE_PTR(work.modules.items);
		report.n_blocked_imports = work.modules.n;
		work.modules.n = 0;
		*ret = report;
	} else {
		bj_report_done(&report);
	}
	work_done(&work);
	return r;
}

void bj_check_keep_memory(void)
{
	mallopt(M_TOP_PAD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 8 << 20);
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
}
