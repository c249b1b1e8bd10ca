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
#include "jar/creds.h"
#include "jar/embed.h"
#include "jar/layers.h"
#include "jar/userns.h"
#include "launch/launcher.h"
#include "seccomp/filters.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define END_NS UINT64_C(10000000000) /* for jars to end, when all must */

/* Each jar costs the launcher up to as many descriptors, most while it is built on cgroup v1; the
 * table is no larger than that allows. */
enum { MAX_JARS = 4096, FDS_PER_JAR = 19, EVENTS_AT_ONCE = 64, LOOK_MS = 20 };

/* What making, joining, ending and measuring a jar takes. */
#define CAP_BIT(cap) (UINT64_C(1) << (cap))
#define KEEP_CAPS                                                                                  \
	(CAP_BIT(CAP_SYS_ADMIN)    /* namespaces, mounts, setns */                                 \
	 | CAP_BIT(CAP_SETUID)     /* maps, becoming nobody */                                     \
	 | CAP_BIT(CAP_SETGID)     /* the same for groups */                                       \
	 | CAP_BIT(CAP_SETPCAP)    /* dropping the bounding set in children */                     \
	 | CAP_BIT(CAP_SYS_PTRACE) /* setns by the pidfd of an init that is not dumpable */        \
	 | CAP_BIT(CAP_KILL))      /* ending jars, whose uids differ from ours */

/* And making many: entering the mount namespaces that jars are copies of (roots.h). */
#define KEEP_CAPS_MANY (KEEP_CAPS | CAP_BIT(CAP_SYS_CHROOT))

/* --- coming up -------------------------------------------------------------------------------- */

static uint32_t count_slots(void)
{
	const uint64_t fit = bj_fd_raise_limit() / FDS_PER_JAR;

	return fit < 1 ? 1 : fit > MAX_JARS ? MAX_JARS : (uint32_t)fit;
}

/* Real-time for too long means a fault of ours: step back before the machine suffers. */
static void on_overtime(int sig)
{
	const struct sched_param param = { 0 };

	(void)sig;
	sched_setscheduler(0, SCHED_OTHER, &param);
}

/* The best effort of a process that must act within milliseconds. Refusal is fine: then the
 * deadline is as exact as the machine is idle. The kernel counts the time between two waits; past
 * the first limit we lose the privilege, past the second our life, and every jar with it. */
static void be_quick(void)
{
	const struct sched_param param = { .sched_priority = 1 };
	const struct rlimit limit = { .rlim_cur = 200000, .rlim_max = 2000000 };
	const struct sigaction action = { .sa_handler = on_overtime };

	if (setrlimit(RLIMIT_RTTIME, &limit) == 0 && sigaction(SIGXCPU, &action, NULL) == 0)
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
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

/* A copy of the init program that nothing can change. */
static int init_program(struct bj_err *err)
{
	const int fd = bj_fd_memfile("jar-init", bj_embed_init, bj_embed_init_size);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -fd, "cannot make the jar's init");
	return fd;
}

/* Ask the starter for what it alone can give: the maps of our user namespace, and cgroups. */
static int ask_means(struct launcher *l, struct bj_err *err)
{
	struct bj_launch_means means;
	int fds[BJ_HIER_COUNT], rooms[BJ_HIER_COUNT];
	size_t n = 0, next = 0;

	if (write(l->starter, "m", 1) != 1 ||
	    bj_fd_recv(l->starter, &means, sizeof(means), fds, BJ_HIER_COUNT, &n, 0) !=
		    sizeof(means) ||
	    !means.mapped)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "cannot map users into a user namespace; run `belljar doctor`");
	for (int h = 0; h < BJ_HIER_COUNT; h++)
		rooms[h] = means.has_room[h] && next < n ? fds[next++] : -1;
	l->no_cgroups = means.why;
	if (means.has_cgroups)
		l->ground.cgroups = bj_cgroups_adopt(&means.cgroups, rooms);
	return 0;
}

/* Enter the user namespace (unless born in it) and become who we are there. The starter, outside,
 * writes the maps. */
