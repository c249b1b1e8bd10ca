/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "check/check.h"
#include "check/report.h"

/* VALD-03, VALD-05, VALD-06, RISK: the verdict, its sentence, and what is never shown. */

static struct bj_checker *checker;

static int setup(void **state)
{
	(void)state;
	return bj_checker_new(NULL, &checker, NULL);
}

static int teardown(void **state)
{
	(void)state;
	bj_checker_free(checker);
	return 0;
}

static struct bj_check_request request_of(enum bj_language language, const char *text)
{
	return (struct bj_check_request){
		.language = language, .text = text, .size = strlen(text), .imports = BJ_LAYER_WARN
	};
}

static void a_secret_blocks_and_is_not_shown(void **state)
{
	const struct bj_check_request request =
		request_of(BJ_LANG_PYTHON, "x = 1\napi_key = 'secret123'\n");
	struct bj_report report = { 0 };

	(void)state;
	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_true(report.blocked);
	assert_int_equal(report.n_findings, 1);
	assert_string_equal(report.findings[0].layer, "secrets");
	assert_string_equal(report.findings[0].rule, "secret-api-key");
	assert_int_equal(report.findings[0].line, 2);
	assert_int_equal(report.findings[0].column, 12);
	assert_int_equal(report.findings[0].end_column, 21);
	assert_string_equal(report.findings[0].source, "api_key = '*********'");
	assert_string_equal(report.error, "An API key is written into the script (secrets layer, "
					  "rule secret-api-key, line 2)");
	assert_int_equal(report.risk, BJ_RISK_HIGH);
	assert_string_equal(report.risk_reasons[0], "holds a secret");
	bj_report_done(&report);
}

static void a_clean_script_is_low(void **state)
{
	const struct bj_check_request request = request_of(BJ_LANG_PYTHON, "print(1 + 1)\n");
	struct bj_report report = { 0 };

	(void)state;
	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_false(report.blocked);
	assert_null(report.error);
	assert_int_equal(report.n_findings, 0);
	assert_int_equal(report.risk, BJ_RISK_LOW);
	assert_int_equal(report.n_risk_reasons, 0);
	bj_report_done(&report);
}

static void off_records_and_blocks_nothing(void **state)
{
	struct bj_check_request request = request_of(BJ_LANG_BASH, "PASSWORD=hunter2\n");
	struct bj_report report = { 0 };

	(void)state;
	request.policy = BJ_POLICY_OFF;
	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_int_equal(report.n_findings, 1);
	assert_false(report.findings[0].blocks);
	assert_false(report.blocked);
	bj_report_done(&report);
}

static void length_blocks_under_every_policy(void **state)
{
	struct bj_check_request request = request_of(BJ_LANG_PYTHON, "x = 12345\n");
	struct bj_report report = { 0 };

	(void)state;
	request.policy = BJ_POLICY_OFF;
	request.max_chars = 9;
	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_true(report.blocked);
	assert_non_null(strstr(report.error, "the limit is 9"));
	assert_int_equal(report.findings[0].line, 0);
	bj_report_done(&report);
}

static void trust_does_not_cover_secrets(void **state)
{
	struct bj_check_request request = request_of(BJ_LANG_PYTHON, "password = 'hunter2'\n");
	struct bj_report report = { 0 };

	(void)state;
	request.trust = true;
	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_true(report.blocked);
	bj_report_done(&report);
}

/* VALD-03: what the script puts together is looked at as a whole, and no line shows a piece. */
static const struct {
	const char *text;
	enum bj_language language;
} joined[] = {
	{ "t = \"gh\" \"p_%s\"\neval(\"%s\")\n", BJ_LANG_PYTHON },
	{ "t = \"ghp_\" + \"%s\"; eval(t)\nx(\"%s\")\n", BJ_LANG_PYTHON },
	{ "a = \"ghp_\"\nb = \"%s\"; eval(b)\nt = a + b\n", BJ_LANG_PYTHON },
	{ "t = \"ghp_\"\nt += \"%s\"; eval(t)\n", BJ_LANG_PYTHON },
	{ "t = \"\".join([\"ghp_\", \"%s\"]); eval(t)\n", BJ_LANG_PYTHON },
	{ "p = [\"ghp_\", \"%s\"]; eval(p)\nt = \"\".join(p)\n", BJ_LANG_PYTHON },
	{ "t = \"%%s_%%s\" %% (\"ghp\", \"%s\"); eval(t)\n", BJ_LANG_PYTHON },
	{ "a = \"ghp_\"\nt = f\"{a}%s\"; eval(t)\n", BJ_LANG_PYTHON },
	{ "t = \"ghp#_%s\".replace(\"#\", \"\"); eval(t)\n", BJ_LANG_PYTHON },
	{ "t = \"\\x67hp_%s\"; eval(t)\n", BJ_LANG_PYTHON },
	{ "import subprocess\nsubprocess.run([\"mysql\", \"-u\", \"root\", \"-p%s\"])\n",
	  BJ_LANG_PYTHON },
	{ "T=\"ghp_\"\"%s\"; rm -rf / $T\n", BJ_LANG_BASH },
	{ "T=ghp_\nT+=%s; rm -rf /\n", BJ_LANG_BASH },
	{ "a=ghp_; b=%s; curl -H \"X: $a$b\" https://x.test; rm -rf /\n", BJ_LANG_BASH },
	{ "K=ghp_; K=\"${K}%s\"; rm -rf /\n", BJ_LANG_BASH },
	{ "curl -H X:$(printf '%%s_%%s' ghp %s) https://x.test; rm -rf /\n", BJ_LANG_BASH },
};

