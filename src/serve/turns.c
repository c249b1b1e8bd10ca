/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation: fair queueing by the time that runs take.
 *
 * A line has a clock of its own. A turn moves it ahead by what the line's runs took lately, and
 * when the run ends the guess is put right. The next turn goes to the line whose clock is furthest
 * behind. The clock of the service is that of the line that had the last turn: a line that comes
 * back after a pause starts there, so that nobody saves up turns by staying away. */

#include "serve/turns.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

enum { NAME = 64, FIRST_GUESS_NS = 1000000 };

struct waiter {
	int grant; /* eventfd: readable when it is this one's turn */
	bool granted;
	struct bj_turn *turn;
	struct waiter *next;
};

struct bj_line {
	char tenant[NAME];
	unsigned int running, waiting;
	uint64_t clock, guess;
	struct waiter *first, **last;
	struct bj_line *next;
};

struct bj_turns {
	pthread_mutex_t lock;
	unsigned int running, waiting;
	unsigned int max_running, max_waiting;
	uint64_t clock;
	struct bj_line *lines;
};

struct bj_turns *bj_turns_new(unsigned int running, unsigned int waiting)
{
	struct bj_turns *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	t->max_running = running;
	t->max_waiting = waiting;
	return t;
}

void bj_turns_free(struct bj_turns *t)
{
	if (!t)
		return;
	while (t->lines) {
		struct bj_line *line = t->lines;

		t->lines = line->next;
		free(line);
	}
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct bj_line *find_line(struct bj_turns *t, const char *tenant)
{
	struct bj_line *line = t->lines;

	while (line && strncmp(line->tenant, tenant ? tenant : "", NAME - 1) != 0)
		line = line->next;
	return line;
}

/* Lines without anybody whose clock says nothing any more. */
static void drop_idle(struct bj_turns *t)
{
	struct bj_line **p = &t->lines;

	while (*p) {
		struct bj_line *line = *p;

		if (line->running || line->waiting || line->clock > t->clock) {
			p = &line->next;
		} else {
			*p = line->next;
			free(line);
		}
	}
}

static struct bj_line *get_line(struct bj_turns *t, const char *tenant)
{
	struct bj_line *line = find_line(t, tenant);

	if (!line) {
		drop_idle(t);
		line = calloc(1, sizeof(*line));
		if (!line)
			return NULL;
		snprintf(line->tenant, sizeof(line->tenant), "%s", tenant ? tenant : "");
		line->guess = FIRST_GUESS_NS;
		line->last = &line->first;
		line->next = t->lines;
		t->lines = line;
	}
	if (!line->running && !line->waiting && line->clock < t->clock)
		line->clock = t->clock;
	return line;
}

/* Whether one more may wait in @line (NULL: a new one). A flood in one line fills the places of
 * all, but every line has its share beyond that. */
static bool is_full(const struct bj_turns *t, const struct bj_line *line)
{
	unsigned int lines = line ? 0 : 1;

	if (t->waiting < t->max_waiting)
		return false;
	for (const struct bj_line *l = t->lines; l; l = l->next)
		lines += l == line || l->running || l->waiting;
	return lines < 2 || (line ? line->waiting : 0) >= t->max_waiting / lines;
}

/* --- turns ------------------------------------------------------------------------------------ */

static void begin_turn(struct bj_turns *t, struct bj_line *line, struct bj_turn *turn)
{
	t->running++;
	line->running++;
	t->clock = line->clock;
	line->clock += line->guess;
	*turn = (struct bj_turn){ .line = line, .began = bj_clock_now(), .charged = line->guess };
}

static struct bj_line *next_line(struct bj_turns *t)
{
	struct bj_line *next = NULL;

	for (struct bj_line *line = t->lines; line; line = line->next)
		if (line->first && (!next || line->clock < next->clock))
			next = line;
	return next;
}

/* Let those in who may go now. */
static void grant(struct bj_turns *t)
{
	struct bj_line *line;

	while (t->running < t->max_running && (line = next_line(t))) {
		struct waiter *w = line->first;

		line->first = w->next;
		if (!line->first)
			line->last = &line->first;
		line->waiting--;
		t->waiting--;
		begin_turn(t, line, w->turn);
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

static void withdraw(struct bj_turns *t, struct bj_line *line, struct waiter *w)
{
	struct waiter **p = &line->first;

	while (*p != w)
		p = &(*p)->next;
	*p = w->next;
	if (!w->next)
		line->last = p;
	line->waiting--;
	t->waiting--;
}

/* True when it is our turn; false when cancelled before that. */
static bool wait_turn(struct bj_turns *t, struct bj_line *line, struct waiter *w, int cancel_fd)
{
	struct pollfd polls[] = { { .fd = w->grant, .events = POLLIN },
				  { .fd = cancel_fd, .events = POLLIN } };

	while (poll(polls, 2, -1) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&t->lock);

	const bool granted = w->granted;

	if (!granted)
		withdraw(t, line, w);
	pthread_mutex_unlock(&t->lock);
	return granted;
}

static int wait_in_line(struct bj_turns *t, const char *tenant, int cancel_fd, struct bj_turn *ret)
{
	AUTO_FD int event = eventfd(0, EFD_CLOEXEC);
	struct waiter w = { .grant = event, .turn = ret };

	if (event < 0)
		return -BJ_E_SYSTEM;
	pthread_mutex_lock(&t->lock);

	struct bj_line *line = get_line(t, tenant);

	if (!line || is_full(t, line)) {
		pthread_mutex_unlock(&t->lock);
		return line ? -BJ_E_LIMIT : -BJ_E_SYSTEM;
	}
	*line->last = &w;
	line->last = &w.next;
	line->waiting++;
	t->waiting++;
	grant(t); /* a place may have become free since we looked */
	pthread_mutex_unlock(&t->lock);
	return wait_turn(t, line, &w, cancel_fd) ? 0 : -BJ_E_CANCELLED;
}

int bj_turns_enter(struct bj_turns *t, const char *tenant, int cancel_fd, struct bj_turn *ret)
{
	struct bj_line *line = NULL;

	pthread_mutex_lock(&t->lock);
	if (t->running < t->max_running && t->waiting == 0)
		line = get_line(t, tenant);
	if (line)
		begin_turn(t, line, ret);
	pthread_mutex_unlock(&t->lock);
	return line ? 0 : wait_in_line(t, tenant, cancel_fd, ret);
}

void bj_turns_leave(struct bj_turns *t, struct bj_turn *turn)
{
	struct bj_line *line = turn->line;
	const uint64_t took = bj_clock_now() - turn->began;

	pthread_mutex_lock(&t->lock);
	t->running--;
	line->running--;
	line->clock = line->clock - turn->charged + took;
	line->guess = (line->guess * 3 + took) / 4;
	grant(t);
	pthread_mutex_unlock(&t->lock);
}

bool bj_turns_full(struct bj_turns *t, const char *tenant)
{
	pthread_mutex_lock(&t->lock);

	const bool full = t->running >= t->max_running && is_full(t, find_line(t, tenant));

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
