/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * The launcher is pid 1 of its own pid namespace. Every init, helper and script lives below it,
 * so when it dies, for whatever reason, the kernel kills them all. It has its own mount namespace
 * with nothing in it but the jars' template and its own /proc. Started by root it gives root up as
 * soon as that tree is built: it enters a user namespace, as every launcher does, in which it has
 * a uid that owns nothing on the machine, and keeps only the capabilities there that making a jar
 * takes.
 *
 * It is one thread around one epoll. The control socket brings launch messages; each carries a
 * socket for the replies of that run, so that runs do not wait for each other. The end of the
 * control socket (the front is gone) ends everything in good order: kill, wait, remove, exit. So
 * does the death of the caller or of the starter.
 *
 * The deadline of a run is the launcher's, not the front's: a front that is busy, stopped or
 * hostile does not make a script run longer. Scheduling is real-time where allowed, so that a
 * loaded machine does not delay the kill; children do not inherit that. */

#include "launch/launch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/coverage.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/layers.h"
#include "launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>

#define END_NS      UINT64_C(10000000000) /* for jars to end, when all must */
#define SLOW_END_NS UINT64_C(200000000)   /* for one, from its kill */

/* Each jar costs the launcher up to as many descriptors, most while it is built on cgroup v1, and
 * zygotes and nursery have some; the table is no larger than that allows. */
enum { MAX_JARS = 4096, FDS_PER_JAR = 19, FDS_BESIDE = 40, EVENTS_AT_ONCE = 64, LOOK_MS = 20 };

/* --- coming up -------------------------------------------------------------------------------- */

/* With what is open already, and the networks that are kept. */
static uint32_t count_slots(const struct launcher *l)
{
	const int next = fcntl(l->control, F_DUPFD_CLOEXEC, 0);
	const uint64_t taken = (uint64_t)(next < 0 ? 0 : next) + FDS_BESIDE + BJ_NETS_MAX;
	const uint64_t all = bj_fd_raise_limit();
	const uint64_t fit = all > taken ? (all - taken) / FDS_PER_JAR : 0;

	if (next >= 0)
		close(next);
	return fit < 1 ? 1 : fit > MAX_JARS ? MAX_JARS : (uint32_t)fit;
}

/* The only run is answered. Whoever started us ends now, and should not wait for our cleaning up:
 * this class never takes a CPU from others by waking up. */
static void be_patient(struct launcher *l)
{
	const struct sched_param param = { 0 };

	if (l->patient)
		return;
	l->patient = true;
	sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &param);
}

/* A forked copy of the caller may hold the control socket open for ever: watch the caller itself.
 * The starter's end of its socket shows its death; after the maps it says nothing more. */
static int watch_others(struct launcher *l, struct bj_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = (uint64_t)BJ_EVENT_CALLER << 32 };

	if ((l->caller >= 0 && epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->caller, &ev) < 0) ||
	    epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->starter, &ev) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot watch the caller");
	return 0;
}

static int make_table(struct launcher *l, struct bj_err *err)
{
	l->n_slots = count_slots(l);
	/* Two uids a jar: with more jars than that, two of them would share. */
	if (l->ground.own_uids && l->n_slots > l->ground.uid_count / 2)
		l->n_slots = l->ground.uid_count / 2;
	if (l->n_slots == 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "a jar needs two uids of its own; raise native.uid_count");
	l->jars = calloc(l->n_slots, sizeof(*l->jars));
	return l->jars ? 0 : bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for jars");
}

static int come_up(struct launcher *l, const struct bj_launch_birth *birth,
		   const struct bj_launch_image *images, struct bj_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = (uint64_t)BJ_EVENT_CONTROL << 32 };
	int r;

	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->control, &ev) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot watch the control socket");
	r = ground_build(l, birth, images, err);
	if (r == 0)
		r = watch_others(l, err);
	return r < 0 ? r : make_table(l, err);
}

