/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "record/audit_line.h"
#include "record/audit_tail.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* AUDIT: the end of the log, as somebody who watches sees it. */

struct fixture {
	char dir[64];
	struct bj_audit *audit;
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int set_up(void **state)
{
	static struct fixture f;
	const struct bj_audit_settings settings = { .enabled = true, .max_size = 4096 };

	f = (struct fixture){ .dir = "/tmp/belljar-tail-XXXXXX" };
	*state = &f;
	if (!mkdtemp(f.dir))
		return -1;
	return bj_audit_open(&settings, f.dir, false, &f.audit, NULL);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	bj_audit_close(f->audit);
	return nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void append(const struct fixture *f, int i)
{
	assert_return_code(
		bj_audit_append(f->audit, "run.start", json_pack("{s:i}", "run", i), NULL), 0);
}

static json_int_t run_of(const json_t *lines, size_t i)
{
	return json_integer_value(
		json_object_get(json_object_get(json_array_get(lines, i), "data"), "run"));
}

/* The newest comes first, across files, and no more than was asked for. */
static void newest_first(void **state)
{
	const struct fixture *f = *state;
	json_t *lines = NULL;

	for (int i = 1; i <= 60; i++)
		append(f, i);
	assert_return_code(bj_audit_tail(f->audit, 40, &lines, NULL), 0);
	assert_int_equal(json_array_size(lines), 40);
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(run_of(lines, i), 60 - (json_int_t)i);
	assert_null(json_object_get(json_array_get(lines, 0), "sig"));
	json_decref(lines);
}

static void no_log_is_empty(void **state)
{
	json_t *lines = NULL;

	(void)state;
	assert_return_code(bj_audit_tail(NULL, 5, &lines, NULL), 0);
	assert_int_equal(json_array_size(lines), 0);
	json_decref(lines);
}

/* What is no line is left out; a file that is too long is read from a whole line on. */
static void rubbish_and_length(void **state)
{
	const struct fixture *f = *state;
	unsigned int *files = NULL;
	char name[BJ_AUDIT_NAME], block[4096];
	json_t *lines = NULL;
	size_t n = 0;

	append(f, 7);
	assert_return_code(bj_audit_files(bj_audit_folder(f->audit), &files, &n, NULL), 0);
	bj_audit_file_name(files[n - 1], name);
	free(files);

	const int fd = openat(bj_audit_folder(f->audit), name, O_WRONLY | O_APPEND);

	assert_true(fd >= 0);
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 200; i++)
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	assert_int_equal(write(fd, "\n{\"seq\":9}\n[1]\nhalf", 19), 19);
	close(fd);
	assert_return_code(bj_audit_tail(f->audit, 5, &lines, NULL), 0);
	assert_true(json_array_size(lines) >= 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(lines, 0), "seq")), 9);
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(newest_first, set_up, tear_down),
		cmocka_unit_test(no_log_is_empty),
		cmocka_unit_test_setup_teardown(rubbish_and_length, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
