/* SPDX-License-Identifier: Apache-2.0 */

/* Several scripts at once: a few threads take one after the other from a list. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/visible.h"
#include "cli/options.h"
#include "cli/run.h"
#include "engine/engine.h"
#include "spec/names.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Takes a line of progress off the terminal. */
#define CLEAR "\r                                        \r"

struct outcome {
	int status;
	char cause[24];
	double seconds;
};

struct jobs {
	struct belljar *bj;
	const struct bj_run_request *req;
	int cancel_fd;
	struct outcome *outcomes; /* by script */
	pthread_mutex_t lock;     /* over what follows, and over standard output */
	size_t next, done, failed;
	bool progress;
	int broken; /* errno of the first line that could not be written */
};

static void show_progress(struct jobs *jobs)
{
	if (jobs->progress)
		fprintf(stderr, "\r%zu of %zu done, %zu failed ", jobs->done, jobs->req->n_scripts,
			jobs->failed);
}

/* The result as one line that also says which file it is of: lines come as runs end. NULL: no
 * memory. */
static char *named_line(const struct bj_script *script, const struct bj_result *result)
{
	AUTO_FREE char *object = bj_result_to_json(result);
	struct bj_buf line = { 0 };

	if (!object)
		return NULL;
	bj_buf_add(&line, object, strlen(object) - 1);
	bj_json_text(&line, "file", script->path);
	bj_json_close(&line, '}');
	return bj_buf_take(&line);
}

/* Why a script failed, for a person: the table has only the cause. What it said itself is with its
 * status. */
static void tell(const struct jobs *jobs, const struct bj_script *script,
		 const struct bj_result *result, const struct bj_err *err)
{
	const bool failed = !result || err->code;
	const bool told = !failed && !jobs->req->json && !jobs->req->quiet && result->error &&
			  result->cause != BJ_CAUSE_EXITED;
	AUTO_BUF struct bj_buf text = { 0 };

	if (!failed && !told)
		return;
	if (!script->failure.code) /* those name it */
		bj_buf_printf(&text, "%s: ", script->path);
	bj_buf_puts(&text, failed ? err->msg : result->error);
	if (told)
		bj_buf_printf(&text, " (cause: %s)", bj_cause_name(result->cause));

	AUTO_FREE char *line = text.data ? bj_visible_line(text.data) : NULL;

	fprintf(stderr, "%sbelljar: %s\n", jobs->progress ? CLEAR : "",
		line ? line : "out of memory");
}

static void record(struct jobs *jobs, size_t i, const struct bj_result *result,
		   const struct bj_err *err)
{
	const struct bj_script *script = &jobs->req->scripts[i];
	struct outcome *o = &jobs->outcomes[i];
	AUTO_FREE char *line = jobs->req->json && result ? named_line(script, result) : NULL;

	o->status = result ? bj_run_exit_status(result) : BJ_EXIT_FAILED;
	snprintf(o->cause, sizeof(o->cause), "%s",
		 bj_cause_name(result ? result->cause : BJ_CAUSE_INFRASTRUCTURE));
	o->seconds = result ? (double)result->duration_us / 1e6 : 0;
	pthread_mutex_lock(&jobs->lock);
	jobs->done++;
	jobs->failed += o->status != 0;
	if (jobs->req->json && result && !line)
		jobs->broken = ENOMEM;
	else if (line && (puts(line) == EOF || fflush(stdout) != 0))
		jobs->broken = errno;
	tell(jobs, script, result, err);
	show_progress(jobs);
	pthread_mutex_unlock(&jobs->lock);
}

