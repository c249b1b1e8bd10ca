/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/local.h"

#include "base/cleanup.h"

#include <string.h>

static struct belljar *enter(void *ctx, void **ret_token)
{
	struct bj_mcp_local *local = ctx;

	*ret_token = local->bj;
	return local->bj;
}

static void leave(void *ctx, void *token)
{
	(void)ctx, (void)token;
}

static void remember(struct bj_mcp_local *local, const struct bj_result *result)
{
	AUTO_FREE char *text = bj_result_to_json(result);
	json_t *object = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;

	if (!object)
		return;
	pthread_mutex_lock(&local->lock);

	json_t **slot = &local->runs[local->n++ % BJ_MCP_REMEMBERED];

	json_decref(*slot);
	*slot = object;
	pthread_mutex_unlock(&local->lock);
}

static int run(void *ctx, void *token, struct bj_spec *spec, struct bj_result **ret,
	       struct bj_err *err)
{
	const int r = bj_run(token, spec, ret, err);

	if (r == 0 && !spec->check_only)
		remember(ctx, *ret);
	return r;
}

static int resume(void *ctx, void *token, const char *id, const struct bj_spec *hooks,
		  struct bj_result **ret, struct bj_err *err)
{
	const int r = bj_resume(token, id, hooks, ret, err);

	if (r == 0)
		remember(ctx, *ret);
	return r;
}

static const char *id_of(const json_t *run)
{
	return json_string_value(json_object_get(run, "id"));
}

/* The run that is @back steps older than the newest; NULL: there is none. With the lock. */
static json_t *at(const struct bj_mcp_local *local, size_t back)
{
	if (back >= local->n || back >= BJ_MCP_REMEMBERED)
		return NULL;
	return local->runs[(local->n - 1 - back) % BJ_MCP_REMEMBERED];
}

/* How many steps back the run @id is; the number of all when it is not there. */
static size_t steps_to(const struct bj_mcp_local *local, const char *id)
{
	size_t back = 0;

	while (at(local, back) && strcmp(id_of(at(local, back)), id) != 0)
		back++;
	return back;
}

static json_t *list(void *ctx, const char *tenant, const char *before, unsigned int limit)
{
	struct bj_mcp_local *local = ctx;
	json_t *runs = json_array(), *answer = NULL;
	size_t back = 0;

	(void)tenant; /* all runs here are of the one who started us */
	pthread_mutex_lock(&local->lock);
	if (before)
		back = steps_to(local, before) + 1;
	if (!before || at(local, back - 1)) {
		const char *last = NULL;

		for (unsigned int i = 0; i < limit && at(local, back); i++, back++) {
			json_array_append(runs, at(local, back));
			last = id_of(at(local, back));
		}
		answer = json_pack("{s:O, s:s?}", "executions", runs, "next",
				   at(local, back) ? last : NULL);
	}
	pthread_mutex_unlock(&local->lock);
	json_decref(runs);
	return answer;
}

static json_t *find(void *ctx, const char *tenant, const char *id)
{
	struct bj_mcp_local *local = ctx;

	(void)tenant;
	pthread_mutex_lock(&local->lock);

	json_t *found = json_incref(at(local, steps_to(local, id)));

	pthread_mutex_unlock(&local->lock);
	return found;
}

void bj_mcp_local_init(struct bj_mcp_local *local, struct belljar *bj, struct bj_mcp_host *ret)
{
	*local = (struct bj_mcp_local){ .bj = bj };
	pthread_mutex_init(&local->lock, NULL);
	*ret = (struct bj_mcp_host){ .ctx = local,
				     .enter = enter,
				     .leave = leave,
				     .run = run,
				     .resume = resume,
				     .list = list,
				     .find = find };
}

void bj_mcp_local_done(struct bj_mcp_local *local)
{
	for (size_t i = 0; i < BJ_MCP_REMEMBERED; i++)
		json_decref(local->runs[i]);
	pthread_mutex_destroy(&local->lock);
}
