/* SPDX-License-Identifier: Apache-2.0 */

/* What may be kept of a result: no secret, and no code where the settings keep none. */

#include "base/cleanup.h"
#include "record/known.h"
#include "record/record.h"
#include "spec/names.h"

#include <string.h>

enum { LEAST_SECRET = 6 };

char *bj_record_mask(const struct bj_record *rec, const char *text, size_t size)
{
	/* A scan takes longer to set up than to do; and no name and value fit into so little. */
	if (rec->checker && size >= LEAST_SECRET) {
		char *masked = bj_checker_mask(rec->checker, text ? text : "", text ? size : 0);

		if (masked && text)
			bj_known_mask(rec->known, masked, size);
		return masked;
	}

	char *copy = malloc(size + 1);

	if (!copy)
		return NULL;
	if (size)
		memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

/* A result whose texts are our own. */
struct masked {
	const struct bj_record *rec;
	struct bj_result result; /* a copy; what is not masked is borrowed */
	struct bj_finding *findings;
	char **texts;
	size_t n_texts;
	bool failed;
};

static void masked_done(struct masked *m)
{
	for (size_t i = 0; i < m->n_texts; i++)
		free(m->texts[i]);
	free(m->texts);
	free(m->findings);
}

/* Put a text without secrets in place of *@text, of which @size bytes count. */
static void mask_n(struct masked *m, char **text, size_t size)
{
	if (!*text || size == 0)
		return;
	*text = bj_record_mask(m->rec, *text, size);

	char **more = realloc(m->texts, (m->n_texts + 1) * sizeof(*more));

	m->failed |= !*text || !more;
	if (more) {
		m->texts = more;
		more[m->n_texts++] = *text;
	} else {
		free(*text);
	}
}

static void mask(struct masked *m, char **text)
{
	mask_n(m, text, *text ? strlen(*text) : 0);
}

/* Lines of the script stand in findings. They also stand in what an interpreter says about its
 * errors, so where no code is kept at all its words go too. */
static void mask_findings(struct masked *m, bool code, bool words)
{
	struct bj_result *r = &m->result;

	if (r->n_findings == 0)
		return;
	m->findings = calloc(r->n_findings, sizeof(*m->findings));
	m->failed |= !m->findings;
	for (size_t i = 0; m->findings && i < r->n_findings; i++) {
		struct bj_finding *f = &m->findings[i];

		*f = r->findings[i];
		if (!code)
			f->source = NULL;
		if (!words && f->layer && strcmp(f->layer, "syntax") == 0)
			f->message = (char *)"syntax error";
		else
			mask(m, &f->message);
		mask(m, &f->source);
	}
	r->findings = m->findings;
}

static void drop_words(struct bj_result *r)
{
	r->out.data = r->err.data = NULL;
	r->out.size = r->err.size = 0;
	if (r->cause == BJ_CAUSE_EXITED || r->cause == BJ_CAUSE_REJECTED)
		r->error = r->validation_error = NULL;
}

char *bj_record_result(const struct bj_record *rec, const struct bj_result *result, bool code)
{
	__attribute__((cleanup(masked_done))) struct masked m = { .rec = rec, .result = *result };
	const bool words = rec->settings->store_code != BJ_STORE_NEVER;
	struct bj_result *r = &m.result;

	if (!words)
		drop_words(r);
	mask_n(&m, &r->out.data, r->out.size);
	mask_n(&m, &r->err.data, r->err.size);
	mask(&m, &r->error);
	mask(&m, &r->validation_error);
	mask(&m, &r->decision.reason);
	mask_findings(&m, code, words);
	return m.failed ? NULL : bj_result_to_json(r);
}
