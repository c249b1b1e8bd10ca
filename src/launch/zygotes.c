/* SPDX-License-Identifier: Apache-2.0 */

/* The life of the zygotes: started, replaced when dead, old or sick, given up for a while when they
 * do not come up. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "launch/launcher.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define GIVE_UP_NS UINT64_C(30000000000) /* then it is tried again */
#define STRAYS_NS  UINT64_C(20000000)

enum {
	ZYGOTE_RUNS = 5000,   /* then a new one: its slots share one address layout */
	MAX_FAILURES = 3,     /* in a row: every run is cold for a while */
	MAX_COMPLAINTS = 3,   /* in a row: it is sick */
	MAX_START_BUILDS = 2, /* times the time to build a jar: it does not come up */
	CHILDREN_MAX = 1 << 20,
};

static void watch(struct launcher *l, int fd, uint32_t what, uint32_t pool)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = (uint64_t)what << 32 | pool };

	epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev);
}

void zygote_expect_strays(struct launcher *l)
{
	l->strays_at = bj_clock_now() + STRAYS_NS;
}

/* To close them is not enough: a child on its way to exec may hold copies, and then the next zygote
 * would die of the events of this one. */
static void stop(struct launcher *l, struct pool *p)
{
	if (p->zygote.pid <= 0)
		return;
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, p->zygote.sock, NULL);
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, p->zygote.pidfd, NULL);
	bj_zygote_stop(&p->zygote);
	zygote_expect_strays(l);
}

static void end(struct launcher *l, struct pool *p, enum bj_wire_end why)
{
	l->ends[why] += p->zygote.pid > 0;
	stop(l, p);
}

static void start(struct launcher *l, uint32_t pool)
{
	const uint32_t image = pool_image(pool);
	struct pool *p = &l->pools[pool];
	struct bj_err err;

	p->zygote_since = bj_clock_now();
	p->complaints = p->lost = 0;
	p->starts++;
	if (bj_zygote_start(&p->zygote, image, l->ground.images[image].python, p->modules,
			    pool_kind(pool) == POOL_HEAVY, &err) < 0) {
		p->failures++;
		return;
	}
	watch(l, p->zygote.sock, BJ_EVENT_ZYGOTE, pool);
	watch(l, p->zygote.pidfd, BJ_EVENT_ZYGOTE_DEAD, pool);
}

/* None of the large modules is in this image: nothing to keep ready. */
static void dismiss(struct launcher *l, struct pool *p)
{
	stop(l, p);
	bj_demand_init(&p->demand, 0, 0);
}

void zygote_says(struct launcher *l, uint32_t pool)
{
	struct pool *p = &l->pools[pool];
	char words[2];
	const ssize_t n =
		p->zygote.pid > 0 ? recv(p->zygote.sock, words, sizeof(words), MSG_DONTWAIT) : -1;

	if (n < 0)
		return;
	/* When it is dead, the pidfd speaks. */
	if (n == 0) {
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, p->zygote.sock, NULL);
	} else if (p->zygote.ready || n != 1 || (words[0] != 'r' && words[0] != 'n')) {
		zygote_replace(l, pool, BJ_END_WRONG);
	} else if (words[0] == 'n') {
		dismiss(l, p);
	} else {
		p->zygote.ready = true;
	}
}

static void lose(struct launcher *l, struct pool *p, enum bj_wire_end why)
{
	if (p->zygote.pid <= 0)
		return;
	p->failures += !p->zygote.ready || why == BJ_END_WRONG;
	end(l, p, why);
}

void zygote_dead(struct launcher *l, uint32_t pool)
{
	lose(l, &l->pools[pool], BJ_END_DEAD);
}

void zygote_end(struct launcher *l, uint32_t pool)
{
	end(l, &l->pools[pool], BJ_END_UNUSED);
}

void zygote_replace(struct launcher *l, uint32_t pool, enum bj_wire_end why)
{
	struct pool *p = &l->pools[pool];

	lose(l, p, why);
	p->filled_at = bj_clock_now();
}