static void say_hello(struct launcher *l, const struct bj_err *err)
{
	struct bj_wire_reply hello = { .magic = BJ_WIRE_MAGIC, .kind = BJ_REPLY_HELLO };

	if (err)
		hello.err = *err;
	hello.places = l->n_slots;
	if (l->ground.cgroups) {
		hello.cgroup_version = (uint8_t)bj_cgroups_version(l->ground.cgroups);
		hello.swept = bj_cgroups_swept(l->ground.cgroups);
		hello.aside = bj_cgroups_is_aside(l->ground.cgroups);
	}
	bj_fd_send(l->control, &hello, sizeof(hello), NULL, 0);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void refuse(int reply_fd, const struct bj_err *err)
{
	const struct bj_wire_reply reply = { .magic = BJ_WIRE_MAGIC,
					     .kind = BJ_REPLY_FAILED,
					     .cause = BJ_CAUSE_INFRASTRUCTURE,
					     .cleanup_ok = 1,
					     .err = *err };

	bj_fd_send_now(reply_fd, &reply, sizeof(reply));
}

struct bj_jar *launcher_new_jar(struct launcher *l, uint32_t image)
{
	struct bj_jar *jar = l->n_live < l->n_slots ? calloc(1, sizeof(*jar)) : NULL;

	if (!jar)
		return NULL;
	bj_jar_init(jar, l->epoll);
	while (l->jars[jar->index])
		jar->index++;
	jar->serial = l->serial++;
	jar->image = image;
	l->jars[jar->index] = jar;
	l->n_live++;
	return jar;
}

/* A failure to start because of missing cgroups is explained by what was said about them. */
static void explain(const struct launcher *l, struct bj_err *err)
{
	if (err->code == BJ_E_UNSUPPORTED && !l->ground.cgroups && l->no_cgroups.code &&
	    (l->ground.required & BJ_LAYERS_CGROUP))
		bj_err_set(err, BJ_E_UNSUPPORTED, 0,
			   "no limits on memory, cpu and processes: %.140s (or accept less with "
			   "native.require: basic)",
			   l->no_cgroups.msg);
}

/* What comes next for a jar that waits for nothing. */
static int next_step(struct launcher *l, struct bj_jar *jar, struct bj_err *err)
{
	if (jar->phase == BJ_JAR_EMPTY)
		return pool_fill(l, jar, err);
	return jar->phase == BJ_JAR_WAITING && jar->has_run ? bj_jar_go(jar, err) : 0;
}

void launcher_advance(struct launcher *l, struct bj_jar *jar)
{
	struct bj_err err = { 0 };

	if (next_step(l, jar, &err) < 0 || bj_jar_watch(jar, &err) < 0)
		bj_jar_fail(jar, &err);
	if (jar->wrong) {
		jar->wrong = false;
		pool_found_wrong(l, jar);
	}
	rescue(l, jar);
	if (jar->dying)
		bj_jar_reply_early(jar);
	if (!bj_jar_over(jar))
		return;
	l->jars[jar->index] = NULL;
	l->n_live--;
	/* When the table was full, its own place is the first that is free. */
	rescue(l, jar);
	if (jar->stock)
		pool_over(l, jar);
	bj_jar_done(jar, &l->ground);
	free(jar);
}

/* A jar for this run: one that waits or is on its way, else a new one. */
static struct bj_jar *find_jar(struct launcher *l, const struct bj_wire_launch *msg)
{
	struct bj_jar *jar = pool_take(l, msg);

	return jar ? jar : launcher_new_jar(l, msg->image);
}

static void listen_to_front(const struct launcher *l, bool listen)
{
	struct epoll_event ev = { .events = listen ? EPOLLIN : 0,
				  .data.u64 = (uint64_t)BJ_EVENT_CONTROL << 32 };

	/* Its end is told anyway. */
	epoll_ctl(l->epoll, EPOLL_CTL_MOD, l->control, &ev);
}

/* Keep a run until a jar is gone: one that ends, or one that waited for nobody. Those that come
 * later wait in the socket. */
static void hold(struct launcher *l, const struct bj_wire_launch *msg, const int *fds, size_t n_fds)
{
	l->held = (struct held){ .there = true, .run = *msg, .n_fds = n_fds };
	memcpy(l->held.fds, fds, n_fds * sizeof(*fds));
	listen_to_front(l, false);
	pool_make_room(l);
}

static void launch(struct launcher *l, const struct bj_wire_launch *msg, int *fds, size_t n_fds)
{
	const struct bj_jar_shape shape = launcher_shape(msg);
	struct bj_err err = { 0 };

	struct bj_jar *jar = find_jar(l, msg);

	if (!jar && l->n_live == l->n_slots) {
		hold(l, msg, fds, n_fds);
		return;
	}
	if (!jar) {
		bj_err_set(&err, BJ_E_SYSTEM, ENOMEM, "no memory for a jar");
		refuse(fds[BJ_WIRE_FD_REPLY], &err);
		for (size_t i = 0; i < n_fds; i++)
			close(fds[i]);
		return;
	}

	const bool fresh = jar->init_pid == 0 && !jar->unborn;
	const uint32_t pool = pool_of(l, msg);

	/* What no zygote can start begins to start while the jar is built. */
	if (fresh)
		jar->cold_only = pool == NO_POOL || pool_kind(pool) == POOL_BASH;
	bj_jar_attach(jar, msg, fds);
	if ((fresh ? bj_jar_build(jar, &l->ground, &shape, &err)
		   : bj_jar_hurry(jar, &l->ground, &err)) < 0) {
		explain(l, &err);
		bj_jar_fail(jar, &err);
	}
	launcher_advance(l, jar);
}

static void launch_held(struct launcher *l)
{
	struct held held = l->held;

	if (!held.there || l->n_live == l->n_slots)
		return;
	l->held.there = false;
	listen_to_front(l, true);
	launch(l, &held.run, held.fds, held.n_fds);
}

/* Tell how many there are of what. Whoever does not listen gets nothing: we wait for nobody. */
static void answer_census(const struct launcher *l, int fd)
{
	struct bj_wire_census census;
	struct iovec iov = { .iov_base = &census, .iov_len = sizeof(census) };
	const struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	pool_count(l, &census);
	if (sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

/* Images come and go between two launchers, and the front may mean another one. */
static int check_image(const struct launcher *l, const struct bj_wire_launch *msg,
		       struct bj_err *err)
{
	return l->ground.images[msg->image].there
		       ? 0
		       : bj_err_set(err, BJ_E_NOT_FOUND, 0, "the image is not there any more");
}

/* One message from the front. False when the front is gone. */
static bool handle_control(struct launcher *l)
{
	struct bj_wire_launch msg;
	struct bj_err err = { 0 };
	int fds[BJ_WIRE_FD_MAX];
	size_t n_fds = 0;

	/* Then nothing but its end is watched for. */
	if (l->held.there)
		return false;

	const ssize_t n = bj_fd_recv(l->control, &msg, sizeof(msg), fds, BJ_WIRE_FD_MAX, &n_fds,
				     MSG_DONTWAIT);

	if (n == -EAGAIN || n == -EPROTO)
		return true; /* a packet that is not one of ours is dropped */
	if (n <= 0)
		return false;
	if (bj_wire_check(&msg, (size_t)n, fds, n_fds, &err) == 0 &&
	    check_image(l, &msg, &err) == 0) {
		if (msg.flags & BJ_WIRE_AGAIN)
			pool_lost(l, &msg);
		launch(l, &msg, fds, n_fds);
		return true;
	}
	if (bj_wire_is_census(&msg, (size_t)n, fds, n_fds))
		answer_census(l, fds[BJ_WIRE_FD_REPLY]);
	else if (n_fds > 0)
		refuse(fds[BJ_WIRE_FD_REPLY], &err);
	for (size_t i = 0; i < n_fds; i++)
		bj_fd_drop(fds[i]);
	return true;
}

static void handle_jar(struct launcher *l, uint32_t index, uint32_t event)
{
	struct bj_jar *jar = index < l->n_slots ? l->jars[index] : NULL;

	/* An earlier event of the same batch may have ended the jar, or taken back the watch. */
	if (!jar || event >= BJ_JAR_EV_COUNT || jar->watch[event] < 0)
		return;

	const bool filling = jar->phase == BJ_JAR_FILLING;

	bj_jar_handle(jar, &l->ground, (enum bj_jar_event)event);
	if (filling && jar->phase == BJ_JAR_WAITING)
		pool_filled(l, jar);
	if (l->once && jar->replied)
		be_patient(l);
	launcher_advance(l, jar);
}

/* False when the front is gone. */
static bool handle_event(struct launcher *l, uint64_t data)
{
	const uint32_t what = (uint32_t)(data >> 32);

	if (what == BJ_EVENT_CONTROL)
		return handle_control(l);
	if (what == BJ_EVENT_CALLER)
		return false;
	if (what == BJ_EVENT_ZYGOTE)
		zygote_says(l, (uint32_t)data % MAX_POOLS);
	else if (what == BJ_EVENT_ZYGOTE_DEAD)
		zygote_dead(l, (uint32_t)data % MAX_POOLS);
	else if (what == BJ_EVENT_NURSERY)
		nursery_says(l);
	else if (what == BJ_EVENT_NURSERY_DEAD)
		nursery_end(l);
	else
		handle_jar(l, what, (uint32_t)data);
	return true;
}

/* --- time ------------------------------------------------------------------------------------- */

/* The earlier of two points in time, of which 0 is never. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static bool may_linger(const struct launcher *l, const struct bj_jar *jar, uint64_t now)
{
	const uint64_t latest = jar->deadline + BJ_JAR_LINGER_MAX_NS;

	return jar->exited && now < l->resume && now < latest - latest % BJ_JAR_LINGER_SPAN_NS;
}

/* Jars end soon after they are killed. One that does not may wait for a process that nobody knows:
 * a helper was killed with it before it could tell which one it had forked. When to come back. */
static uint64_t check_dying(struct launcher *l, const struct bj_jar *jar, uint64_t now, bool tick)
{
	const uint64_t due = jar->ended + SLOW_END_NS;

	if (now < due)
		return due;
	if (tick && l->strays_at == 0)
		l->strays_at = now;
	return now + BJ_JAR_TICK_NS;
}

/* Kill @jar if it is due, look after it at a tick. When to come back, or 0. */
static uint64_t check_jar(struct launcher *l, struct bj_jar *jar, uint64_t now, bool tick)
{
	const uint64_t due = may_linger(l, jar, now) ? l->resume : jar->deadline;

	if (!jar->dying && due != 0) {
		if (due <= now)
			bj_jar_expire(jar);
		else if (tick)
			bj_jar_tick(jar);
	}
	return jar->dying ? check_dying(l, jar, now, tick) : due;
}

/* Kill what is due and look after the rest; return when to come back, 0 when there is no jar that
 * waits for a time. */
static uint64_t check_deadlines(struct launcher *l)
{
	const uint64_t now = bj_clock_now();
	const bool tick = now >= l->next_tick;
	uint64_t next = 0;

	if (tick)
		nursery_mind(l, now);

	for (uint32_t i = 0, seen = 0; seen < l->n_live && i < l->n_slots; i++) {
		if (!l->jars[i])
			continue;
		seen++;
		next = earlier(next, check_jar(l, l->jars[i], now, tick));
	}
	if (tick && l->strays_at && now >= l->strays_at)
		zygote_reap_strays(l);
	if (tick)
		l->next_tick = now + BJ_JAR_TICK_NS;
	return next > l->next_tick ? l->next_tick : next;
}

static int wait_events(struct launcher *l, struct epoll_event *events, uint64_t next)
{
	const uint64_t now = bj_clock_now();
	const uint64_t left = next > now ? next - now : 0;
	const struct timespec ts = { .tv_sec = (time_t)(left / 1000000000u),
				     .tv_nsec = (long)(left % 1000000000u) };

	return epoll_pwait2(l->epoll, events, EVENTS_AT_ONCE, next ? &ts : NULL, NULL);
}

/* The front is gone: end what runs, and wait until it is gone, but not forever: our own end takes
 * the rest along. */
static void end_all(struct launcher *l)
{
	const uint64_t limit = bj_clock_now() + END_NS;
	struct epoll_event events[EVENTS_AT_ONCE];

	epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->control, NULL);
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->starter, NULL);
	if (l->caller >= 0)
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->caller, NULL);
	pools_done(l);
	for (uint32_t i = 0; i < l->n_slots; i++) {
		struct bj_jar *jar = l->jars[i];

		/* What is answered holds one process in its last call, and ends with its init. */
		if (jar && l->once && jar->exited && !jar->dying)
			bj_jar_expire(jar);
		else if (jar)
			bj_jar_kill(jar, BJ_CAUSE_CANCELLED);
	}
	while (l->n_live > 0 && bj_clock_now() < limit) {
		const int n = epoll_wait(l->epoll, events, EVENTS_AT_ONCE, LOOK_MS);

		for (int i = 0; i < n; i++)
			handle_event(l, events[i].data.u64);
		/* A zygote that ends in the middle of its work leaves some. */
		if (n == 0)
			zygote_reap_strays(l);
	}
}

