/* SPDX-License-Identifier: Apache-2.0 */

/* A program that embeds belljar: it runs one script a thread and prints each result as JSON.
 *
 *	cc embed.c $(pkg-config --cflags --libs belljar) -pthread -o embed
 *	./embed 'print(6 * 7)' 'import time; time.sleep(1)'
 *
 * Who owns what: the handle is ours until bj_close(). The spec and the text it points to are ours
 * and only lent for the length of bj_run(). The result and the JSON are ours to free. */

#include <belljar.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCRIPTS = 64 };

struct job {
	struct belljar *bj;
	const char *script;
	char *json;
	struct bj_err err;
};

static void *run_one(void *ctx)
{
	struct job *job = ctx;
	struct bj_result *result = NULL;
	struct bj_spec spec;

	bj_spec_init(job->bj, BJ_LANG_PYTHON, &spec);
	spec.script = job->script;
	spec.script_size = strlen(job->script);
	spec.limits.timeout_ms = 10000;
	if (bj_run(job->bj, &spec, &result, &job->err) < 0)
		return NULL;
	job->json = bj_result_to_json(result);
	bj_result_free(result);
	return NULL;
}

/* One thread a script. 0 when every script has a result. */
static int run_all(struct belljar *bj, char **scripts, int n)
{
	struct job jobs[MAX_SCRIPTS] = { 0 };
	pthread_t threads[MAX_SCRIPTS];
	int failed = 0;

	for (int i = 0; i < n; i++) {
		jobs[i].bj = bj;
		jobs[i].script = scripts[i];
		if (pthread_create(&threads[i], NULL, run_one, &jobs[i]) != 0)
			abort();
	}
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		if (jobs[i].json)
			puts(jobs[i].json);
		else
			fprintf(stderr, "embed: %s\n", jobs[i].err.msg);
		failed += !jobs[i].json;
		free(jobs[i].json);
	}
	return failed > 0;
}

int main(int argc, char **argv)
{
	struct belljar *bj = NULL;
	struct bj_err err = { 0 };

	if (argc < 2 || argc - 1 > MAX_SCRIPTS) {
		fprintf(stderr, "usage: embed PYTHON_CODE...\n");
		return 2;
	}
	/* First of all, while this program has one thread. */
	if (bj_open(NULL, &bj, &err) < 0) {
		fprintf(stderr, "embed: %s\n", err.msg);
		return 1;
	}

	const int status = run_all(bj, argv + 1, argc - 1);
	const int swept = bj_cleanup_all(bj, &err);

	if (swept < 0)
		fprintf(stderr, "embed: %s\n", err.msg);
	bj_close(bj);
	return status || swept < 0;
}
