/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "record/fold.h"
#include "record/store.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* SX-ART, AUDIT: what was written stays, each line becomes a row once, and pieces harm nobody. */

struct fixture {
	char dir[64], file[96];
	int dir_fd;
	struct bj_store store;
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void open_store(struct fixture *f)
{
	struct bj_err err = { 0 };

	if (bj_store_open(&f->store, f->file, f->dir_fd, &err) < 0)
		fail_msg("%s", err.msg);
}

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .dir = "/tmp/belljar-journal-XXXXXX" };
	*state = &f;
	if (sodium_init() < 0 || !mkdtemp(f.dir))
		return -1;
	snprintf(f.file, sizeof(f.file), "%s/belljar.db", f.dir);
	f.dir_fd = open(f.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	open_store(&f);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	bj_store_done(&f->store);
	close(f->dir_fd);
	return nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct bj_entry begin_of(const char *id)
{
	return (struct bj_entry){ .parts = BJ_ENTRY_BEGIN,
				  .id = id,
				  .created_us = 1700000000000000,
				  .started_ms = 1700000000000,
				  .owner = 7,
				  .name = "a \"name\"\n",
				  .script_sha256 = "00",
				  .limits = "{\"memory\":1}",
				  .state = BJ_RUNNING };
}

static struct bj_entry end_of(const char *id)
{
	return (struct bj_entry){ .parts = BJ_ENTRY_END,
				  .id = id,
				  .cause = BJ_CAUSE_EXITED,
				  .ended_ms = 1700000001000,
				  .duration_us = 1000,
				  .cpu_us = 500,
				  .result = "{\"duration_ms\":1.25,\"stdout\":\"1\\n\"}",
				  .script = "print(1)\n",
				  .script_size = 9,
				  .runs = 1,
				  .cost_micros = 3 };
}

static void append(struct fixture *f, const struct bj_entry *e)
{
	AUTO_BUF struct bj_buf line = { 0 };

	bj_entry_print(e, &line);
	assert_false(line.failed);
	assert_int_equal(bj_journal_append(&f->store.journal, line.data, line.size), 0);
}

static void append_run(struct fixture *f, const char *id)
{
	const struct bj_entry b = begin_of(id), e = end_of(id);

	append(f, &b);
	append(f, &e);
}

static int64_t ask(struct fixture *f, const char *sql)
{
	struct bj_err err = { 0 };
	sqlite3 *db = bj_store_read(&f->store, &err);
	int64_t value = -1;

	if (!db)
		fail_msg("%s", err.msg);
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, &err);

		if (!st)
			fail_msg("%s", err.msg);
		if (sqlite3_step(st) == SQLITE_ROW)
			value = sqlite3_column_int64(st, 0);
	}
	bj_store_let_go(&f->store);
	return value;
}

static int64_t finished(struct fixture *f)
{
	return ask(f, "SELECT count(*) FROM executions WHERE state = 3");
}

static int open_journal(const struct fixture *f, int flags)
{
	return openat(f->dir_fd, "journal", flags | O_CLOEXEC);
}

static off_t size_of(const struct fixture *f)
{
	struct stat st;

	assert_int_equal(fstat(f->store.journal.fd, &st), 0);
	return st.st_size;
}

/* Bytes that no line of ours are, at the end. */
static void spoil(const struct fixture *f, const char *bytes)
{
	AUTO_FD int fd = open_journal(f, O_WRONLY | O_APPEND);

	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
}

/* --- tests ------------------------------------------------------------------------------------ */

static void a_line_says_all(void **state)
{
	AUTO_BUF struct bj_buf line = { 0 };
	struct bj_entry e = end_of("one"), back = { 0 };

	(void)state;
	e.script = "\xff\x00x";
	e.script_size = 3;
	e.exit_code = 4;
	e.artifact = "a-b-c";
	bj_entry_print(&e, &line);
	assert_null(memchr(line.data, '\n', line.size));
	assert_int_equal(bj_entry_parse(line.data, line.size, &back), 0);
	assert_string_equal(back.result, e.result);
	assert_string_equal(back.artifact, e.artifact);
	assert_int_equal(back.script_size, 3);
	assert_memory_equal(back.script, e.script, 3);
	assert_int_equal(back.exit_code, 4);
	assert_int_equal(back.cost_micros, 3);
	bj_entry_done(&back);
}

