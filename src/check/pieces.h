/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Memory that grows with the text: arrays, and what a parse is cut from. A small piece is one of
 * malloc()'s. A large one lies where the kernel can hand out huge pages for all of it, and stays
 * with the process when it is given back: fresh memory takes the kernel as long as the text takes
 * to read, longer where a machine gives what is free to its host. The kernel may take back what
 * waits, whenever it is short of memory. Thread-safe. */

/* NULL: no memory. What is in it is not defined. */
void *bj_piece_new(size_t size);
void bj_piece_free(void *piece); /* NULL is fine */

/* An array of *@room items of @size bytes, moved to where there is room for more. A large one gets
 * more than it needs: what is not used of it costs nothing. NULL: no memory, and nothing changed.
 */
void *bj_piece_grow(void *items, uint32_t *room, size_t size);

static inline void bj_cleanup_piece(void *p)
{
	bj_piece_free(*(void **)p);
}

#define AUTO_PIECE __attribute__((cleanup(bj_cleanup_piece)))
