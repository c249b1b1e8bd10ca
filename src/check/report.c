/* SPDX-License-Identifier: Apache-2.0 */
#include "check/report.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/utf8.h"
#include "check/decode.h"
#include "check/place.h"

#include <ctype.h>
#include <errno.h>

/* One rule that fires a thousand times says no more than one that fires fifty times; dropping
 * the rest never changes the verdict, which hangs on the rule. */
enum { MAX_PER_RULE = 50, MAX_SOURCE = 240 };

static const struct bj_rule SYNTAX[] = {
	[BJ_LANG_PYTHON] = { .id = "syntax-python",
			     .layer = "syntax",
			     .language = BJ_RULE_PYTHON,
			     .severity = BJ_SEV_HIGH,
			     .message = "Python's own parser refuses the script",
			     .positive = "def foo(",
			     .negative = "def foo(): pass" },
	[BJ_LANG_BASH] = { .id = "syntax-bash",
			   .layer = "syntax",
			   .language = BJ_RULE_BASH,
			   .severity = BJ_SEV_HIGH,
			   .message = "bash's own parser refuses the script",
			   .positive = "if [ true",
			   .negative = "if [ true ]; then :; fi" },
};

const struct bj_rule *bj_rules_syntax(size_t *ret_n)
{
	*ret_n = BJ_ARRAY_SIZE(SYNTAX);
	return SYNTAX;
}

bool bj_rule_blocks(const struct bj_check_request *request, const struct bj_rule *rule)
{
	const bool strict = request->policy == BJ_POLICY_STRICT;

	if (strcmp(rule->layer, "length") == 0)
		return rule->severity >= BJ_SEV_HIGH;
	if (request->policy == BJ_POLICY_OFF)
		return false;
	if (strcmp(rule->layer, "imports") == 0)
		return strict || request->imports == BJ_LAYER_BLOCK;
	return rule->severity >= BJ_SEV_HIGH || (strict && rule->access);
}

static int by_rule(const void *a, const void *b)
{
	const struct bj_hit *x = a, *y = b;
	const int order = x->rule == y->rule ? 0 : strcmp(x->rule->id, y->rule->id);

	if (order)
		return order;
	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_place(const void *a, const void *b)
{
	const struct bj_hit *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rule->severity != y->rule->severity)
		return x->rule->severity > y->rule->severity ? -1 : 1;
	return strcmp(x->rule->id, y->rule->id);
}

static void thin_out(struct bj_findings *findings)
{
	size_t kept = 0, same = 0;

	if (findings->n > MAX_PER_RULE) {
		qsort(findings->items, findings->n, sizeof(*findings->items), by_rule);
		for (size_t i = 0; i < findings->n; i++) {
			struct bj_hit *hit = &findings->items[i];

			same = kept && findings->items[kept - 1].rule == hit->rule ? same + 1 : 1;
			if (same <= MAX_PER_RULE)
				findings->items[kept++] = *hit;
			else
				free(hit->message);
		}
		findings->n = kept;
	}
	if (findings->n > 1)
		qsort(findings->items, findings->n, sizeof(*findings->items), by_place);
}

static char *source_line(const struct bj_place *place, const char *masked)
{
	if (place->at - place->line_start > MAX_SOURCE)
		return NULL;

	const size_t end = bj_place_line_end(place, MAX_SOURCE);
	size_t n;

	return bj_utf8_repair(masked + place->line_start, end - place->line_start, &n);
}

static int fill_finding(const struct bj_check_request *request, const struct bj_hit *hit,
			struct bj_place *place, const char *masked, struct bj_finding *ret)
{
	const char *message = hit->message ? hit->message : hit->rule->message;

	ret->layer = strdup(hit->rule->layer);
	ret->rule = strdup(hit->rule->id);
	ret->message = strdup(message);
	ret->severity = hit->rule->severity;
	ret->blocks = bj_rule_blocks(request, hit->rule);
	/* An empty range at the start is about the whole script; elsewhere something is missing. */
	if (hit->end > 0) {
		bj_place_seek(place, hit->start);
		ret->line = place->line;
		ret->column = place->column;
		ret->end_column = bj_place_end_column(place, hit->end);
		ret->source = source_line(place, masked);
	}
	return ret->layer && ret->rule && ret->message ? 0 : -1;
}

