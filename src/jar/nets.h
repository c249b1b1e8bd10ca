/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Network namespaces that jars leave behind as they found them.
 *
 * To make and remove one takes the kernel more than a millisecond, of all that a jar costs the
 * most. What can be in one that is not in a new one comes from sockets alone. The launcher hears of
 * every socket that is made in a jar, before it is made (farewell.h); a namespace in which none
 * was, and whose last process is dead, is as good as new and serves the next jar. Any other goes
 * with its jar. A jar has no rights over a namespace that another one made: it could not change it
 * even if it had sockets. */
enum { BJ_NETS_MAX = 64 };

struct bj_nets {
	int n, spare[BJ_NETS_MAX];
};

/* One that was kept, for the nursery to bear the next init in; the caller closes it. -1: none. */
int bj_nets_take(struct bj_nets *nets);

/* Keep the namespace @fd, which nobody is in any more. Closes it when there are enough. */
void bj_nets_keep(struct bj_nets *nets, int fd_take);