/* It comes back as it was printed, whatever is in it, and from wherever in the line. */
static void a_result_is_kept_word_for_word(void **state)
{
	static const char *const results[] = {
		"{}",
		"{\"a\": 1.50,\"result\":{\"b\":[{},\"}\"]}}",
		"{\"stdout\":\"\\\",\\\"result\\\":{\\\\\",\"x\":null}",
		"{\"text\":\"\\u007b \xc3\xa9 ]\"}",
	};
	static const char elsewhere[] =
		"{\"version\":1,\"parts\":2,\"id\":\"x\",\"backend\":0,\"approval\":0,\"cause\":1,"
		"\"exit_code\":0,\"signal\":0,\"ended_ms\":1,\"duration_us\":1,\"cpu_us\":1,"
		"\"peak_memory\":1,\"artifact_bytes\":0,\"runs\":1,\"memory_mib_ms\":0,"
		"\"output_bytes\":0,\"out_bytes\":0,\"cost_micros\":0,"
		"\"result\":{\"a\": 1},\"script\":\"}\"}";
	struct bj_entry back;

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(results); i++) {
		AUTO_BUF struct bj_buf line = { 0 };
		struct bj_entry e = end_of("one");

		e.result = results[i];
		e.script = ",\"result\":{}}";
		e.script_size = strlen(e.script);
		bj_entry_print(&e, &line);
		assert_int_equal(bj_entry_parse(line.data, line.size, &back), 0);
		assert_string_equal(back.result, results[i]);
		assert_memory_equal(back.script, e.script, e.script_size);
		bj_entry_done(&back);
		/* One that is cut short, or has more behind it, is none. */
		assert_true(bj_entry_parse(line.data, line.size - 1, &back) < 0);
		bj_buf_add(&line, "}", 1);
		assert_true(bj_entry_parse(line.data, line.size, &back) < 0);
	}
	assert_int_equal(bj_entry_parse(elsewhere, strlen(elsewhere), &back), 0);
	assert_string_equal(back.result, "{\"a\":1}");
	assert_string_equal(back.script, "}");
	bj_entry_done(&back);
}

static void a_name_is_any_bytes(void **state)
{
	AUTO_BUF struct bj_buf line = { 0 };
	struct bj_entry e = begin_of("one"), back = { 0 };

	(void)state;
	e.name = "a\x01\xff\\\"";
	bj_entry_print(&e, &line);
	assert_int_equal(bj_entry_parse(line.data, line.size, &back), 0);
	assert_string_equal(back.name, "a\x01\xef\xbf\xbd\\\"");
	bj_entry_done(&back);
}

static void other_lines_are_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"{}",
		"[1]",
		"{\"version\":2,\"parts\":1,\"id\":\"x\"}",
		"{\"version\":1,\"parts\":4,\"id\":\"x\"}",
		"{\"version\":1,\"parts\":1,\"id\":\"x\"}",
		"{\"version\":1,\"parts\":2,\"id\":\"\",\"backend\":0}",
		"{\"version\":1,\"parts\":2,\"id\":\"x\",\"backend\":99,\"approval\":0}",
	};
	struct bj_entry e;

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(lines); i++)
		assert_int_equal(bj_entry_parse(lines[i], strlen(lines[i]), &e), -BJ_E_INVALID);
}

