/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/nets.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

void bj_nets_init(struct bj_nets *nets)
{
	*nets = (struct bj_nets){ .own = -1 };
	if (unshare(CLONE_NEWNET) == 0)
		nets->own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

bool bj_nets_enter(struct bj_nets *nets)
{
	bool entered = false;

	while (!entered && nets->n > 0) {
		const int fd = nets->spare[--nets->n];

		entered = setns(fd, CLONE_NEWNET) == 0;
		close(fd);
	}
	return entered;
}

void bj_nets_go_back(const struct bj_nets *nets)
{
	/* A launcher that stays would put its sockets where a script is. */
	if (setns(nets->own, CLONE_NEWNET) < 0)
		abort();
}

void bj_nets_keep(struct bj_nets *nets, int fd_take)
{
	if (nets->own >= 0 && nets->n < BJ_NETS_MAX)
		nets->spare[nets->n++] = fd_take;
	else
		close(fd_take);
}
