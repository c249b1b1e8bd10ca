/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

/* Compiles a seccomp profile in Docker's JSON format to the program that the kernel runs.
 *
 * Read as Docker reads it:
 * - names that this system does not know are left out, and numbers newer than any that the profile
 *   mentions answer ENOSYS when its default is an errno, so that libc falls back
 * - includes and excludes are judged for a process without capabilities, this architecture and
 *   the running kernel
 * - several conditions on the same argument of one rule are alternatives, on different arguments
 *   all must hold
 *
 * Read more strictly: an unknown field is an error, since "arg" for "args" would silently widen a
 * rule; KILL and KILL_THREAD end the whole process; SCMP_ACT_TRACE and SCMP_ACT_NOTIFY are
 * refused, since no one is there to answer; only the native architecture runs, the others kill.
 *
 * One field is ours: a rule may hold "numbers": [FIRST, LAST] instead of names. */

enum {
	BJ_PROFILE_MAX_TEXT = 256 * 1024,
	BJ_PROFILE_LAST_NUMBER = 639, /* beyond every system call there is */
	BJ_PROFILE_CPU_SECONDS = 2,   /* to compile one */
};

/* Look at every field of @text and compile nothing. On failure @err names the line or the field. */
int bj_profile_check(const char *text, size_t size, struct bj_err *err);

/* Check and compile @text. On success @ret_code, an empty buffer, holds the program (at most
 * BJ_FILTER_MAX bytes).
 * libseccomp works in a child with a limit on its CPU time: a few rules with several conditions can
 * keep it busy for hours. */
int bj_profile_compile(const char *text, size_t size, struct bj_buf *ret_code, struct bj_err *err);

/* The same for the file at @path, which the message names. */
int bj_profile_compile_file(const char *path, struct bj_buf *ret_code, struct bj_err *err);
