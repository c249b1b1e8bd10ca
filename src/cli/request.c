/* SPDX-License-Identifier: Apache-2.0 */

/* Opening and reading what the command line of `belljar run` names. */

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "cli/run.h"
#include "jar/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

void bj_request_done(struct bj_run_request *req)
{
	for (size_t i = 0; i < req->n_scripts; i++)
		bj_script_done(&req->scripts[i]);
	for (size_t i = 0; i < req->n_inputs; i++)
		free((void *)req->inputs[i].data);
	free(req->scripts);
	free(req->inputs);
	if (req->stdin_fd >= 0)
		close(req->stdin_fd);
	if (req->out_dir_fd >= 0)
		close(req->out_dir_fd);
}

void bj_opened_done(struct bj_opened *opened)
{
	for (size_t i = 0; i < opened->n_scripts; i++)
		if (opened->scripts[i] >= 0)
			close(opened->scripts[i]);
	for (size_t i = 0; i < opened->n_inputs; i++)
		if (opened->inputs[i] >= 0)
			close(opened->inputs[i]);
	free(opened->scripts);
	free(opened->inputs);
}

/* All files are open at the same time: their number is the caller's, not that of a soft limit. */
static int make_room(const struct bj_run_line *line, struct bj_opened *opened,
		     struct bj_run_request *req, struct bj_err *err)
{
	bj_fd_raise_limit();
	opened->scripts = calloc(line->n_files, sizeof(*opened->scripts));
	opened->inputs = calloc(line->n_inputs + 1, sizeof(*opened->inputs));
	req->scripts = calloc(line->n_files, sizeof(*req->scripts));
	req->inputs = calloc(line->n_inputs + 1, sizeof(*req->inputs));
	if (!opened->scripts || !opened->inputs || !req->scripts || !req->inputs)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot open the scripts");
	req->n_scripts = line->n_files;
	return 0;
}

/* One of several scripts cannot be had: that one has failed, and the others run. */
static int set_aside(const struct bj_run_request *req, struct bj_script *script, const char *path,
		     struct bj_err *err)
{
	if (req->jobs == 0)
		return -err->code;
	script->path = path;
	script->failure = *err;
	*err = (struct bj_err){ 0 };
	return 0;
}

static int open_out(const char *path, struct bj_run_request *req, struct bj_err *err)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make the directory %.150s",
				  path);
	req->out_dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (req->out_dir_fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open the directory %.150s",
				  path);
	return 0;
}

/* Asked when root's rights over what others own are given up: what a script leaves is collected
 * without them, after it ran. */
static int check_out(const struct bj_run_line *line, const struct bj_run_request *req,
		     struct bj_err *err)
{
	if (!line->out || faccessat(req->out_dir_fd, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write to %.150s%s", line->out,
			  geteuid() == 0 ? " without root's rights over what others own" : "");
}

int bj_request_open(const struct bj_run_line *line, struct bj_opened *opened,
		    struct bj_run_request *req, struct bj_err *err)
{
	int r = make_room(line, opened, req, err);

	while (r == 0 && opened->n_scripts < line->n_files) {
		const size_t i = opened->n_scripts++;

		opened->scripts[i] = bj_script_open(line->files[i], err);
		if (opened->scripts[i] < 0)
			r = set_aside(req, &req->scripts[i], line->files[i], err);
	}
	while (r == 0 && opened->n_inputs < line->n_inputs) {
		const size_t i = opened->n_inputs++;

		opened->inputs[i] = bj_script_open(line->inputs[i], err);
		r = opened->inputs[i] < 0 ? -err->code : 0;
	}
	if (r == 0 && line->stdin_path &&
	    (req->stdin_fd = bj_script_open_stream(line->stdin_path, err)) < 0)
		r = -err->code;
	return r == 0 && line->out ? open_out(line->out, req, err) : r;
}

static int read_input(struct bj_run_request *req, const char *path, int fd, struct bj_err *err)
{
	struct bj_script file = { 0 };
	int r = bj_script_read_input(&file, path, fd, err);

	if (r == 0 && !bj_pack_name_ok(file.name, strlen(file.name)))
		r = bj_err_set(err, BJ_E_INVALID, 0, "--in %.100s: not a name for a file", path);
	for (size_t i = 0; r == 0 && i < req->n_inputs; i++)
		if (strcmp(req->inputs[i].name, file.name) == 0)
			r = bj_err_set(err, BJ_E_INVALID, 0,
				       "--in %.100s: two inputs are called %.100s", path,
				       file.name);
	if (r == 0 && strcmp(file.name, "out") == 0)
		r = bj_err_set(err, BJ_E_INVALID, 0, "--in %.100s: out is taken", path);
	if (r < 0) {
		bj_script_done(&file);
		return r;
	}

	const char *slash = strrchr(path, '/');
	const size_t size = file.text.size;

	req->inputs[req->n_inputs++] = (struct bj_input){ .name = slash ? slash + 1 : path,
							  .data = bj_buf_take(&file.text),
							  .size = size };
	return 0;
}

int bj_request_read(const struct bj_run_line *line, struct bj_opened *opened,
		    struct bj_run_request *req, struct bj_err *err)
{
	if (check_out(line, req, err) < 0)
		return -err->code;
	for (size_t i = 0; i < line->n_files; i++) {
		struct bj_script *script = &req->scripts[i];

		if (!script->failure.code &&
		    bj_script_read(script, line->files[i], bj_take_fd(&opened->scripts[i]),
				   line->language, err) < 0 &&
		    set_aside(req, script, line->files[i], err) < 0)
			return -err->code;
	}
	for (size_t i = 0; i < line->n_inputs; i++) {
		const int r = read_input(req, line->inputs[i], bj_take_fd(&opened->inputs[i]), err);

		if (r < 0)
			return r;
	}
	return 0;
}
