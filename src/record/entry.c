/* SPDX-License-Identifier: Apache-2.0 */
#include "record/entry.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <sodium.h>
#include <string.h>

#define RESULT        ",\"result\":"
#define SCRIPT        "script"
#define SCRIPT_BASE64 "script_base64" /* bytes that are no text */

enum kind { NUMBER, TEXT, JSON };

/* In the order in which they are printed. */
static const struct field {
	const char *name;
	unsigned int parts;
	enum kind kind;
	size_t at;
	int64_t min, max; /* of a number */
	bool needed;      /* of a text */
} FIELDS[] = {
#define N(field, parts, min, max)                                                                  \
	{                                                                                          \
#field, parts, NUMBER, offsetof(struct bj_entry, field), min, max, false           \
	}
#define T(field, parts, needed)                                                                    \
	{                                                                                          \
#field, parts, TEXT, offsetof(struct bj_entry, field), 0, 0, needed                \
	}
#define J(field, parts)                                                                            \
	{                                                                                          \
#field, parts, JSON, offsetof(struct bj_entry, field), 0, 0, false                 \
	}
#define BOTH (BJ_ENTRY_BEGIN | BJ_ENTRY_END)
	N(parts, BOTH, BJ_ENTRY_BEGIN, BOTH),
	T(id, BOTH, true),
	N(backend, BOTH, 0, BJ_BACKEND_DIRECT),
	N(approval, BOTH, 0, BJ_DECISION_EXPIRED),
	T(approver, BOTH, false),
	N(created_us, BJ_ENTRY_BEGIN, 1, INT64_MAX / 2),
	N(started_ms, BJ_ENTRY_BEGIN, 0, INT64_MAX / 2),
	N(owner, BJ_ENTRY_BEGIN, 0, INT64_MAX),
	T(tenant, BJ_ENTRY_BEGIN, false),
	T(actor, BJ_ENTRY_BEGIN, false),
	T(tool, BJ_ENTRY_BEGIN, false),
	T(name, BJ_ENTRY_BEGIN, false),
	T(script_sha256, BJ_ENTRY_BEGIN, true),
	T(binding, BJ_ENTRY_BEGIN, false),
	J(limits, BJ_ENTRY_BEGIN),
	N(through, BJ_ENTRY_BEGIN, 0, BJ_THROUGH_API),
	N(language, BJ_ENTRY_BEGIN, 0, BJ_LANG_BASH),
	N(policy, BJ_ENTRY_BEGIN, 0, BJ_POLICY_OFF),
	N(trusted, BJ_ENTRY_BEGIN, 0, 1),
	N(risk, BJ_ENTRY_BEGIN, 0, BJ_RISK_CRITICAL),
	N(effective_risk, BJ_ENTRY_BEGIN, 0, BJ_RISK_CRITICAL),
	N(state, BJ_ENTRY_BEGIN, BJ_PENDING, BJ_RUNNING),
	N(cause, BJ_ENTRY_END, 0, BJ_CAUSE_INFRASTRUCTURE),
	N(exit_code, BJ_ENTRY_END, -1, INT32_MAX),
	N(signal, BJ_ENTRY_END, 0, INT32_MAX),
	N(ended_ms, BJ_ENTRY_END, 0, INT64_MAX / 2),
	N(duration_us, BJ_ENTRY_END, 0, INT64_MAX),
	N(cpu_us, BJ_ENTRY_END, 0, INT64_MAX),
	N(peak_memory, BJ_ENTRY_END, 0, INT64_MAX),
	T(artifact, BJ_ENTRY_END, false),
	N(artifact_bytes, BJ_ENTRY_END, 0, INT64_MAX),
	N(runs, BJ_ENTRY_END, 0, 1),
	N(memory_mib_ms, BJ_ENTRY_END, 0, INT64_MAX),
	N(output_bytes, BJ_ENTRY_END, 0, INT64_MAX),
	N(out_bytes, BJ_ENTRY_END, 0, INT64_MAX),
	N(cost_micros, BJ_ENTRY_END, 0, INT64_MAX),
#undef N
#undef T
#undef J
#undef BOTH
};

