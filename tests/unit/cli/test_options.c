/* SPDX-License-Identifier: Apache-2.0 */

/* CFG: the command line, word by word. */

#include "unit.h"

#include "base/buf.h"
#include "cli/options.h"

#include <string.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "timeout", .letter = 't', .arg = "TIME", .help = "" },
	{ .name = "json", .letter = 'j', .help = "" },
	{ .name = "memory", .arg = "SIZE", .help = "" },
	{ 0 },
};

enum { MAX_WORDS = 8 };

/* What @words are read as: "name=value" or "value" for each, joined by a space; "!" and the
 * message for a refusal. */
static void reads_as(const char *const *words, const char *want)
{
	char *argv[MAX_WORDS] = { (char *)"run" };
	struct bj_parse p = { .argv = argv, .argc = 1, .next = 1 };
	AUTO_BUF struct bj_buf got = { 0 };
	struct bj_err err = { 0 };
	int r;

	while (*words)
		argv[p.argc++] = (char *)*words++;
	while ((r = bj_options_next(&p, OPTIONS, &err)) > 0)
		bj_buf_printf(&got, "%s%s%s%s", got.size ? " " : "", p.option ? p.option->name : "",
			      p.option ? "=" : "", p.value ? p.value : "");
	if (r < 0)
		bj_buf_printf(&got, "!%s", err.msg);
	assert_string_equal(got.data ? got.data : "", want);
}

#define READS_AS(want, ...) reads_as((const char *const[]){ __VA_ARGS__, NULL }, want)

static void options_and_values(void **state)
{
	(void)state;
	READS_AS("timeout=5 a", "--timeout", "5", "a");
	READS_AS("timeout=5", "--timeout=5");
	READS_AS("timeout=", "--timeout=");
	READS_AS("timeout=a=b", "--timeout=a=b");
	READS_AS("timeout=5", "-t", "5");
	READS_AS("timeout=5", "-t5");
	READS_AS("timeout=--json", "--timeout", "--json");
	READS_AS("json= a", "--json", "a");
	READS_AS("a json=", "a", "-j");
}

static void plain_words(void **state)
{
	(void)state;
	READS_AS("-", "-");
	READS_AS("a --json -t", "a", "--", "--json", "-t");
	READS_AS("-- x", "--", "--", "x");
	READS_AS("", NULL);
}

static void refusals_say_what_to_do(void **state)
{
	(void)state;
	READS_AS("!unknown option --timout; did you mean --timeout?", "--timout", "5");
	READS_AS("!unknown option --xyzzy; --help lists them", "--xyzzy");
	READS_AS("!unknown option --time; --help lists them", "--time=3");
	READS_AS("!unknown option -x; --help lists them", "-x");
	READS_AS("!option --timeout needs a value: --timeout TIME", "--timeout");
	READS_AS("!option --timeout needs a value: --timeout TIME", "-t");
	READS_AS("!option --json takes no value", "--json=1");
	READS_AS("!option --json takes no value", "-j1");
}

/* A word as long as it likes is cut in the message, not in memory. */
static void long_words(void **state)
{
	char word[5000];
	char *argv[] = { (char *)"run", word };
	struct bj_parse p = { .argv = argv, .argc = 2, .next = 1 };
	struct bj_err err = { 0 };

	(void)state;
	memset(word, '-', 2);
	memset(word + 2, 'x', sizeof(word) - 3);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(bj_options_next(&p, OPTIONS, &err), -BJ_E_INVALID);
	assert_true(strlen(err.msg) < 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_and_values),
		cmocka_unit_test(plain_words),
		cmocka_unit_test(refusals_say_what_to_do),
		cmocka_unit_test(long_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
