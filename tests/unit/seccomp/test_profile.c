/* SPDX-License-Identifier: Apache-2.0 */

/* Custom profiles in Docker's format: DS-SEC. */

#include "sealed.h"

#include "base/cleanup.h"
#include "seccomp/profile.h"
#include "seccomp/syscalls.h"

#include <fcntl.h>
#include <sys/stat.h>

/* What docker.json means for a process without capabilities, beneath the floor. */
static const struct call MEANING[] = {
	{ "getpid", SYS_getpid, 0, { 0 } },
	{ "getuid: the kernel is new enough", SYS_getuid, 0, { 0 } },
	{ "getgid: the kernel is too old", SYS_getgid, EACCES, { 0 } },
	{ "geteuid: the kernel is too new", SYS_geteuid, EACCES, { 0 } },
	{ "getegid: it asks for a capability", SYS_getegid, EACCES, { 0 } },
	{ "getppid: it excludes a capability", SYS_getppid, 0, { 0 } },
	{ "gettid: for another architecture", SYS_gettid, EACCES, { 0 } },
	{ "getpgid: for this architecture", SYS_getpgid, 0, { 0 } },
	{ "getsid: not for this architecture", SYS_getsid, EACCES, { 0 } },
	{ "dup of a large number", SYS_dup, EBADF, { 0xffffffff } },
	{ "dup of another number", SYS_dup, EACCES, { 999 } },
	{ "dup3: first alternative", SYS_dup3, EBADF, { 7, 1000 } },
	{ "dup3: second alternative", SYS_dup3, EBADF, { 9, 1000 } },
	{ "dup3: neither", SYS_dup3, EACCES, { 8, 1000 } },
	{ "lseek: both conditions", SYS_lseek, EBADF, { 999, 0, 4 } },
	{ "lseek: only the first", SYS_lseek, EACCES, { 999, 0, 8 } },
	{ "lseek: only the second", SYS_lseek, EACCES, { 998, 0, 4 } },
	{ "umask: an errno of its own", SYS_umask, ENOSYS, { 0 } },
	{ "uname: EPERM unless it says otherwise", SYS_uname, EPERM, { 0 } },
	{ "sched_yield: logged", SYS_sched_yield, 0, { 0 } },
	{ "fchmodat2: newer than libseccomp", 452, EBADF, { 999, (unsigned long)"x", 0, 0 } },
	{ "a number newer than the profile", 460, ENOSYS, { 0 } },
	{ "read: the default", SYS_read, EACCES, { 999, 0, 0 } },
	{ "mount: the floor", SYS_mount, EPERM, { 0 } },
	{ "unshare: the floor", SYS_unshare, EPERM, { 0 } },
	{ "io_uring_setup: the floor", SYS_io_uring_setup, EPERM, { 0 } },
};

static void dockers_format_means_what_docker_means(void **state)
{
	const struct call killed = { "getcwd", SYS_getcwd, 0, { 0 } };
	AUTO_BUF struct bj_buf code = { 0 };
	struct bj_err err = { 0 };

	(void)state;
	if (bj_profile_compile_file(UNIT_DIR "/seccomp/docker.json", &code, &err) < 0)
		fail_msg("%s", err.msg);

	const struct bj_filter custom = { code.data, code.size };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(MEANING); i++)
		expect_call(&custom, &MEANING[i]);

	const int status = in_child(&custom, try_call, &killed);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

#define RULE(text) "{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [{" text "}]}"
#define ONE        "{\"index\": 0, \"op\": \"SCMP_CMP_EQ\", \"value\": 1}"
#define ARG(text)  RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_KILL\", \"args\": [" text "]")

static const struct {
	const char *text, *says;
} BAD[] = {
	{ "", "line 1" },
	{ "{\n\n\"defaultAction\": }", "line 3" },
	{ "[]", "object" },
	{ "{}", "defaultAction" },
	{ "{\"defaultAction\": 5}", "defaultAction" },
	{ "{\"defaultAction\": \"SCMP_ACT_ALOW\"}", "SCMP_ACT_ALOW" },
	{ "{\"defaultAction\": \"SCMP_ACT_NOTIFY\"}", "SCMP_ACT_NOTIFY needs" },
	{ "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 4096}", "defaultErrnoRet" },
	{ "{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscall\": []}", "\"syscall\"" },
	{ "{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": 1}", "syscalls must be a list" },
	{ "{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"defaultAction\": \"SCMP_ACT_ALLOW\"}",
	  "duplicate" },
	{ RULE("\"name\": \"read\""), "syscalls[0].action" },
	{ RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_TRACE\""), "SCMP_ACT_TRACE needs" },
	{ RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": -1"),
	  "errnoRet" },
	{ RULE("\"action\": \"SCMP_ACT_KILL\""), "either \"names\" or \"name\"" },
	{ RULE("\"name\": \"a\", \"names\": [], \"action\": \"SCMP_ACT_KILL\""), "either" },
	{ RULE("\"name\": 1, \"action\": \"SCMP_ACT_KILL\""), "list of strings" },
	{ RULE("\"names\": \"read\", \"action\": \"SCMP_ACT_KILL\""), "list of strings" },
	{ RULE("\"names\": [\"read\", 7], \"action\": \"SCMP_ACT_KILL\""), "list of strings" },
	{ RULE("\"numbers\": [1, 640], \"action\": \"SCMP_ACT_KILL\""), "numbers" },
	{ RULE("\"numbers\": [9, 8], \"action\": \"SCMP_ACT_KILL\""), "numbers" },
	{ RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_KILL\", \"arg\": []"), "\"arg\"" },
	{ RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_KILL\", \"args\": {}"), "args" },
	{ RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_KILL\", \"includes\": []"),
	  "syscalls[0].includes" },
	{ RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_KILL\", \"excludes\": {\"cap\": []}"),
	  "\"cap\"" },
	{ RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_KILL\", "
	       "\"includes\": {\"minKernel\": \"new\"}"),
	  "minKernel" },
	{ RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_KILL\", \"includes\": {\"caps\": 1}"),
	  "caps" },
	{ ARG("1"), "syscalls[0].args[0]" },
	{ ARG("{\"op\": \"SCMP_CMP_EQ\"}"), "index" },
	{ ARG("{\"index\": 6, \"op\": \"SCMP_CMP_EQ\"}"), "index" },
	{ ARG("{\"index\": 0, \"op\": \"EQ\"}"), "args[0].op" },
	{ ARG("{\"index\": 0}"), "args[0].op" },
	{ ARG("{\"index\": 0, \"op\": \"SCMP_CMP_EQ\", \"value\": -1}"), "args[0].value" },
	{ ARG("{\"index\": 0, \"op\": \"SCMP_CMP_EQ\", \"value\": 99999999999999999999}"),
	  "line 1" },
	{ ARG("{\"index\": 0, \"op\": \"SCMP_CMP_EQ\", \"valueTwo\": \"1\"}"), "valueTwo" },
	{ RULE("\"name\": \"read\", \"action\": \"SCMP_ACT_KILL\", \"args\": [" ONE "]}, "
	       "{\"name\": \"read\", \"action\": \"SCMP_ACT_TRAP\", \"args\": [" ONE "]"),
	  "syscalls[1] (read) contradicts" },
};

