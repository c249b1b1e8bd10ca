/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Resource limits of the script's processes: the kernel's oldest wall, and the only one for
 * processes where there is no cgroup. */
struct bj_rlimits {
	uint64_t file_size; /* bytes of the largest file */
	uint64_t processes;
	uint64_t cpu_seconds; /* of each process; RLIM_INFINITY: a cgroup counts them */
};

/* How many processes a script may have that was given @pids. With a cgroup that counts them too the
 * limit is the second line and must not bite first, because only the cgroup tells us when it
 * bites. */
static inline uint64_t bj_rlimits_processes(uint32_t pids, bool in_cgroup)
{
	return pids + (in_cgroup ? 64u : 1u);
}

/* The CPU time that a run can use until its deadline, rounded up. */
static inline uint32_t bj_rlimits_cpu_seconds(uint64_t timeout_ns, uint32_t cpu_milli)
{
	const uint64_t s = (timeout_ns / 1000000u * cpu_milli + 999999u) / 1000000u + 1;

	return s > UINT32_MAX ? UINT32_MAX : (uint32_t)s;
}

/* For a process that waited for its script: it may have less than it was started for. @cpu_seconds
 * 0 changes nothing. 0 or negative errno. */
int bj_rlimits_lower(uint64_t processes, uint32_t cpu_seconds);

/* Set all of them; what is lower already stays. For a process without CAP_SYS_RESOURCE on the
 * machine, as every process of a launcher is: another would raise what is lower. */
int bj_rlimits_set(const struct bj_rlimits *limits, struct bj_err *err);
