/* SPDX-License-Identifier: Apache-2.0 */
/* How long the check takes: check_bench [--ordinary | --scripts FILE...]
 * Times are CPU times, so that a busy machine does not change them.
 *
 * With --scripts, only the p50 of all layers for each file: its name and microseconds.
 *
 * Prints the p50 of each layer on an ordinary script of 10,000 characters, and for texts made to
 * hurt, the time for 1 MB over the time for 100 KB and the time for 10 KB of it. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "check/length.h"
#include "check/secrets.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 300, SIZE = 10000, SMALL = 100000, LARGE = 1000000 };

static const char PYTHON[] =
	"import csv\nimport json\nfrom collections import defaultdict\n\n\n"
	"def load(path, limit=None):\n    \"\"\"Read the rows of a table.\"\"\"\n"
	"    rows = []\n    with open(path, newline='') as file:\n"
	"        for index, row in enumerate(csv.DictReader(file)):\n"
	"            if limit is not None and index >= limit:\n                break\n"
	"            row['total'] = float(row['price']) * int(row['count'])\n"
	"            rows.append(row)\n    return rows\n\n\n"
	"def summarise(rows):\n    groups = defaultdict(list)\n    for row in rows:\n"
	"        groups[row['region']].append(row['total'])\n"
	"    return {name: sum(v) / len(v) for name, v in sorted(groups.items())}\n\n\n"
	"print(json.dumps(summarise(load('data.csv')), indent=2))  # the averages\n\n";

static const char BASH[] =
	"#!/bin/bash\nset -euo pipefail\n\n"
	"count_lines() {\n\tlocal file=$1 total=0\n\twhile IFS= read -r line; do\n"
	"\t\tif [[ $line == *error* ]]; then\n\t\t\ttotal=$((total + 1))\n\t\tfi\n"
	"\tdone <\"$file\"\n\techo \"$file: $total\"\n}\n\n"
	"for f in logs/*.txt; do\n\tcount_lines \"$f\" | sort | uniq -c >>report.txt\ndone\n"
	"awk '{ sum += $2 } END { print sum }' report.txt\n\n";

/* Texts that make some layer work hard. */
static const struct {
	const char *name;
	enum bj_language language;
	const char *unit;
} HOSTILE[] = {
	{ "assignments", BJ_LANG_PYTHON, "password = 'hunter2'\n" },
	{ "names without values", BJ_LANG_BASH, "pwd=pwd=pwd=" },
	{ "names on one line", BJ_LANG_PYTHON, "password: '" },
	{ "long annotation", BJ_LANG_PYTHON, "token: a" },
	{ "token heads", BJ_LANG_PYTHON, "ghp_AKIA" },
	{ "one long token", BJ_LANG_PYTHON, "eyJhbGciOiJIUzI1NiJ9" },
	{ "private keys", BJ_LANG_PYTHON,
	  "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n" },
	{ "addresses", BJ_LANG_PYTHON, "a://b:c" },
	{ "at signs", BJ_LANG_PYTHON, "://:@:@" },
	{ "open parentheses", BJ_LANG_PYTHON, "(" },
	{ "brackets and commas", BJ_LANG_PYTHON, "[1," },
	{ "quotes", BJ_LANG_PYTHON, "'" },
	{ "indents", BJ_LANG_PYTHON, "if 1:\n  " },
	{ "attributes", BJ_LANG_PYTHON, "a.b." },
	{ "calls of calls", BJ_LANG_PYTHON, "eval(" },
	{ "sums of strings", BJ_LANG_PYTHON, "'a'+" },
	{ "imports", BJ_LANG_PYTHON, "import os as a\n" },
	{ "aliases", BJ_LANG_PYTHON, "a=b\nb=a\n" },
	{ "format strings", BJ_LANG_PYTHON, "f'{f\"{" },
	{ "line ends", BJ_LANG_PYTHON, "\n" },
	{ "letters", BJ_LANG_PYTHON, "a" },
	{ "substitutions", BJ_LANG_BASH, "$(" },
	{ "backquotes", BJ_LANG_BASH, "`\\" },
	{ "pipes", BJ_LANG_BASH, "a|" },
	{ "here documents", BJ_LANG_BASH, "cat <<E\n" },
	{ "groups", BJ_LANG_BASH, "{ (" },
	{ "expansions", BJ_LANG_BASH, "${a:-" },
	{ "commands", BJ_LANG_BASH, "rm -rf /\n" },
	{ "ifs", BJ_LANG_BASH, "if a; then\n" },
};

