/* SPDX-License-Identifier: Apache-2.0 */

/* The server, its threads and its sessions. */

#include "base/cleanup.h"
#include "base/err.h"
#include "mcp/core.h"

#include <sodium.h>
#include <string.h>
#include <sys/eventfd.h>

enum { STACK = 512 << 10 };

struct bj_mcp *bj_mcp_new(const struct bj_mcp_host *host, bool fixtures)
{
	struct bj_mcp *mcp = calloc(1, sizeof(*mcp));

	if (!mcp)
		return NULL;
	mcp->host = *host;
	mcp->fixtures = fixtures;
	randombytes_buf(mcp->key, sizeof(mcp->key));
	pthread_mutex_init(&mcp->lock, NULL);
	pthread_cond_init(&mcp->idle, NULL);
	mcp->shared = bj_mcp_session_new(mcp);
	if (!mcp->shared) {
		bj_mcp_free(mcp);
		return NULL;
	}
	return mcp;
}

/* --- threads ---------------------------------------------------------------------------------- */

int bj_mcp_spawn(struct bj_mcp *mcp, void *(*run)(void *), void *ctx)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_mutex_lock(&mcp->lock);

	const bool full = mcp->threads >= BJ_MCP_THREADS || mcp->stopping;

	mcp->threads += !full;
	pthread_mutex_unlock(&mcp->lock);
	if (full)
		return -1;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);

	const int r = pthread_create(&thread, &attr, run, ctx);

	pthread_attr_destroy(&attr);
	if (r != 0)
		bj_mcp_thread_ends(mcp);
	return r == 0 ? 0 : -1;
}

/* The last thing a thread does: the server may be gone right after. */
void bj_mcp_thread_ends(struct bj_mcp *mcp)
{
	pthread_mutex_lock(&mcp->lock);
	mcp->threads--;
	pthread_cond_broadcast(&mcp->idle);
	pthread_mutex_unlock(&mcp->lock);
}

/* --- sessions --------------------------------------------------------------------------------- */

struct bj_mcp_session *bj_mcp_session_new(struct bj_mcp *mcp)
{
	struct bj_mcp_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct bj_mcp_session){
		.mcp = mcp, .refs = 1, .level = BJ_MCP_INFO, .subscribed = json_object()
	};
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	pthread_mutex_lock(&mcp->lock);
	s->next = mcp->sessions;
	if (s->next)
		s->next->prev = s;
	mcp->sessions = s;
	pthread_mutex_unlock(&mcp->lock);
	return s;
}

void bj_mcp_session_ref(struct bj_mcp_session *s)
{
	s->refs++;
}

/* The count goes to zero under the server's lock, so that nobody finds a session that goes. */
void bj_mcp_session_unref(struct bj_mcp_session *s)
{
	if (!s)
		return;

	struct bj_mcp *mcp = s->mcp;

	pthread_mutex_lock(&mcp->lock);

	const bool last = --s->refs == 0;

	if (last) {
		*(s->prev ? &s->prev->next : &mcp->sessions) = s->next;
		if (s->next)
			s->next->prev = s->prev;
	}
	pthread_mutex_unlock(&mcp->lock);
	if (!last)
		return;
	bj_mcp_tasks_end(s);
	json_decref(s->capabilities);
	json_decref(s->subscribed);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}

void bj_mcp_session_end(struct bj_mcp_session *s)
{
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	s->sink = (struct bj_mcp_sink){ 0 };
	for (struct bj_mcp_call *c = s->calls; c; c = c->next) {
		c->cancelled = true;
		eventfd_write(c->stop_fd, 1);
	}
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

bool bj_mcp_session_busy(struct bj_mcp_session *s)
{
	pthread_mutex_lock(&s->lock);

	const bool busy = s->n_calls > 0;

	pthread_mutex_unlock(&s->lock);
	return busy;
}

const char *bj_mcp_session_version(struct bj_mcp_session *s)
{
	pthread_mutex_lock(&s->lock);

	const char *version = s->version;

	pthread_mutex_unlock(&s->lock);
	return version;
}

void bj_mcp_session_owner(struct bj_mcp_session *s, const char *tenant, const char *actor)
{
	snprintf(s->tenant, sizeof(s->tenant), "%s", tenant ? tenant : "");
	snprintf(s->actor, sizeof(s->actor), "%s", actor ? actor : "");
}

const char *bj_mcp_call_tenant(const struct bj_mcp_call *call)
{
	return call->session->tenant[0] ? call->session->tenant : NULL;
}

void bj_mcp_session_stateless(struct bj_mcp_session *s)
{
	s->stateless = true;
}

void bj_mcp_session_listen(struct bj_mcp_session *s, const struct bj_mcp_sink *sink)
{
	pthread_mutex_lock(&s->lock);
	s->sink = *sink;
	pthread_mutex_unlock(&s->lock);
}

/* --- the end ---------------------------------------------------------------------------------- */

void bj_mcp_stop(struct bj_mcp *mcp)
{
	pthread_mutex_lock(&mcp->lock);
	mcp->stopping = true;
	for (struct bj_mcp_session *s = mcp->sessions; s; s = s->next)
		bj_mcp_session_end(s);
	while (mcp->threads > 0)
		pthread_cond_wait(&mcp->idle, &mcp->lock);
	pthread_mutex_unlock(&mcp->lock);
}

void bj_mcp_free(struct bj_mcp *mcp)
{
	if (!mcp)
		return;
	bj_mcp_stop(mcp);
	bj_mcp_session_unref(mcp->shared);
	pthread_mutex_destroy(&mcp->lock);
	pthread_cond_destroy(&mcp->idle);
	free(mcp);
}
