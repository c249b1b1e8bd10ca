/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jsonc.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

/* A piece of the text. */
struct span {
	size_t at, end;
};

/* --- reading ---------------------------------------------------------------------------------- */

/* Past the string that begins at @at; @size when it does not end. */
static size_t skip_string(const char *text, size_t size, size_t at)
{
	for (at++; at < size && text[at] != '"'; at++)
		at += text[at] == '\\';
	return at < size ? at + 1 : size;
}

/* How long the comment at @at is; 0: there is none. */
static size_t comment_at(const char *text, size_t size, size_t at)
{
	const char *end;

	if (size - at < 2 || text[at] != '/')
		return 0;
	if (text[at + 1] == '/') {
		end = memchr(text + at, '\n', size - at);
		return end ? (size_t)(end - text) - at : size - at;
	}
	if (text[at + 1] != '*')
		return 0;
	end = memmem(text + at + 2, size - at - 2, "*/", 2);
	return end ? (size_t)(end - text) + 2 - at : size - at;
}

/* Comments and trailing commas become blanks, so that places stay where they are. */
static void blank(char *text, size_t size)
{
	size_t comma = size; /* the last one with nothing behind it yet */

	for (size_t at = 0; at < size; at++) {
		const size_t comment = comment_at(text, size, at);

		if (comment) {
			memset(text + at, ' ', comment);
			at += comment - 1;
		} else if (text[at] == '"') {
			at = skip_string(text, size, at) - 1;
			comma = size;
		} else if (text[at] == ',') {
			comma = at;
		} else if (!strchr(" \t\r\n", text[at])) {
			if (comma < size && (text[at] == '}' || text[at] == ']'))
				text[comma] = ' ';
			comma = size;
		}
	}
}

static size_t skip_blanks(const char *text, size_t at)
{
	return at + strspn(text + at, " \t\r\n");
}

/* Past the value that begins at @at. The text is JSON. */
static size_t skip_value(const char *text, size_t size, size_t at)
{
	int depth = 0;

	do {
		if (text[at] == '"') {
			at = skip_string(text, size, at);
			continue;
		}
		depth += text[at] == '{' || text[at] == '[';
		depth -= text[at] == '}' || text[at] == ']';
		at++;
	} while (at < size && (depth > 0 || !strchr(",}] \t\r\n", text[at])));
	return at;
}

/* Where the value of member @key of the object at @object is. */
static bool find_member(const char *text, size_t size, size_t object, const char *key,
			struct span *ret)
{
	size_t at = skip_blanks(text, object + 1);

	while (at < size && text[at] == '"') {
		const size_t name = at + 1, end = skip_string(text, size, at) - 1;

		at = skip_blanks(text, end + 1) + 1; /* the colon */
		at = skip_blanks(text, at);
		ret->at = at;
		ret->end = at = skip_value(text, size, at);
		if (end - name == strlen(key) && memcmp(text + name, key, end - name) == 0)
			return true;
		at = skip_blanks(text, at);
		at = skip_blanks(text, at + (text[at] == ','));
	}
	return false;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void replace(const char *text, size_t size, struct span span, const char *with,
		    struct bj_buf *ret)
{
	bj_buf_add(ret, text, span.at);
	bj_buf_puts(ret, with);
	bj_buf_add(ret, text + span.end, size - span.end);
}

/* Put "name": value first into the object at @object. */
static void insert(const char *text, const char *clean, size_t size, size_t object,
		   const char *member, struct bj_buf *ret)
{
	const bool empty = clean[skip_blanks(clean, object + 1)] == '}';
	const struct span here = { object + 1, object + 1 };
	AUTO_BUF struct bj_buf with = { 0 };

	bj_buf_printf(&with, "\n%s%s", member, empty ? "\n" : ",");
	replace(text, size, here, with.data ? with.data : "", ret);
}

static bool same(const char *text, struct span span, const char *value)
{
	json_t *old = json_loadb(text + span.at, span.end - span.at, 0, NULL);
	json_t *new = json_loads(value, 0, NULL);
	const bool equal = json_equal(old, new);

	json_decref(old);
	json_decref(new);
	return equal;
}

static int broken(struct bj_err *err, const char *why)
{
	return bj_err_set(err, BJ_E_INVALID, 0, "%s; nothing was changed, mend it first", why);
}

static int check(const char *clean, size_t size, const char *section, struct bj_err *err)
{
	json_error_t why;
	json_t *root = json_loadb(clean, size, JSON_REJECT_DUPLICATES, &why);
	const json_t *part = json_object_get(root, section);
	int r = 0;

	if (!root)
		r = bj_err_set(err, BJ_E_INVALID, 0,
			       "line %d: %.80s; nothing was changed, mend it first", why.line,
			       why.text);
	else if (!json_is_object(root))
		r = broken(err, "it is not an object");
	else if (part && !json_is_object(part))
		r = broken(err, "its list of servers is not an object");
	json_decref(root);
	return r;
}

int bj_jsonc_put(const char *text, size_t size, const char *section, const char *name,
		 const char *value, struct bj_buf *ret, struct bj_err *err)
{
	static const char fresh[] = "{}\n";
	AUTO_FREE char *clean = NULL;
	AUTO_BUF struct bj_buf member = { 0 };
	struct span servers, entry;
	size_t root;
	int r;

	if (strspn(text, " \t\r\n") == size) {
		text = fresh;
		size = strlen(fresh);
	}
	clean = strndup(text, size);
	if (!clean || strlen(clean) != size)
		return broken(err, "it holds a NUL byte");
	blank(clean, size);
	r = check(clean, size, section, err);
	if (r < 0)
		return r;
	root = skip_blanks(clean, 0);
	if (!find_member(clean, size, root, section, &servers)) {
		bj_buf_printf(&member, "  \"%s\": {\n    \"%s\": %s\n  }", section, name, value);
		insert(text, clean, size, root, member.data, ret);
	} else if (!find_member(clean, size, servers.at, name, &entry)) {
		bj_buf_printf(&member, "    \"%s\": %s", name, value);
		insert(text, clean, size, servers.at, member.data, ret);
	} else if (same(clean, entry, value)) {
		return 1;
	} else {
		replace(text, size, entry, value, ret);
	}
	return ret->failed ? bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory") : 0;
}

/* --- TOML ------------------------------------------------------------------------------------- */

static size_t line_end(const char *text, size_t size, size_t at)
{
	const char *end = memchr(text + at, '\n', size - at);

	return end ? (size_t)(end - text) + 1 : size;
}

/* Whether the line [at, end) says "key =". */
static bool has_key(const char *text, size_t at, size_t end, const char *key)
{
	const size_t n = strlen(key);

	at += strspn(text + at, " \t");
	if (end - at <= n || memcmp(text + at, key, n) != 0)
		return false;
	at += n;
	return text[at + strspn(text + at, " \t")] == '=';
}

/* Whether one of @lines has the key of the line [at, end). */
static bool is_ours(const char *text, size_t at, size_t end, const char *lines)
{
	for (const char *line = lines; *line; line = strchr(line, '\n') + 1) {
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)strcspn(line, " ="), line);
		if (has_key(text, at, end, key))
			return true;
	}
	return false;
}

