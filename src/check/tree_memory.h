/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory of one parse. tree-sitter makes and drops thousands of small pieces for every
 * script; here they come from a few large ones and go back to a list by size, and when the parse
 * is over all of it goes at once. The parser and the grammars are built with these names in place
 * of malloc() and its like (src/check/meson.build). They take no context, so the memory in use is
 * a variable of the thread: set it before the first call into tree-sitter and end it after the
 * last one. Without memory the process ends, as it would in tree-sitter itself. */

#define BJ_TREE_CLASSES 64 /* sizes that have a list, 16 bytes apart */

struct bj_tree_memory {
	struct bj_tree_chunk *chunks;
	struct bj_tree_big *big; /* pieces too large for a list */
	char *at, *end;          /* what is left of the latest chunk */
	size_t chunk_size;       /* of the next one; 0: it is the first */
	void *unused[BJ_TREE_CLASSES];
	struct bj_tree_memory *outer; /* of a parse that this one interrupts */
	bool lost;                    /* the grammar could not keep where it was in the text */
};

/* The memory of the parse that this thread is in. */
extern _Thread_local struct bj_tree_memory *bj_tree_memory_now
	__attribute__((tls_model("initial-exec")));

void bj_tree_memory_begin(struct bj_tree_memory *memory);
void bj_tree_memory_end(struct bj_tree_memory *memory);

/* In front of every piece. @class 0: it is a large one. */
struct bj_tree_head {
	_Alignas(16) uint64_t class;
	uint64_t size;
};

void *bj_tree_malloc(size_t size);
void *bj_tree_calloc(size_t count, size_t size);
void *bj_tree_realloc(void *piece, size_t size);
void bj_tree_release(void *piece); /* NULL is fine */

/* A large parse does not fit into the processor's caches, and to wait for memory takes longer than
 * to parse. Pieces are made in the order of the text, and looked at and released in that order or
 * its reverse. So ask early for @size bytes that lie @distance away from @at; any address will do,
 * nothing is read. Without this a text of 1 MB takes up to twice as long for each byte as one of
 * 100 KB. */
#define BJ_TREE_NEAR 8192
static inline void bj_tree_fetch(const void *at, ptrdiff_t distance, size_t size)
{
	for (size_t i = 0; i < size; i += 64)
		__builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)distance + i));
}

/* The same as bj_tree_malloc() where most pieces are small and stay. */
static inline void *bj_tree_bump(size_t size)
{
	struct bj_tree_memory *memory = bj_tree_memory_now;
	const size_t class = (size + sizeof(struct bj_tree_head) + 15) / 16;

	if (class >= BJ_TREE_CLASSES || (size_t)(memory->end - memory->at) < class * 16)
		return bj_tree_malloc(size);

	struct bj_tree_head *head = (struct bj_tree_head *)memory->at;

	memory->at += class * 16;
	*head = (struct bj_tree_head){ .class = class, .size = size };
	return head + 1;
}
