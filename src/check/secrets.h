/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/layer.h"

#include <hs/hs.h>

/* Secrets in text, found by patterns that libhs matches all at once and in linear time. What a
 * pattern points at is then judged in C: is it a value, and does it look like a real one? */

/* How a match leads to the secret; rules/secrets.yaml explains them. */
enum bj_secret_kind {
	BJ_SECRET_TOKEN,
	BJ_SECRET_KEYED,
	BJ_SECRET_ASSIGN,
	BJ_SECRET_FLAG,
	BJ_SECRET_URL,
	BJ_SECRET_BLOCK,
	BJ_SECRET_PIPED,
	BJ_SECRET_PLAIN, /* a pattern of the user: the match is the secret, no judgement */
};

/* How much a value must look like a secret. A password is any word that is no placeholder; a
 * token is called one only when it looks made by a machine. */
enum bj_strength { BJ_STRENGTH_WEAK, BJ_STRENGTH_WORD, BJ_STRENGTH_STRONG, BJ_STRENGTH_LONG };

struct bj_secret_rule {
	struct bj_rule rule;
	const char *pattern;
	enum bj_secret_kind kind;
	enum bj_strength strength;
};

/* The libhs flags of a pattern: the start of a match matters only where it is the secret. */
static inline unsigned bj_secret_flags(enum bj_secret_kind kind)
{
	const bool end_only = kind == BJ_SECRET_ASSIGN || kind == BJ_SECRET_FLAG ||
			      kind == BJ_SECRET_URL || kind == BJ_SECRET_PIPED;

	return end_only ? 0 : HS_FLAG_SOM_LEFTMOST;
}

/* The bytes of a secret, to be masked; several lines for a private key. */
struct bj_span {
	const struct bj_rule *rule;
	size_t start, end;
	unsigned rank; /* of two rules that see the same bytes, the lower one names them */
};

/* Spans of one text by start, none overlapping. Zero is a valid empty list. */
struct bj_spans {
	struct bj_span *items;
	size_t n;
	uint32_t room;
	bool failed;
};

void bj_spans_done(struct bj_spans *spans);

/* Add a copy of @span; its place is found by bj_spans_merge(), which makes of spans that overlap
 * one of the rule with the best rank. */
void bj_spans_add(struct bj_spans *spans, const struct bj_span *span);
void bj_spans_merge(struct bj_spans *spans);

/* The built-in rules with those of the user. Immutable once made: any thread may use it. */
struct bj_secrets;

/* @extra: rules to add, borrowed; their patterns are compiled now, by the libhs.so of the
 * machine. On failure *@ret_bad is the index of the rule that is wrong, or n_extra when none
 * is. The caller frees *@ret. */
int bj_secrets_new(const struct bj_secret_rule *extra, size_t n_extra, struct bj_secrets **ret,
		   size_t *ret_bad, struct bj_err *err);
void bj_secrets_free(struct bj_secrets *secrets); /* NULL is fine */

/* Find every secret of @text. @language: BJ_RULE_ANY reads it as both. */
int bj_secrets_find(const struct bj_secrets *secrets, enum bj_rule_language language,
		    const char *text, size_t size, struct bj_spans *ret, struct bj_err *err);

/* Write a star over every character of the spans; line ends stay. @text is changed in place. A
 * character that a span cuts goes as a whole: what was UTF-8 still is. */
void bj_secrets_mask(char *text, size_t size, const struct bj_spans *spans);

const struct bj_secret_rule *bj_rules_secrets(size_t *ret_n);

/* Where a candidate leads: judge what stands at a match of @rule that ends at @to (and begins at
 * @from, for kinds that have it). True with the secret's bytes in *@ret_start, *@ret_end when it
 * looks real. Reads a bounded stretch around the match. */
bool bj_secret_judge(const struct bj_secret_rule *rule, enum bj_rule_language language,
		     const char *text, size_t size, size_t from, size_t to, size_t *ret_start,
		     size_t *ret_end);

/* Does [@text, @size) look like a real secret and not like a placeholder? */
bool bj_secret_value_is_real(const char *text, size_t size, enum bj_strength strength);

/* The secrets half of a checker, borrowed. */
const struct bj_secrets *bj_checker_secrets(const struct bj_checker *checker);
