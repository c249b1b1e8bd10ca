/* SPDX-License-Identifier: Apache-2.0 */
#include "check/pieces.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* A piece of this size would be so many small pages that a huge one costs less. Under a sanitizer
 * each piece is one of malloc()'s, so that a wrong access is seen. */
#ifdef BJ_SANITIZED
#define LARGE SIZE_MAX
#else
#define LARGE ((size_t)1 << 20)
#endif

/* What waits for the next text: enough for one of a megabyte. */
enum { WAITING_MOST = 64 };
#define WAITING_BYTES ((size_t)512 << 20)

struct head {
	_Alignas(16) size_t mapped; /* 0: it is one of malloc()'s */
};

/* Nothing of this is in the pieces themselves, whose pages the kernel may take. */
static struct {
	pthread_mutex_t lock;
	struct {
		struct head *piece;
		size_t size;
	} items[WAITING_MOST]; /* the oldest first */
	size_t n, bytes;
} waiting = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Take item @i out; the lock is held. */
static struct head *pick(size_t i, size_t *ret_size)
{
	struct head *piece = waiting.items[i].piece;

	*ret_size = waiting.items[i].size;
	waiting.bytes -= *ret_size;
	waiting.n--;
	memmove(&waiting.items[i], &waiting.items[i + 1],
		(waiting.n - i) * sizeof(waiting.items[0]));
	return piece;
}

/* The smallest that has room for @size bytes, unless half of it would not be used. */
static struct head *take_waiting(size_t size, size_t *ret_size)
{
	struct head *piece = NULL;
	size_t best = WAITING_MOST;

	pthread_mutex_lock(&waiting.lock);
	for (size_t i = 0; i < waiting.n; i++) {
		const size_t has = waiting.items[i].size;

		if (has >= size && has / 2 <= size &&
		    (best == WAITING_MOST || has < waiting.items[best].size))
			best = i;
	}
	if (best < WAITING_MOST)
		piece = pick(best, ret_size);
	pthread_mutex_unlock(&waiting.lock);
	return piece;
}

/* Let @piece wait, and whatever has waited longest go, as far as there is no room for both. */
static void let_wait(struct head *piece, size_t size)
{
	if (size > WAITING_BYTES || (!getenv("NOFREE") && madvise(piece, size, MADV_FREE) < 0)) {
		munmap(piece, size);
		return;
	}
	pthread_mutex_lock(&waiting.lock);
	while (waiting.n == WAITING_MOST || waiting.bytes > WAITING_BYTES - size) {
		size_t freed;
		struct head *oldest = pick(0, &freed);

		munmap(oldest, freed);
	}
	waiting.items[waiting.n].piece = piece;
	waiting.items[waiting.n++].size = size;
	waiting.bytes += size;
	pthread_mutex_unlock(&waiting.lock);
}

/* @size bytes that begin where a huge page can. */
static struct head *map(size_t size)
{
	char *all = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return NULL;

	const size_t front = -(uintptr_t)all % HUGE_PAGE;

	if (front)
		munmap(all, front);
	munmap(all + front + size, HUGE_PAGE - front);
	/* Where there are none, small ones do. */
	(void)madvise(all + front, size, MADV_HUGEPAGE);
	return (struct head *)(all + front);
}

void *bj_piece_new(size_t size)
{
	if (size > SIZE_MAX / 2)
		return NULL;

	size_t whole = size + sizeof(struct head);
	struct head *head;

	if (whole < LARGE) {
		head = malloc(whole);
		whole = 0;
	} else {
		whole = (whole + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
		head = take_waiting(whole, &whole);
		if (!head)
			head = map(whole);
	}
	if (!head)
		return NULL;
	head->mapped = whole;
	return head + 1;
}

void bj_piece_free(void *piece)
{
	if (!piece)
		return;

	struct head *head = (struct head *)piece - 1;

	if (head->mapped)
		let_wait(head, head->mapped);
	else
		free(head);
}

static void *grow_small(void *piece, size_t size)
{
	struct head *head = realloc(piece ? (struct head *)piece - 1 : NULL, sizeof(*head) + size);

	if (!head)
		return NULL;
	head->mapped = 0;
	return head + 1;
}

void *bj_piece_grow(void *items, uint32_t *room, size_t size)
{
	enum { FIRST = 64 };
	const size_t before = *room * size;
	uint32_t more = *room ? *room * 2 : FIRST;
	void *moved;

	if (sizeof(struct head) + more * size < LARGE) {
		moved = grow_small(items, more * size);
	} else {
		more *= 2; /* to move large arrays less often */
		moved = bj_piece_new(more * size);
		if (moved && items) {
			memcpy(moved, items, before);
			bj_piece_free(items);
		}
	}
	if (moved)
		*room = more;
	return moved;
}
