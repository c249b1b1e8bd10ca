/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "check/check.h"

#include <time.h>

/* VALD-04: no text makes the check slow. Texts of many units of one kind are read in linear time,
 * and in at most 50 ms for 10 KB. Times are those of the processor, the least of a few. 10 KB fit
 * into its caches and 100 KB do not, so the short run only tells linear from quadratic, which
 * would take a hundred times as long; BELLJAR_FULL=1 takes 100 KB and 1 MB and allows twelve.
 *
 * Sanitizers make all of it slower and the bound on growth is the same. "case a in" shows why that
 * says something there too: while the parser was stopped every few milliseconds, a slow build
 * stopped it more often, and a parser that goes on copies a large error for every token. */

static const struct {
	enum bj_language language;
	const char *unit;
} CASES[] = {
	{ BJ_LANG_PYTHON, "(" },
	{ BJ_LANG_PYTHON, "[1," },
	{ BJ_LANG_PYTHON, "lambda:" },
	{ BJ_LANG_PYTHON, "eval(" },
	{ BJ_LANG_PYTHON, "a.b." },
	{ BJ_LANG_PYTHON, "a=" },
	{ BJ_LANG_PYTHON, "-" },
	{ BJ_LANG_PYTHON, "{" },
	{ BJ_LANG_PYTHON, "not " },
	{ BJ_LANG_PYTHON, "a[0]" },
	{ BJ_LANG_PYTHON, "'" },
	{ BJ_LANG_PYTHON, "'a'+" },
	{ BJ_LANG_PYTHON, "f'{f\"{" },
	{ BJ_LANG_PYTHON, "if 1:\n" },
	{ BJ_LANG_PYTHON, "if 1:\n  " },
	{ BJ_LANG_PYTHON, "def f():\n " },
	{ BJ_LANG_PYTHON, "x=eval\n" },
	{ BJ_LANG_PYTHON, "a=b\nb=a\n" },
	{ BJ_LANG_PYTHON, "eval(x);\n" },
	{ BJ_LANG_PYTHON, "import os as a\n" },
	{ BJ_LANG_PYTHON, "from a import *\n" },
	{ BJ_LANG_PYTHON, "# 'a'\n" },
	{ BJ_LANG_PYTHON, "x # 'a'\n" },
	{ BJ_LANG_PYTHON, "\n" },
	{ BJ_LANG_PYTHON, "\\\n" },
	{ BJ_LANG_PYTHON, "a" },
	{ BJ_LANG_PYTHON, "password = 'hunter2'\n" },
	{ BJ_LANG_PYTHON, "password: '" },
	{ BJ_LANG_PYTHON, "token: a" },
	{ BJ_LANG_PYTHON, "ghp_AKIA" },
	{ BJ_LANG_PYTHON, "eyJhbGciOiJIUzI1NiJ9" },
	{ BJ_LANG_PYTHON, "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n" },
	{ BJ_LANG_PYTHON, "a://b:c" },
	{ BJ_LANG_PYTHON, "://:@:@" },
	{ BJ_LANG_PYTHON, "subprocess.run(['rm', '-rf', '/'])\n" },
	{ BJ_LANG_PYTHON, "for a in os.walk('/'):\n x\n" },
	{ BJ_LANG_PYTHON, "x = {'a': 1}\nf(**x)\n" },
	{ BJ_LANG_PYTHON, "def f(request):\n x = request.GET['a']\n open(f'{x}')\n" },
	{ BJ_LANG_PYTHON, "@a.route('/')\ndef f(user_input): return user_input\n" },
	{ BJ_LANG_PYTHON, "def f(user_input): x=user_input+a+" },
	{ BJ_LANG_PYTHON, "q = \"select a from t where b = '\" + b + \"'\"\n" },
	{ BJ_LANG_PYTHON, "\"select a from t where b='\"+b+" },
	{ BJ_LANG_PYTHON, "logging.info(password)\n" },
	{ BJ_LANG_PYTHON, "if password == 'abcd': pass\n" },
	{ BJ_LANG_PYTHON, "def f(): assert x.is_admin\n" },
	{ BJ_LANG_PYTHON, "return a\n" },
	{ BJ_LANG_PYTHON, "from os import system as s" },
	{ BJ_LANG_PYTHON, "'%s'%except:'''a,b=import os\n" },
	{ BJ_LANG_PYTHON, "f(a)return a-\n" },
	{ BJ_LANG_PYTHON, "t = \"gh\" \"p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A\"\n" },
	{ BJ_LANG_PYTHON, "p = [\"\",\"ghp_\"]\n\"\".join(p)\n" },
	{ BJ_LANG_PYTHON, "f(\"-p\", [\"a\", \"-b\"," },
	{ BJ_LANG_PYTHON, "a, password = \"a\", " },
	{ BJ_LANG_BASH, "make -f - <<X\na:\n\tls\nX\n" },
	{ BJ_LANG_BASH, "cat > Makefile <<X\na:\n\tls\nX\nmake\n" },
	{ BJ_LANG_BASH, "echo 'a' | make -f -\n" },
	{ BJ_LANG_BASH, "declare -n a=b b=a\n$a\n" },
	{ BJ_LANG_BASH, ": $(" },
	{ BJ_LANG_BASH, ": ${a:=b}\nx=\"${x}a\"\n" },
	{ BJ_LANG_BASH, ": >/dev/null > /dev/tcp/a/1 " },
	{ BJ_LANG_BASH, "$(which " },
	{ BJ_LANG_BASH, "curl -u a:htpasswd -b a " },
	{ BJ_LANG_BASH, "(" },
	{ BJ_LANG_BASH, "((" },
	{ BJ_LANG_BASH, "(( " },
	{ BJ_LANG_BASH, "{ " },
	{ BJ_LANG_BASH, "$(" },
	{ BJ_LANG_BASH, "\"$(" },
	{ BJ_LANG_BASH, "a=$(" },
	{ BJ_LANG_BASH, "a=$(x) 2>y\n" },
	{ BJ_LANG_BASH, "${a:-" },
	{ BJ_LANG_BASH, "${a:-`" },
	{ BJ_LANG_BASH, "`" },
	{ BJ_LANG_BASH, "`\\" },
	{ BJ_LANG_BASH, "a|" },
	{ BJ_LANG_BASH, "a&&" },
	{ BJ_LANG_BASH, "rm " },
	{ BJ_LANG_BASH, "rm -rf /\n" },
	{ BJ_LANG_BASH, "sh -c " },
	{ BJ_LANG_BASH, "a() {" },
	{ BJ_LANG_BASH, "<<X\n" },
	{ BJ_LANG_BASH, "cat <<E\n" },
	{ BJ_LANG_BASH, "if a; then\n" },
	{ BJ_LANG_BASH, "case a in\n" },
	{ BJ_LANG_BASH, "while true; do a & " },
	{ BJ_LANG_BASH, "curl -o a b\n" },
	{ BJ_LANG_BASH, "pwd=pwd=pwd=" },
	{ BJ_LANG_BASH, "a=(b c)\n\"${a[@]}\"\n" },
	{ BJ_LANG_BASH, "eval 'a b'\n" },
	{ BJ_LANG_BASH, "x+=ab\ny=${x%a*}\n" },
	{ BJ_LANG_BASH, "f() { \"$@\"; }\nf /a\n" },
	{ BJ_LANG_BASH, "for d in /a /b; do rm \"$d\"; done\n" },
	{ BJ_LANG_BASH, "# 'a'\n" },
	{ BJ_LANG_BASH, "a <> b\n" },
	{ BJ_LANG_BASH,
	  "for d in /a/b /c/d /e/f /g/h /i/j; do rm -rf $d; rm -rf $d; rm -rf $d; done\n" },
};