static void loop(struct launcher *l)
{
	struct epoll_event events[EVENTS_AT_ONCE];

	for (;;) {
		const uint64_t refill = pool_refill(l), due = check_deadlines(l);
		const int n = wait_events(l, events, earlier(refill, due));

		for (int i = 0; i < n; i++)
			if (!handle_event(l, events[i].data.u64))
				return;
		launch_held(l);
	}
}

/* A test build reads how much memory there is where BELLJAR_MEMINFO says. -1: the kernel knows. */
static int open_meminfo(void)
{
#ifdef BJ_FAULTS
	const char *path = getenv("BELLJAR_MEMINFO");

	return path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
#else
	return -1;
#endif
}

/* What saves time where many jars come and go. */
static void settle(struct launcher *l)
{
	/* A namespace that a jar leaves is not to be entered from the machine's network. */
	if (unshare(CLONE_NEWNET) == 0)
		l->ground.nets = &l->nets;
	l->ground.nursery = &l->nursery;
	nursery_keep(l, bj_clock_now());
}

void bj_launch_main(const struct bj_launch_birth *birth, const struct bj_launch_settings *settings)
{
	struct launcher l = {
		.control = birth->control,
		.caller = birth->caller,
		.starter = birth->sync,
		.once = settings->ahead,
		.meminfo = open_meminfo(),
		.ground = { .required = settings->required,
			    .proc = settings->proc,
			    .alone = settings->ahead,
			    .own_uids = birth->uids > 0,
			    .uid_count = birth->uids },
	};
	struct bj_err err = { 0 };
	const bool up = come_up(&l, birth, settings->images, &err) == 0 &&
			pools_init(&l, settings, &err) == 0;

	if (up && !settings->ahead)
		settle(&l);
	say_hello(&l, up ? NULL : &err);
	if (up) {
		if (settings->ahead)
			pool_build_ahead(&l);
		loop(&l);
		end_all(&l);
	}
	bj_coverage_flush();
	_exit(up ? 0 : 1);
}
