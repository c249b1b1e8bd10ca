/* SPDX-License-Identifier: Apache-2.0 */
#include "check/pieces.h"
#include "check/python.h"
#include "unicode_names.h"

#include <stdint.h>

/* Tables of the analysis: texts, symbols, scopes and sets. */

#define CHUNK_SIZE 16384
#define CHAIN_MAX  64 /* scopes looked through; deeper code is hostile and sees the module */

struct bj_py_chunk {
	struct bj_py_chunk *next;
	size_t used, size;
	char data[];
};

char *bj_py_alloc(struct bj_py *py, size_t size)
{
	struct bj_py_chunk *chunk = py->chunks;

	if (!chunk || chunk->size - chunk->used < size) {
		const size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk) {
			py->failed = true;
			return NULL;
		}
		*chunk = (struct bj_py_chunk){ .next = py->chunks, .size = room };
		py->chunks = chunk;
	}

	char *data = chunk->data + chunk->used;

	chunk->used += size;
	return data;
}

/* Room for one more item; the new place is zero. NULL: no memory. */
static void *grow(struct bj_py *py, void **items, uint32_t *n, uint32_t *room, size_t size)
{
	if (*n == *room) {
		void *grown = bj_piece_grow(*items, room, size);

		if (!grown) {
			py->failed = true;
			return NULL;
		}
		*items = grown;
	}

	void *place = (char *)*items + (size_t)*n * size;

	memset(place, 0, size);
	(*n)++;
	return place;
}

static uint64_t load(const char *s, size_t n)
{
	uint64_t word = 0;

	memcpy(&word, s, n);
	return word;
}

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

/* Never 0. The last words of a text may overlap. */
static uint32_t hash_bytes(const char *s, size_t len)
{
	uint64_t h = len;

	if (len >= 8) {
		for (size_t i = 0; i + 8 < len; i += 8)
			h = mix(h, load(s + i, 8));
		h = mix(h, load(s + len - 8, 8));
	} else if (len >= 4) {
		h = mix(h, load(s, 4) << 32 | load(s + len - 4, 4));
	} else if (len) {
		h = mix(h, load(s, 1) << 16 | load(s + len / 2, 1) << 8 | load(s + len - 1, 1));
	}
	return (uint32_t)(h >> 32) ? (uint32_t)(h >> 32) : 1;
}

static uint32_t hash_of(const struct bj_py_text *text)
{
	return text->hash ? text->hash : hash_bytes(text->s, text->len);
}

/* Twice the places of a hash table whose items are @n, of which @hash_at() gives the hash. */
static bool regrow(struct bj_py *py, uint32_t **table, uint32_t *mask, uint32_t n,
		   uint32_t (*hash_at)(const struct bj_py *py, uint32_t item))
{
	const uint32_t size = *table ? (*mask + 1) * 2 : 1024;
	uint32_t *bigger = calloc(size, sizeof(*bigger));

	if (!bigger) {
		py->failed = true;
		return false;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t at = hash_at(py, i) & (size - 1);

		while (bigger[at])
			at = (at + 1) & (size - 1);
		bigger[at] = i;
	}
	free(*table);
	*table = bigger;
	*mask = size - 1;
	return true;
}

/* Whether a hash table of @n items is full enough to be made larger. */
static inline bool is_full(const uint32_t *table, uint32_t mask, uint32_t n)
{
	return !table || n * 2 >= mask;
}

static uint32_t text_hash(const struct bj_py *py, uint32_t item)
{
	return py->texts[item].hash;
}

static uint32_t symbol_hash(const struct bj_py *py, uint32_t item)
{
	return py->symbols[item].hash;
}

static uint32_t add_text(struct bj_py *py, const char *s, size_t len, uint32_t hash)
{
	char *copy = bj_py_alloc(py, len + 1);
	struct bj_py_text *text =
		grow(py, (void **)&py->texts, &py->n_texts, &py->room_texts, sizeof(*text));

	if (!copy || !text)
		return 0;
	memcpy(copy, s, len);
	copy[len] = '\0';
	*text = (struct bj_py_text){ .s = copy, .len = (uint32_t)len, .hash = hash };
	return py->n_texts - 1;
}

