/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * What is to move is copied, piece by piece, into one new anonymous mapping, and the kernel is
 * asked to gather that on large pages. Only if it has done so, each copy gets the protection that
 * the original has and is moved to its address, which is one step for the kernel. Text loses the
 * right to be written before it gains the right to be executed: nothing has both at any time.
 *
 * Between copy and move nothing may be written to what moves. There is one thread, and what this
 * file itself writes to stays where it is: the stack, and the place of errno. */

#include "warm/large.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

#define LARGE   ((size_t)2 << 20)
#define LEAST   ((size_t)64 << 10) /* what is smaller is not worth it */
#define ALL_MAX ((size_t)256 << 20)

enum { PIECES_MAX = 128, TEXT_SIZE = 8192 };

struct piece {
	char *at;
	size_t size, there; /* the latter in KiB */
	int prot;           /* 0: it stays */
};

struct pieces {
	struct piece all[PIECES_MAX + 1]; /* the last is being read */
	size_t n, size;
};

static bool is_in(const struct piece *p, const void *what)
{
	return (const char *)what >= p->at && (const char *)what < p->at + p->size;
}

/* A line such as "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/python3". False when
 * it is another one. */
static bool read_range(const char *line, struct piece *ret)
{
	unsigned long from, to;
	char flags[5];
	int name = 0;

	if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &from, &to, flags, &name) != 3 || name == 0)
		return false;
	*ret = (struct piece){ .at = (char *)from, .size = to - from };

	const bool is_kernels = line[name] == '[' && strcmp(line + name, "[heap]") != 0;

	if (flags[0] != 'r' || flags[3] != 'p' || is_kernels || is_in(ret, &errno) ||
	    is_in(ret, &from) || ret->size < LEAST)
		return true;
	ret->prot =
		PROT_READ | (flags[1] == 'w' ? PROT_WRITE : 0) | (flags[2] == 'x' ? PROT_EXEC : 0);
	return true;
}

/* What the kernel was told about a range and would forget: not to copy it to children, to empty it
 * there, to keep it in memory. */
static bool has_orders(const char *vm_flags)
{
	static const char *const orders[] = { " dc", " wf", " lo" };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(orders); i++)
		if (strstr(vm_flags, orders[i]))
			return true;
	return false;
}

/* The last of the lines about a range are its flags: take it or leave it. The copy is there as a
 * whole, so the range should be there for a good part. */
static void read_line(const char *line, struct pieces *ret)
{
	struct piece *last = &ret->all[ret->n];

	if (read_range(line, last) || sscanf(line, "Rss: %zu kB", &last->there) == 1 ||
	    strncmp(line, "VmFlags:", 8) != 0)
		return;
	if (last->prot && !has_orders(line) && last->there * 1024 > last->size / 3 &&
	    last->size <= ALL_MAX - ret->size && ret->n < PIECES_MAX)
		ret->size += ret->all[ret->n++].size;
}

/* Not with stdio: it would allocate. */
static void find_pieces(int fd, struct pieces *ret)
{
	char text[TEXT_SIZE];
	size_t have = 0;
	ssize_t got;

	while ((got = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		char *line = text, *end;

		have += (size_t)got;
		text[have] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			read_line(line, ret);
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
	}
}

/* Move all from the copies that begin at @copy. One that cannot move stays where it was. */
static void move_all(const struct pieces *pieces, char *copy)
{
	for (size_t i = 0; i < pieces->n; copy += pieces->all[i++].size) {
		const struct piece *p = &pieces->all[i];

		if (mprotect(copy, p->size, p->prot) == 0)
			(void)mremap(copy, p->size, p->size, MREMAP_MAYMOVE | MREMAP_FIXED, p->at);
	}
}

size_t bj_large_settle(int proc_fd)
{
	struct pieces pieces = { 0 };
	AUTO_FD int fd = openat(proc_fd, "smaps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	find_pieces(fd, &pieces);

	const size_t size = (pieces.size + LARGE - 1) / LARGE * LARGE;
	char *room = mmap(NULL, size + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (room == MAP_FAILED)
		return 0;

	char *copy = room + (LARGE - (uintptr_t)room % LARGE), *next = copy;

	for (size_t i = 0; i < pieces.n; next += pieces.all[i++].size)
		memcpy(next, pieces.all[i].at, pieces.all[i].size);

	const bool is_large = size > 0 && madvise(copy, size, MADV_COLLAPSE) == 0;

	if (is_large)
		move_all(&pieces, copy);
	munmap(room, size + LARGE);
	return is_large ? pieces.size : 0;
}
