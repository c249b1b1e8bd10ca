/* SPDX-License-Identifier: Apache-2.0 */

/* SCRP-01: what the sealed process makes of a spec, before there is an interpreter. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/exec.h"
#include "jar/layers.h"
#include "jar/pack.h"

#include <stdio.h>
#include <string.h>

static int prepare(struct bj_buf *pack, struct bj_exec *exec, struct bj_err *err)
{
	*exec = (struct bj_exec){ 0 };
	bj_pack_add(pack, BJ_PACK_END, "", "", 0);
	assert_false(pack->failed);
	return bj_exec_prepare(exec, pack->data, pack->size, err);
}

static void add_string(struct bj_buf *pack, enum bj_pack_type type, const char *text)
{
	bj_pack_add(pack, type, "", text, strlen(text) + 1);
}

/* The value of @name; NULL: not there. Twice is a failure. */
/* PATH, HOME, TMPDIR, LANG, USER, LOGNAME, SHELL, BELLJAR_OUT. */
enum { FIXED = 8 };

static const char *env(const struct bj_exec *exec, const char *name)
{
	const char *value = NULL;
	const size_t len = strlen(name);

	for (size_t i = 0; i < exec->n_env; i++)
		if (strncmp(exec->env[i], name, len) == 0 && exec->env[i][len] == '=') {
			assert_null(value);
			value = exec->env[i] + len + 1;
		}
	return value;
}

static void the_environment_is_short_and_fixed(void **state)
{
	AUTO_BUF struct bj_buf pack = { 0 };
	struct bj_exec exec;

	(void)state;
	setenv("SECRET_OF_THE_CALLER", "x", 1);
	assert_int_equal(prepare(&pack, &exec, NULL), 0);
	assert_int_equal(exec.n_env, FIXED);
	assert_string_equal(env(&exec, "SHELL"), "/bin/sh");
	assert_string_equal(env(&exec, "HOME"), "/work");
	assert_string_equal(env(&exec, "BELLJAR_OUT"), "/work/out");
	assert_null(env(&exec, "SECRET_OF_THE_CALLER"));
	assert_string_equal(exec.script, "/script/script.py");
}

static void the_last_value_wins(void **state)
{
	AUTO_BUF struct bj_buf pack = { 0 };
	struct bj_exec exec;

	(void)state;
	add_string(&pack, BJ_PACK_ENV, "HOME=/one");
	add_string(&pack, BJ_PACK_ENV, "HOME=/two");
	add_string(&pack, BJ_PACK_ENV, "HOM=x");
	add_string(&pack, BJ_PACK_ENV, "NEW=a=b");
	add_string(&pack, BJ_PACK_ENV, "EMPTY=");
	assert_int_equal(prepare(&pack, &exec, NULL), 0);
	assert_string_equal(env(&exec, "HOME"), "/two");
	assert_string_equal(env(&exec, "HOM"), "x");
	assert_string_equal(env(&exec, "NEW"), "a=b");
	assert_string_equal(env(&exec, "EMPTY"), "");
	assert_int_equal(exec.n_env, FIXED + 3);
}

/* As many as there is room for, and one more. */
static void lists_have_a_ceiling(void **state)
{
	static const struct {
		enum bj_pack_type type;
		size_t room;
	} rows[] = { { BJ_PACK_ARG, BJ_EXEC_MAX_ARGS }, { BJ_PACK_ENV, BJ_EXEC_MAX_ENV - FIXED } };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++)
		for (size_t more = 0; more < 2; more++) {
			AUTO_BUF struct bj_buf pack = { 0 };
			struct bj_err err = { 0 };
			struct bj_exec exec;
			char text[32];

			for (size_t k = 0; k < rows[i].room + more; k++) {
				snprintf(text, sizeof(text), "K%zu=", k);
				add_string(&pack, rows[i].type, text);
			}
			assert_int_equal(prepare(&pack, &exec, &err), more ? -BJ_E_LIMIT : 0);
		}
}

static void bad_records_are_refused(void **state)
{
	static const struct {
		enum bj_pack_type type;
		const char *data;
		size_t size;
		int code;
	} rows[] = {
		{ BJ_PACK_ENV, "KV", 3, BJ_E_INVALID },
		{ BJ_PACK_ENV, "K=V", 3, BJ_E_PROTOCOL },
		{ BJ_PACK_ENV, "K\0=", 4, BJ_E_PROTOCOL },
		{ BJ_PACK_ENV, "", 0, BJ_E_PROTOCOL },
		{ BJ_PACK_ARG, "a", 1, BJ_E_PROTOCOL },
		{ BJ_PACK_ARG, "a\0b", 4, BJ_E_PROTOCOL },
		{ BJ_PACK_FILE, "", 0, BJ_E_PROTOCOL },
		{ BJ_PACK_REFUSED, "", 0, BJ_E_PROTOCOL },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		AUTO_BUF struct bj_buf pack = { 0 };
		struct bj_err err = { 0 };
		struct bj_exec exec;

		bj_pack_add(&pack, rows[i].type, "", rows[i].data, rows[i].size);
		assert_int_equal(prepare(&pack, &exec, &err), -rows[i].code);
		assert_int_equal(err.code, rows[i].code);
	}
}

static void a_missing_interpreter_is_named(void **state)
{
	AUTO_FD int verdict = bj_fd_memfile("verdict", "", 0);
	struct bj_exec exec = { .language = BJ_LANG_PYTHON,
				.python = "/nonexistent/python",
				.verdict_fd = verdict,
				.script = "/script/a.py" };
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(bj_exec_run(&exec, &err), -BJ_E_NOT_FOUND);
	assert_non_null(strstr(err.msg, "/nonexistent/python"));
	assert_non_null(strstr(err.msg, "native.python"));
	exec.language = BJ_LANG_BASH;
	exec.bash = "/nonexistent/bash";
	assert_int_equal(bj_exec_run(&exec, &err), -BJ_E_NOT_FOUND);
	assert_non_null(strstr(err.msg, "native.bash"));
}

static void every_layer_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < BJ_LAYER_COUNT; i++) {
		assert_string_not_equal(bj_layer_name((enum bj_layer_id)i), "unknown");
		for (int k = 0; k < i; k++)
			assert_string_not_equal(bj_layer_name((enum bj_layer_id)i),
						bj_layer_name((enum bj_layer_id)k));
	}
	assert_string_equal(bj_layer_name(BJ_LAYER_COUNT), "unknown");
	/* Basic is a part of full, and what cgroups give is not in it. */
	assert_int_equal(BJ_LAYERS_BASIC & ~BJ_LAYERS_FULL, 0);
	assert_int_equal(BJ_LAYERS_BASIC & BJ_LAYERS_CGROUP, 0);
	assert_true(BJ_LAYERS_BASIC & BJ_LAYER_BIT(BJ_LAYER_SECCOMP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_environment_is_short_and_fixed),
		cmocka_unit_test(the_last_value_wins),
		cmocka_unit_test(lists_have_a_ceiling),
		cmocka_unit_test(bad_records_are_refused),
		cmocka_unit_test(a_missing_interpreter_is_named),
		cmocka_unit_test(every_layer_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