static int64_t *number_at(struct bj_entry *e, const struct field *f)
{
	return (int64_t *)(void *)((char *)e + f->at);
}

static const char **text_at(struct bj_entry *e, const struct field *f)
{
	return (const char **)(void *)((char *)e + f->at);
}

/* --- printing --------------------------------------------------------------------------------- */

static void put_field(struct bj_buf *b, const struct bj_entry *e, const struct field *f)
{
	struct bj_entry *from = (struct bj_entry *)e; /* only read */

	if (f->kind != NUMBER && !*text_at(from, f))
		return;
	if (f->kind == NUMBER) {
		bj_json_int(b, f->name, *number_at(from, f));
	} else if (f->kind == TEXT) {
		bj_json_text(b, f->name, *text_at(from, f));
	} else {
		bj_json_name(b, f->name);
		bj_buf_puts(b, *text_at(from, f));
	}
}

static void put_script(struct bj_buf *b, const char *script, size_t size)
{
	if (bj_utf8_valid(script, size)) {
		bj_json_text_n(b, SCRIPT, script, size);
		return;
	}

	const int variant = sodium_base64_VARIANT_ORIGINAL;
	const size_t room = sodium_base64_encoded_len(size, variant);

	bj_json_name(b, SCRIPT_BASE64);
	bj_buf_add(b, "\"", 1);

	char *to = bj_buf_reserve(b, room);

	if (!to)
		return;
	sodium_bin2base64(to, room, (const unsigned char *)script, size, variant);
	b->size += room - 1;
	bj_buf_add(b, "\"", 1);
}

void bj_entry_print(const struct bj_entry *e, struct bj_buf *ret)
{
	bj_buf_puts(ret, "{\"version\":1");
	for (size_t i = 0; i < BJ_ARRAY_SIZE(FIELDS); i++)
		if (FIELDS[i].parts & (unsigned int)e->parts)
			put_field(ret, e, &FIELDS[i]);
	if (e->script && (e->parts & BJ_ENTRY_END))
		put_script(ret, e->script, e->script_size);
	/* The last: whoever reads the line finds it without reading all of it. */
	if (e->result && (e->parts & BJ_ENTRY_END)) {
		bj_buf_puts(ret, RESULT);
		bj_buf_puts(ret, e->result);
	}
	bj_buf_add(ret, "}", 1);
}

/* --- parsing ---------------------------------------------------------------------------------- */

void bj_entry_done(struct bj_entry *e)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(e->own); i++)
		free(e->own[i]);
	json_decref(e->root);
	*e = (struct bj_entry){ 0 };
}

/* A text for the database ends at its first NUL: one in it is not ours. */
static bool take_text(struct bj_entry *e, const struct field *f, const json_t *value)
{
	const char *text = json_string_value(value);

	if (value && (!text || strlen(text) != json_string_length(value)))
		return false;
	*text_at(e, f) = text;
	return text || !f->needed;
}

static bool take_json(struct bj_entry *e, const struct field *f, const json_t *value, char **own)
{
	if (!value)
		return true;
	if (!json_is_object(value))
		return false;
	*own = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(12));
	*text_at(e, f) = *own;
	return *own != NULL;
}

static bool take_number(struct bj_entry *e, const struct field *f, const json_t *value)
{
	const json_int_t n = json_integer_value(value);

	*number_at(e, f) = n;
	return json_is_integer(value) && n >= f->min && n <= f->max;
}

