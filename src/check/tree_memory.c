/* SPDX-License-Identifier: Apache-2.0 */
#include "check/tree_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Each chunk is twice as large as the one before, up to a bound. Those of an ordinary script come
 * from malloc(), which keeps them for the next. A large text needs hundreds of megabytes, which
 * nobody keeps; in small pages the kernel would take as long to hand them out as the parser takes
 * to fill them. */
#define CHUNK_FIRST (64 * 1024 - 128)
#define CHUNK_MOST  (16u << 20)
#define HUGE_PAGE   ((size_t)2 << 20)
/* A piece of this size would be so many small pages that a huge one costs less. It also stays out
 * of the part of malloc()'s memory that is given back when much of it is free, and which every
 * check of a large text had to be handed anew. */
#define PIECE_HUGE ((size_t)1 << 20)

/* Under a sanitizer each piece is one of malloc()'s, so that a wrong access is seen. */
#ifdef BJ_SANITIZED
#define LARGEST 0
#else
#define LARGEST ((size_t)(BJ_TREE_CLASSES - 1) * 16 - sizeof(struct bj_tree_head))
#endif

struct bj_tree_chunk {
	struct bj_tree_chunk *next;
	size_t mapped; /* 0: it is one of malloc()'s */
	_Alignas(16) char data[];
};

struct bj_tree_big {
	struct bj_tree_big *next, *before;
	struct bj_tree_head head;
};

_Thread_local struct bj_tree_memory *bj_tree_memory_now;

void bj_tree_memory_begin(struct bj_tree_memory *memory)
{
	memset(memory, 0, sizeof(*memory));
	memory->outer = bj_tree_memory_now;
	bj_tree_memory_now = memory;
}

void bj_tree_memory_end(struct bj_tree_memory *memory)
{
	bj_tree_memory_now = memory->outer;
	while (memory->chunks) {
		struct bj_tree_chunk *next = memory->chunks->next;

		if (memory->chunks->mapped)
			munmap(memory->chunks, memory->chunks->mapped);
		else
			free(memory->chunks);
		memory->chunks = next;
	}
	while (memory->big) {
		struct bj_tree_big *next = memory->big->next;

		free(memory->big);
		memory->big = next;
	}
}

void *bj_tree_piece(size_t size)
{
	const size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;

	if (size < PIECE_HUGE || whole < size)
		return malloc(size);

	void *piece = aligned_alloc(HUGE_PAGE, whole);

	/* Where there are none, small ones do. */
	if (piece)
		(void)madvise(piece, whole, MADV_HUGEPAGE);
	return piece;
}

void *bj_tree_grow(void *items, uint32_t *room, size_t size)
{
	enum { FIRST = 64 };
	const size_t before = *room * size;
	uint32_t more = *room ? *room * 2 : FIRST;
	void *moved;

	if (more * size < PIECE_HUGE) {
		moved = realloc(items, more * size);
	} else {
		more *= 2; /* to move large arrays less often */
		moved = bj_tree_piece(more * size);
		if (moved && items) {
			memcpy(moved, items, before);
			free(items);
		}
	}
	if (moved)
		*room = more;
	return moved;
}

static void *must(void *piece)
{
	if (!piece)
		abort();
	return piece;
}

/* @size bytes that begin where a huge page can. */
static struct bj_tree_chunk *map_chunk(size_t size)
{
	char *all = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		abort();

	const size_t front = -(uintptr_t)all % HUGE_PAGE;
	struct bj_tree_chunk *chunk = (struct bj_tree_chunk *)(all + front);

	if (front)
		munmap(all, front);
	munmap(all + front + size, HUGE_PAGE - front);
	/* Where there are none, small ones do. */
	(void)madvise(chunk, size, MADV_HUGEPAGE);
	chunk->mapped = size;
	return chunk;
}

static void add_chunk(struct bj_tree_memory *memory)
{
	const size_t size = memory->chunk_size ? memory->chunk_size : CHUNK_FIRST;
	const bool huge = size >= 2 * HUGE_PAGE;
	struct bj_tree_chunk *chunk = huge ? map_chunk(size) : must(malloc(size));

	if (!huge)
		chunk->mapped = 0;
	chunk->next = memory->chunks;
	memory->chunks = chunk;
	memory->at = chunk->data;
	memory->end = (char *)chunk + size;
	/* The first ones are a bit less than a power of two, for malloc()'s sake. */
	memory->chunk_size = size < HUGE_PAGE - 4096  ? size * 2
			     : size < 2 * HUGE_PAGE   ? 2 * HUGE_PAGE
			     : size * 2 <= CHUNK_MOST ? size * 2
						      : CHUNK_MOST;
}

static void link_big(struct bj_tree_big *big)
{
	big->before = NULL;
	big->next = bj_tree_memory_now->big;
	if (big->next)
		big->next->before = big;
	bj_tree_memory_now->big = big;
}

static void unlink_big(struct bj_tree_big *big)
{
	if (big->next)
		big->next->before = big->before;
	if (big->before)
		big->before->next = big->next;
	else
		bj_tree_memory_now->big = big->next;
}

static void *make_big(size_t size)
{
	if (size > SIZE_MAX / 2)
		abort();

	struct bj_tree_big *big = must(bj_tree_piece(sizeof(*big) + size));

	big->head = (struct bj_tree_head){ .size = size };
	link_big(big);
	return big + 1;
}

static struct bj_tree_big *big_of(void *piece)
{
	return (struct bj_tree_big *)piece - 1;
}

static void *from_chunk(size_t size, uint64_t class)
{
	const size_t whole = class * 16;

	if ((size_t)(bj_tree_memory_now->end - bj_tree_memory_now->at) < whole)
		add_chunk(bj_tree_memory_now);

	struct bj_tree_head *head = (struct bj_tree_head *)bj_tree_memory_now->at;

	bj_tree_memory_now->at += whole;
	*head = (struct bj_tree_head){ .class = class, .size = size };
	return head + 1;
}

void *bj_tree_malloc(size_t size)
{
	if (size > LARGEST)
		return make_big(size);

	/* One without use holds the address of the next. */
	const size_t least = size < sizeof(void *) ? sizeof(void *) : size;
	const uint64_t class = (least + sizeof(struct bj_tree_head) + 15) / 16;
	void *piece = bj_tree_memory_now->unused[class];

	if (!piece)
		return from_chunk(size, class);
	memcpy(&bj_tree_memory_now->unused[class], piece, sizeof(void *));
	((struct bj_tree_head *)piece)[-1].size = size;
	return piece;
}

void *bj_tree_calloc(size_t count, size_t size)
{
	if (size && count > SIZE_MAX / 2 / size)
		abort();
	return memset(bj_tree_malloc(count * size), 0, count * size);
}

void bj_tree_release(void *piece)
{
	if (!piece)
		return;

	const uint64_t class = ((struct bj_tree_head *)piece)[-1].class;

	if (!class) {
		struct bj_tree_big *big = big_of(piece);

		unlink_big(big);
		free(big);
		return;
	}
	memcpy(piece, &bj_tree_memory_now->unused[class], sizeof(void *));
	bj_tree_memory_now->unused[class] = piece;
}

void *bj_tree_realloc(void *piece, size_t size)
{
	if (!piece)
		return bj_tree_malloc(size);

	struct bj_tree_head *head = (struct bj_tree_head *)piece - 1;
	const size_t old = head->size;

	if (head->class && size + sizeof(*head) <= head->class * 16) {
		head->size = size;
		return piece;
	}

	void *moved = bj_tree_malloc(size);

	memcpy(moved, piece, old < size ? old : size);
	bj_tree_release(piece);
	return moved;
}