/* Bash with an error at its end is mended (sh_mend.c) before it is given up. */
#define WRONG "\nif [ a\n"

static const char *const MENDED[] = {
	"a", " ", "a ", ";a=\"b", "\\(", "((a ", "{ a; } <<<b\n",
};

enum { N_CASES = BJ_ARRAY_SIZE(CASES), N_ALL = N_CASES + BJ_ARRAY_SIZE(MENDED) };

static const char *unit_of(size_t i)
{
	return i < N_CASES ? CASES[i].unit : MENDED[i - N_CASES];
}

static char *repeat(const char *unit, size_t size)
{
	const size_t n = strlen(unit);
	char *text = malloc(size + 1);

	assert_non_null(text);
	/* Whole units: half of one at the end would be another text. */
	for (size_t i = 0; i < size; i++)
		text[i] = i < size - size % n ? unit[i % n] : '\n';
	text[size] = '\0';
	return text;
}

/* The most that 10 KB may take. A build that counts every line tells how time grows, not how fast
 * the program is; one with sanitizers takes several times as long. */
#if defined(BJ_COVERAGE)
static const double MOST_MS = 1e9;
#elif defined(BJ_SANITIZED)
static const double MOST_MS = 500;
#else
static const double MOST_MS = 50;
#endif

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static double check_ms(const struct bj_checker *checker, size_t i, size_t size, int rounds)
{
	AUTO_FREE char *text = repeat(unit_of(i), size);
	const struct bj_check_request request = { .language = i < N_CASES ? CASES[i].language
									  : BJ_LANG_BASH,
						  .text = text,
						  .size = size,
						  .imports = BJ_LAYER_WARN,
						  .max_chars = 4000000 };
	double least = 1e9;

	if (i >= N_CASES)
		memcpy(text + size - strlen(WRONG), WRONG, strlen(WRONG));
	for (int r = 0; r < rounds; r++) {
		struct bj_report report = { 0 };
		const double start = cpu_ms();

		assert_int_equal(bj_check(checker, &request, &report, NULL), 0);

		const double ms = cpu_ms() - start;

		least = ms < least ? ms : least;
		bj_report_done(&report);
	}
	return least;
}

static void every_text_is_read_in_linear_time(void **state)
{
	const bool full = getenv("BELLJAR_FULL") != NULL;
	const size_t small = full ? 100000 : 10000;
	const double allowed = full ? 12 : 30;
	struct bj_checker *checker = NULL;
	double worst = 0, slowest = 0;
	size_t bad = 0;

	(void)state;
	bj_check_keep_memory(); /* as the program does */
	assert_int_equal(bj_checker_new(NULL, &checker, NULL), 0);
	for (size_t i = 0; i < N_ALL; i++) {
		double ratio = 1e9, ms = 0;

		/* A machine under load disturbs one try, not three. */
		for (int tries = 0; tries < 3 && ratio > allowed; tries++) {
			ms = check_ms(checker, i, small, 3);
			ratio = check_ms(checker, i, small * 10, 3) / ms;
		}
		ms = ms * 10000 / (double)small;
		if (ratio > allowed || ms > MOST_MS) {
			print_error(
				"%s: ten times the text takes %.1f times as long, 10 KB %.1f ms\n",
				unit_of(i), ratio, ms);
			bad++;
		}
		worst = ratio > worst ? ratio : worst;
		slowest = ms > slowest ? ms : slowest;
	}
	print_message("%zu texts of %zu and %zu bytes: worst ratio %.1f, worst 10 KB %.1f ms\n",
		      (size_t)N_ALL, small, small * 10, worst, slowest);
	bj_checker_free(checker);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_text_is_read_in_linear_time) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
