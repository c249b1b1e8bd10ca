/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * The keeper is the process that was started. It keeps its rights, and for that it stays small: one
 * thread, no byte of a request, only settings that its owner wrote. It holds the listening sockets
 * and has these children:
 *
 *	front      answers requests, without any rights
 *	launcher   makes jars; the keeper starts it and hands its socket to the front. With Docker
 *	           there is a broker as well
 *
 * Whichever child dies is replaced, and what cannot be started is tried again, a few times in a row
 * at most without a front that can work. A front that dies takes its launcher along, since nobody
 * else holds the launcher's socket; connections that wait are answered by the next one. A reload
 * makes a new launcher for the new settings, and the front lets the old one end with its last run.
 * So does a name of an image that means another one, or none any more. Whatever is new is an offer
 * until the front has answered: what it cannot use changes nothing, settings included. When the
 * keeper dies, front and launcher see their sockets close and end. */

#include "serve/serve.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/coverage.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/log.h"
#include "engine/backends.h"
#include "engine/pin.h"
#include "record/folder.h"
#include "serve/channel.h"
#include "serve/front.h"
#include "serve/listen.h"
#include "serve/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	MAX_STARTS = 5,       /* in a row, of what did not come up */
	STOP_EXTRA_MS = 8000, /* beyond the grace period, for cleaning up */
	LOOK_MS = 200         /* at the clock, while something is due */
};

#define RETRY_NS UINT64_C(1000000000) /* after what did not come up */

/* What the front was sent and has not answered yet. */
struct offer {
	bool open;
	bool dead;                    /* one of its processes is, already */
	struct bj_settings *settings; /* NULL: those in force */
	pid_t engine[BJ_ENGINE_PROCESSES];
};

struct keeper {
	const char *config_file;
	const struct bj_override *overrides;
	size_t n_overrides;
	struct bj_settings *settings;
	struct bj_listen listen;
	struct bj_front_init front_init;
	int signals;
	int channel; /* to the front */
	int images;  /* readable when names of images may mean others; -1: there are none */
	pid_t front; /* 0: there is none */
	pid_t engine[BJ_ENGINE_PROCESSES]; /* of the front's current engine; 0: none */
	struct offer offer;
	bool lost;           /* a process of the current engine is dead, or there is no engine */
	bool reload;         /* asked for when nothing could be offered */
	unsigned int starts; /* since the front last answered */
	struct bj_channel_msg counts; /* of what was replaced, for the front to tell */
	bool up;                      /* the front answered since it was started */
	bool was_up;                  /* it did so once */
	bool stopping, finished;
	uint64_t kill_at;  /* monotonic ns; 0: not stopping */
	uint64_t retry_at; /* the same, to start what is missing; 0: nothing is */
	struct bj_err why; /* the reason to give up */
};

/* --- settings --------------------------------------------------------------------------------- */

static int read_key_file(struct bj_settings *s, struct bj_err *err)
{
	AUTO_FD int fd = open(s->serve.api_key_file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	AUTO_BUF struct bj_buf text = { .max = 4096 };
	struct stat st;

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "serve.api_key_file: cannot open %.120s",
				  s->serve.api_key_file);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0007))
		bj_log(BJ_LOG_WARN, "everybody on this machine may read %s; chmod o= it",
		       s->serve.api_key_file);
	if (bj_fd_read_all(fd, &text) < 0 || text.size == 0)
		return bj_err_set(
			err, BJ_E_INVALID, 0,
			"serve.api_key_file: there is no key in %.120s; write one line of "
			"16 to 255 characters to it",
			s->serve.api_key_file);
	text.data[strcspn(text.data, "\r\n")] = '\0';
	return bj_settings_set_secret(s, "serve.api_key", text.data, err);
}