static char *repeat(const char *unit, size_t size)
{
	const size_t n = strlen(unit);
	char *text = malloc(size + 1);

	if (!text)
		exit(1);
	for (size_t at = 0; at < size; at++)
		text[at] = unit[at % n];
	text[size] = '\0';
	return text;
}

static uint64_t cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* One layer, or all of them. */
typedef void layer_fn(const struct bj_checker *checker, const struct bj_check_request *request);

static void run_length(const struct bj_checker *checker, const struct bj_check_request *request)
{
	struct bj_findings findings = { 0 };

	(void)checker;
	bj_layer_length(request, &findings);
	bj_findings_done(&findings);
}

static void run_secrets(const struct bj_checker *checker, const struct bj_check_request *request)
{
	struct bj_spans spans = { 0 };

	bj_secrets_find(bj_checker_secrets(checker), (enum bj_rule_language)request->language,
			request->text, request->size, &spans, NULL);
	bj_spans_done(&spans);
}

static void run_tree(const struct bj_checker *checker, const struct bj_check_request *request)
{
	struct bj_tree *tree = NULL;

	(void)checker;
	if (bj_tree_new(request, &tree, NULL) < 0)
		exit(1);
	bj_tree_free(tree);
}

/* These two with the tree they read. */
static void run_dangers(const struct bj_checker *checker, const struct bj_check_request *request)
{
	struct bj_findings findings = { 0 };
	struct bj_tree *tree = NULL;

	(void)checker;
	if (bj_tree_new(request, &tree, NULL) < 0 ||
	    bj_layer_dangers(request, tree, NULL, 0, &findings, NULL) < 0)
		exit(1);
	bj_findings_done(&findings);
	bj_tree_free(tree);
}

static void run_imports(const struct bj_checker *checker, const struct bj_check_request *request)
{
	struct bj_findings findings = { 0 };
	struct bj_modules modules = { 0 };
	struct bj_tree *tree = NULL;

	(void)checker;
	if (bj_tree_new(request, &tree, NULL) < 0 ||
	    bj_layer_imports(request, tree, &findings, &modules, NULL) < 0)
		exit(1);
	bj_findings_done(&findings);
	bj_modules_done(&modules);
	bj_tree_free(tree);
}

static void run_all(const struct bj_checker *checker, const struct bj_check_request *request)
{
	struct bj_report report = { 0 };

	if (bj_check(checker, request, &report, NULL) < 0)
		exit(1);
	bj_report_done(&report);
}

static double p50_us(layer_fn *layer, const struct bj_checker *checker,
		     const struct bj_check_request *request, size_t rounds)
{
	uint64_t times[ROUNDS];

	for (size_t i = 0; i < rounds; i++) {
		const uint64_t start = cpu_now();

		layer(checker, request);
		times[i] = cpu_now() - start;
	}
	qsort(times, rounds, sizeof(*times), compare);
	return (double)times[rounds / 2] / 1000.0;
}

static struct bj_check_request request_of(enum bj_language language, const char *text, size_t size)
{
	return (struct bj_check_request){ .language = language,
					  .text = text,
					  .size = size,
					  .imports = BJ_LAYER_WARN,
					  .max_chars = 4 * LARGE };
}

