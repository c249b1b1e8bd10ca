/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "check/tree.h"

/* SX-AST: the import policy reads the syntax tree: aliases, from-imports, importlib, built names.
 */

static size_t modules_of(const char *text, const char *const *list, enum bj_policy policy,
			 const char *ret_first[1], char *message, size_t room)
{
	const struct bj_check_request request = {
		.text = text, .size = strlen(text), .blocked_imports = list, .policy = policy
	};
	struct bj_findings findings = { 0 };
	struct bj_modules modules = { 0 };
	struct bj_tree *tree = NULL;
	struct bj_err err = { 0 };
	static char first[64];

	assert_int_equal(bj_tree_new(&request, &tree, &err), 0);
	assert_int_equal(bj_layer_imports(&request, tree, &findings, &modules, &err), 0);
	snprintf(first, sizeof(first), "%s", modules.n ? modules.items[0] : "");
	*ret_first = first;
	snprintf(message, room, "%s", findings.n ? findings.items[0].message : "");

	const size_t n = modules.n;

	bj_modules_done(&modules);
	bj_findings_done(&findings);
	bj_tree_free(tree);
	return n;
}

static const char *first_of(const char *text)
{
	const char *first;
	char message[128];

	modules_of(text, NULL, BJ_POLICY_DEFAULT, &first, message, sizeof(message));
	return first;
}

static void every_way_to_import_is_seen(void **state)
{
	(void)state;
	assert_string_equal(first_of("import os\n"), "os");
	assert_string_equal(first_of("import os.path as p\n"), "os");
	assert_string_equal(first_of("from os import path\n"), "os");
	assert_string_equal(first_of("import json, subprocess\n"), "subprocess");
	assert_string_equal(first_of("def f():\n    import socket\n"), "socket");
	assert_string_equal(first_of("import importlib\nimportlib.import_module('os')\n"), "os");
	assert_string_equal(first_of("from importlib import import_module as m\nm('o' + 's')\n"),
			    "os");
	assert_string_equal(first_of("__import__('shutil')\n"), "shutil");
	assert_string_equal(first_of("i = __import__\ni('so'[::-1])\n"), "os");
	assert_string_equal(first_of("__builtins__['__import__']('os')\n"), "os");
	assert_string_equal(first_of("import sys\nsys.modules['os']\n"), "os");
	assert_string_equal(first_of("from shutil import os\n"), "shutil");
	assert_string_equal(first_of("from json import os\n"), "os");
}

static void other_modules_are_not(void **state)
{
	(void)state;
	assert_string_equal(first_of("import json, math, osgeo\n"), "");
	assert_string_equal(first_of("# import os\nx = 'import os'\n"), "");
	assert_string_equal(first_of("from . import os_tools\nfrom .os import x\n"), "");
	assert_string_equal(first_of("os = 1\nos.x\n"), "");
}

static void the_list_and_the_policy_count(void **state)
{
	static const char *const list[] = { "json", "a.b", NULL };
	const char *first;
	char message[128];

	(void)state;
	assert_int_equal(modules_of("import os\nimport json\nimport json\n", list,
				    BJ_POLICY_DEFAULT, &first, message, sizeof(message)),
			 1);
	assert_string_equal(message, "Security policy blocked import: json");
	assert_int_equal(modules_of("import a\nimport a.c\n", list, BJ_POLICY_DEFAULT, &first,
				    message, sizeof(message)),
			 0);
	assert_int_equal(modules_of("import a.b.c\n", list, BJ_POLICY_DEFAULT, &first, message,
				    sizeof(message)),
			 1);
	assert_int_equal(modules_of("import sys\n", NULL, BJ_POLICY_DEFAULT, &first, message,
				    sizeof(message)),
			 0);
	assert_int_equal(modules_of("import sys\n", NULL, BJ_POLICY_STRICT, &first, message,
				    sizeof(message)),
			 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_to_import_is_seen),
		cmocka_unit_test(other_modules_are_not),
		cmocka_unit_test(the_list_and_the_policy_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