static void bad_profiles_name_the_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(BAD); i++) {
		AUTO_BUF struct bj_buf code = { 0 };
		struct bj_err err = { 0 };

		if (bj_profile_compile(BAD[i].text, strlen(BAD[i].text), &code, &err) >= 0)
			fail_msg("accepted: %s", BAD[i].text);
		if (!strstr(err.msg, BAD[i].says))
			fail_msg("\"%s\" does not say \"%s\"", err.msg, BAD[i].says);
		assert_null(code.data);
	}
}

/* libseccomp would work on this for hours. */
static void compiler_has_a_time_limit(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };
	AUTO_BUF struct bj_buf code = { 0 };
	struct bj_err err = { 0 };

	(void)state;
	bj_buf_puts(&text, "{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [");
	for (int i = 0; i < 40; i++) {
		bj_buf_printf(&text, "%s{\"name\": \"ioctl\", \"action\": \"SCMP_ACT_ERRNO\", ",
			      i ? "," : "");
		bj_buf_puts(&text, "\"args\": [");
		for (int j = 0; j < 6; j++)
			bj_buf_printf(&text,
				      "%s{\"index\": %d, \"op\": \"SCMP_CMP_NE\", "
				      "\"value\": %d}",
				      j ? "," : "", j, i * 7 + j);
		bj_buf_puts(&text, "]}");
	}
	bj_buf_puts(&text, "]}");
	assert_false(text.failed);
	assert_int_equal(bj_profile_compile(text.data, text.size, &code, &err), -BJ_E_LIMIT);
	assert_non_null(strstr(err.msg, "2 s"));
}

static void long_profiles_are_refused(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };
	AUTO_BUF struct bj_buf code = { 0 };
	struct bj_err err = { 0 };

	(void)state;
	/* Conditions that share nothing: each is a few instructions. */
	bj_buf_puts(&text, "{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [");
	for (int i = 0; i < 1500; i++)
		bj_buf_printf(
			&text,
			"%s{\"name\": \"ioctl\", \"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": "
			"%d, \"args\": [{\"index\": 1, \"op\": \"SCMP_CMP_EQ\", \"value\": "
			"%lld}]}",
			i ? "," : "", i % 4000 + 2, (i + 1) * 0x100000001LL);
	bj_buf_puts(&text, "]}");
	assert_false(text.failed);
	assert_int_equal(bj_profile_compile(text.data, text.size, &code, &err), -BJ_E_LIMIT);
	assert_non_null(strstr(err.msg, "4093 instructions"));

	bj_buf_reserve(&text, BJ_PROFILE_MAX_TEXT);
	assert_int_equal(bj_profile_compile(text.data, BJ_PROFILE_MAX_TEXT + 1, &code, &err),
			 -BJ_E_LIMIT);
	assert_non_null(strstr(err.msg, "256 KiB"));
}

static void files_that_are_none_are_refused(void **state)
{
	AUTO_BUF struct bj_buf code = { 0 };
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(bj_profile_compile_file("/nonexistent.json", &code, &err),
			 -BJ_E_NOT_FOUND);
	assert_non_null(strstr(err.msg, "/nonexistent.json"));
	assert_int_equal(bj_profile_compile_file("/", &code, &err), -BJ_E_INVALID);
	assert_non_null(strstr(err.msg, "not a plain file"));
	assert_int_equal(bj_profile_compile_file("/dev/zero", &code, &err), -BJ_E_INVALID);
}

static void new_names_have_numbers(void **state)
{
	(void)state;
	assert_int_equal(bj_syscall_number("read"), SYS_read);
	assert_int_equal(bj_syscall_number("open_tree_attr"), 467);
	assert_true(bj_syscall_number("no_such_call") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dockers_format_means_what_docker_means),
		cmocka_unit_test(bad_profiles_name_the_place),
		cmocka_unit_test(compiler_has_a_time_limit),
		cmocka_unit_test(long_profiles_are_refused),
		cmocka_unit_test(files_that_are_none_are_refused),
		cmocka_unit_test(new_names_have_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