static void bench_ordinary(const struct bj_checker *checker)
{
	static const struct {
		const char *name;
		layer_fn *run;
	} layers[] = { { "length", run_length },
		       { "secrets", run_secrets },
		       { "tree", run_tree },
		       { "tree+dangers", run_dangers },
		       { "tree+imports", run_imports },
		       { "all", run_all } };
	static const char *const units[] = { PYTHON, BASH };

	for (size_t k = 0; k < BJ_ARRAY_SIZE(units); k++) {
		AUTO_FREE char *text = repeat(units[k], SIZE);
		const struct bj_check_request request =
			request_of(k ? BJ_LANG_BASH : BJ_LANG_PYTHON, text, SIZE);

		for (size_t i = 0; i < BJ_ARRAY_SIZE(layers); i++)
			printf("%-6s %-12s %8.1f us p50\n", k ? "bash" : "python", layers[i].name,
			       p50_us(layers[i].run, checker, &request, ROUNDS));
	}
}

static int bench_scripts(const struct bj_checker *checker, char **files)
{
	for (; *files; files++) {
		AUTO_BUF struct bj_buf text = { .max = LARGE };
		AUTO_FD int fd = open(*files, O_RDONLY | O_CLOEXEC);
		const bool bash = strstr(*files, ".sh") != NULL;

		if (fd < 0 || bj_fd_read_all(fd, &text) < 0) {
			fprintf(stderr, "check_bench: cannot read %s\n", *files);
			return 1;
		}

		const struct bj_check_request request =
			request_of(bash ? BJ_LANG_BASH : BJ_LANG_PYTHON, text.data, text.size);

		printf("%s %.1f\n", *files, p50_us(run_all, checker, &request, ROUNDS));
	}
	return 0;
}

static double time_hostile(const struct bj_checker *checker, size_t i, size_t size, size_t rounds)
{
	AUTO_FREE char *text = repeat(HOSTILE[i].unit, size);
	const struct bj_check_request request = request_of(HOSTILE[i].language, text, size);

	return p50_us(run_all, checker, &request, rounds);
}

static void bench_hostile(const struct bj_checker *checker)
{
	double worst_ratio = 0, worst_small = 0;

	printf("\n%-24s %10s %10s %10s\n", "made to hurt", "10 KB ms", "1 MB ms", "1M/100K");
	for (size_t i = 0; i < BJ_ARRAY_SIZE(HOSTILE); i++) {
		const double tiny = time_hostile(checker, i, SIZE, 5);
		const double small = time_hostile(checker, i, SMALL, 3);
		const double large = time_hostile(checker, i, LARGE, 3);

		printf("%-24s %10.2f %10.1f %10.1f\n", HOSTILE[i].name, tiny / 1000, large / 1000,
		       large / small);
		worst_ratio = large / small > worst_ratio ? large / small : worst_ratio;
		worst_small = tiny > worst_small ? tiny : worst_small;
	}
	printf("%-24s %10.2f %10s %10.1f\n", "worst", worst_small / 1000, "", worst_ratio);
}

int main(int argc, char **argv)
{
	struct bj_checker *checker = NULL;
	struct bj_err err = { 0 };
	const uint64_t start = cpu_now();

	bj_check_keep_memory();
	if (bj_checker_new(NULL, &checker, &err) < 0) {
		fprintf(stderr, "check_bench: %s\n", err.msg);
		return 1;
	}
	if (argc > 2 && strcmp(argv[1], "--scripts") == 0) {
		const int status = bench_scripts(checker, argv + 2);

		bj_checker_free(checker);
		return status;
	}
	printf("rules loaded in %.1f us\n", (double)(cpu_now() - start) / 1000.0);
	bench_ordinary(checker);
	if (argc < 2 || strcmp(argv[1], "--ordinary") != 0)
		bench_hostile(checker);
	bj_checker_free(checker);
	return 0;
}
