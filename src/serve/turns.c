/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/turns.h"

#include "base/cleanup.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

struct waiter {
	int grant; /* eventfd: readable when it is this one's turn */
	bool granted;
	struct waiter *next;
};

struct bj_turns {
	pthread_mutex_t lock;
	unsigned int running, waiting;
	unsigned int max_running, max_waiting;
	struct waiter *first, **last;
};

struct bj_turns *bj_turns_new(unsigned int running, unsigned int waiting)
{
	struct bj_turns *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	t->last = &t->first;
	t->max_running = running;
	t->max_waiting = waiting;
	return t;
}

void bj_turns_free(struct bj_turns *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* Let those in who may go now. */
static void grant(struct bj_turns *t)
{
	while (t->first && t->running < t->max_running) {
		struct waiter *w = t->first;

		t->first = w->next;
		if (!t->first)
			t->last = &t->first;
		t->waiting--;
		t->running++;
		w->granted = true;
		eventfd_write(w->grant, 1);
	}
}

void bj_turns_resize(struct bj_turns *t, unsigned int running, unsigned int waiting)
{
	pthread_mutex_lock(&t->lock);
	t->max_running = running;
	t->max_waiting = waiting;
	grant(t);
	pthread_mutex_unlock(&t->lock);
}

static void withdraw(struct bj_turns *t, struct waiter *w)
{
	struct waiter **p = &t->first;

	while (*p != w)
		p = &(*p)->next;
	*p = w->next;
	if (!w->next)
		t->last = p;
	t->waiting--;
}

/* True when it is our turn; false when cancelled before that. */
static bool wait_turn(struct bj_turns *t, struct waiter *w, int cancel_fd)
{
	struct pollfd polls[] = { { .fd = w->grant, .events = POLLIN },
				  { .fd = cancel_fd, .events = POLLIN } };

	while (poll(polls, 2, -1) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&t->lock);

	const bool granted = w->granted;

	if (!granted)
		withdraw(t, w);
	pthread_mutex_unlock(&t->lock);
	return granted;
}

static int wait_in_line(struct bj_turns *t, int cancel_fd)
{
	AUTO_FD int event = eventfd(0, EFD_CLOEXEC);
	struct waiter w = { .grant = event };

	if (event < 0)
		return -BJ_E_SYSTEM;
	pthread_mutex_lock(&t->lock);
	if (t->waiting >= t->max_waiting) {
		pthread_mutex_unlock(&t->lock);
		return -BJ_E_LIMIT;
	}
	*t->last = &w;
	t->last = &w.next;
	t->waiting++;
	grant(t); /* a place may have become free since we looked */
	pthread_mutex_unlock(&t->lock);
	return wait_turn(t, &w, cancel_fd) ? 0 : -BJ_E_CANCELLED;
}

int bj_turns_enter(struct bj_turns *t, int cancel_fd)
{
	pthread_mutex_lock(&t->lock);

	const bool free_place = t->running < t->max_running && !t->first;

	if (free_place)
		t->running++;
	pthread_mutex_unlock(&t->lock);
	return free_place ? 0 : wait_in_line(t, cancel_fd);
}

void bj_turns_leave(struct bj_turns *t)
{
	pthread_mutex_lock(&t->lock);
	t->running--;
	grant(t);
	pthread_mutex_unlock(&t->lock);
}

bool bj_turns_full(struct bj_turns *t)
{
	pthread_mutex_lock(&t->lock);

	const bool full = t->running >= t->max_running && t->waiting >= t->max_waiting;

	pthread_mutex_unlock(&t->lock);
	return full;
}

void bj_turns_count(struct bj_turns *t, unsigned int *ret_running, unsigned int *ret_waiting)
{
	pthread_mutex_lock(&t->lock);
	*ret_running = t->running;
	*ret_waiting = t->waiting;
	pthread_mutex_unlock(&t->lock);
}