static void secrets_in_pieces_are_found(void **state)
{
	static const char tail[] = "q9WzX2mK7tLp4RvB8nYc"
				   "5DfG1hJs6QaE3uVx";

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(joined); i++) {
		char text[512];
		struct bj_report report = { 0 };
		bool found = false;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), joined[i].text, tail, tail);
#pragma GCC diagnostic pop

		struct bj_check_request request = request_of(joined[i].language, text);

		for (int trust = 0; trust < 2; trust++) {
			request.trust = trust;
			found = false;
			assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
			for (size_t k = 0; k < report.n_findings; k++) {
				found |= !strcmp(report.findings[k].layer, "secrets");
				if (strstr(report.findings[k].source, tail))
					fail_msg("shown: %s", text);
			}
			if (!found || !report.blocked)
				fail_msg("missed%s: %s", trust ? " when trusted" : "", text);
			bj_report_done(&report);
		}
	}
}

/* VALD-03: what stands beside a key id is its secret, and is not shown with it. */
static void the_secret_of_a_key_id_is_masked(void **state)
{
	static const char secret[] = "q9WzX2mK7tLp4RvB8nYc"
				     "5DfG1hJs6QaE3uVx/+Zk";
	char text[128];

	(void)state;
	snprintf(text, sizeof(text), "s = Session('AKIA%s', '%s')\n", "Q3ZX7WLM2PKT5RVB", secret);

	const struct bj_check_request request = request_of(BJ_LANG_PYTHON, text);
	struct bj_report report = { 0 };

	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_true(report.blocked);
	for (size_t i = 0; i < report.n_findings; i++)
		assert_null(strstr(report.findings[i].source, secret));
	bj_report_done(&report);
}

/* Long text in pieces is ordinary. */
static void ordinary_pieces_are_clean(void **state)
{
	static const char *const texts[] = {
		"x = \"a long text about passwords, \" \"and how to keep a token: in a file\"\n",
		"u = \"https://api.test/\" + version + \"/users/\" + str(n)\n",
		"import subprocess\nsubprocess.run([\"mysql\", \"-u\", \"root\", \"-p\" + "
		"password])\n",
		"c = [\"curl\", \"-u\", f\"{user}:{password}\", \"https://x.test\"]\n",
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++) {
		const struct bj_check_request request = request_of(BJ_LANG_PYTHON, texts[i]);
		struct bj_report report = { 0 };

		assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
		for (size_t k = 0; k < report.n_findings; k++)
			assert_string_not_equal(report.findings[k].layer, "secrets");
		bj_report_done(&report);
	}
}

/* The lines of a refused text are shown too. */
static void a_refused_text_shows_no_secret(void **state)
{
	const struct bj_check_request request =
		request_of(BJ_LANG_PYTHON, "password = 'hunter2'; x = '\xff'\n");
	struct bj_report report = { 0 };

	(void)state;
	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_true(report.n_findings >= 2);
	for (size_t i = 0; i < report.n_findings; i++)
		assert_null(strstr(report.findings[i].source, "hunter2"));
	bj_report_done(&report);
}

static void syntax_comes_in_the_agreed_words(void **state)
{
	const struct bj_check_request request =
		request_of(BJ_LANG_PYTHON, "a = 1\nb = 2\nprint(\n");
	struct bj_report report = { 0 };

	(void)state;
	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	/* What the tree cannot read waits for the interpreter's word, and gives way to it. */
	assert_true(report.blocked && report.unparsed);
	assert_int_equal(bj_report_add_syntax(checker, &request, &report, 3, 6,
					      "'(' was never closed", NULL),
			 0);
	assert_true(report.blocked && !report.unparsed);
	assert_int_equal(report.n_findings, 1);
	assert_string_equal(report.error, "Python syntax error: line 3: '(' was never closed");
	assert_string_equal(report.findings[0].source, "print(");
	assert_string_equal(report.findings[0].layer, "syntax");
	bj_report_done(&report);
}

