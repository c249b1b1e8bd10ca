/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * The front is forked by the keeper with the listening sockets and one socket to the keeper. It
 * loads the HTTP library, gives up every right, and only then reads its first byte: the keeper
 * sends an engine (settings, a launcher's socket, a compiled filter), now and after each reload or
 * death of a launcher. Connections and runs have threads; this thread listens to the keeper and
 * watches for clients that dawdle. When the keeper is gone, so is the front: its launcher sees the
 * socket close and ends every jar. */

#include "serve/front.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/log.h"
#include "jar/creds.h"
#include "serve/channel.h"
#include "serve/http.h"
#include "serve/reload.h"

#include <errno.h>
#include <linux/capability.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

enum { WATCH_MS = 500 };

struct front {
	int channel;
	struct bj_service service;
	struct bj_http http;
	struct bj_listen *listen;
	struct bj_archive *archive; /* NULL: runs are not recorded */
	bool open;
	struct bj_buf settings; /* in force, for comparing; holds secrets */
};

/* No capability can come back: not by exec, since there are no new privileges and the bounding
 * set is empty; not by identity, since it changed for good. */
static int drop_rights(const struct bj_front_init *init, struct bj_err *err)
{
	if (init->change_user) {
		for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
			if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL)
				return bj_err_set(err, BJ_E_SYSTEM, errno,
						  "cannot drop capability %d", cap);

		const int r = bj_creds_become(init->uid, init->gid, err);

		if (r < 0)
			return r;
	}
	return bj_engine_drop_privileges(err);
}

static int come_up(struct front *f, const struct bj_front_init *init, struct bj_err *err)
{
	int r;

	signal(SIGPIPE, SIG_IGN);
	bj_fd_raise_limit();
	/* An arena for each thread keeps what the largest answer in it took. */
	mallopt(M_ARENA_MAX, 1);
	r = bj_service_init(&f->service, err);
	if (r == 0)
		r = bj_http_init(&f->http, &f->service, init->owner, err);
	/* Its files are opened while they can be: they belong to whoever started the service. */
	if (r == 0)
		r = bj_archive_open(init->settings, &f->archive, err);
	f->service.archive = f->archive;
	if (r == 0)
		r = drop_rights(init, err);
	/* A thread that was there before would have kept its rights. */
	if (r == 0)
		r = bj_archive_background(f->archive, err);
	return r;
}

/* --- engines ---------------------------------------------------------------------------------- */

static int open_doors(struct front *f, struct bj_err *err)
{
	for (size_t i = 0; !f->open && i < f->listen->n; i++) {
		const int r = bj_http_open(&f->http, f->listen->sockets[i], err);

		if (r < 0)
			return r;
	}
	f->open = true;
	return 0;
}

/* Take an engine into use once its launcher is up. The one before it stays when this fails. */
static int take_engine(struct front *f, struct bj_settings *settings_take,
		       struct bj_engine_parts *parts_take, struct bj_err *err)
{
	struct belljar *bj = NULL;
	int r = bj_engine_from_parts(settings_take, parts_take, f->archive, &bj, err);

	if (r < 0)
		return r;
	r = bj_engine_ready(bj, err);
	/* Made once: runs under way hold on to it. */
	if (r == 0 && !f->service.tracer)
		r = bj_tracer_new(bj->settings->trace_endpoint, &f->service.metrics.spans_sent,
				  &f->service.metrics.spans_dropped, &f->service.tracer, err);
	if (r == 0 && f->archive)
		r = bj_reload_note(f->archive->audit, bj->settings, &f->settings, err);
	if (r < 0) {
		bj_close(bj);
		return r;
	}
	bj_log_set_level(bj->settings->log_level);
	bj_http_configure(&f->http, &bj->settings->serve);
	bj_service_use(&f->service, bj);
	return open_doors(f, err);
}

static void count_restarts(struct front *f, const struct bj_channel_msg *msg)
{
	pthread_mutex_lock(&f->service.lock);
	f->service.fronts = msg->fronts;
	f->service.launchers = msg->launchers;
	pthread_mutex_unlock(&f->service.lock);
}

/* One message of the keeper. False: it is time to end. */
static bool handle_message(struct front *f)
{
	struct bj_channel_msg msg;
	struct bj_settings *settings = NULL;
	struct bj_engine_parts parts = BJ_ENGINE_NO_PARTS;
	struct bj_err err = { 0 };
	const int r = bj_channel_receive(f->channel, &msg, &settings, &parts, &err);

	if (r == 0)
		_exit(0); /* the keeper is gone: nobody is left to answer for */
	if (r > 0 && msg.kind == BJ_CHANNEL_STOP) {
		bj_http_quiesce(&f->http);
		bj_listen_forget(f->listen);
		bj_service_stop(&f->service, msg.grace_ms);
		bj_service_note_unwritten(&f->service);
		if (f->archive)
			bj_audit_append(f->archive->audit, "service.stop", json_object(), NULL);
		return false;
	}
	if (r > 0 && msg.kind == BJ_CHANNEL_ENGINE) {
		count_restarts(f, &msg);
		take_engine(f, settings, &parts, &err);
	}
	bj_channel_send(f->channel, BJ_CHANNEL_READY, 0, &err);
	return true;
}

static void loop(struct front *f)
{
	struct pollfd p = { .fd = f->channel, .events = POLLIN };

	for (;;) {
		const int n = poll(&p, 1, f->open ? WATCH_MS : -1);

		if (n > 0 && !handle_message(f))
			return;
		bj_http_watch(&f->http);
		if (f->open)
			bj_service_tend(&f->service);
	}
}

int bj_front_main(struct bj_front_init *init)
{
	static struct front front; /* large, and there is one */
	struct bj_err err = { 0 };

	front.channel = init->channel;
	front.listen = init->listen;
	if (init->listen->lock >= 0)
		close(init->listen->lock);
	init->listen->lock = -1;
	if (come_up(&front, init, &err) < 0) {
		bj_channel_send(init->channel, BJ_CHANNEL_READY, 0, &err);
		return 1;
	}
	loop(&front);
	bj_http_done(&front.http);
	bj_service_done(&front.service);
	bj_archive_close(front.archive);
	return 0;
}
