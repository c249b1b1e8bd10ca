/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/nets.h"

#include <unistd.h>

int bj_nets_take(struct bj_nets *nets)
{
	return nets->n > 0 ? nets->spare[--nets->n] : -1;
}

void bj_nets_keep(struct bj_nets *nets, int fd_take)
{
	if (nets->n < BJ_NETS_MAX)
		nets->spare[nets->n++] = fd_take;
	else
		close(fd_take);
}
