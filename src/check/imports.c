/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "check/python.h"
#include "grammar_python.h"

#include <errno.h>
#include <stdio.h>

/* The import layer: which modules of the policy a Python script brings in, by whatever way. */

static const struct bj_rule import_rules[] = {
	{ "py-import", "imports", BJ_RULE_PYTHON, BJ_SEV_MEDIUM, 0,
	  "The import policy lists this module.", "import os", "import json", false },
};

const struct bj_rule *bj_rules_imports(size_t *ret_n)
{
	*ret_n = sizeof(import_rules) / sizeof(import_rules[0]);
	return import_rules;
}

static const char *const default_list[] = {
	"os",           "posix",
	"subprocess",   "shutil",
	"socket",       "pathlib",
	"ctypes",       "urllib",
	"urllib3",      "requests",
	"httpx",        "aiohttp",
	"http",         "ftplib",
	"smtplib",      "poplib",
	"imaplib",      "nntplib",
	"telnetlib",    "ssl",
	"asyncore",     "asynchat",
	"socketserver", "xmlrpc",
	"pty",          "paramiko",
	"pexpect",      "multiprocessing",
	"_socket",      "_ctypes",
	"cffi",         "websocket",
	"websockets",   "pycurl",
	"boto3",        "docker",
	"fabric",       "_posixsubprocess",
	NULL,
};

/* What the strict policy adds: everything that reaches files, processes or the interpreter. */
static const char *const strict_list[] = {
	"sys",       "io",         "_io",       "glob",    "tempfile",   "fileinput",
	"builtins",  "importlib",  "imp",       "runpy",   "pkgutil",    "zipimport",
	"code",      "codeop",     "pickle",    "marshal", "shelve",     "dbm",
	"sqlite3",   "mmap",       "fcntl",     "signal",  "resource",   "select",
	"selectors", "asyncio",    "threading", "_thread", "concurrent", "tarfile",
	"zipfile",   "webbrowser", "gc",        "inspect", "platform",   NULL,
};

struct imports {
	const struct bj_tree *tree;
	const struct bj_py *py;
	const char *const *list;
	bool strict;
	bool blocks; /* a listed module ends it here, and the message says so */
	struct bj_findings *findings;
	struct bj_modules *modules;
};

/* The entry of @list that is @module or a package above it. */
static const char *find(const char *const *list, const struct bj_py_text *module)
{
	for (; *list; list++) {
		const size_t len = strlen(*list);

		if (module->len >= len && !memcmp(module->s, *list, len) &&
		    (module->len == len || module->s[len] == '.'))
			return *list;
	}
	return NULL;
}

static void use_module(const struct imports *im, const struct bj_py_text *module, uint32_t at)
{
	const char *entry = find(im->list, module);
	char message[128];

	if (!entry && im->strict)
		entry = find(strict_list, module);
	if (!entry)
		return;
	snprintf(message, sizeof(message),
		 im->blocks ? "Security policy blocked import: %s"
			    : "The import policy lists this module: %s",
		 entry);
	bj_findings_add(im->findings, &import_rules[0], im->tree->nodes[at].start,
			im->tree->nodes[at].end, message);
	bj_modules_add(im->modules, entry);
}

static void use_set(const struct imports *im, uint32_t node)
{
	const struct bj_py_set *set = bj_py_set(im->py, node);

	for (uint32_t i = 0; i < set->n; i++)
		if (set->v[i].kind == BJ_PY_NAME && !set->v[i].boxed)
			use_module(im, bj_py_text(im->py, set->v[i].ref), node);
}

/* "from shutil import os" brings in os. */
static void use_member(const struct imports *im, uint32_t node)
{
	static const char *const known[] = {
		"os", "sys", "subprocess", "builtins", "socket", NULL
	};
	const struct bj_py_set *set = bj_py_set(im->py, node);

	for (uint32_t i = 0; i < set->n; i++) {
		const struct bj_py_text *name = bj_py_text(im->py, set->v[i].ref);
		const char *dot = memrchr(name->s, '.', name->len);

		if (set->v[i].kind != BJ_PY_NAME || name->s[0] == '?')
			continue;

		const char *part = dot ? dot + 1 : name->s;
		const struct bj_py_text last = { .s = part, .len = (uint32_t)strlen(part) };

		if (find(known, &last))
			use_module(im, &last, node);
	}
}

static void use_import(const struct imports *im, uint32_t node)
{
	const struct bj_node *nodes = im->tree->nodes;
	const uint32_t module = bj_node_field(im->tree, node, PYF_MODULE_NAME);

	if (module)
		use_set(im, node);
	for (uint32_t c = bj_node_child(im->tree, node); c; c = nodes[c].next) {
		if (nodes[c].field != PYF_NAME)
			continue;
		if (module)
			use_member(im, c);
		else
			use_set(im, c);
	}
}

/* __import__("os"), importlib.import_module("os") and the like, whatever they are called. */
static void use_call(const struct imports *im, uint32_t node)
{
	static const char *const importers[] = { "builtins.__import__", "importlib.import_module",
						 "importlib.__import__", "pydoc.locate" };
	const uint32_t function = bj_node_field(im->tree, node, PYF_FUNCTION);
	const struct bj_py_set *set = function ? bj_py_set(im->py, function) : NULL;

	for (uint32_t i = 0; set && i < set->n; i++)
		for (size_t k = 0; k < sizeof(importers) / sizeof(importers[0]); k++)
			if (set->v[i].kind == BJ_PY_NAME &&
			    !strcmp(bj_py_text(im->py, set->v[i].ref)->s, importers[k])) {
				use_set(im, node);
				return;
			}
}

/* sys.modules["os"] needs no import statement. */
static void use_subscript(const struct imports *im, uint32_t node)
{
	const uint32_t object = bj_node_field(im->tree, node, PYF_VALUE);
	const struct bj_py_set *set = object ? bj_py_set(im->py, object) : NULL;

	for (uint32_t i = 0; set && i < set->n; i++)
		if (set->v[i].kind == BJ_PY_NAME &&
		    !strcmp(bj_py_text(im->py, set->v[i].ref)->s, "sys.modules"))
			use_set(im, node);
}

int bj_layer_imports(const struct bj_check_request *request, const struct bj_tree *tree,
		     struct bj_findings *findings, struct bj_modules *modules, struct bj_err *err)
{
	const struct imports im = {
		.tree = tree,
		.py = tree->py,
		.list = request->blocked_imports ? request->blocked_imports : default_list,
		.strict = request->policy == BJ_POLICY_STRICT,
		.blocks = request->policy == BJ_POLICY_STRICT ||
			  (request->policy == BJ_POLICY_DEFAULT &&
			   request->imports == BJ_LAYER_BLOCK),
		.findings = findings,
		.modules = modules,
	};

	if (tree->language != BJ_LANG_PYTHON)
		return 0;
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		const uint16_t kind = tree->nodes[i].kind;

		if (kind == PY_IMPORT_STATEMENT || kind == PY_IMPORT_FROM_STATEMENT)
			use_import(&im, i);
		else if (kind == PY_CALL)
			use_call(&im, i);
		else if (kind == PY_SUBSCRIPT)
			use_subscript(&im, i);
	}
	if (findings->failed || modules->failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep the list of modules");
	return 0;
}