static int give_up_root(struct launcher *l, const struct bj_launch_birth *birth, struct bj_err *err)
{
	const uid_t self = birth->uids ? 0 : BJ_JAR_UID;

	if (birth->root && setgroups(0, NULL) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot drop supplementary groups");
	if (birth->root && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno,
				  "cannot make a user namespace; run `belljar doctor` for the fix");

	int r = ask_means(l, err);

	if (r == 0)
		r = bj_creds_become(self, self, err);
	if (r < 0)
		return r;
	/* A change of uid hides /proc/self and that of every child, whose maps we must write. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot see own children");
	return 0;
}

/* Open an image and hold it against removal: the lock lasts as long as this process. */
static int hold_image(const struct bj_launch_image *image, struct bj_err *err)
{
	if (!image->there) {
		bj_err_set(err, BJ_E_NOT_FOUND, 0, "there is no image");
		return BJ_MOUNTS_NOTHING;
	}
	if (!image->root)
		return BJ_MOUNTS_HOST;

	const int fd = open(image->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0)
		return fd;
	bj_err_set(err, BJ_E_NOT_FOUND, errno, "cannot use the image at %.100s", image->root);
	if (fd >= 0)
		close(fd);
	return BJ_MOUNTS_NOTHING;
}

/* Only the first one must be there. */
static int hold_images(struct launcher *l, const struct bj_launch_image *images, int *ret_fds,
		       struct bj_err *err)
{
	struct bj_err gone;

	for (int i = 0; i < BJ_WIRE_IMAGES; i++) {
		ret_fds[i] = hold_image(&images[i], i == 0 ? err : &gone);
		l->ground.images[i].there = ret_fds[i] != BJ_MOUNTS_NOTHING;
		l->ground.images[i].python = images[i].python;
		l->ground.images[i].bash = images[i].bash;
	}
	return l->ground.images[0].there ? 0 : -err->code;
}

/* What making jars does not take, neither we nor our children can do. */
static int load_filter(struct bj_err *err)
{
	const int r = bj_filter_load(&bj_filter_launcher);

	return r < 0 ? bj_err_set(err, BJ_E_UNSUPPORTED, -r,
				  "cannot load the launcher's filter; run `belljar doctor`")
		     : 0;
}

/* For one jar one will do. Without an empty one there are no roots (roots.h), and jars pivot. */
static int open_procs(struct launcher *l, struct bj_err *err)
{
	struct bj_err unused;

	l->ground.n_procs = bj_mounts_procs(l->ground.procs, l->once ? 1 : BJ_MOUNTS_PROCS);
	if (l->ground.n_procs == 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open /proc");
	if (!l->once)
		(void)!bj_mounts_nobody(&unused);
	return 0;
}

static int build_ground(struct launcher *l, const struct bj_launch_birth *birth,
			const struct bj_launch_image *images, struct bj_err *err)
{
	int fds[BJ_WIRE_IMAGES];
	int r = hold_images(l, images, fds, err);

	/* A session keyring of our own, empty: keys of the caller are not reachable from a jar. */
	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	be_quick();
	if (r == 0 && !birth->root)
		r = give_up_root(l, birth, err);
	if (r == 0)
		r = bj_mounts_templates(fds, BJ_WIRE_IMAGES, true, err);
	if (r == 0)
		r = open_procs(l, err);
	if (r == 0 && birth->root)
		r = give_up_root(l, birth, err);
	if (r == 0)
		r = bj_userns_limit_all(err);
	if (r == 0)
		r = bj_creds_keep_caps(l->once ? KEEP_CAPS : KEEP_CAPS_MANY, err);
	/* Children inherit it: where it is left out, it is left out here, too. */
	if (r == 0 && !bj_layer_faulty(BJ_LAYER_NO_NEW_PRIVS))
		r = bj_creds_no_new_privs(err);
	if (r == 0)
		r = load_filter(err);
	if (r == 0)
		r = l->ground.init_exe = init_program(err);
	return r < 0 ? r : 0;
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

static int come_up(struct launcher *l, const struct bj_launch_birth *birth,
		   const struct bj_launch_image *images, struct bj_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = (uint64_t)BJ_EVENT_CONTROL << 32 };

	l->n_slots = count_slots();
	/* Two uids a jar: with more jars than that, two of them would share. */
	if (l->ground.own_uids && l->n_slots > l->ground.uid_count / 2)
		l->n_slots = l->ground.uid_count / 2;
	if (l->n_slots == 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "a jar needs two uids of its own; raise native.uid_count");
	l->jars = calloc(l->n_slots, sizeof(*l->jars));
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!l->jars || l->epoll < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->control, &ev) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot watch the control socket");

	const int r = build_ground(l, birth, images, err);

	return r < 0 ? r : watch_others(l, err);
}

static void say_hello(struct launcher *l, const struct bj_err *err)
{
	struct bj_wire_reply hello = { .magic = BJ_WIRE_MAGIC, .kind = BJ_REPLY_HELLO };

	if (err)
		hello.err = *err;
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

	bj_fd_send(reply_fd, &reply, sizeof(reply), NULL, 0);
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

static struct bj_jar_shape shape_of(const struct bj_wire_launch *run)
{
	return (struct bj_jar_shape){
		.limits = { .memory = run->memory, .cpu_milli = run->cpu_milli, .pids = run->pids },
		.tmp_size = run->tmp_size
	};
}

/* The zygote died, or the slot did, before the script began: that is no fault of the script. Its
 * run gets a jar of its own and a cold start. */
static void rescue(struct launcher *l, struct bj_jar *jar)
{
	struct bj_jar *fresh = launcher_new_jar(l, jar->image);
	struct bj_err err = { 0 };

	if (!fresh)
		return;
	bj_jar_move_run(jar, fresh);
	fresh->cold_only = true;

	const struct bj_jar_shape shape = shape_of(&fresh->run);

	if (bj_jar_build(fresh, &l->ground, &shape, &err) < 0)
		bj_jar_fail(fresh, &err);
	launcher_advance(l, fresh);
}

void launcher_advance(struct launcher *l, struct bj_jar *jar)
{
	struct bj_err err = { 0 };

	if (next_step(l, jar, &err) < 0 || bj_jar_watch(jar, &err) < 0) {
		bj_jar_fail(jar, &err);
	}
	if (jar->wrong) {
		jar->wrong = false;
		pool_found_wrong(l, jar);
	}
	if (jar->failed && jar->has_run && jar->warm && jar->started == 0)
		rescue(l, jar);
	if (jar->dying)
		bj_jar_reply_early(jar);
	if (!bj_jar_over(jar))
		return;
	if (jar->stock)
		pool_over(l, jar);
	l->jars[jar->index] = NULL;
	l->n_live--;
	bj_jar_done(jar, &l->ground);
	free(jar);
}

/* A jar for this run: one that waits or is on its way, else a new one. */
static struct bj_jar *find_jar(struct launcher *l, const struct bj_wire_launch *msg)
{
	struct bj_jar *jar = pool_take(l, msg);

	return jar ? jar : launcher_new_jar(l, msg->image);
}

static void launch(struct launcher *l, const struct bj_wire_launch *msg, int *fds, size_t n_fds)
{
	const struct bj_jar_shape shape = {
		.limits = { .memory = msg->memory, .cpu_milli = msg->cpu_milli, .pids = msg->pids },
		.tmp_size = msg->tmp_size
	};
	struct bj_err err = { 0 };

	if (msg->flags & BJ_WIRE_AGAIN)
		pool_lost(l, msg);

	struct bj_jar *jar = find_jar(l, msg);

	if (!jar) {
		bj_err_set(&err, BJ_E_LIMIT, 0, "%u jars are open already; try again later",
			   l->n_live);
		refuse(fds[BJ_WIRE_FD_REPLY], &err);
		for (size_t i = 0; i < n_fds; i++)
			close(fds[i]);
		return;
	}

	const bool fresh = jar->init_pid == 0;
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
	const ssize_t n = bj_fd_recv(l->control, &msg, sizeof(msg), fds, BJ_WIRE_FD_MAX, &n_fds,
				     MSG_DONTWAIT);

	if (n == -EAGAIN || n == -EPROTO)
		return true; /* a packet that is not one of ours is dropped */
	if (n <= 0)
		return false;
	if (bj_wire_check(&msg, (size_t)n, fds, n_fds, &err) == 0 &&
	    check_image(l, &msg, &err) == 0) {
		launch(l, &msg, fds, n_fds);
		return true;
	}
	if (bj_wire_is_census(&msg, (size_t)n, fds, n_fds))
		answer_census(l, fds[BJ_WIRE_FD_REPLY]);
	else if (n_fds > 0)
		refuse(fds[BJ_WIRE_FD_REPLY], &err);
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
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
	else
		handle_jar(l, what, (uint32_t)data);
	return true;
}

/* --- time ------------------------------------------------------------------------------------- */

static bool may_linger(const struct launcher *l, const struct bj_jar *jar, uint64_t now)
{
	const uint64_t latest = jar->deadline + BJ_JAR_LINGER_MAX_NS;

	return jar->exited && now < l->resume && now < latest - latest % BJ_JAR_LINGER_SPAN_NS;
}

/* Kill what is due and look after the rest; return when to come back, 0 when no jar lives. */
static uint64_t check_deadlines(struct launcher *l)
{
	const uint64_t now = bj_clock_now();
	const bool tick = now >= l->next_tick;
	uint64_t next = 0;

	for (uint32_t i = 0, seen = 0; seen < l->n_live && i < l->n_slots; i++) {
		struct bj_jar *jar = l->jars[i];

		if (!jar)
			continue;
		seen++;
		if (jar->dying || jar->deadline == 0)
			continue;

		const uint64_t due = may_linger(l, jar, now) ? l->resume : jar->deadline;

		if (due <= now)
			bj_jar_expire(jar);
		else if (tick)
			bj_jar_tick(jar);
		if (!jar->dying && (next == 0 || due < next))
			next = due;
	}
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

/* The earlier of two points in time, of which 0 is never. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
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

static void make_roots(struct launcher *l)
{
	uint32_t images = 0;

	for (uint32_t i = 0; i < BJ_WIRE_IMAGES; i++)
		images |= l->ground.images[i].there ? 1u << i : 0;
	bj_roots_init(&l->roots, images, l->ground.procs[0], l->ground.proc != BJ_MOUNTS_PROC_NONE);
	l->ground.roots = &l->roots;
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

	if (up && !settings->ahead) {
		bj_births_init(&l.births);
		l.ground.births = &l.births;
		bj_nets_init(&l.nets);
		l.ground.nets = &l.nets;
		make_roots(&l);
	}
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