uint32_t bj_py_intern(struct bj_py *py, const char *s, size_t len)
{
	if (!len || len > BJ_PY_TEXT_MAX)
		return 0;
	if (is_full(py->text_table, py->mask_texts, py->n_texts) &&
	    !regrow(py, &py->text_table, &py->mask_texts, py->n_texts, text_hash))
		return 0;

	const uint32_t hash = hash_bytes(s, len);
	uint32_t at = hash & py->mask_texts;

	for (; py->text_table[at]; at = (at + 1) & py->mask_texts) {
		const struct bj_py_text *t = &py->texts[py->text_table[at]];

		if (t->hash == hash && t->len == len && memcmp(t->s, s, len) == 0)
			return py->text_table[at];
	}
	return py->text_table[at] = add_text(py, s, len, hash);
}

uint32_t bj_py_dot(struct bj_py *py, uint32_t left, const char *s, size_t len)
{
	char full[BJ_PY_TEXT_MAX];
	const struct bj_py_text *l = &py->texts[left];

	if (!left || l->len + len + 1 > sizeof(full))
		return 0;
	memcpy(full, l->s, l->len);
	full[l->len] = '.';
	memcpy(full + l->len + 1, s, len);
	return bj_py_intern(py, full, l->len + 1 + len);
}

uint32_t bj_py_add_scope(struct bj_py *py, uint32_t parent, bool is_class)
{
	const uint32_t depth = py->n_scopes ? py->scopes[parent].depth + 1 : 0;
	struct bj_py_scope *scope =
		grow(py, (void **)&py->scopes, &py->n_scopes, &py->room_scopes, sizeof(*scope));

	if (!scope)
		return 0;
	*scope = (struct bj_py_scope){ .parent = parent, .depth = depth, .is_class = is_class };
	return py->n_scopes - 1;
}

static int by_code_point(const void *key, const void *item)
{
	const uint32_t c = *(const uint32_t *)key;
	const uint32_t v = ((const struct unicode_name *)item)->code_point;

	return c < v ? -1 : c > v;
}

