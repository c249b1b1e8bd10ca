/* SPDX-License-Identifier: Apache-2.0 */

/* SCRP-01: what a script is, told by flag, first line or suffix. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "cli/script.h"

#include <string.h>

/* The language of @text in a file called @path; negative: refused, with @err. */
static int tell(const char *path, const char *text, const char *asked, struct bj_err *err)
{
	struct bj_script script = { 0 };
	const int r =
		bj_script_read(&script, path, bj_fd_memfile("s", text, strlen(text)), asked, err);
	const int language = (int)script.language;

	bj_script_done(&script);
	return r < 0 ? r : language;
}

static void the_first_line_tells(void **state)
{
	static const struct {
		const char *line;
		int language; /* -1: none that we run */
	} rows[] = {
		{ "#!/usr/bin/python3", BJ_LANG_PYTHON },
		{ "#!/usr/bin/python3 -u", BJ_LANG_PYTHON },
		{ "#!/usr/bin/env python3", BJ_LANG_PYTHON },
		{ "#!/usr/bin/env -S python3.11 -I", BJ_LANG_PYTHON },
		{ "#! /usr/local/bin/python", BJ_LANG_PYTHON },
		{ "#!/usr/bin/python3\r", BJ_LANG_PYTHON },
		{ "#!/bin/bash", BJ_LANG_BASH },
		{ "#!/bin/bash -e", BJ_LANG_BASH },
		{ "#!/bin/sh", BJ_LANG_BASH },
		{ "#!/bin/sh -eu", BJ_LANG_BASH },
		{ "#!/usr/bin/env bash", BJ_LANG_BASH },
		{ "#!/usr/bin/env -S LANG=C bash -x", BJ_LANG_BASH },
		{ "#!/bin/dash", BJ_LANG_BASH },
		{ "#!/usr/bin/fish", -1 },
		{ "#!/bin/zsh", -1 },
		{ "#!/bin/csh -f", -1 },
		{ "#!/usr/bin/env fish", -1 },
		{ "#!/home/python/bin/perl", -1 },
		{ "#!/usr/bin/perl # not bash", -1 },
		{ "#!/usr/bin/pythonista", -1 },
		{ "#!/usr/bin/env", -1 },
		{ "#!", -1 },
		{ "#!/", -1 },
		{ "# python", -1 },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		AUTO_BUF struct bj_buf text = { 0 };
		struct bj_err err = { 0 };

		bj_buf_printf(&text, "%s\nx\n", rows[i].line);

		const int got = tell("file", text.data, NULL, &err);

		if (got != rows[i].language)
			print_error("%s\n", rows[i].line);
		if (rows[i].language >= 0)
			assert_int_equal(got, rows[i].language);
		else
			assert_int_equal(got, -BJ_E_INVALID);
	}
}

static void then_the_suffix(void **state)
{
	(void)state;
	assert_int_equal(tell("a/b.py", "x", NULL, NULL), BJ_LANG_PYTHON);
	assert_int_equal(tell("b.sh", "x", NULL, NULL), BJ_LANG_BASH);
	assert_int_equal(tell("b.bash", "x", NULL, NULL), BJ_LANG_BASH);
	assert_int_equal(tell("b.py", "#!/bin/bash\n", NULL, NULL), BJ_LANG_BASH);
	assert_int_equal(tell(".py", "x", NULL, NULL), -BJ_E_INVALID);
	assert_int_equal(tell("dir.py/file", "x", NULL, NULL), -BJ_E_INVALID);
	assert_int_equal(tell("-", "x", NULL, NULL), -BJ_E_INVALID);
}

static void a_flag_beats_both(void **state)
{
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(tell("b.py", "#!/usr/bin/python3\n", "bash", NULL), BJ_LANG_BASH);
	assert_int_equal(tell("b.py", "x", "javascript", &err), -BJ_E_INVALID);
	assert_string_equal(err.msg, "Invalid script_type: javascript. Must be 'python' or 'bash'");
}

static void an_empty_script_is_refused(void **state)
{
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(tell("b.py", "", NULL, &err), -BJ_E_INVALID);
	assert_non_null(strstr(err.msg, "is empty"));
}

static void what_cannot_be_opened_is_named(void **state)
{
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(bj_script_open("/nonexistent/x.py", &err), -BJ_E_NOT_FOUND);
	assert_non_null(strstr(err.msg, "/nonexistent/x.py"));
	assert_int_equal(bj_script_open("/", &err), -BJ_E_INVALID);
	assert_non_null(strstr(err.msg, "is a directory"));
}

/* A file without end stops at a ceiling. */
static void a_huge_file_is_refused(void **state)
{
	struct bj_script script = { 0 };
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(
		bj_script_read(&script, "zero.py", bj_script_open("/dev/zero", NULL), NULL, &err),
		-BJ_E_LIMIT);
	assert_non_null(strstr(err.msg, "larger than 16 MiB"));
	bj_script_done(&script);
}

static void an_input_may_be_empty(void **state)
{
	struct bj_script file = { 0 };

	(void)state;
	assert_int_equal(bj_script_read_input(&file, "a/data", bj_fd_memfile("s", "", 0), NULL), 0);
	assert_string_equal(file.name, "data");
	assert_int_equal(file.text.size, 0);
	bj_script_done(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_tells),
		cmocka_unit_test(then_the_suffix),
		cmocka_unit_test(a_flag_beats_both),
		cmocka_unit_test(an_empty_script_is_refused),
		cmocka_unit_test(what_cannot_be_opened_is_named),
		cmocka_unit_test(a_huge_file_is_refused),
		cmocka_unit_test(an_input_may_be_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