static void each_line_becomes_a_row_once(void **state)
{
	struct fixture *f = *state;
	struct bj_err err;

	append_run(f, "one");
	assert_int_equal(finished(f), 1);
	append_run(f, "two");
	assert_int_equal(bj_fold(&f->store, &err), 0);
	assert_int_equal(bj_fold(&f->store, &err), 0);
	assert_int_equal(finished(f), 2);
	assert_int_equal(ask(f, "SELECT runs FROM usage WHERE tenant = 'local'"), 2);
	assert_int_equal(
		ask(f, "SELECT count(*) FROM details WHERE script = x'7072696e742831290a'"), 2);
}

/* As after a place that was lost: everything is read again. */
static void a_line_read_twice_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct bj_err err;

	append_run(f, "one");
	assert_int_equal(finished(f), 1);
	assert_int_equal(bj_store_begin_aside(&f->store, &err), 0);
	assert_int_equal(bj_store_exec(f->store.db, "DELETE FROM journal", &err), 0);
	assert_int_equal(bj_store_commit(&f->store, &err), 0);
	bj_store_done(&f->store);
	open_store(f);
	assert_int_equal(finished(f), 1);
	assert_int_equal(ask(f, "SELECT runs FROM usage"), 1);
	assert_int_equal(ask(f, "SELECT count(*) FROM executions"), 1);
}

static void a_torn_line_takes_nothing_along(void **state)
{
	struct fixture *f = *state;

	append_run(f, "one");
	spoil(f, "{\"version\":1,\"par");
	assert_int_equal(finished(f), 1);
	assert_int_equal(bj_journal_unseen(&f->store.journal), 0);
	append_run(f, "two");
	assert_int_equal(finished(f), 2);
	assert_int_equal(f->store.skipped, 1);
}

static void rubbish_is_skipped_and_counted(void **state)
{
	struct fixture *f = *state;

	append_run(f, "one");
	spoil(f, "rubbish\n\n{\"version\":1}\n");
	append_run(f, "two");
	assert_int_equal(finished(f), 2);
	assert_int_equal(f->store.skipped, 3);
}

/* How a run ended that nobody saw begin. */
static void an_end_alone_is_skipped(void **state)
{
	struct fixture *f = *state;
	const struct bj_entry alone = end_of("ghost");
	struct bj_entry refused = begin_of("refused");

	append(f, &alone);
	refused.parts |= BJ_ENTRY_END;
	refused.cause = BJ_CAUSE_REJECTED;
	refused.exit_code = -1;
	append(f, &refused);
	assert_int_equal(finished(f), 1);
	assert_int_equal(f->store.skipped, 1);
}

static void a_long_journal_is_emptied(void **state)
{
	struct fixture *f = *state;
	char id[16];
	int n = 0;

	while (size_of(f) < 300 << 10) {
		snprintf(id, sizeof(id), "run%d", n++);
		append_run(f, id);
	}
	assert_int_equal(finished(f), n);
	assert_int_equal(size_of(f), 0);
	append_run(f, "after");
	assert_int_equal(finished(f), n + 1);
	assert_int_equal(ask(f, "SELECT runs FROM usage"), n + 1);
	assert_int_equal(f->store.skipped, 0);
}

/* Emptied by another one, and filled again beyond where we were. */
static void a_new_filling_is_read_from_its_start(void **state)
{
	struct fixture *f = *state;

	append_run(f, "one");
	assert_int_equal(finished(f), 1);
	assert_int_equal(ftruncate(f->store.journal.fd, 0), 0);
	append_run(f, "two");
	append_run(f, "three");
	assert_int_equal(finished(f), 3);
	assert_int_equal(f->store.skipped, 0);
}

static void a_smaller_file_is_read_from_its_start(void **state)
{
	struct fixture *f = *state;

	append_run(f, "one");
	append_run(f, "two");
	assert_int_equal(finished(f), 2);

	const off_t whole = size_of(f);

	assert_int_equal(ftruncate(f->store.journal.fd, whole / 2), 0);
	append_run(f, "three");
	assert_int_equal(finished(f), 3);
	assert_int_equal(ask(f, "SELECT runs FROM usage"), 3);
}

