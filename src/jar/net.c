/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/net.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "jar/cgroup_file.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static int loopback_up(struct bj_err *err)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	AUTO_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot bring up loopback");
	return 0;
}

/* Whoever sends can ask for a report of when that happened, with each message, and the report holds
 * all that was sent; for reports without, the floor refuses to ask. An older kernel has one such
 * switch for the whole machine, and that is not ours. */
static int keep_no_copies(int proc_fd, struct bj_err *err)
{
	const int r = bj_cgfile_write_number(proc_fd, "sys/net/core/tstamp_allow_data", 0, err);

	return r < 0 && errno == ENOENT ? 0 : r;
}

int bj_net_furnish(int proc_fd, struct bj_err *err)
{
	const int r = loopback_up(err);

	return r < 0 ? r : keep_no_copies(proc_fd, err);
}