/* The first finding that blocks as one sentence: why, which layer, which rule, which line. */
static char *describe(const struct bj_finding *finding)
{
	struct bj_buf buf = { 0 };
	size_t n = strlen(finding->message);

	while (n && finding->message[n - 1] == '.')
		n--;
	bj_buf_add(&buf, finding->message, n);
	if (strcmp(finding->layer, "syntax") == 0)
		return bj_buf_take(&buf);
	bj_buf_printf(&buf, " (%s layer, rule %s", finding->layer, finding->rule);
	if (finding->line)
		bj_buf_printf(&buf, ", line %u", finding->line);
	bj_buf_puts(&buf, ")");
	return bj_buf_take(&buf);
}

static bool is_unparsed(const struct bj_finding *finding)
{
	return strcmp(finding->rule, "py-unparsed") == 0 ||
	       strcmp(finding->rule, "sh-unparsed") == 0;
}

/* What the script is refused for: the first finding that blocks, and one about text that could
 * not be read only when there is no other. */
static const struct bj_finding *first_blocking(const struct bj_report *report)
{
	const struct bj_finding *unparsed = NULL;

	for (size_t i = 0; i < report->n_findings; i++) {
		const struct bj_finding *f = &report->findings[i];

		if (f->blocks && !is_unparsed(f))
			return f;
		if (f->blocks && !unparsed)
			unparsed = f;
	}
	return unparsed;
}

static int set_verdict(struct bj_report *report)
{
	const struct bj_finding *first = first_blocking(report);
	char *error = first ? describe(first) : NULL;

	if (first && !error)
		return -1;
	free(report->error);
	report->error = error;
	report->blocked = first != NULL;
	report->unparsed = first && is_unparsed(first);
	return 0;
}

