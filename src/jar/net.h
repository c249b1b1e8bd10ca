/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Make the calling process's network namespace what a jar's is: a loopback that is up and nothing
 * else, which keeps no copies of what is sent, and no connections for long that nobody holds: no
 * limit counts these. @proc_fd is a /proc of the machine or the launcher. */
int bj_net_furnish(int proc_fd, struct bj_err *err);