/* A power cut may leave zeros where the mark was. */
static void a_lost_mark_loses_no_line(void **state)
{
	struct fixture *f = *state;
	const char zeros[BJ_JOURNAL_MARK] = { 0 };

	append_run(f, "one");
	assert_int_equal(pwrite(f->store.journal.fd, zeros, sizeof(zeros), 0), sizeof(zeros));
	append_run(f, "two");
	assert_int_equal(finished(f), 2);
}

enum { WRITERS = 4, LINES = 200 };

static void write_many(const struct fixture *f, int who)
{
	struct fixture mine = { 0 };
	struct bj_err err = { 0 };
	char id[32];

	if (bj_journal_open(&mine.store.journal, f->dir_fd, "journal", &err) < 0)
		_exit(1);
	for (int i = 0; i < LINES; i++) {
		snprintf(id, sizeof(id), "p%d-%d", who, i);
		append_run(&mine, id);
	}
	_exit(0);
}

/* Processes append, and somebody reads and empties meanwhile. */
static void many_writers_and_a_reader(void **state)
{
	struct fixture *f = *state;
	pid_t pids[WRITERS];
	int status = 0, left = WRITERS;
	struct bj_err err;

	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			write_many(f, i);
	}
	while (left > 0) {
		const pid_t pid = waitpid(-1, &status, WNOHANG);

		assert_int_equal(bj_fold(&f->store, &err), 0);
		if (pid <= 0)
			continue;
		assert_int_equal(status, 0);
		left--;
	}
	assert_int_equal(finished(f), WRITERS * LINES);
	assert_int_equal(ask(f, "SELECT runs FROM usage"), WRITERS * LINES);
	assert_int_equal(f->store.skipped, 0);
}

static void *append_in_thread(void *ctx)
{
	struct fixture *f = ctx;
	char id[48];

	for (int i = 0; i < LINES; i++) {
		snprintf(id, sizeof(id), "t%lx-%d", (unsigned long)pthread_self() & 0xffffff, i);
		append_run(f, id);
	}
	return NULL;
}

static void threads_and_the_one_that_folds(void **state)
{
	struct fixture *f = *state;
	struct bj_fold_thread *folding = NULL;
	pthread_t threads[2];
	struct bj_err err;

	assert_int_equal(bj_fold_start(&f->store, &folding, &err), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, append_in_thread, f), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	bj_fold_stop(folding);
	assert_int_equal(bj_journal_unseen(&f->store.journal), 0);
	assert_int_equal(finished(f), 2 * LINES);
}

/* Root only: a file system of its own that is too small. */
static void a_full_disk_keeps_no_piece(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *big = calloc(1, 1 << 20);
	struct bj_journal small;
	struct bj_err err;
	char dir[96];

	snprintf(dir, sizeof(dir), "%s/small", f->dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	if (mount("none", dir, "tmpfs", 0, "size=128k") < 0)
		skip();

	AUTO_FD int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	memset(big, 'x', 1 << 20);
	assert_int_equal(bj_journal_open(&small, fd, "journal", &err), 0);
	assert_int_equal(bj_journal_append(&small, "one", 3), 0);
	assert_int_equal(bj_journal_append(&small, big, 1 << 20), -ENOSPC);
	assert_int_equal(fstat(small.fd, &st), 0);
	assert_int_equal(st.st_size, BJ_JOURNAL_MARK + 1 + 4);
	assert_int_equal(bj_journal_append(&small, "two", 3), 0);
	bj_journal_done(&small);
	close(bj_take_fd(&fd));
	assert_int_equal(umount(dir), 0);
}

static void too_long_a_line_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(bj_journal_append(&f->store.journal, "x", (size_t)BJ_JOURNAL_LINE_MAX + 1),
			 -EFBIG);
}