static bool take_script(struct bj_entry *e)
{
	const json_t *text = json_object_get(e->root, SCRIPT);
	const json_t *coded = json_object_get(e->root, SCRIPT_BASE64);

	if (json_is_string(text)) {
		e->script = json_string_value(text);
		e->script_size = json_string_length(text);
	}
	if (!json_is_string(coded))
		return !coded;

	const size_t size = json_string_length(coded);

	e->own[2] = malloc(size + 1);
	e->script = e->own[2];
	return e->own[2] && sodium_base642bin((unsigned char *)e->own[2], size + 1,
					      json_string_value(coded), size, NULL, &e->script_size,
					      NULL, sodium_base64_VARIANT_ORIGINAL) == 0;
}

/* Whether @text is one object and nothing else, as far as braces and quotes tell. */
static bool is_object(const char *text, size_t size)
{
	bool quoted = false;
	size_t depth = 0;

	for (size_t i = 0; i < size; i++) {
		const char c = text[i];

		if ((unsigned char)c < 0x20 || (depth == 0 && c != '{') || (depth == 0 && i > 0))
			return false;
		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && (c == '}' || c == ']'))
			depth--;
	}
	return size > 0 && depth == 0 && text[size - 1] == '}' && bj_utf8_valid(text, size);
}

/* The result is what the database keeps, word for word: to read it and to print it again would take
 * longer than all the rest. Where it begins no text can look like it, since quotes in texts have a
 * backslash before them. NULL: there is none, or not at the end. */
static const char *find_result(const char *line, size_t size, size_t *ret_size)
{
	const size_t mark = strlen(RESULT);
	const char *at = memmem(line, size, RESULT, mark);

	if (!at || size < 1 || line[size - 1] != '}')
		return NULL;
	at += mark;
	*ret_size = (size_t)(line + size - 1 - at);
	return is_object(at, *ret_size) ? at : NULL;
}

/* What comes before the result, as an object of its own; all of the line when there is none. */
static json_t *load(const char *line, size_t size, const char *result)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
	AUTO_BUF struct bj_buf head = { 0 };

	if (!result)
		return json_loadb(line, size, flags, NULL);
	bj_buf_add(&head, line, (size_t)(result - line) - strlen(RESULT));
	bj_buf_add(&head, "}", 1);
	return head.failed ? NULL : json_loadb(head.data, head.size, flags, NULL);
}

/* Elsewhere than at the end of the line it is read and printed like any other object. */
static bool take_result(struct bj_entry *e, const char *result, size_t size)
{
	const json_t *value = json_object_get(e->root, "result");

	if (!result && value && !json_is_object(value))
		return false;
	if (result)
		e->own[1] = strndup(result, size);
	else if (value)
		e->own[1] = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(12));
	e->result = e->own[1];
	return e->result || (!result && !value);
}

static bool take_fields(struct bj_entry *e)
{
	const json_int_t parts = json_integer_value(json_object_get(e->root, "parts"));

	if (parts < BJ_ENTRY_BEGIN || parts > (BJ_ENTRY_BEGIN | BJ_ENTRY_END))
		return false;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(FIELDS); i++) {
		const struct field *f = &FIELDS[i];
		const json_t *value = json_object_get(e->root, f->name);
		bool good = true;

		if (!(f->parts & (unsigned int)parts))
			continue;
		if (f->kind == NUMBER)
			good = take_number(e, f, value);
		else if (f->kind == TEXT)
			good = take_text(e, f, value);
		else
			good = take_json(e, f, value, &e->own[0]);
		if (!good)
			return false;
	}
	return !(parts & BJ_ENTRY_END) || take_script(e);
}

int bj_entry_parse(const char *line, size_t size, struct bj_entry *ret)
{
	size_t result_size = 0;
	const char *result = find_result(line, size, &result_size);
	struct bj_entry e = { .root = load(line, size, result) };
	const json_int_t version = json_integer_value(json_object_get(e.root, "version"));

	if (version != 1 || !take_fields(&e) || !e.id[0] || strlen(e.id) > 32 ||
	    ((e.parts & BJ_ENTRY_END) && !take_result(&e, result, result_size))) {
		bj_entry_done(&e);
		return -BJ_E_INVALID;
	}
	*ret = e;
	return 0;
}
