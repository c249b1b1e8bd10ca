/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "launch/launch.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

enum { PATIENCE_MS = 500 };

int bj_launcher_census(const struct bj_process *launcher, struct bj_wire_census *ret,
		       struct bj_err *err)
{
	const struct bj_wire_launch ask = { .magic = BJ_WIRE_MAGIC,
					    .version = BJ_WIRE_VERSION,
					    .flags = BJ_WIRE_CENSUS };
	struct bj_wire_census census;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");

	AUTO_FD int ours = pair[0];
	AUTO_FD int theirs = pair[1];
	struct pollfd p = { .fd = ours, .events = POLLIN };
	const int r = bj_fd_send(bj_process_socket(launcher), &ask, sizeof(ask), &theirs, 1);

	/* The launcher's copy is the last one: its end shows when it dies. */
	close(bj_take_fd(&theirs));
	if (r < 0 || poll(&p, 1, PATIENCE_MS) <= 0 ||
	    recv(ours, &census, sizeof(census), 0) != sizeof(census) ||
	    census.magic != BJ_WIRE_MAGIC)
		return bj_err_set(err, BJ_E_SYSTEM, r < 0 ? -r : 0,
				  "the launcher does not say how it is");
	*ret = census;
	return 0;
}
