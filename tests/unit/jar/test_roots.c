/* SPDX-License-Identifier: Apache-2.0 */

/* Mount namespaces with a template as their root. */

#include "in_namespaces.h"

#include "base/cleanup.h"
#include "jar/mounts.h"
#include "jar/roots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCS = 4 };

static bool there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* A directory with nothing in it but what every /proc has, whoever looks. */
static bool shows_nobody(const char *path)
{
	AUTO_DIR DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "self") != 0 &&
		    strcmp(entry->d_name, "thread-self") != 0)
			return false;
	return dir != NULL;
}

static int come_up(int *procs)
{
	static const int images[] = { BJ_MOUNTS_HOST };
	struct bj_err err = { 0 };

	return bj_mounts_templates(images, 1, true, &err) == 0 &&
			       bj_mounts_procs(procs, PROCS) == PROCS && bj_mounts_nobody(&err) == 0
		       ? 0
		       : -1;
}

/* Each is a file system of its own, and of this pid namespace. */
static int procs(void)
{
	struct stat st[PROCS];
	int fds[PROCS];

	if (come_up(fds) < 0)
		return 1;
	for (int i = 0; i < PROCS; i++) {
		if (fstat(fds[i], &st[i]) < 0 || faccessat(fds[i], "1/status", F_OK, 0) < 0)
			return 2;
		for (int k = 0; k < i; k++)
			if (st[i].st_dev == st[k].st_dev)
				return 3;
	}
	return shows_nobody("/proc") ? 4 : GOOD;
}

static int enter(void)
{
	struct bj_roots roots;
	int fds[PROCS];

	if (come_up(fds) < 0 || !shows_nobody(BJ_MOUNTS_NOBODY))
		return 1;
	bj_roots_init(&roots, 1, fds[0], true);
	if (!there("/jar0") || !bj_roots_enter(&roots, 0))
		return 2;
	if (!there("/usr/bin") || there("/jar0") || there(BJ_MOUNTS_NOBODY))
		return 3;
	if (!shows_nobody("/proc"))
		return 4;
	if (mkdir("/here", 0755) == 0 || errno != EROFS)
		return 5;
	/* Who stays is there still; an image that is not there leads back. */
	if (!bj_roots_enter(&roots, 0) || !there("/usr/bin") || bj_roots_enter(&roots, 1))
		return 6;
	return there("/jar0") && !there("/usr") && there("/proc/1") ? GOOD : 7;
}

/* Who wants no /proc has none, and who has no such image stays where it is. */
static int none(void)
{
	struct bj_roots roots;
	int fds[PROCS];

	if (come_up(fds) < 0)
		return 1;
	bj_roots_init(&roots, 3, fds[0], false);
	if (bj_roots_enter(&roots, 1) || !there("/jar0"))
		return 2;
	if (!bj_roots_enter(&roots, 0) || there("/proc/self"))
		return 3;
	if (bj_roots_enter(&roots, 1))
		return 5;
	bj_roots_init(&roots, 0, fds[0], true);
	return bj_roots_enter(&roots, 0) || !there("/jar0") ? 4 : GOOD;
}

static void test_each_proc_is_its_own(void **state)
{
	(void)state;
	run_in_namespaces(0, procs);
}

static void test_there_is_nothing_but_the_template(void **state)
{
	(void)state;
	run_in_namespaces(0, enter);
}

static void test_what_is_not_there_is_not_entered(void **state)
{
	(void)state;
	run_in_namespaces(0, none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_proc_is_its_own),
		cmocka_unit_test(test_there_is_nothing_but_the_template),
		cmocka_unit_test(test_what_is_not_there_is_not_entered),
	};

	/* Only root makes these without a user namespace; CI is root. */
	return geteuid() != 0 ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
