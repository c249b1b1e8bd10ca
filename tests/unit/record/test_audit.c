/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "record/audit.h"
#include "record/audit_verify.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* AUDIT: append-only, and every change shows. */

struct fixture {
	char dir[64];
	struct bj_audit_settings settings;
	struct bj_audit_key key;
	char said[2048]; /* what the last check told */
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .dir = "/tmp/belljar-audit-XXXXXX",
			      .settings = { .enabled = true, .max_size = 1 << 20 } };
	*state = &f;
	return mkdtemp(f.dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	const struct fixture *f = *state;

	return nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static struct bj_audit *open_log(struct fixture *f, bool service)
{
	struct bj_audit *a = NULL;
	struct bj_err err = { 0 };

	if (bj_audit_open(&f->settings, f->dir, service, &a, &err) < 0)
		fail_msg("%s", err.msg);
	return a;
}

static void append(struct bj_audit *a, int i)
{
	struct bj_err err = { 0 };

	if (bj_audit_append(a, "run.start", json_pack("{s:i}", "run", i), &err) < 0)
		fail_msg("%s", err.msg);
}

/* A log of @n lines after the first one, which every log begins with. */
static void fill(struct fixture *f, int n)
{
	struct bj_audit *a = open_log(f, false);

	for (int i = 0; i < n; i++)
		append(a, i);
	bj_audit_close(a);
}

static void hear(void *ctx, const char *where, const char *what)
{
	struct fixture *f = ctx;
	const size_t n = strlen(f->said);

	snprintf(f->said + n, sizeof(f->said) - n, "%s: %s\n", where, what);
}

static void load_key(struct fixture *f, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/keys/%s", f->dir, name);
	assert_int_equal(bj_audit_key_read(path, &f->key, NULL), 0);
}

static struct bj_audit_report verify_from(struct fixture *f, uint64_t from)
{
	struct bj_audit_report report = { 0 };
	struct bj_err err = { 0 };

	f->said[0] = '\0';
	if (bj_audit_verify(f->dir, &f->key, from, hear, f, &report, &err) < 0)
		fail_msg("%s", err.msg);
	return report;
}

static struct bj_audit_report verify(struct fixture *f)
{
	load_key(f, "audit.key");
	return verify_from(f, 1);
}

static void expect_problem(struct fixture *f, const char *words)
{
	const struct bj_audit_report r = verify(f);

	if (r.problems == 0 || !strstr(f->said, words))
		fail_msg("wanted \"%s\", heard: %s", words, f->said);
}

static void expect_fine(struct fixture *f, uint64_t lines)
{
	const struct bj_audit_report r = verify(f);

	if (r.problems)
		fail_msg("%s", f->said);
	if (lines)
		assert_int_equal(r.last_seq, lines);
}

/* --- tampering by hand ------------------------------------------------------------------------ */

struct text {
	struct bj_buf buf;
	char path[PATH_MAX];
};

static struct text load(struct fixture *f, const char *name)
{
	struct text t = { 0 };

	snprintf(t.path, sizeof(t.path), "%s/%s", f->dir, name);

	AUTO_FD int fd = open(t.path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(bj_fd_read_all(fd, &t.buf), 0);
	return t;
}

static void save(struct text *t, const char *data, size_t size)
{
	AUTO_FD int fd = open(t->path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_int_equal(bj_fd_write_all(fd, data, size), 0);
	bj_buf_done(&t->buf);
}

/* Where line @n (from 1) begins. */
static char *line_at(const struct text *t, int n)
{
	char *p = t->buf.data;

	while (--n > 0)
		p = strchr(p, '\n') + 1;
	return p;
}

#define LOG "audit/audit-000001.jsonl"

static void test_good(void **state)
{
	struct fixture *f = *state;

	fill(f, 10);
	expect_fine(f, 11);
	fill(f, 5);
	expect_fine(f, 16);
	/* The public half is enough. */
	load_key(f, "audit.key.pub");
	assert_false(f->key.can_sign);
	assert_int_equal(verify_from(f, 1).problems, 0);
}

static void test_private(void **state)
{
	struct fixture *f = *state;
	struct bj_audit *a = NULL;
	struct bj_err err = { 0 };
	char path[PATH_MAX];
	struct stat st;

	fill(f, 1);
	snprintf(path, sizeof(path), "%s/keys/audit.key", f->dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	chmod(path, 0640);
	assert_int_equal(bj_audit_open(&f->settings, f->dir, false, &a, &err), -BJ_E_DENIED);
	assert_non_null(strstr(err.msg, "chmod 600"));
}

static void test_changed(void **state)
{
	struct fixture *f = *state;

	fill(f, 10);

	struct text t = load(f, LOG);
	char *line = line_at(&t, 5);

	*strstr(line, "\"run\":3") = '\'';
	save(&t, t.buf.data, t.buf.size);
	expect_problem(f, "audit-000001.jsonl:5: after seq 4: the line was changed");
	assert_int_equal(verify(f).problems, 1);
	/* Whoever knows about it can look at what came since. */
	assert_int_equal(verify_from(f, 7).problems, 1);
}

static void test_removed(void **state)
{
	struct fixture *f = *state;

	fill(f, 10);

	struct text t = load(f, LOG);
	char *from = line_at(&t, 4), *to = line_at(&t, 6);
	const size_t cut = (size_t)(to - from);

	memmove(from, to, t.buf.size - (size_t)(to - t.buf.data));
	save(&t, t.buf.data, t.buf.size - cut);
	expect_problem(f, "audit-000001.jsonl:4: seq 6: 2 line(s) before it were removed");
}

static void test_first_removed(void **state)
{
	struct fixture *f = *state;

	fill(f, 10);

	struct text t = load(f, LOG);
	const char *to = line_at(&t, 3);

	save(&t, to, t.buf.size - (size_t)(to - t.buf.data));
	expect_problem(f, "does not begin with seq 1");
	assert_int_equal(verify_from(f, 3).problems, 0);
}

static void test_reordered(void **state)
{
	struct fixture *f = *state;
	AUTO_BUF struct bj_buf out = { 0 };

	fill(f, 10);

	struct text t = load(f, LOG);
	const char *four = line_at(&t, 4), *five = line_at(&t, 5), *six = line_at(&t, 6);

	bj_buf_add(&out, t.buf.data, (size_t)(four - t.buf.data));
	bj_buf_add(&out, five, (size_t)(six - five));
	bj_buf_add(&out, four, (size_t)(five - four));
	bj_buf_puts(&out, six);
	save(&t, out.data, out.size);
	expect_problem(f, "audit-000001.jsonl:5: seq 4: out of order");
}

static void test_repeated(void **state)
{
	struct fixture *f = *state;
	AUTO_BUF struct bj_buf out = { 0 };

	fill(f, 10);

	struct text t = load(f, LOG);
	const char *four = line_at(&t, 4), *five = line_at(&t, 5);

	bj_buf_add(&out, t.buf.data, (size_t)(five - t.buf.data));
	bj_buf_puts(&out, four);
	save(&t, out.data, out.size);
	expect_problem(f, "audit-000001.jsonl:5: seq 4: out of order or repeated");
}

static void test_cut_off(void **state)
{
	struct fixture *f = *state;

	fill(f, 10);

	struct text t = load(f, LOG);

	save(&t, t.buf.data, (size_t)(line_at(&t, 9) - t.buf.data));
	expect_problem(f, "cut off: the head says seq 11, the log ends with seq 8");

	/* It goes on in another file, and does not hide it. */
	fill(f, 1);
	expect_problem(f, "audit-000002.jsonl:1: seq 12: 3 line(s) before it were removed");
	expect_problem(f, "belljar found the log broken here");
	assert_int_equal(verify_from(f, 13).problems, 0);
}

/* The last line is in the head as well: cutting it off gains nothing. */
static void test_last_line(void **state)
{
	struct fixture *f = *state;

	fill(f, 10);

	struct text t = load(f, LOG);

	save(&t, t.buf.data, t.buf.size - 40);
	assert_true(verify(f).head_ahead);
	expect_fine(f, 10);
	t = load(f, LOG);
	save(&t, t.buf.data, (size_t)(line_at(&t, 11) - t.buf.data));
	assert_true(verify(f).head_ahead);
	fill(f, 0);
	fill(f, 1);
	expect_fine(f, 12);
}

static void test_replaced(void **state)
{
	struct fixture *f = *state;
	struct fixture other = { .dir = "/tmp/belljar-audit-XXXXXX", .settings = f->settings };

	fill(f, 10);
	assert_non_null(mkdtemp(other.dir));
	fill(&other, 10);

	/* A whole log of another key. */
	struct text t = load(f, LOG), u = load(&other, LOG);

	save(&t, u.buf.data, u.buf.size);
	expect_problem(f,
		       "audit-000001.jsonl:1: after seq 0: the line was changed, or another key");
	/* And the head with it. */
	t = load(f, BJ_AUDIT_HEAD);

	struct text h = load(&other, BJ_AUDIT_HEAD);

	save(&t, h.buf.data, h.buf.size);
	expect_problem(f, "the head was not made with the key of this log");
	bj_buf_done(&u.buf);
	bj_buf_done(&h.buf);
	fill(f, 1);
	expect_problem(f, "audit-000002.jsonl:1");
	nftw(other.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void test_gone(void **state)
{
	struct fixture *f = *state;
	char path[PATH_MAX];

	fill(f, 3);
	snprintf(path, sizeof(path), "%s/" BJ_AUDIT_HEAD, f->dir);
	unlink(path);
	expect_problem(f, "head");
	fill(f, 1);
	expect_problem(f, "the head is missing");
	snprintf(path, sizeof(path), "%s/audit", f->dir);
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	expect_problem(f, "the log is gone");
}

static void test_rotation(void **state)
{
	struct fixture *f = *state;
	char path[PATH_MAX];
	struct stat st;

	f->settings.max_size = 4096;
	fill(f, 60);
	expect_fine(f, 61);
	snprintf(path, sizeof(path), "%s/audit/audit-000003.jsonl", f->dir);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size <= 4096);
	unlink(path);
	expect_problem(f, "audit-000004.jsonl:1");
}

static void test_long(void **state)
{
	struct fixture *f = *state;
	struct bj_audit *a = open_log(f, false);
	char text[8000];
	json_t *many = json_array();

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(bj_audit_append(a, "x", json_pack("{s:s,s:i}", "t", text, "n", 7), NULL),
			 0);
	for (int i = 0; i < 1000; i++)
		json_array_append_new(many, json_string(text));
	assert_int_equal(bj_audit_append(a, "x", json_pack("{s:o}", "many", many), NULL), 0);
	bj_audit_close(a);
	expect_fine(f, 3);
}

/* What could not be put into words must not become a line that says nothing. */
static void test_no_words(void **state)
{
	struct fixture *f = *state;
	struct bj_audit *a = open_log(f, false);
	struct bj_err err = { 0 };
	json_t *text = bj_audit_text("a\xff"
				     "b");

	assert_string_equal(json_string_value(text), "a\xef\xbf\xbd"
						     "b");
	json_decref(text);
	assert_null(bj_audit_text(NULL));
	assert_true(bj_audit_append(a, "x", json_pack("{s:s}", "t", "\xff"), &err) < 0);
	assert_true(err.code != 0);
	assert_int_equal(bj_audit_errors(a), 1);
	assert_int_equal(bj_audit_append(a, "x", json_object(), NULL), 0);
	bj_audit_close(a);
	expect_fine(f, 2);
}

static void test_off(void **state)
{
	struct fixture *f = *state;
	struct bj_audit *a = (struct bj_audit *)f;

	f->settings.enabled = false;
	assert_int_equal(bj_audit_open(&f->settings, f->dir, false, &a, NULL), 0);
	assert_null(a);
	assert_int_equal(bj_audit_append(a, "x", json_object(), NULL), 0);
	assert_int_equal(bj_audit_errors(a), 0);
	bj_audit_close(a);
}

/* --- many at once, and deaths ----------------------------------------------------------------- */

static void *append_many(void *ctx)
{
	for (int i = 0; i < 50; i++)
		append(ctx, i);
	return NULL;
}

static pid_t spawn_writer(struct fixture *f, int n, bool service)
{
	const pid_t pid = fork();

	if (pid == 0) {
		struct bj_audit *a = open_log(f, service);

		for (int i = 0; n == 0 || i < n; i++)
			append(a, i);
		bj_audit_close(a);
		_exit(0);
	}
	return pid;
}

static void test_crowd(void **state)
{
	struct fixture *f = *state;
	pid_t pids[3];
	pthread_t threads[4];
	struct bj_audit *a;

	f->settings.max_size = 20000;
	for (int i = 0; i < 3; i++)
		pids[i] = spawn_writer(f, 50, i == 0);
	a = open_log(f, true);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, append_many, a);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3; i++)
		waitpid(pids[i], NULL, 0);
	bj_audit_close(a);
	expect_fine(f, 1 + 7 * 50);
	/* The service's thread signed the head when it closed. */
	load_key(f, "audit.key.pub");
	assert_int_equal(verify_from(f, 1).problems, 0);
}

/* SIGKILL at any moment, with others writing, never breaks the chain. */
static void test_killed(void **state)
{
	struct fixture *f = *state;
	const char *rounds = getenv("BELLJAR_AUDIT_KILLS");
	const long n = rounds ? strtol(rounds, NULL, 10) : 25;

	f->settings.max_size = 30000;
	fill(f, 1);

	const pid_t steady = spawn_writer(f, 0, true);

	for (long i = 0; i < n; i++) {
		const pid_t pid = spawn_writer(f, 0, i % 2);
		const struct timespec life = { .tv_nsec = (i * 7919 % 13000) * 1000 };

		nanosleep(&life, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	kill(steady, SIGKILL);
	waitpid(steady, NULL, 0);
	expect_fine(f, 0);
	fill(f, 1);
	expect_fine(f, 0);
	printf("%ld kills, %llu lines\n", n, (unsigned long long)verify(f).lines);
}

/* A full disk: what cannot be recorded is refused, and nothing recorded is lost. */
static void test_full(void **state)
{
	struct fixture *f = *state;
	struct bj_err err = { 0 };
	struct bj_audit *a;
	int r = 0, n = 0;

	if (mount("none", f->dir, "tmpfs", 0, "size=64k,mode=700") < 0)
		skip();
	a = open_log(f, false);
	while (r == 0 && n++ < 1000)
		r = bj_audit_append(a, "run.start", json_pack("{s:i}", "run", n), &err);
	assert_int_equal(r, -BJ_E_LIMIT);
	assert_non_null(strstr(err.msg, "No space left"));
	assert_int_equal(bj_audit_errors(a), 1);
	expect_fine(f, 0);
	mount("none", f->dir, "tmpfs", MS_REMOUNT, "size=1m,mode=700");
	append(a, n);
	bj_audit_close(a);
	expect_fine(f, (uint64_t)n + 1);
	umount(f->dir);
}

/* A disk that fails: the writes from here on that do, as bits; all else goes through. */
static unsigned int failing_writes;

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	const bool fails = failing_writes & 1;

	failing_writes >>= 1;
	if (fails) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, data, size, at);
}

/* How often the log says that the run @i starts. */
static int count_line(struct fixture *f, int i)
{
	struct bj_audit_reader *reader = NULL;
	struct bj_err err = { 0 };
	char words[32];
	const char *text;
	size_t size;
	int n = 0;

	snprintf(words, sizeof(words), "{\"run\":%d}", i);
	assert_int_equal(bj_audit_reader_open(f->dir, &reader, &err), 0);
	while (bj_audit_reader_next(reader, &text, &size, &err) > 0)
		n += memmem(text, size, words, strlen(words)) != NULL;
	bj_audit_reader_free(reader);
	return n;
}

/* The head goes first, then the line, and on failure the head as it was. Whoever hears of a failure
 * may say the same again: then no line of the first time may come up. */
static void test_failing(void **state)
{
	static const struct {
		unsigned int writes;
		int answer;
	} cases[] = {
		{ 1, -BJ_E_SYSTEM },  /* the head */
		{ 2, -BJ_E_SYSTEM },  /* the line, and it is taken back */
		{ 2 | 4, 0 },         /* the line, and the head that holds it stays */
		{ 2 | 4 | 8 | 16, 0 } /* and the next one cannot write it either */
	};
	struct fixture *f = *state;
	struct bj_audit *a = open_log(f, false);
	struct bj_err err;

	for (int i = 0; i < (int)BJ_ARRAY_SIZE(cases); i++) {
		err = (struct bj_err){ 0 };
		failing_writes = cases[i].writes;

		const int r = bj_audit_append(a, "run.start", json_pack("{s:i}", "run", i), &err);

		assert_int_equal(r, cases[i].answer);
		while (failing_writes)
			bj_audit_append(a, "run.finish", json_object(), &err);
		if (r < 0)
			append(a, i);
		append(a, 100 + i);
		assert_int_equal(count_line(f, i), 1);
		assert_int_equal(count_line(f, 100 + i), 1);
		assert_int_equal(verify(f).problems, 0);
	}
	bj_audit_close(a);
}

/* So does the first line of all, of which nothing may stay: no head is not a head of nothing. */
static void test_failing_first(void **state)
{
	struct fixture *f = *state;
	struct bj_audit *a = NULL;
	struct bj_err err = { 0 };

	failing_writes = 2;
	assert_int_equal(bj_audit_open(&f->settings, f->dir, false, &a, &err), -BJ_E_SYSTEM);
	assert_int_equal(failing_writes, 0);
	fill(f, 2);
	expect_fine(f, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_good),     TEST(test_private),       TEST(test_changed),
		TEST(test_removed),  TEST(test_first_removed), TEST(test_reordered),
		TEST(test_repeated), TEST(test_cut_off),       TEST(test_last_line),
		TEST(test_replaced), TEST(test_gone),          TEST(test_rotation),
		TEST(test_long),     TEST(test_no_words),      TEST(test_off),
		TEST(test_crowd),    TEST(test_killed),        TEST(test_full),
		TEST(test_failing),  TEST(test_failing_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
