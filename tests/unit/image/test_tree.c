/* SPDX-License-Identifier: Apache-2.0 */

/* DS-FS: nothing that an archive can name is made, removed or linked outside of its tree. */

#include "unit.h"

#include "image/store.h"
#include "image/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
	char dir[64];
	int top, root;
	struct bj_tree tree;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	snprintf(p->dir, sizeof(p->dir), "/tmp/bjt-tree-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	p->top = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(p->top, "root", 0755), 0);
	assert_int_equal(mkdirat(p->top, "out", 0755), 0);
	p->root = openat(p->top, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p->tree = (struct bj_tree){ .root = p->root, .limits = { 1 << 20, 1000 } };
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;
	struct bj_err err;

	close(p->root);
	assert_int_equal(bj_tree_remove(p->top, "root", &err), 0);
	assert_int_equal(bj_tree_remove(p->top, "out", &err), 0);
	assert_int_equal(rmdir(p->dir), 0);
	close(p->top);
	free(p);
	return 0;
}

static void make(struct place *p, const char *path)
{
	struct bj_err err;
	const int fd = bj_tree_file(&p->tree, path, 0, false, &err);

	assert_true(fd >= 0);
	close(fd);
}

static bool has(const struct place *p, const char *path)
{
	return faccessat(p->top, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void every_kind_is_refused_outside(void **state)
{
	static const char *const bad[] = { "../x", "a/../../x", "/x",       "..",
					   "a/..", "link/x",    "link/../x" };
	struct place *p = *state;
	struct bj_err err;

	assert_int_equal(bj_tree_dir(&p->tree, "a", &err), 0);
	assert_int_equal(bj_tree_symlink(&p->tree, "link", "../out", &err), 0);
	make(p, "file");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(bj_tree_file(&p->tree, bad[i], 0, false, &err), -BJ_E_INVALID);
		assert_int_equal(bj_tree_dir(&p->tree, bad[i], &err), -BJ_E_INVALID);
		assert_int_equal(bj_tree_symlink(&p->tree, bad[i], "t", &err), -BJ_E_INVALID);
		assert_int_equal(bj_tree_hardlink(&p->tree, bad[i], "file", &err), -BJ_E_INVALID);
		assert_int_equal(bj_tree_hardlink(&p->tree, "h", bad[i], &err), -BJ_E_INVALID);
	}
	assert_false(has(p, "out/x"));
	assert_false(has(p, "x"));
}

static void a_new_entry_takes_the_place_of_an_old_one(void **state)
{
	struct place *p = *state;
	struct bj_err err;
	struct stat st;

	assert_int_equal(bj_tree_symlink(&p->tree, "x", "../out", &err), 0);
	make(p, "x");
	assert_int_equal(fstatat(p->root, "x", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(bj_tree_dir(&p->tree, "x", &err), 0);
	make(p, "x/y/z");
	assert_int_equal(bj_tree_symlink(&p->tree, "x", "/", &err), 0);
	assert_false(has(p, "root/x/y"));
	assert_true(has(p, "out"));
	/* An old name for the same file is left as it is. */
	make(p, "one");
	assert_int_equal(bj_tree_hardlink(&p->tree, "two", "one", &err), 0);
	assert_int_equal(bj_tree_hardlink(&p->tree, "two", "one", &err), 0);
	assert_int_equal(fstatat(p->root, "two", &st, 0), 0);
	assert_int_equal(st.st_nlink, 2);
}

static void whiteouts_stay_inside(void **state)
{
	struct place *p = *state;
	struct bj_err err;

	make(p, "a/b/c");
	make(p, "a/d");
	assert_int_equal(bj_tree_symlink(&p->tree, "out", "../out", &err), 0);
	assert_int_equal(bj_tree_whiteout(&p->tree, "a/plain", &err), 0);
	assert_int_equal(bj_tree_whiteout(&p->tree, "a/.wh.b", &err), 1);
	assert_false(has(p, "root/a/b"));
	assert_int_equal(bj_tree_whiteout(&p->tree, "none/.wh.b", &err), 1);
	assert_int_equal(bj_tree_whiteout(&p->tree, "a/.wh..wh.plnk", &err), 1);
	assert_int_equal(bj_tree_whiteout(&p->tree, "a/.wh..wh..opq", &err), 1);
	assert_true(has(p, "root/a"));
	assert_false(has(p, "root/a/d"));
	assert_int_equal(bj_tree_whiteout(&p->tree, "out/.wh..wh..opq", &err), -BJ_E_INVALID);
	assert_int_equal(bj_tree_whiteout(&p->tree, ".wh...", &err), -BJ_E_INVALID);
	assert_int_equal(bj_tree_whiteout(&p->tree, "a/.wh.", &err), -BJ_E_INVALID);
	/* The link goes, not what it means. */
	assert_int_equal(bj_tree_whiteout(&p->tree, ".wh.out", &err), 1);
	assert_true(has(p, "out"));
}

static void limits_hold(void **state)
{
	struct place *p = *state;
	struct bj_err err;

	p->tree.limits = (struct bj_tree_limits){ 100, 3 };
	assert_int_equal(bj_tree_file(&p->tree, "a", 101, false, &err), -BJ_E_LIMIT);
	make(p, "a");
	assert_int_equal(bj_tree_file(&p->tree, "b", UINT64_MAX, false, &err), -BJ_E_LIMIT);
	make(p, "b");
	make(p, "c");
	assert_int_equal(bj_tree_dir(&p->tree, "d", &err), -BJ_E_LIMIT);
}

/* Directories that only stand in a longer path are files of the image, too. */
static void parents_count(void **state)
{
	struct place *p = *state;

	p->tree.limits = (struct bj_tree_limits){ 100, 5 };
	assert_int_equal(bj_tree_dir(&p->tree, "a/b/c", NULL), 0);
	assert_int_equal(p->tree.files, 3);
	assert_int_equal(bj_tree_dir(&p->tree, "a/b/d", NULL), 0);
	assert_int_equal(bj_tree_symlink(&p->tree, "e/f/g", "x", NULL), -BJ_E_LIMIT);
}

static void a_tree_is_looked_at_again(void **state)
{
	struct place *p = *state;
	struct bj_err err;

	make(p, "a/b");
	assert_int_equal(bj_tree_settle(p->root, (uid_t)-1, (gid_t)-1, &err), 0);
	assert_int_equal(fchmodat(p->root, "a/b", 04755, 0), 0);
	assert_int_equal(bj_tree_settle(p->root, (uid_t)-1, (gid_t)-1, &err), -BJ_E_PROTOCOL);
	assert_int_equal(fchmodat(p->root, "a/b", 0644, 0), 0);
	assert_int_equal(mkfifoat(p->root, "a/pipe", 0600), 0);
	assert_int_equal(bj_tree_settle(p->root, (uid_t)-1, (gid_t)-1, &err), -BJ_E_PROTOCOL);
}

static void names_of_images(void **state)
{
	static const struct {
		const char *text, *full;
	} names[] = {
		{ "a", "a:latest" },
		{ "a/b:1", "a/b:1" },
		{ "127.0.0.1:5000/x/y:V2", "127.0.0.1:5000/x/y:V2" },
		{ "localhost:5000/x", "localhost:5000/x:latest" },
		{ "", NULL },
		{ "host", NULL },
		{ "host:1", NULL },
		{ "A", NULL },
		{ "a:", NULL },
		{ "a:b:c", NULL },
		{ "../x", NULL },
		{ "a b", NULL },
	};
	char full[BJ_IMAGE_NAME];
	struct bj_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const int r = bj_image_name(names[i].text, full, &err);

		assert_int_equal(r, names[i].full ? 0 : -BJ_E_INVALID);
		if (names[i].full)
			assert_string_equal(full, names[i].full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_kind_is_refused_outside, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_entry_takes_the_place_of_an_old_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(whiteouts_stay_inside, setup, teardown),
		cmocka_unit_test_setup_teardown(limits_hold, setup, teardown),
		cmocka_unit_test_setup_teardown(parents_count, setup, teardown),
		cmocka_unit_test_setup_teardown(a_tree_is_looked_at_again, setup, teardown),
		cmocka_unit_test(names_of_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
