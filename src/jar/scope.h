/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* A delegated cgroup for an ordinary user on a machine with systemd. */

/* Ask the user's service manager for a new transient scope that holds the calling process and may
 * be divided (cpu, memory, pids), and wait until it is made, two seconds at most. Children of the
 * caller that exist already stay where they are. The scope goes when its last process ends.
 * -BJ_E_UNSUPPORTED when there is no systemd, no libsystemd or no user bus, or when the manager
 * refuses; the message says what to do. The caller must not be multi-threaded and must not ignore
 * SIGCHLD. */
int bj_scope_enter(struct bj_err *err);
