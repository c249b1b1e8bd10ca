/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/exec.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/complaint.h"
#include "jar/embed.h"
#include "jar/mounts.h"
#include "jar/pack.h"
#include "jar/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The environment of every script. What the caller adds comes after it and wins. */
static const char *const FIXED_ENV[] = {
	"PATH=/usr/local/bin:/usr/bin:/bin",
	"HOME=" BJ_JAR_WORK,
	"TMPDIR=/tmp",
	"LANG=C.UTF-8",
	"USER=nobody",
	"LOGNAME=nobody",
	/* Without it Bash asks who its user is, and looks for a daemon that knows. */
	"SHELL=/bin/sh",
	"BELLJAR_OUT=" BJ_JAR_OUT,
};

size_t bj_exec_fixed_env(char **env)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(FIXED_ENV); i++)
		env[i] = (char *)FIXED_ENV[i];
	return BJ_ARRAY_SIZE(FIXED_ENV);
}

bool bj_exec_env_is_fixed(const struct bj_exec *exec, size_t i)
{
	return i < BJ_ARRAY_SIZE(FIXED_ENV) && exec->env[i] == FIXED_ENV[i];
}

/* Add "K=V", replacing an earlier value of K. */
static int add_env(struct bj_exec *exec, const char *entry, struct bj_err *err)
{
	const char *equals = strchr(entry, '=');

	if (!equals)
		return bj_err_set(err, BJ_E_INVALID, 0, "an environment entry has no =");
	for (size_t i = 0; i < exec->n_env; i++)
		if (strncmp(exec->env[i], entry, (size_t)(equals - entry) + 1) == 0) {
			exec->env[i] = (char *)entry;
			return 0;
		}
	if (exec->n_env == BJ_EXEC_MAX_ENV)
		return bj_err_set(err, BJ_E_LIMIT, 0, "more than %d environment entries",
				  BJ_EXEC_MAX_ENV);
	exec->env[exec->n_env++] = (char *)entry;
	return 0;
}

/* Strings in a pack end with NUL, which is counted in their size. */
static bool is_string(const struct bj_pack_record *rec)
{
	return rec->size > 0 && memchr(rec->data, 0, rec->size) == rec->data + rec->size - 1;
}

static int take_record(struct bj_exec *exec, const struct bj_pack_record *rec, struct bj_err *err)
{
	switch (rec->type) {
	case BJ_PACK_ENV:
		if (!is_string(rec))
			break;
		return add_env(exec, rec->data, err);
	case BJ_PACK_ARG:
		if (!is_string(rec))
			break;
		if (exec->n_args == BJ_EXEC_MAX_ARGS)
			return bj_err_set(err, BJ_E_LIMIT, 0, "more than %d arguments",
					  BJ_EXEC_MAX_ARGS);
		exec->args[exec->n_args++] = (char *)rec->data;
		return 0;
	case BJ_PACK_INPUT:
		return 0;
	default:
		break;
	}
	return bj_err_set(err, BJ_E_PROTOCOL, 0, "bad record in the spec");
}