static int load_settings(const struct keeper *k, struct bj_settings **ret, struct bj_err *err)
{
	struct bj_settings *s = NULL;
	int r = bj_settings_load(k->config_file, k->overrides, k->n_overrides, &s, err);

	if (r < 0)
		return r;
	if (s->serve.api_key_file)
		r = read_key_file(s, err);
	if (r < 0) {
		bj_settings_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

static int find_user(struct keeper *k, struct bj_err *err)
{
	k->front_init.owner = getuid();
	if (geteuid() != 0)
		return 0;

	const struct passwd *user = getpwnam(k->settings->serve.user);

	if (!user)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0, "serve.user: there is no user %.60s",
				  k->settings->serve.user);
	k->front_init.change_user = user->pw_uid != 0;
	k->front_init.uid = user->pw_uid;
	k->front_init.gid = user->pw_gid;
	/* The front makes artifacts when it is that user. */
	if (!k->front_init.change_user || !k->settings->record.enabled)
		return 0;
	/* And it begins another file of the audit log. */
	const int r = bj_folder_give(k->settings, "audit", user->pw_uid, err);

	return r < 0 ? r : bj_folder_give(k->settings, BJ_FOLDER_ARTIFACTS, user->pw_uid, err);
}

/* --- children --------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void be_front(struct keeper *k, int channel)
{
	sigset_t child;

	/* TERM, INT and HUP stay blocked: they are the keeper's. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_UNBLOCK, &child, NULL);
	close(k->signals);
	if (k->images >= 0)
		close(k->images);
	k->front_init.channel = channel;
	k->front_init.settings = k->settings;
	k->front_init.listen = &k->listen;

	const int status = bj_front_main(&k->front_init);

	bj_coverage_flush();
	_exit(status);
}

static int start_front(struct keeper *k, struct bj_err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");

	const pid_t pid = fork();

	if (pid == 0) {
		close(pair[0]);
		be_front(k, pair[1]);
	}
	if (pid < 0)
		bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start the front");
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return -err->code;
	}
	k->front = pid;
	k->channel = pair[0];
	k->up = false;
	return 0;
}

static void close_offer(struct keeper *k)
{
	bj_settings_free(k->offer.settings);
	k->offer = (struct offer){ 0 };
}

static void watch_images(struct keeper *k, const struct bj_settings *settings)
{
	if (k->images >= 0)
		close(k->images);
	k->images = bj_backends_watch(settings);
}

/* Start the processes that the settings call for, @fresh or those in force, and offer them to the
 * front. @fresh is the offer's then. What happens to their images meanwhile is not missed. */
static int offer_engine(struct keeper *k, struct bj_settings *fresh, struct bj_err *err)
{
	struct bj_settings *settings = fresh ? fresh : k->settings;
	struct bj_engine_parts parts = BJ_ENGINE_NO_PARTS;

	watch_images(k, settings);

	int r = bj_engine_make_parts(settings, &parts, err);

	if (r < 0)
		return r;
	k->offer = (struct offer){ .open = true };
	memcpy(k->offer.engine, parts.pid, sizeof(k->offer.engine));
	r = bj_channel_send_engine(k->channel, settings, &parts, &k->counts, err);
	/* Ours are closed: the front alone holds the lives of these processes. */
	bj_engine_parts_done(&parts);
	if (r < 0) {
		close_offer(k);
		return r;
	}
	k->offer.settings = fresh;
	k->retry_at = 0;
	return 0;
}

static int start_both(struct keeper *k, struct bj_err *err)
{
	const int r = start_front(k, err);

	return r < 0 ? r : offer_engine(k, NULL, err);
}

static void give_up(struct keeper *k, const struct bj_err *err)
{
	k->why = *err;
	k->finished = true;
}

/* At once when it is the first: later ones may need what comes back. */
static void plan_start(struct keeper *k)
{
	k->retry_at = bj_clock_now() + (k->starts > 1 ? RETRY_NS : 0);
}

static void lose_front(struct keeper *k)
{
	struct bj_err err = { 0 };

	close(k->channel);
	k->channel = -1;
	k->front = 0;
	k->lost = true;
	memset(k->engine, 0, sizeof(k->engine));
	close_offer(k);
	if (k->stopping) {
		k->finished = true;
		return;
	}
	if (!k->was_up) {
		bj_err_set(&err, BJ_E_SYSTEM, 0, "the front does not come up");
		give_up(k, k->why.code ? &k->why : &err);
		return;
	}
	if (k->up)
		k->starts = 0;
	k->up = false;
	bj_log(BJ_LOG_WARN, "the front died; starting another");
	k->counts.fronts++;
	plan_start(k);
}

/* Start what is missing: the engine, and the front if there is none. What dies before the front
 * came up for the first time is the front's to explain. */
static void start_missing(struct keeper *k)
{
	struct bj_err err = { 0 };

	k->retry_at = 0;
	if (k->stopping || !k->was_up)
		return;
	if (++k->starts > MAX_STARTS) {
		bj_err_set(&err, BJ_E_SYSTEM, 0,
			   k->front ? "the launcher or the broker dies again and again"
				    : "the front does not come up");
		give_up(k, &err);
		return;
	}
	if (k->front) {
		bj_log(BJ_LOG_WARN, "the launcher or the broker died; starting another");
		k->counts.launchers++;
	}
	if ((k->front ? offer_engine(k, NULL, &err) : start_both(k, &err)) < 0) {
		bj_log(BJ_LOG_ERROR, "%s", err.msg);
		plan_start(k);
	}
}

static bool is_one_of(const pid_t engine[BJ_ENGINE_PROCESSES], pid_t pid)
{
	for (int i = 0; i < BJ_ENGINE_PROCESSES; i++)
		if (engine[i] == pid)
			return true;
	return false;
}

/* The front first: a launcher that ends with it needs no replacement of its own. Nor does one that
 * is an offer: the front will say what it made of it. */
static void reap(struct keeper *k)
{
	bool front = false, engine = false;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		front |= pid == k->front;
		engine |= is_one_of(k->engine, pid);
		k->offer.dead |= is_one_of(k->offer.engine, pid);
	}
	k->lost |= engine;
	if (front)
		lose_front(k);
	else if (engine && !k->offer.open)
		plan_start(k);
}

