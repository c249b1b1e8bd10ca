/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "check/check.h"

/* VALD-04: what bash reads and the grammar does not is read all the same, and what reads it hides
 * nothing. VALD-01: a declared encoding is read as CPython reads it. */

static void check(enum bj_language language, const char *text, struct bj_report *ret)
{
	struct bj_checker *checker = NULL;
	const struct bj_check_request request = {
		.language = language, .text = text, .size = strlen(text), .imports = BJ_LAYER_WARN
	};

	assert_int_equal(bj_checker_new(NULL, &checker, NULL), 0);
	assert_int_equal(bj_check(checker, &request, ret, NULL), 0);
	bj_checker_free(checker);
}

static bool finds(const struct bj_report *report, const char *rule)
{
	for (size_t i = 0; i < report->n_findings; i++)
		if (strcmp(report->findings[i].rule, rule) == 0)
			return true;
	return false;
}

static void odd_bash_is_read(void **state)
{
	static const char *const texts[] = {
		"exec 3<>file",
		"for x do echo; done",
		"cat <<\\E\na\nE\necho",
		"<<\\E\na\nE",
		"x=$(ls) 2>/dev/null || true",
		"x=1 2>/dev/null",
		"x=\"a\" >file",
		"d=${1:-`dirname $0`}",
		"((gzip -x) | cat)",
		"line=`echo $line| sed s/.$//`$x",
		"lvs -S name=~\\(x$\\) -y",
		"[ \\( ! -h \"$a$b\" -a \\( -d x \\) \\) ]",
		"case \"$m\" in\n $x\\;*|*\\;$x) echo;;\nesac",
		"if [ \"$1\" = -- ]; then shift; fi",
		"q=\"${t//\\{db\\}/\\`$db\\`}\"",
		"{ read -r a; read -r b; } <<< \"$x\"",
		"cat <<A\none\n",
		"cat <<A\none",
		"cat <<A",
		"cat <<'A' <b\none\n",
		"cat <<-A\n\tone\n\tA\ncat <<B\nA\n",
		"{fd}>file",
		"if x; then {fd}<file; fi; {fd}>&-",
		"echo a\\",
		"echo a \\",
		"echo a \\\n",
		"cat <<A\none\\",
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++) {
		struct bj_report report = { 0 };

		check(BJ_LANG_BASH, texts[i], &report);
		if (finds(&report, "sh-unparsed"))
			fail_msg("not read: %s", texts[i]);
		bj_report_done(&report);
	}
}

/* Each has something to mend, and something that must be found all the same. */
static void mending_hides_nothing(void **state)
{
	static const char *const texts[] = {
		"exec 3<>file; rm -rf /",
		"x=$(rm -rf /) 2>/dev/null",
		"x=$(case x in x)rm >y -rf /;; esac) 2>/dev/null\nexec 3<>f",
		"exec 3<>f\nrm -rf \\\n a=b >x /",
		"exec 3<>f\nrm -rf a=b >x /",
		"exec 3<>f; A=1 >x rm -rf /",
		"exec 3<>f\nrm '-rf' '/'",
		"exec 3<>f\nx='`'; rm -rf /; y='`'",
		"d=${1:-`rm -rf /`}",
		"exec 3<>f\necho \\( \"$(rm -rf /)\" \\)",
		"((rm -rf /) | cat)",
		"<<E cat\n$(rm -rf /)\nE\nexec 3<>f",
		"exec 3<>f\nx=`echo \\`rm -rf /\\``",
		"exec 3<>f\nx='\\'`echo \\`rm -rf /\\``",
		"if [ \"$1\" = -- ]; then rm -rf -- /; fi",
		"{ cat; } <<< \"$(rm -rf /)\"",
		/* Where a here-document ends is not to be mended. */
		"exec 3<>f\ncat <<'a=b >x'\na=b >x\nrm -rf /\necho \\\na=b >x\n",
		"exec 3<>f\ncat <<'{f}>x'\n{f}>x\nrm -rf /\necho \\\n{f}>x\n",
		"x=`echo $line| sed s/.$//`$x\ncat <<A.\nA$\nx='\nA.\nrm -rf /\n#'\n",
		"q=\"${t//\\{db\\}/\\`$db\\`}\"\ncat <<Ah\nA\\`\nx='\nAh\nrm -rf /\n#'\n",
		"q=\"${t//\\{db\\}/\\`$db\\`}\"\ncat <<-Ah\n\tA\\`\nx='\nAh\nrm -rf /\n#'\n",
		"cat <<A\nA\nrm -rf /\ncat <<B\nx",
		"cat <<A\n$(rm -rf /)",
		"bash <<'A'\nrm -rf /",
		"bash <<A\nls\nrm -rf /",
		"bash <<-A\n\trm -rf /\\",
		"cat <<A && rm -rf /\nx",
		"{fd}<file rm -rf /",
		"{fd}>file; rm -rf /",
		"{fd}>(rm -rf /)",
		"rm -rf / \\",
		"rm -rf /\\\n",
		"echo '\\'; rm -rf \\\n / \\",
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++) {
		struct bj_report report = { 0 };

		check(BJ_LANG_BASH, texts[i], &report);
		if (!finds(&report, "sh-rm-root") && !finds(&report, "sh-unparsed"))
			fail_msg("hidden: %s", texts[i]);
		bj_report_done(&report);
	}
}

