/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/births.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

enum { TRIES = 64 };

void bj_births_init(struct bj_births *b)
{
	int n = 0;

	*b = (struct bj_births){ .first = -1 };
	/* They lie side by side. What had to be taken on the way fills a hole below them. */
	for (int i = 0; i < TRIES && n < BJ_BIRTHS; i++) {
		const int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			return;
		if (n == 0 || fd != b->first + n) {
			b->first = fd;
			n = 0;
		}
		n++;
	}
	if (n == BJ_BIRTHS)
		b->free = (1u << BJ_BIRTHS) - 1;
}

bool bj_births_take(struct bj_births *b, int *fd)
{
	const int i = __builtin_ffs((int)b->free) - 1;

	if (i < 0 || dup3(*fd, b->first + i, O_CLOEXEC) < 0)
		return false;
	close(*fd);
	*fd = b->first + i;
	b->free &= ~(1u << i);
	return true;
}

void bj_births_release(struct bj_births *b, int fd)
{
	if (fd < 0)
		return;
	/* Somebody else must not get the number. */
	if (dup3(STDIN_FILENO, fd, O_CLOEXEC) == fd)
		b->free |= 1u << (fd - b->first);
}

int bj_births_leave(int fd)
{
	return close_range((unsigned int)fd + 1, ~0u, CLOSE_RANGE_UNSHARE);
}
