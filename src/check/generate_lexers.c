/* SPDX-License-Identifier: Apache-2.0 */
/* Write the lexers of the grammars and the names of their nodes' children as tables:
 * bj-generate-lexers OUT.c
 *
 * A lexer that tree-sitter makes is a function over states; what it does next depends on its state,
 * the next character, and whether the text is over. Here it is built so that it takes a single step
 * (lexer_steps.h), and asked for all that can happen with plain ASCII. NUL is left out: the text
 * may be over there. */
#include "check/lexer_steps.h"
#include "check/lexer_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 4096, BYTES = 128 };

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_bash(void);

typedef bool lex_fn(TSLexer *lexer, TSStateId state);

struct table {
	bool known[STATES];
	TSStateId todo[STATES];
	unsigned n_todo, n_states;
	uint32_t accepts[STATES];
	uint32_t steps[STATES][BYTES]; /* the next state, plus one, twice, and one more: skipped */
	uint8_t classes[BYTES];
	unsigned columns[BYTES], n_classes; /* by class: a byte of it */
};

static bool never(const TSLexer *lexer)
{
	(void)lexer;
	return false;
}

static void nothing(TSLexer *lexer)
{
	(void)lexer;
}

static void add_state(struct table *t, TSStateId state)
{
	if (state >= STATES) {
		fprintf(stderr, "bj-generate-lexers: more than %d states\n", STATES);
		exit(1);
	}
	if (t->known[state])
		return;
	t->known[state] = true;
	t->todo[t->n_todo++] = state;
	if (state >= t->n_states)
		t->n_states = state + 1u;
}

static void read_state(struct table *t, lex_fn *lex, TSStateId state)
{
	for (int c = 1; c < BYTES; c++) {
		struct bj_step step = {
			.lexer = { .lookahead = c, .eof = never, .mark_end = nothing }
		};
		const bool accepted = lex(&step.lexer, state);

		t->accepts[state] = accepted ? step.lexer.result_symbol + 1u : 0;
		if (!step.moved)
			continue;
		t->steps[state][c] = (step.to + 1u) * 2 + step.skipped;
		add_state(t, step.to);
	}
	t->steps[state][0] = BJ_LEXER_ASK;
}

static bool same_column(const struct table *t, unsigned a, unsigned b)
{
	for (unsigned s = 0; s < t->n_states; s++)
		if (t->steps[s][a] != t->steps[s][b])
			return false;
	return true;
}

/* Most bytes are the same to a lexer: letters that begin no keyword, digits. */
static void find_classes(struct table *t)
{
	for (unsigned c = 0; c < BYTES; c++) {
		unsigned k = 0;

		while (k < t->n_classes && !same_column(t, c, t->columns[k]))
			k++;
		if (k == t->n_classes)
			t->columns[t->n_classes++] = c;
		t->classes[c] = (uint8_t)k;
	}
}

static unsigned width_of(const struct table *t)
{
	return (t->n_classes + 1 + 3) / 4 * 4;
}

static uint32_t row_step(const struct table *t, unsigned state, unsigned class)
{
	const uint32_t step = t->known[state] ? t->steps[state][t->columns[class]] : BJ_LEXER_ASK;
	const uint32_t next = step / 2 - 1;

	if (step <= BJ_LEXER_ASK)
		return step;
	return (BJ_LEXER_FIRST + next * width_of(t)) | (step % 2 ? BJ_LEXER_SKIPS : 0) |
	       (t->accepts[next] ? BJ_LEXER_ACCEPTS : 0);
}

static void write_table(FILE *f, const struct table *t, const char *name)
{
	const unsigned width = width_of(t);

	if (BJ_LEXER_FIRST + t->n_states * width > UINT16_MAX) {
		fprintf(stderr, "bj-generate-lexers: %s is too large\n", name);
		exit(1);
	}
	fprintf(f, "static const uint8_t %s_columns[256] = {", name);
	for (unsigned c = 0; c < 256; c++)
		fprintf(f, "%s%u,", c % 24 ? "" : "\n", (c < BYTES ? t->classes[c] : 0) + 1u);
	fprintf(f, "\n};\nstatic const uint16_t %s_rows[] = {\n0,0,0,0,", name);
	for (unsigned s = 0; s < t->n_states; s++) {
		fprintf(f, "\n%u,", t->accepts[s]);
		for (unsigned k = 0; k + 1 < width; k++)
			fprintf(f, "%u,", k < t->n_classes ? row_step(t, s, k) : 0);
	}
	fprintf(f, "\n};\nconst struct bj_lexer_table %s = { %s_columns, %u, %s_rows };\n", name,
		name, width, name);
}

static void make_table(FILE *f, const TSLanguage *language, bool words, const char *name)
{
	lex_fn *lex = words ? language->keyword_lex_fn : language->lex_fn;
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		exit(1);
	add_state(t, 0);
	for (uint32_t i = 0; !words && i < language->state_count; i++)
		if (language->lex_modes[i].lex_state != (uint16_t)-1)
			add_state(t, language->lex_modes[i].lex_state);
	while (t->n_todo)
		read_state(t, lex, t->todo[--t->n_todo]);
	find_classes(t);
	write_table(f, t, name);
	free(t);
}

/* What each production calls each of its children; of two fields the first one counts. */
static void make_names(FILE *f, const TSLanguage *language, const char *name)
{
	const unsigned width = language->max_alias_sequence_length;
	const unsigned n = language->production_id_count * width;
	struct bj_child_name *names = calloc(n + 1u, sizeof(*names));

	if (!names)
		exit(1);
	for (unsigned i = width; i < n; i++) {
		names[i].alias = language->alias_sequences[i];
		names[i].named = language->symbol_metadata[names[i].alias].named;
	}
	for (unsigned i = 1; i < language->production_id_count; i++) {
		const TSFieldMapSlice slice = language->field_map_slices[i];

		for (unsigned k = slice.length; k-- > 0;) {
			const TSFieldMapEntry *entry =
				&language->field_map_entries[slice.index + k];

			if (!entry->inherited && entry->child_index < width)
				names[i * width + entry->child_index].field =
					(uint8_t)entry->field_id;
		}
	}
	fprintf(f, "const struct bj_child_name %s[] = {", name);
	/* One more: a frame looks at the name behind its last child. */
	for (unsigned i = 0; i <= n; i++)
		fprintf(f, "%s{%u,%u,%d},", i % 8 ? "" : "\n", names[i].alias, names[i].field,
			names[i].named);
	fprintf(f, "\n};\n");
	free(names);
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "w") : NULL;

	if (!f)
		return 2;
	fprintf(f, "/* Made by bj-generate-lexers. */\n#include \"check/lexer_table.h\"\n");
	make_table(f, tree_sitter_python(), false, "bj_lexer_python");
	make_table(f, tree_sitter_python(), true, "bj_lexer_python_words");
	make_table(f, tree_sitter_bash(), false, "bj_lexer_bash");
	make_table(f, tree_sitter_bash(), true, "bj_lexer_bash_words");
	make_names(f, tree_sitter_python(), "bj_names_python");
	make_names(f, tree_sitter_bash(), "bj_names_bash");
	return fclose(f) ? 1 : 0;
}