static bool cancelled(const struct jobs *jobs)
{
	struct pollfd p = { .fd = jobs->cancel_fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static size_t take_next(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);

	const size_t i = jobs->next < jobs->req->n_scripts ? jobs->next++ : SIZE_MAX;

	pthread_mutex_unlock(&jobs->lock);
	return i;
}

/* Scripts may leave files of the same name: each has a directory of its own below --out, named by
 * its place on the command line and its file. */
static int open_own_out(const struct jobs *jobs, size_t i, struct bj_err *err)
{
	const struct bj_script *script = &jobs->req->scripts[i];
	char name[sizeof(script->name) + 32];

	snprintf(name, sizeof(name), "%zu-%s", i + 1, script->name[0] ? script->name : "stdin");
	if (mkdirat(jobs->req->out_dir_fd, name, 0777) < 0 && errno != EEXIST)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %.150s below --out", name);

	const int fd = openat(jobs->req->out_dir_fd, name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %.150s below --out", name);
	return fd;
}

/* Run script @i. NULL only without memory. */
static struct bj_result *run_script(struct jobs *jobs, size_t i, struct bj_err *err)
{
	const struct bj_script *script = &jobs->req->scripts[i];
	struct bj_result *result = NULL;
	struct bj_spec spec;
	AUTO_FD int out = -1;

	if (script->failure.code) {
		*err = script->failure;
		return bj_engine_failure(jobs->bj, err->msg);
	}
	bj_run_fill_spec(jobs->req, script, jobs->bj, &spec);
	spec.cancel_fd = jobs->cancel_fd;
	if (spec.out_dir_fd >= 0) {
		out = open_own_out(jobs, i, err);
		if (out < 0)
			return bj_engine_failure(jobs->bj, err->msg);
		spec.out_dir_fd = out;
	}
	if (bj_run(jobs->bj, &spec, &result, err) < 0)
		return bj_engine_failure(jobs->bj, err->msg);
	return result;
}

static void *work(void *ctx)
{
	struct jobs *jobs = ctx;
	size_t i;

	while (!cancelled(jobs) && (i = take_next(jobs)) != SIZE_MAX) {
		struct bj_err err = { 0 };
		struct bj_result *result = run_script(jobs, i, &err);

		record(jobs, i, result, &err);
		bj_result_free(result);
	}
	return NULL;
}

static void print_summary(const struct jobs *jobs, double seconds)
{
	FILE *to = jobs->req->json ? stderr : stdout;

	if (jobs->progress)
		fputs(CLEAR, stderr);
	if (jobs->req->quiet)
		return;
	fprintf(to, "%-40s %-14s %6s %9s\n", "script", "cause", "exit", "seconds");
	for (size_t i = 0; i < jobs->req->n_scripts; i++) {
		const struct outcome *o = &jobs->outcomes[i];
		AUTO_FREE char *path = bj_visible_line(jobs->req->scripts[i].path);

		fprintf(to, "%-40s %-14s %6d %9.3f\n", path ? path : "?", o->cause, o->status,
			o->seconds);
	}
	fprintf(to, "%zu run, %zu failed, %.3f s\n", jobs->done, jobs->failed, seconds);
}

/* Every thread has a stack of its own; runs keep their blocks on it. Other memory they share: with
 * an arena for each of them, each keeps what its largest check took, and the process grows over
 * thousands of runs. They wait for jars nearly all of their time. */
static int start_threads(struct jobs *jobs, pthread_t *threads, unsigned int n)
{
	pthread_attr_t attr;
	unsigned int started = 0;

	mallopt(M_ARENA_MAX, 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 512 << 10);
	while (started < n && pthread_create(&threads[started], &attr, work, jobs) == 0)
		started++;
	pthread_attr_destroy(&attr);
	return (int)started;
}

/* Descriptors that one run may take of this process or of the launcher, with room to spare. */
enum { FILES_PER_RUN = 32 };

/* As many as asked for, as there is work for, and as there are descriptors for: a run without them
 * would fail, and waits its turn here instead. */
static unsigned int count_threads(const struct bj_run_request *req)
{
	const uint64_t most[] = { req->n_scripts, bj_fd_raise_limit() / FILES_PER_RUN };
	uint64_t n = req->jobs;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(most); i++)
		n = most[i] < n ? most[i] : n;
	return n > 0 ? (unsigned int)n : 1;
}

int bj_jobs_run(struct belljar *bj, const struct bj_run_request *req, int cancel_fd)
{
	const uint64_t start = bj_clock_now();
	const unsigned int want = count_threads(req);
	struct jobs jobs = { .bj = bj,
			     .req = req,
			     .cancel_fd = cancel_fd,
			     .progress = !req->quiet && isatty(STDERR_FILENO),
			     .lock = PTHREAD_MUTEX_INITIALIZER };
	AUTO_FREE pthread_t *threads = calloc(want, sizeof(*threads));
	jobs.outcomes = calloc(req->n_scripts, sizeof(*jobs.outcomes));
	if (!threads || !jobs.outcomes) {
		free(jobs.outcomes);
		fprintf(stderr, "belljar: out of memory\n");
		return BJ_EXIT_FAILED;
	}
	for (size_t i = 0; i < req->n_scripts; i++)
		jobs.outcomes[i] = (struct outcome){ .status = BJ_EXIT_FAILED, .cause = "not run" };

	const int n = start_threads(&jobs, threads, want);

	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	print_summary(&jobs, (double)(bj_clock_now() - start) / 1e9);
	free(jobs.outcomes);
	if (jobs.broken)
		fprintf(stderr, "belljar: cannot write to standard output: %s\n",
			strerror(jobs.broken));
	if (cancelled(&jobs))
		return 130;
	if (jobs.broken)
		return BJ_EXIT_FAILED;
	return jobs.failed > 0 || jobs.done < req->n_scripts ? 1 : 0;
}