static size_t decode_utf8(const unsigned char *s, size_t left, uint32_t *ret)
{
	const size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc0 ? 2 : 1;

	if (n == 1 || n > left) {
		*ret = s[0];
		return 1;
	}

	uint32_t c = s[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		c = (c << 6) | (s[i] & 0x3fu);
	*ret = c;
	return n;
}

/* Python reads a full-width or mathematical letter in a name as the plain one. */
static struct bj_py_text normalise(struct bj_py *py, const char *s, size_t len)
{
	char *out = bj_py_alloc(py, len * 2 + 1);
	size_t n = 0;

	if (!out)
		return (struct bj_py_text){ .s = "" };
	for (size_t i = 0; i < len;) {
		uint32_t c;
		const size_t step = decode_utf8((const unsigned char *)s + i, len - i, &c);
		const struct unicode_name *plain =
			c < 0x80 ? NULL
				 : bsearch(&c, unicode_names,
					   sizeof(unicode_names) / sizeof(unicode_names[0]),
					   sizeof(unicode_names[0]), by_code_point);

		if (plain)
			for (const char *p = plain->ascii; *p; p++)
				out[n++] = *p;
		else
			for (size_t k = 0; k < step; k++)
				out[n++] = s[i + k];
		i += step;
	}
	out[n] = '\0';
	return (struct bj_py_text){ .s = out, .len = (uint32_t)n };
}

struct bj_py_text bj_py_identifier(struct bj_py *py, uint32_t node)
{
	const struct bj_node *at = &py->tree->nodes[node];
	const char *s = py->tree->text + at->start;
	const uint32_t len = at->end - at->start;

	for (uint32_t i = 0; !py->is_ascii && i < len; i++)
		if ((unsigned char)s[i] >= 0x80)
			return normalise(py, s, len);
	return (struct bj_py_text){ .s = s, .len = len };
}

struct bj_py_symbol *bj_py_symbol(struct bj_py *py, uint32_t scope, const struct bj_py_text *name,
				  bool make)
{
	if (is_full(py->symbol_table, py->mask_symbols, py->n_symbols) &&
	    !regrow(py, &py->symbol_table, &py->mask_symbols, py->n_symbols, symbol_hash))
		return NULL;

	const uint32_t hash = (uint32_t)(mix(scope, hash_of(name)) >> 32);
	uint32_t at = hash & py->mask_symbols;

	for (; py->symbol_table[at]; at = (at + 1) & py->mask_symbols) {
		struct bj_py_symbol *s = &py->symbols[py->symbol_table[at]];

		if (s->hash == hash && s->scope == scope && s->len == name->len &&
		    memcmp(s->s, name->s, s->len) == 0)
			return s;
	}
	if (!make)
		return NULL;

	struct bj_py_symbol *s =
		grow(py, (void **)&py->symbols, &py->n_symbols, &py->room_symbols, sizeof(*s));

	if (!s)
		return NULL;
	py->symbol_table[at] = py->n_symbols - 1;
	s->s = name->s;
	s->len = name->len;
	s->hash = hash;
	s->scope = scope;
	return s;
}

static const struct bj_py_symbol *look_up(struct bj_py *py, uint32_t node)
{
	struct bj_py_text name = bj_py_identifier(py, node);
	const uint32_t own = py->node_scope[node];
	const uint32_t start = py->tree->nodes[node].start;

	name.hash = hash_of(&name);
	for (uint32_t scope = own, n = 0;; scope = py->scopes[scope].parent) {
		const struct bj_py_symbol *s = NULL;

		if (n++ > CHAIN_MAX)
			scope = 0;
		if (scope == own || !py->scopes[scope].is_class)
			s = bj_py_symbol(py, scope, &name, false);
		if (s && s->is_global && scope) {
			scope = 0;
			s = bj_py_symbol(py, 0, &name, false);
		}
		/* Before its first binding, code of the module sees the builtin. */
		if (s && s->bound &&
		    !(scope == own && start < s->bound && (!scope || py->scopes[scope].is_class)))
			return s;
		if (!scope)
			return NULL;
	}
}

/* What a name means is known once all names are declared; what it is bound to comes later. */
const struct bj_py_symbol *bj_py_lookup(struct bj_py *py, uint32_t node)
{
	if (!py->node_symbol[node]) {
		const struct bj_py_symbol *s = look_up(py, node);

		py->node_symbol[node] = s ? (uint32_t)(s - py->symbols) + 1 : 1;
	}
	return py->node_symbol[node] > 1 ? &py->symbols[py->node_symbol[node] - 1] : NULL;
}

/* Builtins that run, find or open something, by their first letter; the others lead nowhere. */
enum { MOST_OF_A_LETTER = 5 };

static const char *const builtin_names[32][MOST_OF_A_LETTER + 1] = {
	['_' & 31] = { "__import__", "__loader__", "__spec__" },
	['b' & 31] = { "breakpoint", "bytearray", "bytes" },
	['c' & 31] = { "callable", "chr", "compile" },
	['d' & 31] = { "delattr", "dict" },
	['e' & 31] = { "eval", "exec", "execfile" },
	['f' & 31] = { "filter" },
	['g' & 31] = { "getattr", "globals" },
	['h' & 31] = { "hasattr", "hash" },
	['i' & 31] = { "id", "input", "isinstance", "issubclass", "iter" },
	['l' & 31] = { "list", "locals" },
	['m' & 31] = { "map" },
	['n' & 31] = { "next" },
	['o' & 31] = { "object", "open" },
	['p' & 31] = { "print" },
	['r' & 31] = { "repr", "reversed" },
	['s' & 31] = { "setattr", "staticmethod", "str", "super" },
	['t' & 31] = { "tuple", "type" },
	['v' & 31] = { "vars" },
};

static bool is_in(const char *const *names, const char *s, size_t len)
{
	for (; *names; names++)
		if (strlen(*names) == len && !memcmp(*names, s, len))
			return true;
	return false;
}

bool bj_py_is_builtin(const char *s, size_t len)
{
	return is_in(builtin_names[s[0] & 31], s, len);
}

/* Modules that rules speak of. A name of one that nothing binds is most likely that module: a part
 * of a script, or one that another gives its names to. */
static const char *const module_names[32][MOST_OF_A_LETTER + 1] = {
	['b' & 31] = { "builtins" },
	['c' & 31] = { "ctypes" },
	['d' & 31] = { "dill" },
	['h' & 31] = { "hashlib" },
	['i' & 31] = { "importlib" },
	['j' & 31] = { "jsonpickle" },
	['m' & 31] = { "marshal" },
	['o' & 31] = { "os" },
	['p' & 31] = { "pickle", "pty", "posix" },
	['r' & 31] = { "requests", "runpy" },
	['s' & 31] = { "shutil", "socket", "ssl", "subprocess", "sys" },
	['t' & 31] = { "tarfile", "tempfile" },
	['y' & 31] = { "yaml" },
};

bool bj_py_is_module(const char *s, size_t len)
{
	return is_in(module_names[s[0] & 31], s, len);
}

void bj_py_set_add(struct bj_py_set *set, struct bj_py_value value)
{
	if ((value.kind == BJ_PY_NAME || value.kind == BJ_PY_STR) && !value.ref)
		return;
	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind == value.kind && set->v[i].ref == value.ref &&
		    set->v[i].boxed == value.boxed)
			return;
	if (set->n < BJ_PY_SET_MAX) {
		set->v[set->n++] = value;
		return;
	}
	/* Full: a name is worth more than a constant. */
	if (value.kind != BJ_PY_NAME && value.kind != BJ_PY_VISITOR)
		return;
	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind != BJ_PY_NAME && set->v[i].kind != BJ_PY_VISITOR) {
			set->v[i] = value;
			return;
		}
}