int bj_exec_prepare(struct bj_exec *exec, const void *pack, size_t size, struct bj_err *err)
{
	struct bj_pack_record rec;
	size_t pos = 0;
	int r;

	exec->n_env = bj_exec_fixed_env(exec->env);
	while ((r = bj_pack_next(pack, size, &pos, &rec)) > 0) {
		r = take_record(exec, &rec, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "malformed spec");
	if (!exec->script)
		exec->script = exec->language == BJ_LANG_PYTHON ? BJ_JAR_SCRIPT "/" BJ_SCRIPT_PYTHON
								: BJ_JAR_SCRIPT "/" BJ_SCRIPT_BASH;
	return 0;
}

/* Become @argv[0] with the script's arguments behind it. Returns on failure only. */
static int become(struct bj_exec *exec, const char *const *argv, struct bj_err *err)
{
	char *all[BJ_EXEC_MAX_ARGS + 8];
	size_t n = 0;

	do
		all[n++] = (char *)*argv++;
	while (*argv);
	for (size_t i = 0; i < exec->n_args; i++)
		all[n++] = exec->args[i];
	all[n] = NULL;
	exec->env[exec->n_env] = NULL;
	execve(all[0], all, exec->env);

	const int errnum = errno;

	if (errnum == ENOENT || errnum == ENOTDIR || errnum == EACCES)
		return bj_err_set(err, BJ_E_NOT_FOUND, errnum,
				  "no interpreter %s in the jar; set native.%s", all[0],
				  exec->language == BJ_LANG_PYTHON ? "python" : "bash");
	return bj_err_set(err, BJ_E_SYSTEM, errnum, "cannot execute %s", all[0]);
}

/* --- bash ------------------------------------------------------------------------------------- */

/* Run `bash -n` on the script, with extglob when @extglob. Its exit status, 126 where it could not
 * be run, or the negated number of the signal that it died of. */
static int ask_bash(struct bj_exec *exec, bool extglob, char *said, size_t size)
{
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return 126;

	const pid_t pid = fork();

	if (pid == 0) {
		const char *const argv[] = {
			exec->bash, "-n", "-O", "extglob", exec->script, NULL
		};
		const char *const plain[] = { exec->bash, "-n", exec->script, NULL };

		/* It reads the script by name and executes nothing: the streams may stay. */
		exec->n_args = 0;
		if (dup2(pipe_fds[1], 2) < 0 || fcntl(exec->verdict_fd, F_SETFD, FD_CLOEXEC) < 0)
			_exit(126);
		become(exec, extglob ? argv : plain, NULL);
		_exit(127);
	}
	close(pipe_fds[1]);
	bj_complaint_hear(pipe_fds[0], said, size);
	close(pipe_fds[0]);

	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Start Bash as for a cold run, with the library that makes it wait (warm/wait.c) loaded from its
 * standard input, which it has no other use for yet. */
static int wait_bash(struct bj_exec *exec, struct bj_err *err)
{
	const char *const argv[] = { exec->bash, exec->script, NULL };
	const int r = add_env(exec, "LD_PRELOAD=/proc/self/fd/0", err);

	return r < 0 ? r : become(exec, argv, err);
}

static int run_bash(struct bj_exec *exec, struct bj_err *err)
{
	const char *const argv[] = { exec->bash, exec->script, NULL };
	struct bj_wire_verdict verdict = { .kind = BJ_VERDICT_OK };
	char said[2048], again[64];
	const int status = ask_bash(exec, false, said, sizeof(said));

	if (status < 0)
		return bj_err_set(
			err, BJ_E_SYSTEM, 0,
			"bash died of signal %d before it had read the script; a limit or "
			"the seccomp profile is too tight for it",
			-status);
	if (status == 126)
		return bj_err_set(err, BJ_E_SYSTEM, 0, "the syntax check did not run");
	if (status == 127)
		return become(exec, argv, err); /* fails the same way, with the reason */
	if (status != 0 && !(bj_complaint_extglob(exec->script) &&
			     ask_bash(exec, true, again, sizeof(again)) == 0))
		bj_complaint_parse(exec->script, said, &verdict);
	bj_fd_write_all(exec->verdict_fd, &verdict, sizeof(verdict));
	close(exec->verdict_fd);
	if (verdict.kind != BJ_VERDICT_OK || exec->check_only)
		_exit(0);
	return become(exec, argv, err);
}

/* The compiled program in a pipe that ends behind it, or -1. Beyond a thousand pipes of one user
 * the kernel makes new ones too small: then the text must do. */
static int pour_program(void)
{
	int ends[2];

	if (pipe2(ends, O_NONBLOCK) < 0)
		return -1;
	AUTO_FD int from = ends[0];
	AUTO_FD int to = ends[1];
	if (write(to, bj_embed_program, bj_embed_program_size) != (ssize_t)bj_embed_program_size)
		return -1;
	return bj_take_fd(&from);
}

static int run_python(struct bj_exec *exec, struct bj_err *err)
{
	const char *what = exec->check_only ? "check" : "run";
	/* Who only compiles needs nothing of the site, which takes as long as the rest of the
	 * start. */
	const char *how = exec->check_only ? "-IS" : "-I";
	char number[16];
	const char *const text[] = { exec->python, how,  "-c", bj_embed_harness,
				     exec->script, what, NULL };
	const char *const compiled[] = { exec->python, how,          "-c", bj_embed_boot,
					 number,       exec->script, what, NULL };
	AUTO_FD int program = pour_program();

	snprintf(number, sizeof(number), "%d", program);
	return become(exec, program < 0 ? text : compiled, err);
}

int bj_exec_run(struct bj_exec *exec, struct bj_err *err)
{
	if (exec->wait)
		return wait_bash(exec, err);
	return exec->language == BJ_LANG_PYTHON ? run_python(exec, err) : run_bash(exec, err);
}
