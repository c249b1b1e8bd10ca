/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"
#include "cli/script.h"
#include "config/settings.h"

/* The command line as it was parsed: names only, nothing opened. Each list has room for every
 * argument there is and ends with NULL. */
struct bj_run_line {
	const char **files, **args, **env, **inputs;
	size_t n_files, n_args, n_env, n_inputs;
	struct bj_override overrides[32];
	size_t n_overrides;
	const char *language, *stdin_path, *out, *config, *jobs;
	bool json, quiet, trust, no_service;
};

/* What `belljar run` was asked for, with every file open or read. Of several scripts, one that
 * cannot be had says so in its failure. */
struct bj_run_request {
	struct bj_script *scripts;
	size_t n_scripts;
	const char **args; /* NULL-terminated, for the script */
	const char **env;  /* NULL-terminated K=V */
	struct bj_input *inputs;
	size_t n_inputs;
	int stdin_fd, out_dir_fd;
	int cancel_fd;     /* readable when the user wants to stop; -1: not watched yet */
	unsigned int jobs; /* 0: one script, live output */
	bool json, quiet, trust;
};

/* Everything the user named is opened with the user's own rights, then these are given up, and
 * what was opened is read. */
struct bj_opened {
	int *scripts, *inputs; /* -1: not open */
	size_t n_scripts, n_inputs;
};

/* Both fail with one sentence. The caller ends @opened and @req in any case. */
int bj_request_open(const struct bj_run_line *line, struct bj_opened *opened,
		    struct bj_run_request *req, struct bj_err *err);
int bj_request_read(const struct bj_run_line *line, struct bj_opened *opened,
		    struct bj_run_request *req, struct bj_err *err);

void bj_opened_done(struct bj_opened *opened);
void bj_request_done(struct bj_run_request *req);

#define AUTO_OPENED  __attribute__((cleanup(bj_opened_done)))
#define AUTO_REQUEST __attribute__((cleanup(bj_request_done)))

/* The spec of one script of the request. */
void bj_run_fill_spec(const struct bj_run_request *req, const struct bj_script *script,
		      const struct belljar *bj, struct bj_spec *spec);

/* The exit status that tells of @result. */
int bj_run_exit_status(const struct bj_result *result);

/* Run all scripts, several at once, with progress and a summary. @cancel_fd: readable when the
 * user wants to stop. The exit status. */
int bj_jobs_run(struct belljar *bj, const struct bj_run_request *req, int cancel_fd);