/* `belljar run` leaves the database closed, and finds out all the same what is wrong with it. */
static void the_database_opens_when_it_is_needed(void **state)
{
	struct fixture *f = *state;
	struct bj_err err = { 0 };

	bj_store_done(&f->store);
	assert_int_equal(bj_store_init(&f->store, f->file, f->dir_fd, &err), 0);
	assert_null(f->store.db);
	append_run(f, "one");
	assert_null(f->store.db);
	assert_int_equal(finished(f), 1);
	assert_non_null(f->store.db);
	bj_store_done(&f->store);

	AUTO_FD int fd = open(f->file, O_WRONLY | O_CLOEXEC);

	unlinkat(f->dir_fd, "belljar.db-wal", 0);
	unlinkat(f->dir_fd, "belljar.db-shm", 0);
	assert_int_equal(pwrite(fd, "no database here", 16, 0), 16);
	assert_true(bj_store_init(&f->store, f->file, f->dir_fd, &err) < 0);
	assert_non_null(strstr(err.msg, "records"));
}

/* Fails the question for the state of a run, once. */
struct failing {
	bool armed, now;
};

static int on_statement(unsigned int kind, void *ctx, void *st, void *text)
{
	struct failing *f = ctx;

	(void)kind, (void)text;
	f->now = f->armed && strstr(sqlite3_sql(st), "SELECT state FROM executions");
	f->armed &= !f->now;
	return 0;
}

static int on_progress(void *ctx)
{
	return ((struct failing *)ctx)->now;
}

/* AUDIT: a database that fails for a moment is no database without that run: its end is not lost.
 */
static void a_failing_database_loses_no_end(void **state)
{
	struct fixture *f = *state;
	struct failing failing = { .armed = true };
	struct bj_err err = { 0 };

	append_run(f, "one");
	sqlite3_trace_v2(f->store.db, SQLITE_TRACE_STMT, on_statement, &failing);
	sqlite3_progress_handler(f->store.db, 1, on_progress, &failing);
	assert_true(bj_fold(&f->store, &err) < 0);
	sqlite3_trace_v2(f->store.db, 0, NULL, NULL);
	sqlite3_progress_handler(f->store.db, 0, NULL, NULL);
	assert_int_equal(f->store.skipped, 0);
	assert_int_equal(finished(f), 1);
}

/* A power cut takes the end of the file, of which the database knew; others write on from there
 * before anybody reads. */
static void a_place_in_mid_line_is_none(void **state)
{
	struct fixture *f = *state;
	char id[32];

	append_run(f, "one");

	const off_t kept = size_of(f);

	append_run(f, "two");
	assert_int_equal(finished(f), 2);

	const off_t known = size_of(f);

	assert_int_equal(ftruncate(f->store.journal.fd, kept), 0);
	f->store.journal.end = 0;
	for (int i = 0; i < 4; i++) {
		/* Lines of another length than those that were there. */
		snprintf(id, sizeof(id), "more-%d-%.*s", i, 7 + i, "xxxxxxxxxxxx");
		append_run(f, id);
	}
	assert_true(size_of(f) > known);
	f->store.journal.seen = (struct bj_journal_place){ 0 }; /* a new process */
	assert_int_equal(finished(f), 6);
	assert_int_equal(ask(f, "SELECT sum(runs) FROM usage"), 6);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(a_line_says_all),
		T(a_result_is_kept_word_for_word),
		T(a_name_is_any_bytes),
		T(other_lines_are_refused),
		T(each_line_becomes_a_row_once),
		T(a_line_read_twice_changes_nothing),
		T(a_failing_database_loses_no_end),
		T(a_place_in_mid_line_is_none),
		T(a_torn_line_takes_nothing_along),
		T(rubbish_is_skipped_and_counted),
		T(an_end_alone_is_skipped),
		T(a_long_journal_is_emptied),
		T(a_new_filling_is_read_from_its_start),
		T(a_smaller_file_is_read_from_its_start),
		T(a_lost_mark_loses_no_line),
		T(many_writers_and_a_reader),
		T(threads_and_the_one_that_folds),
		T(a_full_disk_keeps_no_piece),
		T(too_long_a_line_is_refused),
		T(the_database_opens_when_it_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
