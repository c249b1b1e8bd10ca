/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* From a sealed process to the interpreter: arguments, environment, the syntax check, exec. */

enum { BJ_EXEC_MAX_ARGS = 256, BJ_EXEC_MAX_ENV = 256, BJ_SEAL_EXIT = 125 };

/* Filled by bj_exec_prepare(); the strings point into the pack. */
struct bj_exec {
	enum bj_language language;
	bool check_only;
	bool wait; /* Bash: the script comes later, see warm/wait.c */
	const char *python, *bash;
	int verdict_fd;
	const char *script; /* where the script is; NULL: where a jar has it */
	char *args[BJ_EXEC_MAX_ARGS + 1];
	size_t n_args;
	char *env[BJ_EXEC_MAX_ENV + 1];
	size_t n_env;
};

/* Read script name, arguments and environment from the pack. */
int bj_exec_prepare(struct bj_exec *exec, const void *pack, size_t size, struct bj_err *err);

/* Write what every script has in its environment to @env, which has room for BJ_EXEC_MAX_ENV;
 * returns how many entries that are. */
size_t bj_exec_fixed_env(char **env);

/* Whether entry @i of the environment is as every script has it. */
bool bj_exec_env_is_fixed(const struct bj_exec *exec, size_t i);

/* Check the syntax with the interpreter itself, say the verdict, then become the interpreter with
 * the script. Returns only on failure, with @err filled. */
int bj_exec_run(struct bj_exec *exec, struct bj_err *err);
