/* SPDX-License-Identifier: Apache-2.0 */
#include "record/known.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "check/secrets.h"

#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_VALUES = 64, LEAST = 6, LEAST_LINE = 16, MOST = 8192, MAX_TEXT = 1 << 20 };

static void add(struct bj_known *k, const char *data, size_t size)
{
	struct bj_known_value *list = k->n < MAX_VALUES && size >= LEAST && size <= MOST
					      ? realloc(k->values, (k->n + 1) * sizeof(*list))
					      : NULL;
	char *copy = list ? malloc(size) : NULL;

	if (list)
		k->values = list;
	if (!copy)
		return;
	memcpy(copy, data, size);
	list[k->n++] = (struct bj_known_value){ .data = copy, .size = size };
}

/* Of a key with several lines each line counts: none of them may appear by itself. */
static void add_lines(struct bj_known *k, const char *data, size_t size)
{
	const char *end = data + size, *line = data;

	if (!memchr(data, '\n', size)) {
		add(k, data, size);
		return;
	}
	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		const size_t n = (size_t)((stop ? stop : end) - line);

		if (n >= LEAST_LINE)
			add(k, line, n);
		line += n + 1;
	}
}

static void search(const struct bj_checker *checker, const char *text, size_t size,
		   struct bj_known *ret)
{
	struct bj_spans spans = { 0 };

	if (size < LEAST || size > MAX_TEXT ||
	    bj_secrets_find(bj_checker_secrets(checker), BJ_RULE_ANY, text, size, &spans, NULL) < 0)
		return;
	for (size_t i = 0; i < spans.n; i++)
		add_lines(ret, text + spans.items[i].start,
			  spans.items[i].end - spans.items[i].start);
	bj_spans_done(&spans);
}

/* One text of all of them: a value may stand after its flag. */
static void search_list(const struct bj_checker *checker, const char *const *list, char between,
			struct bj_known *ret)
{
	AUTO_BUF struct bj_buf text = { .max = MAX_TEXT };

	for (size_t i = 0; list && list[i]; i++) {
		bj_buf_puts(&text, list[i]);
		bj_buf_add(&text, &between, 1);
	}
	if (text.size && !text.failed)
		search(checker, text.data, text.size, ret);
	if (text.data)
		sodium_memzero(text.data, text.size);
}

/* A file can be read again; a stream cannot. */
static void search_stdin(const struct bj_checker *checker, int fd, struct bj_known *ret)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_TEXT)
		return;

	AUTO_FREE char *text = malloc((size_t)st.st_size + 1);
	const ssize_t n = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;

	if (n > 0) {
		search(checker, text, (size_t)n, ret);
		sodium_memzero(text, (size_t)n);
	}
}

void bj_known_find(const struct bj_checker *checker, const struct bj_spec *spec, bool script,
		   struct bj_known *ret)
{
	*ret = (struct bj_known){ 0 };
	if (!checker)
		return;
	if (script)
		search(checker, spec->script, spec->script_size, ret);
	search_list(checker, spec->args, ' ', ret);
	search_list(checker, spec->env, '\n', ret);
	for (size_t i = 0; i < spec->n_inputs; i++)
		search(checker, spec->inputs[i].data, spec->inputs[i].size, ret);
	search_stdin(checker, spec->stdin_fd, ret);
}

void bj_known_done(struct bj_known *k)
{
	for (size_t i = 0; i < k->n; i++) {
		sodium_memzero(k->values[i].data, k->values[i].size);
		free(k->values[i].data);
	}
	free(k->values);
	*k = (struct bj_known){ 0 };
}

void bj_known_mask(const struct bj_known *known, char *text, size_t size)
{
	for (size_t i = 0; known && i < known->n; i++) {
		const struct bj_known_value *v = &known->values[i];
		char *at = text;

		/* A value may look like what is left of it: the search goes on behind it. */
		while ((at = memmem(at, size - (size_t)(at - text), v->data, v->size))) {
			size_t start = (size_t)(at - text), end = start + v->size;

			bj_utf8_widen(text, size, &start, &end);
			memset(text + start, '*', end - start);
			at = text + end;
		}
	}
}