/* Whether the line [at, end) is a header and nothing else. */
static bool is_header(const char *text, size_t at, size_t end)
{
	size_t last = at;

	for (size_t i = at; i < end && text[i] != '#'; i++) {
		const size_t next = text[i] == '"' ? skip_string(text, end, i) : i + 1;

		if (text[i] == '"' && next == end)
			return false; /* it does not end, or nothing closes the header after it */
		i = next - 1;
		if (!strchr(" \t\r\n", text[i]))
			last = i;
	}
	return last > at && text[last] == ']';
}

/* Past the line at @at. *@open counts the brackets of a value that goes on: such a line is neither
 * header nor key. */
static size_t step(const char *text, size_t size, size_t at, int *open)
{
	const size_t end = line_end(text, size, at);
	size_t i = at + strspn(text + at, " \t\r\n");

	if (*open == 0 && i < end && text[i] == '[')
		return end;
	for (; i < end && text[i] != '#'; i++) {
		if (text[i] == '"')
			i = skip_string(text, end, i) - 1;
		else
			*open += (text[i] == '[') - (text[i] == ']');
	}
	return end;
}

/* A line that is no header, key, comment, value that goes on, or blank shows a broken file. */
static int check_toml(const char *text, size_t size, struct bj_err *err)
{
	int number = 0, open = 0;

	for (size_t at = 0; at < size;) {
		const size_t end = line_end(text, size, at);
		const size_t first = at + strspn(text + at, " \t\r\n");
		const bool blank_line = first >= end || text[first] == '#';
		const bool starts = !blank_line && open == 0;

		number++;
		if (starts && (text[first] == '[' ? !is_header(text, first, end)
						  : !memchr(text + first, '=', end - first)))
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "line %d is not TOML; nothing was changed, mend it first",
					  number);
		at = step(text, size, at, &open);
	}
	return open == 0 ? 0 : broken(err, "a list does not end");
}

/* Where the table @header is: from its first line to the next header; false: there is none. */
static bool find_table(const char *text, size_t size, const char *header, struct span *ret)
{
	const size_t n = strlen(header);
	bool found = false;
	int open = 0;

	for (size_t at = 0; at < size;) {
		const size_t first = at + strspn(text + at, " \t");
		const bool starts = open == 0 && first < size && text[first] == '[';

		if (found && starts)
			return true;
		at = step(text, size, at, &open);
		if (starts && size - first >= n && memcmp(text + first, header, n) == 0) {
			found = true;
			ret->at = at;
		}
		ret->end = at;
	}
	return found;
}

/* The lines of @table but for the keys that @lines have; such a value may go on for lines. */
static void keep_others(const char *text, const struct span *table, const char *lines,
			struct bj_buf *ret)
{
	bool ours = false;
	int open = 0;

	for (size_t at = table->at; at < table->end;) {
		const size_t from = at;

		if (open == 0)
			ours = is_ours(text, at, line_end(text, table->end, at), lines);
		at = step(text, table->end, at, &open);
		if (!ours)
			bj_buf_add(ret, text + from, at - from);
	}
}

int bj_toml_put(const char *text, size_t size, const char *section, const char *name,
		const char *lines, struct bj_buf *ret, struct bj_err *err)
{
	AUTO_BUF struct bj_buf header = { 0 };
	struct span table;
	int r = strlen(text) == size ? check_toml(text, size, err)
				     : broken(err, "it holds a NUL byte");

	if (r < 0)
		return r;
	bj_buf_printf(&header, "[%s.%s]", section, name);
	if (!find_table(text, size, header.data, &table)) {
		bj_buf_add(ret, text, size);
		bj_buf_printf(ret, "%s%s%s\n%s", size && text[size - 1] != '\n' ? "\n" : "",
			      size ? "\n" : "", header.data, lines);
	} else {
		bj_buf_add(ret, text, table.at);
		bj_buf_puts(ret, text[table.at - 1] == '\n' ? "" : "\n");
		bj_buf_puts(ret, lines);
		keep_others(text, &table, lines, ret);
		bj_buf_add(ret, text + table.end, size - table.end);
	}
	if (ret->failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory");
	if (ret->size == size && memcmp(ret->data, text, size) == 0) {
		bj_buf_done(ret);
		return 1;
	}
	return 0;
}
