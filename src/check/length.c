/* SPDX-License-Identifier: Apache-2.0 */
#include "check/length.h"

#include "base/cleanup.h"
#include "check/encoding.h"

#include <inttypes.h>

enum { CHARS, BYTES, NUL, UTF8, CODING, CRLF, BOM, BIDI };

/* Those at high refuse the script: the interpreter would, or would read another text than we do. */
static const struct bj_rule RULES[] = {
	[CHARS] = { .id = "length-chars",
		    .layer = "length",
		    .language = BJ_RULE_ANY,
		    .severity = BJ_SEV_HIGH,
		    .message = "The script has too many characters",
		    .positive = "#x\\{10000}\n",
		    .negative = "#x\\{9998}\n",
		    .coded = true },
	[BYTES] = { .id = "length-bytes",
		    .layer = "length",
		    .language = BJ_RULE_ANY,
		    .severity = BJ_SEV_HIGH,
		    .message = "The script has too many bytes",
		    .positive = "#x\\{40000}\n",
		    .negative = "#x\\{9998}\n",
		    .coded = true },
	[NUL] = { .id = "encoding-nul",
		  .layer = "length",
		  .language = BJ_RULE_ANY,
		  .severity = BJ_SEV_HIGH,
		  .message = "The script holds a NUL byte, which interpreters refuse or drop; "
			     "remove it",
		  .positive = "print('\\x00')\n",
		  .negative = "print(chr(0))\n",
		  .coded = true },
	[UTF8] = { .id = "encoding-utf8",
		   .layer = "length",
		   .language = BJ_RULE_ANY,
		   .severity = BJ_SEV_HIGH,
		   .message = "The script is not valid UTF-8; save it as UTF-8",
		   .positive = "print('\\xe9')\n",
		   .negative = "print('\\xc3\\xa9')\n",
		   .coded = true },
	[CODING] = { .id = "encoding-declared",
		     .layer = "length",
		     .language = BJ_RULE_PYTHON,
		     .severity = BJ_SEV_HIGH,
		     .message =
			     "The script declares an encoding other than UTF-8; save it as UTF-8 "
			     "and drop the declaration",
		     .positive = "# -*- coding: utf-7 -*-\nprint(1)\n",
		     .negative = "# -*- coding: utf-8 -*-\nprint(1)\n" },
	[CRLF] = { .id = "encoding-crlf",
		   .layer = "length",
		   .language = BJ_RULE_BASH,
		   .severity = BJ_SEV_LOW,
		   .message = "The script has Windows line ends; bash takes the carriage return as "
			      "part of a word",
		   .positive = "echo one\r\necho two\r\n",
		   .negative = "echo one\necho two\n" },
	[BOM] = { .id = "encoding-bom",
		  .layer = "length",
		  .language = BJ_RULE_BASH,
		  .severity = BJ_SEV_LOW,
		  .message =
			  "The script starts with a byte-order mark, which bash takes as part of "
			  "the first word",
		  .positive = "\xef\xbb\xbf"
			      "echo one\n",
		  .negative = "echo one\n" },
	[BIDI] = { .id = "encoding-bidi",
		   .layer = "length",
		   .language = BJ_RULE_ANY,
		   .severity = BJ_SEV_MEDIUM,
		   .message = "The script holds a character that reverses the text, so people read "
			      "another order than the interpreter",
		   .positive = "x = 1 # \xe2\x80\xae elif\n",
		   .negative = "x = 1 # \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d\n" },
};

const struct bj_rule *bj_rules_length(size_t *ret_n)
{
	*ret_n = BJ_ARRAY_SIZE(RULES);
	return RULES;
}

static uint64_t max_chars(const struct bj_check_request *r)
{
	return r->max_chars ? r->max_chars : BJ_MAX_CHARS;
}

static bool check_bytes(const struct bj_check_request *r, struct bj_findings *findings)
{
	const uint64_t max = r->max_bytes ? r->max_bytes : max_chars(r) * 4;
	char message[160];

	if (r->size <= max)
		return true;
	snprintf(message, sizeof(message),
		 "The script has %zu bytes and the limit is %" PRIu64
		 "; shorten it or raise check.max_script_bytes",
		 r->size, max);
	bj_findings_add(findings, &RULES[BYTES], 0, 0, message);
	return false;
}

static bool check_chars(const struct bj_check_request *r, uint64_t chars,
			struct bj_findings *findings)
{
	char message[160];

	if (chars <= max_chars(r))
		return true;
	snprintf(message, sizeof(message),
		 "The script has %" PRIu64 " characters and the limit is %" PRIu64
		 "; shorten it or raise check.max_script_chars",
		 chars, max_chars(r));
	bj_findings_add(findings, &RULES[CHARS], 0, 0, message);
	return false;
}

static bool check_encoding(const struct bj_check_request *r, const struct bj_encoding *e,
			   struct bj_findings *findings)
{
	if (e->nul != SIZE_MAX)
		bj_findings_add(findings, &RULES[NUL], e->nul, e->nul + 1, NULL);
	if (e->invalid != SIZE_MAX)
		bj_findings_add(findings, &RULES[UTF8], e->invalid, e->invalid + 1,
				e->utf16 ? "The script looks like UTF-16; save it as UTF-8" : NULL);
	if (e->bidi != SIZE_MAX)
		bj_findings_add(findings, &RULES[BIDI], e->bidi, e->bidi + 3, NULL);
	if (r->language == BJ_LANG_BASH && e->bom)
		bj_findings_add(findings, &RULES[BOM], 0, e->bom, NULL);
	if (r->language == BJ_LANG_BASH && e->crlf != SIZE_MAX)
		bj_findings_add(findings, &RULES[CRLF], e->crlf, e->crlf + 1, NULL);
	return e->nul == SIZE_MAX && e->invalid == SIZE_MAX;
}

static bool check_cookie(const struct bj_check_request *r, const struct bj_encoding *e,
			 struct bj_findings *findings)
{
	struct bj_cookie cookie;
	char message[200];

	if (r->language != BJ_LANG_PYTHON || r->decoded ||
	    !bj_cookie_find(r->text, r->size, &cookie) || bj_cookie_is_harmless(&cookie, e))
		return true;
	snprintf(message, sizeof(message),
		 "The script declares the encoding %.40s and cannot be read by it; save it as "
		 "UTF-8 and drop the declaration",
		 cookie.name);
	bj_findings_add(findings, &RULES[CODING], cookie.start, cookie.end, message);
	return false;
}

enum bj_text_verdict bj_layer_length(const struct bj_check_request *request,
				     struct bj_findings *findings)
{
	struct bj_encoding encoding;

	if (!check_bytes(request, findings))
		return BJ_TEXT_TOO_LARGE;
	bj_encoding_read(request->text, request->size, &encoding);
	if (check_chars(request, encoding.chars, findings) &&
	    check_encoding(request, &encoding, findings) &&
	    check_cookie(request, &encoding, findings))
		return BJ_TEXT_FINE;
	return BJ_TEXT_REFUSED;
}
