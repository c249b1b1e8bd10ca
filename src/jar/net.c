/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/net.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int bj_net_loopback_up(struct bj_err *err)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	AUTO_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot bring up loopback");
	return 0;
}