/* The grammar reads each without an error, and not as bash does. */
static void what_bash_reads_otherwise_is_told(void **state)
{
	static const char *const texts[] = {
		"echo\n\\\nrm -rf /",
		"echo a\\\\\n \\\n\\\nrm -rf /",
		"export A\n\\\nrm -rf /",
		">f\n\\\nrm -rf /",
		"x=1 2>f\n{f}<f rm -rf /",
		"{f}>x\\\n{f}<f rm -rf /",
		"A=$\nrm -rf /",
		"A\\\n#'\n: <<B\n#'\nrm -rf /\nB",
		"cat <<A\n\\\nA\nrm -rf /\nA",
		"cat <<A\nA\\\n\nrm -rf /\nA",
		"cat <<-A\n\tA\\\n\nrm -rf /\nA",
		"cat <<A\nx\\\nA\ny='\nA\nrm -rf /\n#'",
		"cat <<A ||\nx='\nA\nrm -rf /\n#'",
	};
	static const char *const plain[] = {
		"echo a \\\n  b \\\n \\\n c",  "cat <<A\na \\\nb\nA",
		"cat <<'A'\na\\\nA\necho",     "# a\\\n# b\necho",
		"echo a && \\\n# c\necho b",   "x=(a\nb)\necho \"$x\n\" 'a\nb'\ncat <<A b\nc\nA\n",
		"if a; then b; fi >f \\\n2>g",
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts) + BJ_ARRAY_SIZE(plain); i++) {
		const bool odd = i < BJ_ARRAY_SIZE(texts);
		const char *text = odd ? texts[i] : plain[i - BJ_ARRAY_SIZE(texts)];
		struct bj_report report = { 0 };

		check(BJ_LANG_BASH, text, &report);
		if (odd && !finds(&report, "sh-rm-root") && !finds(&report, "sh-unparsed"))
			fail_msg("hidden: %s", text);
		if (!odd && finds(&report, "sh-unparsed"))
			fail_msg("not read: %s", text);
		bj_report_done(&report);
	}
}

static void declared_encodings_are_read(void **state)
{
	struct bj_report report = { 0 };

	(void)state;
	check(BJ_LANG_PYTHON, "# coding: latin-1\nx = '\xe9\xe9'; eval(x)\n", &report);
	assert_int_equal(report.n_findings, 1);
	assert_string_equal(report.findings[0].rule, "py-eval");
	assert_int_equal(report.findings[0].line, 2);
	assert_int_equal(report.findings[0].column, 11);
	assert_string_equal(report.findings[0].source, "x = 'éé'; eval(x)");
	bj_report_done(&report);
	/* In this encoding the byte is a letter of a name that Python reads as a plain one. */
	check(BJ_LANG_PYTHON, "# coding: latin-1\nev\xaal('1')\n", &report);
	assert_true(finds(&report, "py-eval"));
	bj_report_done(&report);
	check(BJ_LANG_PYTHON, "# vim: fileencoding=latin-1-unix\nx = '\xe9'\n", &report);
	assert_false(report.blocked);
	bj_report_done(&report);
	check(BJ_LANG_PYTHON, "# coding: cp1252\nx = '\x81'\n", &report);
	assert_true(report.blocked);
	bj_report_done(&report);
	check(BJ_LANG_PYTHON, "# coding: gbk\nx = '\xc4\xe3'\n", &report);
	assert_true(report.blocked);
	bj_report_done(&report);
	check(BJ_LANG_PYTHON, "# coding: raw_unicode_escape\nx = '\xe9'\n", &report);
	assert_true(report.blocked);
	bj_report_done(&report);
	check(BJ_LANG_PYTHON, "\xef\xbb\xbf# coding: latin-1\nx = 1\n", &report);
	assert_true(report.blocked);
	bj_report_done(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odd_bash_is_read),
		cmocka_unit_test(mending_hides_nothing),
		cmocka_unit_test(what_bash_reads_otherwise_is_told),
		cmocka_unit_test(declared_encodings_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