/* --- what happens ----------------------------------------------------------------------------- */

static void reload(struct keeper *k)
{
	struct bj_settings *fresh = NULL;
	struct bj_err err = { 0 };

	/* One offer at a time, to a front that is there. */
	k->reload = k->offer.open || !k->front;
	if (k->reload || k->stopping)
		return;
	bj_notify("RELOADING=1\nMONOTONIC_USEC=%" PRIu64, bj_clock_now() / 1000);
	if (load_settings(k, &fresh, &err) < 0 || offer_engine(k, fresh, &err) < 0) {
		bj_log(BJ_LOG_ERROR, "the settings stay as they were: %s", err.msg);
		if (fresh)
			watch_images(k, k->settings);
		bj_settings_free(fresh);
		bj_notify("READY=1");
	}
}

/* An image was imported, removed, or has another name: what is made for the old ones must go. */
static void look_at_images(struct keeper *k)
{
	struct bj_settings *fresh = NULL;
	struct bj_err err = { 0 };
	char events[4096];

	while (read(k->images, events, sizeof(events)) > 0)
		;
	if (load_settings(k, &fresh, &err) < 0 || bj_backends_pin(fresh, &err) < 0)
		bj_log(BJ_LOG_ERROR, "the images stay as they were: %s", err.msg);
	else if (!bj_pin_same(fresh, k->settings))
		reload(k);
	bj_settings_free(fresh);
}

