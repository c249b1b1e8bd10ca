/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "check/check.h"
#include "check/rules.h"

#include <fcntl.h>

/* VALD-03, VALD-04: rules of the user are added to ours; a bad one is refused with its line. */

struct file {
	char path[64];
};

static void write_file(struct file *file, const char *text)
{
	snprintf(file->path, sizeof(file->path), "/tmp/belljar-rules-XXXXXX");

	AUTO_FD int fd = mkostemp(file->path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(bj_fd_write_all(fd, text, strlen(text)), 0);
}

static void assert_refused(const char *text, unsigned line, const char *why)
{
	struct file file;
	struct bj_checker *checker = NULL;
	struct bj_err err = { 0 };
	char place[96];

	write_file(&file, text);
	assert_true(bj_checker_new(file.path, &checker, &err) < 0);
	snprintf(place, sizeof(place), "%s:%u: ", file.path, line);
	unlink(file.path);
	assert_null(checker);
	assert_non_null(strstr(err.msg, place));
	assert_non_null(strstr(err.msg, why));
}

static const char GOOD[] = "secrets:\n"
			   "  - id: acme-token\n"
			   "    message: An Acme token is in the script\n"
			   "    pattern: '\\bacme_[a-z0-9]{8}\\b'\n"
			   "    positive: x = 'acme_abcd1234'\n"
			   "    negative: x = 'acme_short'\n"
			   "  - id: acme-note\n"
			   "    severity: low\n"
			   "    language: bash\n"
			   "    message: An Acme note\n"
			   "    pattern: ACME-NOTE\n"
			   "dangers:\n"
			   "  - id: no-remove\n"
			   "    language: python\n"
			   "    severity: critical\n"
			   "    message: Deletes a file\n"
			   "    call: os.remove\n";

static void are_added_to_ours(void **state)
{
	const char text[] = "a = 'acme_zzzz9999'\npassword = 'hunter2'\nb = 'ACME-NOTE'\n";
	const struct bj_check_request request = { .language = BJ_LANG_PYTHON,
						  .text = text,
						  .size = sizeof(text) - 1 };
	struct bj_checker *checker = NULL;
	struct bj_report report = { 0 };
	struct bj_err err = { 0 };
	struct file file;

	(void)state;
	write_file(&file, GOOD);
	assert_int_equal(bj_checker_new(file.path, &checker, &err), 0);
	unlink(file.path);
	assert_int_equal(bj_check(checker, &request, &report, &err), 0);
	assert_int_equal(report.n_findings, 2);
	assert_string_equal(report.findings[0].rule, "acme-token");
	assert_string_equal(report.findings[0].source, "a = '*************'");
	assert_true(report.findings[0].blocks);
	assert_string_equal(report.findings[1].rule, "secret-password");
	bj_report_done(&report);
	bj_checker_free(checker);
}

static void low_ones_do_not_block(void **state)
{
	const char text[] = "echo ACME-NOTE\n";
	const struct bj_check_request request = { .language = BJ_LANG_BASH,
						  .text = text,
						  .size = sizeof(text) - 1 };
	struct bj_checker *checker = NULL;
	struct bj_report report = { 0 };
	struct file file;

	(void)state;
	write_file(&file, GOOD);
	assert_int_equal(bj_checker_new(file.path, &checker, NULL), 0);
	unlink(file.path);
	assert_int_equal(bj_check(checker, &request, &report, NULL), 0);
	assert_int_equal(report.n_findings, 1);
	assert_false(report.blocked);
	bj_report_done(&report);
	bj_checker_free(checker);
}

static void bad_ones_are_refused_with_their_line(void **state)
{
	(void)state;
	assert_refused("secrets:\n  - id: a\n    message: m\n    pattern: '('\n", 2,
		       "does not compile");
	assert_refused("secrets:\n  - id: a\n    message: m\n    pattern: a1\n"
		       "  - id: b\n    message: m\n    pattern: 'b(?=c)'\n",
		       5, "rule b");
	assert_refused("secrets:\n  - id: a\n    message: m\n", 2, "needs a pattern");
	assert_refused("secrets:\n  - message: m\n    pattern: x1\n", 2, "needs an id");
	assert_refused("secrets:\n  - id: a\n    pattern: x1\n", 2, "needs a message");
	assert_refused("secrets:\n  - id: a\n    message: m\n    pattern: x1\n    colour: red\n", 5,
		       "unknown key");
	assert_refused("secrets:\n  - id: a\n    message: m\n    pattern: x1\n    severity: huge\n",
		       2, "severity is");
	assert_refused("secrets:\n  - id: secret-stripe\n    message: m\n    pattern: x1\n", 2,
		       "the id is taken");
	assert_refused("dangers:\n  - id: a\n    message: m\n    call: os.remove\n", 2,
		       "needs a language");
	assert_refused("dangers:\n  - id: a\n    message: m\n    language: perl\n    call: x\n", 2,
		       "python or bash");
	assert_refused("\nimports: []\n", 2, "allowed are secrets and dangers");
	assert_refused("secrets:\n  - id: [\n", 3, "");
	assert_refused("secrets: 1\n", 1, "list of rules");
	assert_refused("- 1\n", 1, "mapping");
	assert_refused(
		"secrets:\n  - id: a\n    message: m\n    pattern: x1\n    positive: nothing\n", 2,
		"positive example");
	assert_refused(
		"secrets:\n  - id: a\n    message: m\n    pattern: x1\n    negative: has x1\n", 2,
		"negative example");
}

static void a_missing_file_is_an_error(void **state)
{
	struct bj_checker *checker = NULL;
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(bj_checker_new("/nonexistent/rules.yaml", &checker, &err),
			 -BJ_E_NOT_FOUND);
	assert_non_null(strstr(err.msg, "/nonexistent/rules.yaml"));
}

static void are_listed(void **state)
{
	AUTO_FREE const struct bj_rule **rules = NULL;
	struct bj_checker *checker = NULL;
	struct file file;
	size_t n, found = 0;

	(void)state;
	write_file(&file, GOOD);
	assert_int_equal(bj_checker_new(file.path, &checker, NULL), 0);
	unlink(file.path);
	assert_int_equal(bj_rules_list(checker, &rules, &n, NULL), 0);
	for (size_t i = 0; i < n; i++)
		found += strcmp(rules[i]->id, "acme-token") == 0 ||
			 strcmp(rules[i]->id, "no-remove") == 0;
	assert_int_equal(found, 2);
	bj_checker_free(checker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_added_to_ours),
		cmocka_unit_test(low_ones_do_not_block),
		cmocka_unit_test(bad_ones_are_refused_with_their_line),
		cmocka_unit_test(a_missing_file_is_an_error),
		cmocka_unit_test(are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
