/* SPDX-License-Identifier: Apache-2.0 */

/* DS-FS: writing is refused outside the rules, even to root on a writable file system. */

#include "unit.h"

#include "base/cleanup.h"
#include "jar/creds.h"
#include "jar/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char top[] = "/tmp/bj-landlock-XXXXXX";

static int try_write(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd >= 0 ? 0 : errno;
}

static int sealed(void)
{
	char in[64], out[64];
	uint32_t abi = 99;

	snprintf(in, sizeof(in), "%s/in", top);
	snprintf(out, sizeof(out), "%s/out", top);

	const struct bj_landlock_rule rules[] = { { "/", BJ_LANDLOCK_READ },
						  { in, BJ_LANDLOCK_WRITE } };

	if (bj_creds_no_new_privs(NULL) < 0 || bj_landlock_seal(rules, 2, &abi, NULL) < 0)
		return 1;
	if (abi != bj_landlock_abi())
		return 2;
	if (try_write("in/new") != 0 || try_write("out/new") != EACCES ||
	    try_write("new") != EACCES)
		return 3;
	/* Existing files are not opened, shortened, removed or moved out. */
	if (try_write("out/old") != EACCES)
		return 4;
	snprintf(in, sizeof(in), "%s/in/new", top);
	snprintf(out, sizeof(out), "%s/out/old", top);
	if (unlink(out) == 0 || (abi >= 3 && truncate(out, 0) == 0))
		return 5;
	return rename(in, out) == 0 ? 6 : 0;
}

/* Files that are there may be written to; none may be made, moved or removed. */
static int used(void)
{
	char in[64], old[64];
	uint32_t abi;

	snprintf(in, sizeof(in), "%s/out", top);
	snprintf(old, sizeof(old), "%s/out/old", top);

	const struct bj_landlock_rule rules[] = { { "/", BJ_LANDLOCK_READ },
						  { in, BJ_LANDLOCK_USE } };

	if (bj_creds_no_new_privs(NULL) < 0 || bj_landlock_seal(rules, 2, &abi, NULL) < 0)
		return 1;
	if (try_write("out/old") != 0 || truncate(old, 0) < 0)
		return 2;
	if (try_write("out/new") != EACCES || try_write("in/new") != EACCES)
		return 3;
	return unlink(old) == 0 ? 4 : 0;
}

static int a_missing_path(void)
{
	static const struct bj_landlock_rule rules[] = { { "/nonexistent/of-ours",
							   BJ_LANDLOCK_WRITE } };
	struct bj_err err = { 0 };
	uint32_t abi = 99;

	if (bj_creds_no_new_privs(NULL) < 0)
		return 1;
	if (bj_landlock_seal(rules, 1, &abi, &err) != -BJ_E_SYSTEM || abi != 99)
		return 2;
	return strstr(err.msg, "/nonexistent/of-ours") == NULL;
}

/* Root with CAP_SYS_ADMIN may go without; nobody may not, and says so. */
static int without_no_new_privs(void)
{
	static const struct bj_landlock_rule rules[] = { { "/", BJ_LANDLOCK_READ } };
	struct bj_err err = { 0 };
	uint32_t abi = 0;

	if (bj_creds_drop_caps(NULL) < 0)
		return 1;
	return bj_landlock_seal(rules, 1, &abi, &err) != -BJ_E_SYSTEM || err.errnum != EPERM;
}

/* Under a filter that refuses to enter unless all refusals stay out of the log of the machine:
 * those of the process as it is, and those of domains inside this one. */
static int quiet(void)
{
	static const struct bj_landlock_rule rules[] = { { "/", BJ_LANDLOCK_READ } };
	const uint32_t wanted = bj_landlock_abi() >= 7 ? 1 | 4 : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_restrict_self, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wanted, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
	};
	const struct sock_fprog program = { .len = BJ_ARRAY_SIZE(code), .filter = code };
	uint32_t abi = 0;

	if (bj_creds_no_new_privs(NULL) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return 1;
	return bj_landlock_seal(rules, 1, &abi, NULL) < 0 ? 2 : 0;
}

static void in_a_child(int (*what)(void))
{
	int status = -1;
	const pid_t pid = fork();

	if (pid == 0)
		_exit(what());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void only_the_rules_are_writable(void **state)
{
	(void)state;
	in_a_child(sealed);
}

static void what_is_there_may_be_used(void **state)
{
	(void)state;
	in_a_child(used);
}

static void a_rule_for_nothing_is_an_error(void **state)
{
	(void)state;
	in_a_child(a_missing_path);
}

static void it_needs_no_new_privs(void **state)
{
	(void)state;
	in_a_child(without_no_new_privs);
}

static void what_is_refused_is_not_logged(void **state)
{
	(void)state;
	in_a_child(quiet);
}

static void path_of(char *path, const char *name)
{
	snprintf(path, 64, "%s/%s", top, name);
}

static int set_up(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(top))
		return -1;
	path_of(path, "in");
	mkdir(path, 0700);
	path_of(path, "out");
	mkdir(path, 0700);
	return try_write("out/old");
}

static int tear_down(void **state)
{
	static const char *const names[] = { "in/new", "out/old", "out/new", "in", "out" };
	char path[64];

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(names); i++) {
		path_of(path, names[i]);
		remove(path);
	}
	return rmdir(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_rules_are_writable),
		cmocka_unit_test(what_is_there_may_be_used),
		cmocka_unit_test(a_rule_for_nothing_is_an_error),
		cmocka_unit_test(it_needs_no_new_privs),
		cmocka_unit_test(what_is_refused_is_not_logged),
	};

	/* A kernel without Landlock, or a user who cannot drop what the last case drops. */
	if (bj_landlock_abi() == 0 || geteuid() != 0)
		return 77;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