bool zygote_keep(struct launcher *l, uint32_t pool)
{
	struct pool *p = &l->pools[pool];
	const uint64_t age = bj_clock_now() - p->zygote_since;

	if (p->zygote.pid > 0 && !p->zygote.ready && age > MAX_START_BUILDS * BJ_JAR_BUILD_NS)
		lose(l, p, BJ_END_SLOW);
	if (p->complaints >= MAX_COMPLAINTS)
		lose(l, p, p->complaint);
	if (p->zygote.spawned > ZYGOTE_RUNS)
		end(l, p, BJ_END_OLD);
	if (p->failures >= MAX_FAILURES && age > GIVE_UP_NS)
		p->failures = MAX_FAILURES - 1;
	if (p->zygote.pid <= 0 && p->failures < MAX_FAILURES)
		start(l, pool);
	return p->zygote.pid > 0 && p->zygote.ready;
}

/* --- test builds ------------------------------------------------------------------------------ */

#ifdef BJ_FAULTS
enum bj_sick zygote_sick(const struct pool *pool)
{
	static const char *const kinds[BJ_SICK_COUNT] = { "",     "word", "pid",  "nonce", "dies",
							  "deaf", "slow", "mute", "late",  "busy" };
	const char *text = getenv("BELLJAR_SICK");
	const size_t n = text ? strcspn(text, ":") : 0;

	for (int how = BJ_SICK_NOT + 1; text && text[n] && how < BJ_SICK_COUNT; how++)
		if (strlen(kinds[how]) == n && strncmp(text, kinds[how], n) == 0 &&
		    pool->starts <= strtoul(text + n + 1, NULL, 10))
			return (enum bj_sick)how;
	return BJ_SICK_NOT;
}
#else
enum bj_sick zygote_sick(const struct pool *pool)
{
	(void)pool;
	return BJ_SICK_NOT;
}
#endif

/* --- strays ----------------------------------------------------------------------------------- */

static bool is_known(const struct launcher *l, pid_t pid)
{
	if (l->nursery.pid == pid)
		return true;
	for (int i = 0; i < MAX_POOLS; i++)
		if (l->pools[i].zygote.pid == pid)
			return true;
	for (uint32_t i = 0, seen = 0; seen < l->n_live && i < l->n_slots; i++) {
		const struct bj_jar *jar = l->jars[i];

		seen += jar != NULL;
		if (jar && (jar->init_pid == pid || jar->main_pid == pid ||
			    jar->helper_pid == pid || jar->collect_pid == pid))
			return true;
	}
	return false;
}

/* Whether @pid may be the script of a jar that nobody has told us of yet: it can run and end before
 * we come to read its number. */
static bool may_be_told(const struct launcher *l, pid_t pid)
{
	for (uint32_t i = 0, seen = 0; seen < l->n_live && i < l->n_slots; i++) {
		const struct bj_jar *jar = l->jars[i];

		seen += jar != NULL;
		if (jar && !jar->dying && jar->watch[BJ_JAR_EV_PID] >= 0 && bj_jar_holds(jar, pid))
			return true;
	}
	return false;
}

/* False: it lives still, and is killed with its jar, or somebody will ask how it ended. */
static bool reap_stray(const struct launcher *l, pid_t pid)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return true;
	if (info.si_pid == 0 || may_be_told(l, pid))
		return false;
	waitpid(pid, NULL, WNOHANG);
	return true;
}

/* Unless somebody waits for them, the jars that they are in cannot end. */
void zygote_reap_strays(struct launcher *l)
{
	AUTO_BUF struct bj_buf list = { .max = CHILDREN_MAX };
	AUTO_FD int fd = open("/proc/self/task/1/children", O_RDONLY | O_CLOEXEC);

	l->strays_at = 0;
	/* It comes in pieces of a page. */
	if (fd < 0 || bj_fd_read_all(fd, &list) < 0 || list.size == 0)
		return;
	for (char *p = list.data, *end; *p; p = end) {
		const pid_t pid = (pid_t)strtol(p, &end, 10);

		if (end == p)
			break;
		end += *end == ' ';
		if (!is_known(l, pid) && !reap_stray(l, pid))
			zygote_expect_strays(l);
	}
}
