/* SPDX-License-Identifier: Apache-2.0 */

/* The life of the nursery: started, heard, replaced when it is dead or hangs. Without one the
 * launcher bears inits itself, which takes longer. */

#include "base/clock.h"
#include "base/err.h"
#include "launch/launcher.h"

#include <sys/epoll.h>
#include <unistd.h>

enum { MAX_DOUBLINGS = 5 }; /* of the rest */

#define REST_NS  UINT64_C(1000000000) /* between two starts; more when they come to nothing */
#define STUCK_NS UINT64_C(5000000000) /* asked, and without a word: it never will answer */

static uint32_t images_there(const struct launcher *l)
{
	uint32_t images = 0;

	for (uint32_t i = 0; i < BJ_WIRE_IMAGES; i++)
		images |= l->ground.images[i].there ? 1u << i : 0;
	return images;
}

static void watch(struct launcher *l, int fd, uint32_t what)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = (uint64_t)what << 32 };

	epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev);
}

void nursery_keep(struct launcher *l, uint64_t now)
{
	const struct bj_nursery_ground ground = { .images = images_there(l),
						  .n_procs = (uint32_t)l->ground.n_procs,
						  .want_proc =
							  l->ground.proc != BJ_MOUNTS_PROC_NONE };
	struct bj_err unused;

	if (l->nursery.pid > 0 || now < l->nursery_at)
		return;
	l->nursery_at = now + (REST_NS << l->nursery_vain);
	l->nursery_vain += l->nursery_vain < MAX_DOUBLINGS;
	if (bj_nursery_start(&l->nursery, &ground, l->ground.procs, &unused) < 0)
		return;
	watch(l, l->nursery.sock, BJ_EVENT_NURSERY);
	watch(l, l->nursery.pidfd, BJ_EVENT_NURSERY_DEAD);
}

/* 0 when there was nothing to hear, negative when it was lost. */
static int hear_one(struct launcher *l)
{
	struct bj_seal_report report;
	int fds[BJ_NURSERY_FDS];
	const int r = bj_nursery_hear(&l->nursery, &report, fds);

	if (r <= 0)
		return r;
	l->nursery_heard = bj_clock_now();
	/* It works: what the rest has grown to was for those before it. */
	if (l->nursery_vain > 0)
		l->nursery_at = l->nursery_heard + REST_NS;
	l->nursery_vain = 0;

	const uint64_t index = report.nonce >> 32;
	struct bj_jar *jar = index < l->n_slots ? l->jars[index] : NULL;

	if (jar && bj_jar_nonce(jar) == report.nonce) {
		bj_jar_heard(jar, &l->ground, &report, fds);
		launcher_advance(l, jar);
		return 1;
	}
	/* That jar is gone. */
	for (int i = 0; i < BJ_NURSERY_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return 1;
}

void nursery_says(struct launcher *l)
{
	/* One at a time: an event may be older than what it is about. */
	if (l->nursery.pid > 0 && hear_one(l) < 0)
		nursery_end(l); /* some jar would wait for what was lost */
}

/* Under load many wait for it, but some are answered. */
void nursery_mind(struct launcher *l, uint64_t now)
{
	if (l->nursery.pid <= 0 || now < l->nursery_heard + STUCK_NS)
		return;
	for (uint32_t i = 0; i < l->n_slots; i++) {
		const struct bj_jar *jar = l->jars[i];

		if (jar && jar->unborn && now > jar->asked + STUCK_NS) {
			nursery_end(l);
			return;
		}
	}
}

void nursery_end(struct launcher *l)
{
	if (l->nursery.pid <= 0)
		return;
	/* To close them is not enough: an init on its way may hold copies. */
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->nursery.sock, NULL);
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->nursery.pidfd, NULL);
	/* Dead first, or it could bear one more that builds its jar, tells us when we have stopped
	 * to listen, and stays for ever. Whatever it and its inits have said counts. What it bore
	 * and did not tell of never begins, and ends. */
	bj_nursery_kill(&l->nursery);
	while (hear_one(l) != 0)
		;
	bj_nursery_stop(&l->nursery);
	zygote_expect_strays(l);
	for (uint32_t i = 0; i < l->n_slots; i++) {
		struct bj_jar *jar = l->jars[i];

		if (!jar || !jar->nursed)
			continue;
		bj_jar_lose_nursery(jar);
		launcher_advance(l, jar);
	}
}
