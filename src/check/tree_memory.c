/* SPDX-License-Identifier: Apache-2.0 */
#include "check/tree_memory.h"

#include "check/pieces.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each chunk is twice as large as the one before, up to a bound. Those of an ordinary script come
 * from malloc(), which keeps them for the next. A large text needs hundreds of megabytes; in small
 * pages the kernel would take as long to hand them out as the parser takes to fill them. */
#define CHUNK_FIRST (64 * 1024 - 128)
#define CHUNK_MOST  (CHUNK_FIRST << 8)

/* Under a sanitizer each piece is one of malloc()'s, so that a wrong access is seen. */
#ifdef BJ_SANITIZED
#define LARGEST 0
#else
#define LARGEST ((size_t)(BJ_TREE_CLASSES - 1) * 16 - sizeof(struct bj_tree_head))
#endif

struct bj_tree_chunk {
	struct bj_tree_chunk *next;
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

		bj_piece_free(memory->chunks);
		memory->chunks = next;
	}
	while (memory->big) {
		struct bj_tree_big *next = memory->big->next;

		bj_piece_free(memory->big);
		memory->big = next;
	}
}

static void *must(void *piece)
{
	if (!piece)
		abort();
	return piece;
}

static void add_chunk(struct bj_tree_memory *memory)
{
	const size_t size = memory->chunk_size ? memory->chunk_size : CHUNK_FIRST;
	struct bj_tree_chunk *chunk = must(bj_piece_new(size));

	chunk->next = memory->chunks;
	memory->chunks = chunk;
	memory->at = chunk->data;
	memory->end = (char *)chunk + size;
	memory->chunk_size = size < CHUNK_MOST ? size * 2 : CHUNK_MOST;
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

	struct bj_tree_big *big = must(bj_piece_new(sizeof(*big) + size));

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

	bj_tree_fetch(bj_tree_memory_now->at, BJ_TREE_NEAR, whole);
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
	bj_tree_fetch(bj_tree_memory_now->unused[class], 0, class * 16);
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

	bj_tree_fetch(piece, -BJ_TREE_NEAR, class * 16);
	if (!class) {
		struct bj_tree_big *big = big_of(piece);

		unlink_big(big);
		bj_piece_free(big);
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
