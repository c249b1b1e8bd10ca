/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/tree.h"

/* What the expressions of a Python script may mean, found without running it: which dotted name
 * a callee stands for ("os.system", "builtins.eval"), which constant a string is built to. Flow is
 * not followed: a name means everything that is ever bound to it in its scope. Two passes over
 * the tree, each node once, sets of fixed size: linear in the script. */

enum bj_py_kind {
	BJ_PY_NAME,    /* a dotted name from outside; ref: bj_py_text() */
	BJ_PY_STR,     /* a constant string or bytes; ref: the same */
	BJ_PY_INT,     /* ref is the number itself */
	BJ_PY_FUNC,    /* a function or lambda of the script; ref is its scope */
	BJ_PY_LONG,    /* a constant string that is too long to follow */
	BJ_PY_VISITOR, /* what somebody else sends, see py_visitor.c; also inside of boxes */
};

struct bj_py_value {
	uint8_t kind;
	uint8_t boxed; /* an element of a list, tuple, set or dict, so many levels deep */
	uint32_t ref;
};

#define BJ_PY_SET_MAX 8

struct bj_py_set {
	uint32_t n;
	struct bj_py_value v[BJ_PY_SET_MAX];
};

struct bj_py_text {
	const char *s; /* NUL-terminated as well */
	uint32_t len;
	uint32_t hash; /* 0: not known yet */
};

/* A function, a lambda, a class body or (0) the module. */
struct bj_py_scope {
	uint32_t parent;
	uint32_t depth;
	uint32_t node; /* its definition; 0: the module */
	bool is_class;
};

/* One name of one scope and all that is bound to it. */
struct bj_py_symbol {
	const char *s;
	uint32_t len, hash, scope;
	uint32_t bound; /* first byte after the first binding */
	bool sure;      /* bound on every way through the scope */
	bool deleted;
	bool local_code; /* by def, class or as a parameter */
	bool is_global;  /* declared so in a function: the module's name is meant */
	bool is_nonlocal;
	bool guarded;   /* a test has looked at it: what a visitor sends is not followed here */
	bool hides;     /* bound by a statement: in a function the builtin is never meant then */
	uint32_t value; /* the display, call, operator or string bound to it last; 0: none */
	struct bj_py_set set;
};

struct bj_py {
	const struct bj_tree *tree;
	bool is_ascii; /* all of the text */
	struct bj_py_chunk *chunks;
	struct bj_py_text *texts; /* interned; 0 is "" */
	uint32_t n_texts, room_texts, *text_table, mask_texts;
	struct bj_py_symbol *symbols; /* 0 is not used */
	uint32_t n_symbols, room_symbols, *symbol_table, mask_symbols;
	struct bj_py_scope *scopes;
	uint32_t n_scopes, room_scopes;
	struct bj_py_set *sets; /* 0 is the empty set */
	uint32_t n_sets, room_sets;
	uint32_t *node_set;   /* by node: its set; the next three lie behind it */
	uint32_t *node_scope; /* by node: where its names are looked up */
	uint32_t *body_scope; /* by definition: the scope it makes */
	uint32_t
		*node_symbol; /* by identifier: what bj_py_lookup() found, plus one; 0: not asked */
	uint32_t stars[4];    /* modules of "from x import *" */
	uint32_t n_stars;
	bool tests; /* imports what runs tests */
	enum { BJ_PY_MAIL_UNKNOWN, BJ_PY_MAIL_OPEN, BJ_PY_MAIL_COVERED } mail;
	bool serves;  /* imports what answers requests */
	bool answers; /* the same of the standard library, whose handlers are "self" */
	bool looks_at_host;
	bool visitors; /* has something of a visitor to follow */
	bool failed;   /* no memory */
};

int bj_py_new(const struct bj_tree *tree, struct bj_py **ret, struct bj_err *err);
void bj_py_free(struct bj_py *py); /* NULL is fine */

static inline const struct bj_py_set *bj_py_set(const struct bj_py *py, uint32_t node)
{
	return &py->sets[py->node_set[node]];
}

static inline const struct bj_py_text *bj_py_text(const struct bj_py *py, uint32_t ref)
{
	return &py->texts[ref];
}

/* Whether two texts are the same; most differ in their first byte. */
static inline bool bj_py_is(const char *a, const char *b)
{
	return a[0] == b[0] && !strcmp(a, b);
}

/* The constant string that @node surely is, or NULL. */
const struct bj_py_text *bj_py_const(const struct bj_py *py, uint32_t node);

/* The argument of @call at @position (from 0) or by @keyword (NULL: none), 0: not there. A splat
 * before it hides positions. */
uint32_t bj_py_argument(const struct bj_py *py, uint32_t call, int position, const char *keyword);

/* What the value that @call is a part of becomes: the left side of the assignment around it, or the
 * name of the function that returns it; 0: neither. */
uint32_t bj_py_target(const struct bj_py *py, uint32_t call);

/* The symbol that identifier @node means, NULL: none, so it is a builtin. */
const struct bj_py_symbol *bj_py_lookup(struct bj_py *py, uint32_t node);

/* Whether a visitor decides what @node is, or how the text @node begins: its host, or its first
 * directory. */
