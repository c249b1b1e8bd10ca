/* SPDX-License-Identifier: Apache-2.0 */

/* ABUSE 4, 32: files that a script left come as bytes that nobody vouches for. */

#include "unit.h"

#include "backend/harvest.h"
#include "base/cleanup.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char top[] = "/tmp/bj-harvest-XXXXXX";
static int top_fd = -1;

enum { MAX_FILES = 3, MAX_BYTES = 100 };

/* Feed @bytes in pieces of @piece; the last word of the harvest, with @h as it was at the end. */
static int feed(const void *bytes, size_t size, size_t piece, struct bj_harvest *h,
		struct bj_err *err)
{
	int p[2], r = 0;

	assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
	bj_harvest_init(h, "0123456789abcdef0123456789abcdef", p[0], top_fd, MAX_FILES, MAX_BYTES);
	for (size_t at = 0; r == 0 && at < size; at += piece) {
		const size_t n = size - at < piece ? size - at : piece;

		assert_int_equal(write(p[1], (const char *)bytes + at, n), n);
		r = bj_harvest_read(h, err);
	}
	close(p[1]);
	if (r == 0)
		r = bj_harvest_read(h, err);
	bj_harvest_done(h);
	return r;
}

static int feed_pack(struct bj_buf *pack, size_t piece, struct bj_harvest *h, struct bj_err *err)
{
	assert_false(pack->failed);

	const int r = feed(pack->data, pack->size, piece, h, err);

	bj_buf_done(pack);
	return r;
}

/* How many entries the directory has; they are removed. */
static int empty_top(void)
{
	AUTO_DIR DIR *dir = opendir(top);
	struct dirent *e;
	int n = 0;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
			n++;
			if (unlinkat(top_fd, e->d_name, 0) < 0)
				assert_int_equal(unlinkat(top_fd, e->d_name, AT_REMOVEDIR), 0);
		}
	return n;
}

static void assert_holds(const char *name, const char *text)
{
	AUTO_FD int fd = openat(top_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_BUF struct bj_buf buf = { .max = 1000 };

	assert_true(fd >= 0);
	assert_int_equal(bj_fd_read_all(fd, &buf), 0);
	assert_string_equal(buf.data ? buf.data : "", text);
}

static void the_stream_may_be_split_anywhere(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 140; piece++) {
		struct bj_buf pack = { 0 };
		struct bj_err err = { 0 };
		struct bj_harvest h;

		bj_pack_add(&pack, BJ_PACK_FILE, "one", "first", 5);
		bj_pack_add(&pack, BJ_PACK_REFUSED, "", "", 0);
		bj_pack_add(&pack, BJ_PACK_FILE, "empty", "", 0);
		bj_pack_add(&pack, BJ_PACK_FILE, "two", "second", 6);
		bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
		assert_int_equal(feed_pack(&pack, piece, &h, &err), 1);
		assert_int_equal(h.files, 3);
		assert_int_equal(h.bytes, 11);
		assert_int_equal(h.refused, 1);
		assert_holds("one", "first");
		assert_holds("empty", "");
		assert_holds("two", "second");
		assert_int_equal(empty_top(), 3);
	}
}

/* Cut at every byte: an error, and no half file under its name or under another. */
static void a_stream_that_ends_early(void **state)
{
	struct bj_buf pack = { 0 };

	(void)state;
	bj_pack_add(&pack, BJ_PACK_FILE, "one", "first", 5);
	bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	for (size_t size = 0; size < pack.size; size++) {
		struct bj_err err = { 0 };
		struct bj_harvest h;
		const bool whole = size >= sizeof(struct bj_pack_head) + 3 + 5;

		assert_int_equal(feed(pack.data, size, 1000, &h, &err), -BJ_E_PROTOCOL);
		assert_int_equal(err.code, BJ_E_PROTOCOL);
		assert_int_equal(empty_top(), whole ? 1 : 0);
	}
	bj_buf_done(&pack);
}

static void what_follows_the_end_is_ignored(void **state)
{
	struct bj_buf pack = { 0 };
	struct bj_err err = { 0 };
	struct bj_harvest h;

	(void)state;
	bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	bj_pack_add(&pack, BJ_PACK_FILE, "late", "x", 1);
	assert_int_equal(feed_pack(&pack, 7, &h, &err), 1);
	assert_int_equal(empty_top(), 0);
}

static void hostile_names_write_nothing(void **state)
{
	static const char *const names[] = { "",
					     ".",
					     "..",
					     "../x",
					     "/tmp/x",
					     "a/b",
					     "\n",
					     "\x1b[2J",
					     "\xff",
					     "\xc3",
					     ".belljar.0123456789abcdef0123456789abcdef" };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(names); i++) {
		struct bj_buf pack = { 0 };
		struct bj_err err = { 0 };
		struct bj_harvest h;

		bj_pack_add(&pack, BJ_PACK_FILE, names[i], "x", 1);
		bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
		assert_int_equal(feed_pack(&pack, 1000, &h, &err), -BJ_E_PROTOCOL);
		assert_int_equal(empty_top(), 0);
	}
}