int bj_report_build(const struct bj_check_request *request, struct bj_findings *findings,
		    const struct bj_spans *secrets, struct bj_report *ret, struct bj_err *err)
{
	AUTO_FREE char *masked = malloc(request->size + 1);
	struct bj_place place;
	int failed = 0;

	thin_out(findings);
	ret->findings = findings->n ? calloc(findings->n, sizeof(*ret->findings)) : NULL;
	if (!masked || (findings->n && !ret->findings))
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot report on the script");
	if (request->size)
		memcpy(masked, request->text, request->size);
	bj_secrets_mask(masked, request->size, secrets);
	bj_place_init(&place, request->language, request->text, request->size);
	for (size_t i = 0; i < findings->n; i++)
		failed |= fill_finding(request, &findings->items[i], &place, masked,
				       &ret->findings[ret->n_findings++]);
	if (failed || set_verdict(ret) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot report on the script");
	return 0;
}

static void finding_done(struct bj_finding *finding)
{
	free(finding->layer);
	free(finding->rule);
	free(finding->message);
	free(finding->source);
}

void bj_report_done(struct bj_report *report)
{
	for (size_t i = 0; i < report->n_findings; i++)
		finding_done(&report->findings[i]);
	free(report->findings);
	free(report->error);
	for (size_t i = 0; i < report->n_risk_reasons; i++)
		free(report->risk_reasons[i]);
	free(report->risk_reasons);
	for (size_t i = 0; i < report->n_blocked_imports; i++)
		free(report->blocked_imports[i]);
	free(report->blocked_imports);
	*report = (struct bj_report){ 0 };
}

static void drop_unparsed(struct bj_report *report)
{
	size_t kept = 0;

	for (size_t i = 0; i < report->n_findings; i++)
		if (is_unparsed(&report->findings[i]))
			finding_done(&report->findings[i]);
		else
			report->findings[kept++] = report->findings[i];
	report->n_findings = kept;
}

/* Put @finding where its line and column belong. Takes it on success. */
static int insert_finding(struct bj_report *report, const struct bj_finding *finding)
{
	struct bj_finding *items =
		reallocarray(report->findings, report->n_findings + 1, sizeof(*items));
	size_t at = 0;

	if (!items)
		return -1;
	report->findings = items;
	while (at < report->n_findings &&
	       (items[at].line < finding->line ||
		(items[at].line == finding->line && items[at].column <= finding->column)))
		at++;
	memmove(items + at + 1, items + at, (report->n_findings - at) * sizeof(*items));
	items[at] = *finding;
	report->n_findings++;
	return 0;
}

/* The interpreter may echo a piece of the line without what makes it a secret, so the values
 * found in the script are masked as such. */
static void mask_values(const struct bj_check_request *request, const struct bj_spans *spans,
			char *message)
{
	for (size_t i = 0; i < spans->n; i++) {
		const size_t n = spans->items[i].end - spans->items[i].start;
		const char *value = request->text + spans->items[i].start;

		for (char *at = message; n >= 4 && (at = memmem(at, strlen(at), value, n)); at += n)
			memset(at, '*', n);
	}
}

static char *masked_line(const struct bj_check_request *request, const struct bj_spans *spans,
			 uint32_t line)
{
	AUTO_FREE char *masked = malloc(request->size + 1);
	struct bj_place place;

	bj_place_init(&place, request->language, request->text, request->size);
	bj_place_seek_line(&place, line);
	if (!masked || !line || place.line != line)
		return NULL;
	/* Bash misses something behind the last line, where there is nothing to show. */
	if (place.at == place.size)
		return NULL;
	memcpy(masked, request->text, request->size);
	bj_secrets_mask(masked, request->size, spans);
	return source_line(&place, masked);
}

static char *syntax_message(const struct bj_check_request *request, uint32_t line,
			    const char *message)
{
	struct bj_buf buf = { 0 };

	bj_buf_puts(&buf, request->language == BJ_LANG_PYTHON ? "Python syntax error: "
							      : "Bash syntax error: ");
	if (line)
		bj_buf_printf(&buf, "line %u: ", line);
	bj_buf_puts(&buf, message);

	char *text = bj_buf_take(&buf);

	for (char *c = text; c && *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	return text;
}

static int add_syntax(const struct bj_checker *checker, const struct bj_check_request *request,
		      struct bj_report *report, uint32_t line, uint32_t column, const char *message,
		      struct bj_err *err)
{
	struct bj_spans spans = { 0 };
	const int r = bj_secrets_find(bj_checker_secrets(checker),
				      (enum bj_rule_language)request->language, request->text,
				      request->size, &spans, err);

	if (r < 0)
		return r;

	size_t n;
	AUTO_FREE char *plain = bj_utf8_repair(message, strlen(message), &n);

	if (plain)
		mask_values(request, &spans, plain);

	AUTO_FREE char *masked = plain ? bj_checker_mask(checker, plain, strlen(plain)) : NULL;
	struct bj_finding finding = { .layer = strdup("syntax"),
				      .rule = strdup(SYNTAX[request->language].id),
				      .message =
					      masked ? syntax_message(request, line, masked) : NULL,
				      .source = masked_line(request, &spans, line),
				      .severity = BJ_SEV_HIGH,
				      .line = line,
				      .column = column,
				      .end_column = column ? column + 1 : 0,
				      .blocks = true };

	bj_spans_done(&spans);
	if (!finding.layer || !finding.rule || !finding.message ||
	    insert_finding(report, &finding) < 0) {
		finding_done(&finding);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot report on the script");
	}
	drop_unparsed(report);
	return set_verdict(report) < 0
		       ? bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot report on the script")
		       : 0;
}

int bj_report_add_syntax(const struct bj_checker *checker, const struct bj_check_request *asked,
			 struct bj_report *report, uint32_t line, uint32_t column,
			 const char *message, struct bj_err *err)
{
	struct bj_check_request request;
	AUTO_FREE char *decoded = NULL;

	if (bj_decode(asked, &request, &decoded) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot report on the script");
	return add_syntax(checker, &request, report, line, column, message, err);
}
