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

/* An older kernel has some switches for the whole machine only, and those are not ours. */
static int set(int proc_fd, const char *file, uint64_t value, struct bj_err *err)
{
	const int r = bj_cgfile_write_number(proc_fd, file, value, err);

	return r < 0 && errno == ENOENT ? 0 : r;
}

/* Whoever sends can ask for a report of when that happened, with each message, and the report holds
 * all that was sent; for reports without, the floor refuses to ask. */
static int keep_no_copies(int proc_fd, struct bj_err *err)
{
	return set(proc_fd, "sys/net/core/tstamp_allow_data", 0, err);
}

/* The machine has one number of connections that nobody holds and that have not ended. Past it,
 * each one on the machine that closes is reset. Here they end at the second try, after 600 ms; what
 * they wait for, a reader, lives on this loopback and answers at once or not at all. */
static int end_orphans(int proc_fd, struct bj_err *err)
{
	return set(proc_fd, "sys/net/ipv4/tcp_orphan_retries", 1, err);
}

int bj_net_furnish(int proc_fd, struct bj_err *err)
{
	int r = loopback_up(err);

	if (r == 0)
		r = keep_no_copies(proc_fd, err);
	if (r == 0)
		r = end_orphans(proc_fd, err);
	return r;
}