static void hostile_heads_are_refused(void **state)
{
	static const struct bj_pack_head heads[] = {
		{ .type = 0 },
		{ .type = BJ_PACK_END + 1 },
		{ .type = BJ_PACK_ARG },
		{ .type = BJ_PACK_ENV },
		{ .type = BJ_PACK_INPUT },
		{ .type = BJ_PACK_FILE, .name_size = 256 },
		{ .type = BJ_PACK_FILE, .name_size = UINT32_MAX },
		{ .type = BJ_PACK_FILE, .name_size = 4, .data_size = MAX_BYTES + 1 },
		{ .type = BJ_PACK_FILE, .name_size = 4, .data_size = UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(heads); i++) {
		char bytes[sizeof(heads[i]) + 4];
		struct bj_err err = { 0 };
		struct bj_harvest h;

		memcpy(bytes, &heads[i], sizeof(heads[i]));
		memcpy(bytes + sizeof(heads[i]), "name", 4);
		assert_int_equal(feed(bytes, sizeof(bytes), 1000, &h, &err), -BJ_E_PROTOCOL);
		assert_int_equal(err.code, BJ_E_PROTOCOL);
		assert_int_equal(empty_top(), 0);
	}
}

static void too_many_and_too_much(void **state)
{
	struct bj_buf pack = { 0 };
	struct bj_err err = { 0 };
	struct bj_harvest h;
	static const char bytes[60];
	char name[2] = "a";

	(void)state;
	for (int i = 0; i <= MAX_FILES; i++, name[0]++)
		bj_pack_add(&pack, BJ_PACK_FILE, name, "x", 1);
	assert_int_equal(feed_pack(&pack, 1000, &h, &err), -BJ_E_PROTOCOL);
	assert_int_equal(empty_top(), MAX_FILES);
	bj_pack_add(&pack, BJ_PACK_FILE, "one", bytes, 60);
	bj_pack_add(&pack, BJ_PACK_FILE, "two", bytes, 60);
	assert_int_equal(feed_pack(&pack, 1000, &h, &err), -BJ_E_PROTOCOL);
	assert_int_equal(empty_top(), 1);
}

/* A link that stands in the directory already is replaced, never followed. */
static void links_are_replaced(void **state)
{
	struct bj_buf pack = { 0 };
	struct bj_err err = { 0 };
	struct bj_harvest h;
	AUTO_FD int canary = openat(top_fd, "canary", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_true(canary >= 0);
	assert_int_equal(symlinkat("canary", top_fd, "name"), 0);
	bj_pack_add(&pack, BJ_PACK_FILE, "name", "new", 3);
	bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	assert_int_equal(feed_pack(&pack, 1000, &h, &err), 1);
	assert_holds("name", "new");
	assert_holds("canary", "");
	assert_int_equal(empty_top(), 2);
}

/* Something in the way of the file that is written aside. */
static void a_name_that_is_taken(void **state)
{
	struct bj_buf pack = { 0 };
	struct bj_err err = { 0 };
	struct bj_harvest h;

	(void)state;
	assert_int_equal(mkdirat(top_fd, ".belljar.0123456789abcdef0123456789abcdef", 0700), 0);
	bj_pack_add(&pack, BJ_PACK_FILE, "name", "new", 3);
	bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	assert_int_equal(feed_pack(&pack, 1000, &h, &err), -BJ_E_SYSTEM);
	assert_int_equal(err.code, BJ_E_SYSTEM);
	assert_non_null(strstr(err.msg, "output directory"));
	assert_int_equal(empty_top(), 1);
}

/* The script chose the name: one that cannot be had is its fault, and the run has its own end. */
static void a_name_that_cannot_be_had(void **state)
{
	struct bj_buf pack = { 0 };
	struct bj_err err = { 0 };
	struct bj_harvest h;

	(void)state;
	assert_int_equal(mkdirat(top_fd, "folder", 0700), 0);
	bj_pack_add(&pack, BJ_PACK_FILE, "folder", "new", 3);
	bj_pack_add(&pack, BJ_PACK_FILE, "file", "more", 4);
	bj_pack_add(&pack, BJ_PACK_END, "", "", 0);
	assert_int_equal(feed_pack(&pack, 1000, &h, &err), 1);
	assert_int_equal(h.files, 1);
	assert_int_equal(h.bytes, 4);
	assert_int_equal(h.refused, 1);
	assert_holds("file", "more");
	assert_int_equal(empty_top(), 2);
}

/* A disk that takes no more, by way of a limit on the size of files. */
static void a_full_disk(void **state)
{
	(void)state;

	const pid_t pid = fork();

	if (pid == 0) {
		const struct rlimit limit = { .rlim_cur = 10, .rlim_max = 10 };
		static const char bytes[60];
		struct bj_buf pack = { 0 };
		struct bj_err err = { 0 };
		struct bj_harvest h;

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		bj_pack_add(&pack, BJ_PACK_FILE, "name", bytes, 60);
		_exit(feed_pack(&pack, 1000, &h, &err) != -BJ_E_SYSTEM || err.errnum != EFBIG);
	}

	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(empty_top(), 0);
}

/* A pipe that cannot be read is told as what it is. */
static void a_broken_descriptor(void **state)
{
	struct bj_err err = { 0 };
	struct bj_harvest h;

	(void)state;
	bj_harvest_init(&h, "id", openat(top_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), top_fd,
			1, 1);
	assert_int_equal(bj_harvest_read(&h, &err), -BJ_E_SYSTEM);
	assert_int_equal(err.code, BJ_E_SYSTEM);
	bj_harvest_done(&h);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return top_fd < 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(top_fd);
	return rmdir(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stream_may_be_split_anywhere),
		cmocka_unit_test(a_stream_that_ends_early),
		cmocka_unit_test(what_follows_the_end_is_ignored),
		cmocka_unit_test(hostile_names_write_nothing),
		cmocka_unit_test(hostile_heads_are_refused),
		cmocka_unit_test(too_many_and_too_much),
		cmocka_unit_test(links_are_replaced),
		cmocka_unit_test(a_name_that_is_taken),
		cmocka_unit_test(a_name_that_cannot_be_had),
		cmocka_unit_test(a_full_disk),
		cmocka_unit_test(a_broken_descriptor),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
