/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Where there is no memory cgroup: how many bytes the processes of the pid namespace of @init_pid
 * have resident in all, read from /proc. A best effort, looked at from time to time; it misses
 * what comes and goes between two looks, and counts shared pages more than once. */
uint64_t bj_watchdog_resident(pid_t init_pid);
