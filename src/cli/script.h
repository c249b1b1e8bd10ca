/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

/* A script or an input that the command line names, read into memory. */
struct bj_script {
	const char *path; /* borrowed; "-": standard input */
	char name[256];   /* its last part, or "" for standard input */
	struct bj_buf text;
	enum bj_language language;
	struct bj_err failure; /* with a code: it cannot be had, for this reason */
};

/* Open what @path names: a plain file, a pipe or, for "-", standard input. A named pipe that
 * nobody writes to is an empty file. A descriptor, or negative with one sentence. */
int bj_script_open(const char *path, struct bj_err *err);

/* As above for what a script reads while it runs: waits for the writer of a named pipe, as a shell
 * does. */
int bj_script_open_stream(const char *path, struct bj_err *err);

/* The language that @asked names; negative with one sentence when there is none. */
int bj_script_language(const char *asked, struct bj_err *err);

/* Read @fd (taken) into @script and tell its language: by @language when not NULL, else by the
 * first line, else by the suffix of @path. The caller ends it with bj_script_done(), also after a
 * failure. */
int bj_script_read(struct bj_script *script, const char *path, int fd_take, const char *language,
		   struct bj_err *err);

/* As above, and a script without a single byte is fine: there is nothing to run, but it can be
 * checked. */
int bj_script_read_any(struct bj_script *script, const char *path, int fd_take,
		       const char *language, struct bj_err *err);

/* As above for a file that is no script: any bytes, no language. */
int bj_script_read_input(struct bj_script *script, const char *path, int fd_take,
			 struct bj_err *err);

void bj_script_done(struct bj_script *script);
