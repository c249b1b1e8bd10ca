/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"
#include "cli/script.h"

/* What `belljar run` was asked for, with every file open or read. */
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

/* The spec of one script of the request. */
void bj_run_fill_spec(const struct bj_run_request *req, const struct bj_script *script,
		      const struct belljar *bj, struct bj_spec *spec);

/* The exit status that tells of @result. */
int bj_run_exit_status(const struct bj_result *result);

/* Run all scripts, several at once, with progress and a summary. @cancel_fd: readable when the
 * user wants to stop. The exit status. */
int bj_jobs_run(struct belljar *bj, const struct bj_run_request *req, int cancel_fd);
