/* SPDX-License-Identifier: Apache-2.0 */

/* bj_run() through the real launcher: every way a run can end, and what the result says then. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "belljar.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct belljar *bj;

/* Set by one test: every message is followed by the birth of a process that holds what we hold. */
static pid_t *copy_after_send;

/* In the place of the C library's: the moment at which the descriptors of a run are all open. */
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (copy_after_send && *copy_after_send == 0) {
		*copy_after_send = fork();
		if (*copy_after_send == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	return syscall(SYS_sendmsg, fd, msg, flags);
}

static struct bj_spec spec_of(enum bj_language language, const char *script)
{
	struct bj_spec spec;

	bj_spec_init(bj, language, &spec);
	spec.policy = BJ_POLICY_OFF;
	spec.script = script;
	spec.script_size = strlen(script);
	return spec;
}

static struct bj_result *run(const struct bj_spec *spec)
{
	struct bj_result *result = NULL;
	struct bj_err err = { 0 };

	if (bj_run(bj, spec, &result, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(result->state, BJ_FINISHED);
	assert_true(result->cleanup_success);
	return result;
}

#define AUTO_RESULT __attribute__((cleanup(free_result)))

static void free_result(struct bj_result **result)
{
	bj_result_free(*result);
}

/* SCRP-07, SCRP-08, SCRP-09, SX-OUT: each cause, told apart. */
static void every_cause(void **state)
{
	static const struct {
		const char *script;
		enum bj_cause cause;
		int exit_code, signal;
		const char *error;
	} rows[] = {
		{ "print(1)", BJ_CAUSE_EXITED, 0, 0, NULL },
		{ "import sys; sys.exit('no')", BJ_CAUSE_EXITED, 1, 0, "Execution failed: no\n" },
		{ "import os; os._exit(137)", BJ_CAUSE_EXITED, 137, 0,
		  "Execution failed: exit status 137" },
		{ "import os; os.kill(os.getpid(), 15)", BJ_CAUSE_SIGNAL, -1, SIGTERM,
		  "Execution failed: killed by signal 15 (Terminated)" },
		{ "import os; os.kill(os.getpid(), 9)", BJ_CAUSE_SIGNAL, -1, SIGKILL,
		  "Execution failed: killed by signal 9 (Killed)" },
		{ "while True: pass", BJ_CAUSE_TIMEOUT, -1, SIGKILL,
		  "Code execution timed out after 1s" },
		{ "x = bytearray(400 << 20)", BJ_CAUSE_OOM, -1, SIGKILL,
		  "Execution failed: the script used more than 64 MiB of memory" },
		{ "import os\nwhile True: os.fork()", BJ_CAUSE_PIDS, -1, SIGKILL,
		  "Execution failed: the script started more than 20 processes and threads" },
		{ "while True: print('x' * 10000)", BJ_CAUSE_OUTPUT, -1, SIGKILL,
		  "Execution failed: the script wrote more than 1000000 bytes" },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		struct bj_spec spec = spec_of(BJ_LANG_PYTHON, rows[i].script);

		spec.limits.timeout_ms = rows[i].cause == BJ_CAUSE_TIMEOUT ? 1000 : 20000;
		spec.limits.memory = 64 << 20;
		spec.limits.pids = 20;
		spec.limits.output_cap = 1000000;

		AUTO_RESULT struct bj_result *r = run(&spec);

		assert_int_equal(r->cause, rows[i].cause);
		assert_int_equal(r->exit_code, rows[i].exit_code);
		assert_int_equal(r->signal, rows[i].signal);
		assert_int_equal(r->timeout, rows[i].cause == BJ_CAUSE_TIMEOUT);
		assert_int_equal(r->success, i == 0);
		if (rows[i].error)
			assert_string_equal(r->error, rows[i].error);
		else
			assert_null(r->error);
	}
}

/* VALD-01, VALD-02, VALD-06: the interpreter's verdict, and nothing ran. */
static void a_syntax_error_is_a_rejection(void **state)
{
	static const struct {
		enum bj_language language;
		const char *script, *starts;
	} rows[] = {
		{ BJ_LANG_PYTHON, "print('ran')\nx = (", "Python syntax error: line 2: " },
		{ BJ_LANG_BASH, "echo ran\nif [ true", "Bash syntax error: " },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct bj_spec spec = spec_of(rows[i].language, rows[i].script);

		spec.policy = BJ_POLICY_DEFAULT;

		AUTO_RESULT struct bj_result *r = run(&spec);

		assert_int_equal(r->cause, BJ_CAUSE_REJECTED);
		assert_true(r->validation_failed);
		assert_int_equal(r->exit_code, -1);
		assert_memory_equal(r->validation_error, rows[i].starts, strlen(rows[i].starts));
		assert_string_equal(r->err.data, r->validation_error);
		assert_int_equal(r->out.size, 0);
	}
}

/* SX-OUT: past the cap the count goes on, and what is missing is said to be missing. */
static void the_cap_is_told_as_truncation(void **state)
{
	struct bj_spec spec = spec_of(BJ_LANG_PYTHON, "import os\nos.write(1, b'x' * 30000)\n"
						      "import time; time.sleep(20)");

	(void)state;
	spec.limits.output_cap = 10000;
	spec.limits.max_output = 10000;

	AUTO_RESULT struct bj_result *r = run(&spec);

	assert_int_equal(r->cause, BJ_CAUSE_OUTPUT);
	assert_int_equal(r->out.total, 30000);
	assert_true(r->out.truncated);
}

/* A host that forks at the wrong moment: a copy of it holds the far ends of every pipe. The run
 * ends when the jar does, not when the copy does. */
static void a_forked_copy_does_not_hold_up_a_run(void **state)
{
	pid_t copy = 0;
	const struct bj_spec spec = spec_of(BJ_LANG_PYTHON, "print('x' * 3000)");

	(void)state;
	alarm(20);
	copy_after_send = &copy;

	AUTO_RESULT struct bj_result *r = run(&spec);

	copy_after_send = NULL;
	alarm(0);
	assert_int_equal(kill(copy, SIGKILL), 0);
	assert_int_equal(waitpid(copy, NULL, 0), copy);
	assert_int_equal(r->cause, BJ_CAUSE_EXITED);
	assert_int_equal(r->out.size, 3001);
}

struct seen {
	struct bj_buf out, err;
	int states, cancel_fd;
};

static void on_event(void *ctx, const struct bj_event *event)
{
	struct seen *seen = ctx;

	if (event->kind == BJ_EV_STATE)
		seen->states++;
	else
		bj_buf_add(event->kind == BJ_EV_STDOUT ? &seen->out : &seen->err, event->data,
			   event->size);
	if (event->kind == BJ_EV_STDOUT && seen->cancel_fd >= 0)
		eventfd_write(seen->cancel_fd, 1);
}

static void events_are_the_output(void **state)
{
	struct seen seen = { .cancel_fd = -1 };
	struct bj_spec spec = spec_of(BJ_LANG_BASH, "printf 'a\\0b'; echo err >&2; cat");
	AUTO_FD int input = bj_fd_memfile("in", "input", 5);

	(void)state;
	spec.on_event = on_event;
	spec.event_ctx = &seen;
	spec.stdin_fd = input;

	AUTO_RESULT struct bj_result *r = run(&spec);

	assert_int_equal(r->out.size, 8);
	assert_memory_equal(r->out.data, "a\0binput", 9);
	assert_int_equal(seen.out.size, 8);
	assert_memory_equal(seen.out.data, r->out.data, 8);
	assert_string_equal(seen.err.data, "err\n");
	assert_int_equal(seen.states, 1);
	assert_int_equal(fcntl(input, F_GETFD), FD_CLOEXEC); /* still ours, still open */
	bj_buf_done(&seen.out);
	bj_buf_done(&seen.err);
}

static void a_run_can_be_cancelled(void **state)
{
	AUTO_FD int cancel = eventfd(0, EFD_CLOEXEC);
	struct seen seen = { .cancel_fd = cancel };
	struct bj_spec spec = spec_of(BJ_LANG_PYTHON, "print('up', flush=True)\nwhile True: pass");

	(void)state;
	spec.on_event = on_event;
	spec.event_ctx = &seen;
	spec.cancel_fd = cancel;

	AUTO_RESULT struct bj_result *r = run(&spec);

	assert_int_equal(r->cause, BJ_CAUSE_CANCELLED);
	assert_string_equal(r->out.data, "up\n");
	bj_buf_done(&seen.out);
	bj_buf_done(&seen.err);
}

/* An id goes into file names and JSON: it is letters, digits and dashes, or it is refused. */
static void ids_are_plain(void **state)
{
	static const char *const bad[] = { "a/b", "../x", "a b", "\xff", "a\n", "a\"b", "." };
	struct bj_spec spec = spec_of(BJ_LANG_BASH, "exit 0");

	(void)state;
	snprintf(spec.id, sizeof(spec.id), "Run-7_a");

	AUTO_RESULT struct bj_result *r = run(&spec);

	assert_string_equal(r->id, "Run-7_a");
	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad) + 1; i++) {
		struct bj_result *none = NULL;
		struct bj_err err = { 0 };

		if (i < BJ_ARRAY_SIZE(bad))
			snprintf(spec.id, sizeof(spec.id), "%s", bad[i]);
		else
			memset(spec.id, 'a', sizeof(spec.id)); /* no end */
		assert_int_equal(bj_run(bj, &spec, &none, &err), -BJ_E_INVALID);
		assert_null(none);
	}
}

static void refused(const struct bj_spec *spec, const char *why)
{
	struct bj_result *none = NULL;
	struct bj_err err = { 0 };

	assert_int_equal(bj_run(bj, spec, &none, &err), -BJ_E_INVALID);
	assert_null(none);
	assert_non_null(strstr(err.msg, why));
}

/* SCRP-04: a limit that no setting may have is a refusal that says what is allowed, never a run. */
static void absurd_limits_do_not_run(void **state)
{
	const struct bj_spec good = spec_of(BJ_LANG_BASH, "echo ran");
	struct bj_spec spec = good;

	(void)state;
	spec.limits.memory = 1;
	refused(&spec, "limits.memory: 1 is not allowed; allowed: a size");
	spec.limits.memory = UINT64_MAX;
	refused(&spec, "limits.memory: 18446744073709551615 is not allowed");
	spec = good;
	spec.limits.pids = 1;
	refused(&spec, "limits.pids: 1 is not allowed; allowed: a whole number from 4");
	spec = good;
	spec.limits.cpu_milli = 0;
	refused(&spec, "limits.cpus: 0 is not allowed");
	spec = good;
	spec.limits.tmp_size = 0;
	refused(&spec, "limits.tmp_size: 0 is not allowed");
	spec = good;
	spec.limits.output_cap = 0;
	refused(&spec, "limits.output_cap: 0 is not allowed");
}

/* What a program hands over is there, or it hears so: a run without its input is another run. */
static void what_is_missing_is_named(void **state)
{
	const struct bj_spec good = spec_of(BJ_LANG_BASH, "cat");
	struct bj_spec spec = good;

	(void)state;
	spec.script = NULL;
	spec.script_size = 0;
	refused(&spec, "no script");
	spec = good;
	spec.stdin_fd = 999;
	refused(&spec, "stdin_fd 999 is not open");
	spec = good;
	spec.out_dir_fd = 999;
	refused(&spec, "out_dir_fd 999 is not open");
	spec = good;
	spec.cancel_fd = 999;
	refused(&spec, "cancel_fd 999 is not open");
}

static void files_come_out(void **state)
{
	char top[] = "/tmp/bj-run-XXXXXX";
	struct bj_spec spec =
		spec_of(BJ_LANG_BASH, "echo one > out/one; ln -s /etc/passwd out/two; "
				      "mkdir out/three; mkfifo out/four");

	(void)state;
	assert_non_null(mkdtemp(top));
	AUTO_FD int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	spec.out_dir_fd = dir;

	AUTO_RESULT struct bj_result *r = run(&spec);

	assert_int_equal(r->cause, BJ_CAUSE_EXITED);
	assert_int_equal(r->out_files, 1);
	assert_int_equal(r->out_refused, 3);
	assert_int_equal(r->out_bytes, 4);
	assert_int_equal(unlinkat(dir, "one", 0), 0);
	assert_int_equal(rmdir(top), 0);
}

static int set_up(void **state)
{
	struct bj_err err = { 0 };

	(void)state;
	if (bj_open(NULL, &bj, &err) < 0)
		print_error("%s\n", err.msg);
	return bj ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	bj_close(bj);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cause),
		cmocka_unit_test(a_syntax_error_is_a_rejection),
		cmocka_unit_test(the_cap_is_told_as_truncation),
		cmocka_unit_test(a_forked_copy_does_not_hold_up_a_run),
		cmocka_unit_test(events_are_the_output),
		cmocka_unit_test(a_run_can_be_cancelled),
		cmocka_unit_test(ids_are_plain),
		cmocka_unit_test(absurd_limits_do_not_run),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(files_come_out),
	};

	/* An ordinary user needs a delegated cgroup for this; CI is root. */
	if (geteuid() != 0)
		return 77;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