static void stop(struct keeper *k)
{
	const uint64_t grace_ms = k->settings->serve.grace_ms;

	if (k->stopping)
		return;
	k->stopping = true;
	k->kill_at = bj_clock_now() + (grace_ms + STOP_EXTRA_MS) * 1000000u;
	/* Or the manager might lose its patience before we do. */
	bj_notify("STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64, (grace_ms + STOP_EXTRA_MS) * 1000);
	/* Who came now would wait for an answer that nobody gives. */
	bj_listen_close(&k->listen);
	if (bj_channel_send(k->channel, BJ_CHANNEL_STOP, grace_ms, NULL) < 0)
		k->finished = k->front == 0;
}

static void handle_signal(struct keeper *k)
{
	struct signalfd_siginfo info;

	if (read(k->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD)
		reap(k);
	else if (info.ssi_signo == SIGHUP)
		reload(k);
	else
		stop(k);
}

/* It uses what it was offered. */
static void accepted(struct keeper *k)
{
	k->up = k->was_up = true;
	k->starts = 0;
	k->lost = k->offer.dead;
	memcpy(k->engine, k->offer.engine, sizeof(k->engine));
	if (k->offer.settings) {
		bj_settings_free(k->settings);
		k->settings = BJ_TAKE_PTR(k->offer.settings);
		bj_log_set_level(k->settings->log_level);
	}
	bj_notify("READY=1\nSTATUS=taking runs");
	bj_log(BJ_LOG_INFO, "taking runs on %s",
	       k->listen.path[0] ? k->listen.path : "passed sockets");
}

static void refused(struct keeper *k, const struct bj_err *err)
{
	if (!k->was_up) {
		give_up(k, err);
		return;
	}
	bj_log(BJ_LOG_ERROR, "%s%s", k->offer.settings ? "the settings stay as they were: " : "",
	       err->msg);
	if (k->offer.settings)
		watch_images(k, k->settings);
	if (k->up)
		bj_notify("READY=1");
}

static void handle_front(struct keeper *k)
{
	struct bj_channel_msg msg;
	struct bj_err err = { 0 };
	const int r = bj_channel_receive(k->channel, &msg, NULL, NULL, &err);

	/* SIGCHLD tells the rest. */
	if (r <= 0 || msg.kind != BJ_CHANNEL_READY || !k->offer.open)
		return;
	if (msg.err.code == 0)
		accepted(k);
	else
		refused(k, &msg.err);
	close_offer(k);
	/* Meanwhile the launcher may have died, or the settings changed once more. */
	if (k->lost)
		plan_start(k);
	else if (k->reload)
		reload(k);
}

static void loop(struct keeper *k)
{
	for (;;) {
		/* Before the look at what is there: it changes that. */
		if (k->retry_at && bj_clock_now() >= k->retry_at)
			start_missing(k);
		if (k->finished)
			return;

		struct pollfd polls[] = { { .fd = k->signals, .events = POLLIN },
					  { .fd = k->channel, .events = POLLIN },
					  { .fd = k->up && !k->stopping ? k->images : -1,
					    .events = POLLIN } };

		if (k->kill_at && bj_clock_now() > k->kill_at && k->front > 0)
			kill(k->front, SIGKILL);
		if (poll(polls, 3, k->kill_at || k->retry_at ? LOOK_MS : -1) < 0)
			continue;
		/* What the front said before it died comes first. */
		if (polls[1].revents & POLLIN)
			handle_front(k);
		if (polls[0].revents)
			handle_signal(k);
		else if (polls[1].revents & POLLHUP)
			poll(polls, 1, 100); /* its SIGCHLD is on the way */
		else if (polls[2].revents)
			look_at_images(k);
	}
}

/* --- the whole -------------------------------------------------------------------------------- */

static int watch_signals(struct keeper *k, sigset_t *before, struct bj_err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, before);
	signal(SIGPIPE, SIG_IGN);
	k->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (k->signals < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot watch for signals");
	return 0;
}

/* Close the front's ear: it ends, and with it the launcher. Then wait for both. */
static void end_children(struct keeper *k)
{
	if (k->channel >= 0)
		close(k->channel);
	k->channel = -1;
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static int run(struct keeper *k, struct bj_err *err)
{
	int r = load_settings(k, &k->settings, err);

	if (r < 0)
		return r;
	bj_log_set_level(k->settings->log_level);
	r = find_user(k, err);
	if (r == 0)
		r = bj_listen_open(&k->settings->serve, &k->listen, err);
	if (r < 0)
		return r;
	r = start_both(k, err);
	if (r == 0)
		loop(k);
	end_children(k);
	bj_listen_done(&k->listen);
	if (r == 0 && k->why.code) {
		*err = k->why;
		r = -err->code;
	}
	return r;
}

int bj_serve(const char *config_file, const struct bj_override *overrides, size_t n_overrides,
	     struct bj_err *err)
{
	struct keeper k = { .config_file = config_file,
			    .overrides = overrides,
			    .n_overrides = n_overrides,
			    .listen.lock = -1,
			    .signals = -1,
			    .channel = -1,
			    .lost = true,
			    .images = -1 };
	sigset_t before;
	int r = watch_signals(&k, &before, err);

	if (r == 0)
		r = run(&k, err);
	if (k.signals >= 0)
		close(k.signals);
	if (k.images >= 0)
		close(k.images);
	close_offer(&k);
	bj_settings_free(k.settings);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