void bj_py_set_union(struct bj_py_set *set, const struct bj_py_set *other)
{
	for (uint32_t i = 0; i < other->n; i++)
		bj_py_set_add(set, other->v[i]);
}

void bj_py_put(struct bj_py *py, uint32_t node, const struct bj_py_set *set)
{
	uint32_t at = py->node_set[node];

	if (!set->n) {
		py->node_set[node] = 0;
		return;
	}
	if (!at) {
		if (!grow(py, (void **)&py->sets, &py->n_sets, &py->room_sets, sizeof(*py->sets)))
			return;
		at = py->node_set[node] = py->n_sets - 1;
	}
	py->sets[at] = *set;
}

struct bj_py_set bj_py_unbox(const struct bj_py_set *set)
{
	struct bj_py_set out = { 0 };

	for (uint32_t i = 0; i < set->n; i++) {
		struct bj_py_value v = set->v[i];

		if (!v.boxed && v.kind != BJ_PY_VISITOR)
			continue;
		v.boxed -= v.boxed > 0;
		bj_py_set_add(&out, v);
	}
	return out;
}

struct bj_py_set bj_py_box(const struct bj_py_set *set)
{
	struct bj_py_set out = *set;

	for (uint32_t i = 0; i < out.n; i++)
		if (out.v[i].boxed < UINT8_MAX && out.v[i].kind != BJ_PY_VISITOR)
			out.v[i].boxed++;
	return out;
}

bool bj_py_begin_names(struct bj_py *py)
{
	struct bj_py_text *text =
		grow(py, (void **)&py->texts, &py->n_texts, &py->room_texts, sizeof(*text));

	if (!text)
		return false;
	text->s = "";
	return grow(py, (void **)&py->symbols, &py->n_symbols, &py->room_symbols,
		    sizeof(*py->symbols)) &&
	       grow(py, (void **)&py->sets, &py->n_sets, &py->room_sets, sizeof(*py->sets));
}

void bj_py_free(struct bj_py *py)
{
	if (!py)
		return;
	while (py->chunks) {
		struct bj_py_chunk *next = py->chunks->next;

		free(py->chunks);
		py->chunks = next;
	}
	bj_piece_free(py->texts);
	free(py->text_table);
	bj_piece_free(py->symbols);
	free(py->symbol_table);
	bj_piece_free(py->scopes);
	bj_piece_free(py->sets);
	bj_piece_free(py->node_set);
	free(py);
}