bool bj_py_is_visitor(const struct bj_py *py, uint32_t node);
bool bj_py_begins_visitor(const struct bj_py *py, uint32_t node);

/* Whether function @definition answers requests. */
bool bj_py_is_route(const struct bj_py *py, uint32_t definition);

/* --- inside the analysis: py_*.c --- */

#define BJ_PY_TEXT_MAX 512 /* longer constants and names are not followed */

/* Bytes that live as long as @py; NULL sets py->failed. */
char *bj_py_alloc(struct bj_py *py, size_t size);

/* Make the item 0 of texts, symbols and sets, which is nothing. false: no memory. */
bool bj_py_begin_names(struct bj_py *py);

/* The ref of a text; 0 when it is too long, empty, or memory is gone. */
uint32_t bj_py_intern(struct bj_py *py, const char *s, size_t len);

/* The ref of "@left.@right"; 0 as above. */
uint32_t bj_py_dot(struct bj_py *py, uint32_t left, const char *s, size_t len);

uint32_t bj_py_add_scope(struct bj_py *py, uint32_t parent, bool is_class);

/* Identifier text of @node, as Python normalises it. */
struct bj_py_text bj_py_identifier(struct bj_py *py, uint32_t node);

/* Whether a builtin of that name is of interest here. */
bool bj_py_is_builtin(const char *s, size_t len);

/* Whether it is a module that rules speak of. Such a name that nothing binds is most likely that
 * module: a part of a script, or one that gets its names from another. */
bool bj_py_is_module(const char *s, size_t len);

/* Find or make a symbol; NULL: no memory. */
struct bj_py_symbol *bj_py_symbol(struct bj_py *py, uint32_t scope, const struct bj_py_text *name,
				  bool make);

void bj_py_set_add(struct bj_py_set *set, struct bj_py_value value);
void bj_py_set_union(struct bj_py_set *set, const struct bj_py_set *other);

/* Make @set what @node means. */
void bj_py_put(struct bj_py *py, uint32_t node, const struct bj_py_set *set);

/* A copy of @set one level out of, or into, its boxes. */
struct bj_py_set bj_py_unbox(const struct bj_py_set *set);
struct bj_py_set bj_py_box(const struct bj_py_set *set);

/* Pass 0: scopes, and which names are bound where. */
void bj_py_collect(struct bj_py *py);

/* Passes 1 and 2: what @node means, its children being known. */
void bj_py_eval(void *ctx, uint32_t node);

/* Bind what @target names to @set. */
void bj_py_bind(struct bj_py *py, uint32_t target, const struct bj_py_set *set);

/* Constants: a literal; the result of a call or operator on constants, into @set. */
void bj_py_eval_string(struct bj_py *py, uint32_t node, struct bj_py_set *set);
void bj_py_eval_concat(struct bj_py *py, uint32_t node, struct bj_py_set *set);
void bj_py_eval_operator(struct bj_py *py, uint32_t node, struct bj_py_set *set);
void bj_py_eval_path(struct bj_py *py, uint32_t call, struct bj_py_set *set); /* f("a", "b"): a/b */
void bj_py_eval_slice(struct bj_py *py, uint32_t node, struct bj_py_set *set);
bool bj_py_eval_method(struct bj_py *py, uint32_t call, struct bj_py_set *set);
bool bj_py_eval_text_call(struct bj_py *py, uint32_t call, const char *name, struct bj_py_set *set);

/* stat.S_ISUID and its like, attributes of @left, are numbers. */
void bj_py_eval_flag(const struct bj_py_text *name, const struct bj_py_set *left,
		     const struct bj_py *py, struct bj_py_set *set);

/* Whether a module called so answers requests; whether a parameter called so comes from outside. */
bool bj_py_is_framework(const char *s, size_t len);
bool bj_py_is_handed(const char *s, size_t len);

/* Of a script with visitors: what they hand over first, and which names are tested. */
void bj_py_find_visitors(struct bj_py *py);

/* Add to @set, what @node means, that it is of a visitor. */
void bj_py_carry_visitor(struct bj_py *py, uint32_t node, struct bj_py_set *set);

/* Whether @node may be the environment, or hold it; what holds it. */
bool bj_py_holds_environ(const struct bj_py *py, uint32_t node);
void bj_py_add_environ(struct bj_py *py, uint8_t boxed, struct bj_py_set *set);

/* Add "~" to @set when @key is HOME, of the environment. */
void bj_py_eval_home(struct bj_py *py, const struct bj_py_text *key, struct bj_py_set *set);

/* The module of the system that a library knows as @name ("shutil.os", "random._os"); 0: none. */
uint32_t bj_py_inner_module(struct bj_py *py, const struct bj_py_text *name);

/* "import a.b as c", "from a import b", "match a: case b:" and "class b(a):". */
void bj_py_eval_import(struct bj_py *py, uint32_t node, struct bj_py_set *set);
void bj_py_eval_class(struct bj_py *py, uint32_t node, struct bj_py_set *set);
void bj_py_eval_match(struct bj_py *py, uint32_t node, struct bj_py_set *set);

/* What a call gives. */
void bj_py_eval_call(struct bj_py *py, uint32_t node, struct bj_py_set *set);
