/* SPDX-License-Identifier: Apache-2.0 */

/* DS-CLEAN: what a broker has alive stands on disk, and only the dead are swept. No engine. */

#include "unit.h"

#include "base/cleanup.h"
#include "docker/track.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME  BJ_CONTAINER_PREFIX "0123456789abcdef"
#define OTHER "00000000000000000000000000000000.active"

static char top[] = "/tmp/bj-track-XXXXXX";

static struct bj_track open_track(void)
{
	struct bj_track track;

	assert_int_equal(bj_track_open(&track, top, NULL), 0);
	return track;
}

/* Whether the file of @owner is there after its track was closed. */
static bool is_kept(const char *owner)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/docker/%s.active", top, owner);
	return access(path, F_OK) == 0 && unlink(path) == 0;
}

static void a_track_goes_when_nothing_in_it_is_alive(void **state)
{
	struct bj_track track = open_track();
	char path[256];

	(void)state;
	assert_int_equal(bj_track_add(&track, NAME, NULL), 0);
	bj_track_drop(&track, NAME);
	assert_int_equal(bj_track_keep(&track, "text", path, sizeof(path), NULL), 0);
	assert_int_equal(access(path, F_OK), 0);
	bj_track_close(&track);
	assert_false(is_kept(track.owner));
	assert_int_not_equal(access(path, F_OK), 0);
}

static void a_track_stays_while_something_is_alive(void **state)
{
	struct bj_track track = open_track();

	(void)state;
	assert_int_equal(bj_track_add(&track, NAME, NULL), 0);
	assert_int_equal(bj_track_add(&track, NAME "00", NULL), 0);
	bj_track_drop(&track, NAME "00");
	bj_track_close(&track);
	assert_true(is_kept(track.owner));
}

/* Lines that are not ours name nothing: whoever may write there must not have it removed. */
static void foreign_lines_name_nothing(void **state)
{
	static const char *const lines[] = { "+\n",
					     "+stranger\n",
					     "+" BJ_CONTAINER_PREFIX "\n",
					     "+" BJ_CONTAINER_PREFIX "../x\n",
					     "+" NAME,
					     "\n",
					     "?" NAME "\n" };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(lines); i++) {
		struct bj_track track = open_track();

		assert_int_equal(write(track.fd, lines[i], strlen(lines[i])), strlen(lines[i]));
		bj_track_close(&track);
		assert_false(is_kept(track.owner));
	}
}

static void only_a_file_without_its_lock_is_of_the_dead(void **state)
{
	struct bj_track living = open_track(), track = open_track();

	(void)state;
	assert_false(bj_track_has_dead(&track));
	AUTO_FD int fd = openat(track.dir, OTHER, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_true(bj_track_has_dead(&track));
	assert_int_equal(unlinkat(track.dir, OTHER, 0), 0);
	/* A link is no file of ours, wherever it points. */
	assert_int_equal(symlinkat("/etc/passwd", track.dir, OTHER), 0);
	assert_false(bj_track_has_dead(&track));
	assert_int_equal(unlinkat(track.dir, OTHER, 0), 0);
	bj_track_close(&living);
	bj_track_close(&track);
}

static void a_bad_directory_is_refused(void **state)
{
	char path[600], file[64];
	struct bj_track track;
	struct bj_err err = { 0 };

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	path[0] = '/';
	assert_true(bj_track_open(&track, path, &err) < 0);
	bj_track_close(&track);

	snprintf(file, sizeof(file), "%s/file", top);
	AUTO_FD int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(bj_track_open(&track, file, &err), -BJ_E_SYSTEM);
	assert_non_null(strstr(err.msg, "cannot make"));
	bj_track_close(&track);
	unlink(file);

	/* Where others may write, files prove nothing. */
	snprintf(file, sizeof(file), "%s/docker", top);
	assert_int_equal(chmod(file, 0777), 0);
	assert_int_equal(bj_track_open(&track, top, &err), -BJ_E_DENIED);
	assert_non_null(strstr(err.msg, "set state_dir"));
	bj_track_close(&track);
	assert_int_equal(chmod(file, 0700), 0);
}

static void a_full_disk_is_said(void **state)
{
	struct bj_track track = { .dir = -1, .fd = open("/dev/full", O_WRONLY | O_CLOEXEC) };
	struct bj_err err = { 0 };
	char path[64];

	(void)state;
	assert_true(track.fd >= 0);
	assert_int_equal(bj_track_add(&track, NAME, &err), -BJ_E_SYSTEM);
	assert_non_null(strstr(err.msg, "cannot track a container"));
	assert_int_equal(bj_track_keep(&track, "t", path, sizeof(path), &err), -BJ_E_SYSTEM);
	bj_track_close(&track);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(top) ? 0 : 1;
}

static int tear_down(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/docker", top);
	return rmdir(path) < 0 || rmdir(top) < 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_track_goes_when_nothing_in_it_is_alive),
		cmocka_unit_test(a_track_stays_while_something_is_alive),
		cmocka_unit_test(foreign_lines_name_nothing),
		cmocka_unit_test(only_a_file_without_its_lock_is_of_the_dead),
		cmocka_unit_test(a_bad_directory_is_refused),
		cmocka_unit_test(a_full_disk_is_said),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