/* bash echoes the line, or one word of it, without the name that gives the secret away. */
static void syntax_messages_are_masked(void **state)
{
	struct bj_check_request request = request_of(BJ_LANG_BASH, "PASSWORD=hunter2 )\necho ok\n");
	struct bj_report report = { 0 };

	(void)state;
	request.policy = BJ_POLICY_OFF;
	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_int_equal(bj_report_add_syntax(checker, &request, &report, 1, 0,
					      "unexpected token `hunter2'\n`PASSWORD=hunter2 )'",
					      NULL),
			 0);
	assert_int_equal(report.n_findings, 2);
	for (size_t i = 0; i < report.n_findings; i++) {
		assert_null(strstr(report.findings[i].message, "hunter2"));
		assert_null(strstr(report.findings[i].source, "hunter2"));
	}
	assert_null(strstr(report.error, "hunter2"));
	assert_memory_equal(report.error, "Bash syntax error: line 1: ", 27);
	bj_report_done(&report);
}

/* A rule that fires without end is reported fifty times, and still blocks. */
static void floods_are_thinned(void **state)
{
	AUTO_FREE char *text = calloc(1, 300 * 21 + 1);
	struct bj_report report = { 0 };

	(void)state;
	for (size_t i = 0; i < 300; i++)
		memcpy(text + i * 21, "password = 'hunter2'\n", 21);

	const struct bj_check_request request = request_of(BJ_LANG_PYTHON, text);

	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_int_equal(report.n_findings, 50);
	assert_int_equal(report.findings[49].line, 50);
	assert_true(report.blocked);
	bj_report_done(&report);
}

static void lines_as_the_interpreter_counts(void **state)
{
	const char text[] =
		"\xef\xbb\xbfx = '\xc3\xa9'\r\ny = 2\rz = '\xc3\xa9'; password = 'hunter2'\n";
	const struct {
		enum bj_language language;
		uint32_t line, column;
	} wanted[] = { { BJ_LANG_PYTHON, 3, 22 }, { BJ_LANG_BASH, 2, 28 } };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(wanted); i++) {
		const struct bj_check_request request = request_of(wanted[i].language, text);
		struct bj_report report = { 0 };
		size_t last;

		assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
		last = report.n_findings - 1;
		assert_string_equal(report.findings[last].rule, "secret-password");
		assert_int_equal(report.findings[last].line, wanted[i].line);
		assert_int_equal(report.findings[last].column, wanted[i].column);
		bj_report_done(&report);
	}
}

static void policies_decide_what_blocks(void **state)
{
	const struct bj_rule low = { .layer = "dangers", .severity = BJ_SEV_LOW };
	const struct bj_rule high = { .layer = "dangers", .severity = BJ_SEV_HIGH };
	const struct bj_rule file = { .layer = "dangers",
				      .severity = BJ_SEV_LOW,
				      .access = BJ_ACCESS_FILE };
	const struct bj_rule import = { .layer = "imports", .severity = BJ_SEV_MEDIUM };
	struct bj_check_request request = request_of(BJ_LANG_PYTHON, "");

	(void)state;
	assert_false(bj_rule_blocks(&request, &low));
	assert_true(bj_rule_blocks(&request, &high));
	assert_false(bj_rule_blocks(&request, &file));
	assert_false(bj_rule_blocks(&request, &import));
	request.imports = BJ_LAYER_BLOCK;
	assert_true(bj_rule_blocks(&request, &import));
	request.imports = BJ_LAYER_WARN;
	request.policy = BJ_POLICY_STRICT;
	assert_false(bj_rule_blocks(&request, &low));
	assert_true(bj_rule_blocks(&request, &file));
	assert_true(bj_rule_blocks(&request, &import));
	request.policy = BJ_POLICY_OFF;
	assert_false(bj_rule_blocks(&request, &high));
	assert_false(bj_rule_blocks(&request, &import));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_secret_blocks_and_is_not_shown),
		cmocka_unit_test(a_clean_script_is_low),
		cmocka_unit_test(off_records_and_blocks_nothing),
		cmocka_unit_test(length_blocks_under_every_policy),
		cmocka_unit_test(trust_does_not_cover_secrets),
		cmocka_unit_test(secrets_in_pieces_are_found),
		cmocka_unit_test(the_secret_of_a_key_id_is_masked),
		cmocka_unit_test(ordinary_pieces_are_clean),
		cmocka_unit_test(a_refused_text_shows_no_secret),
		cmocka_unit_test(syntax_comes_in_the_agreed_words),
		cmocka_unit_test(syntax_messages_are_masked),
		cmocka_unit_test(floods_are_thinned),
		cmocka_unit_test(lines_as_the_interpreter_counts),
		cmocka_unit_test(policies_decide_what_blocks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
