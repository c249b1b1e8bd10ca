/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/rlimits.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <sys/resource.h>

/* A caller that is limited more tightly already stays so: who has no right to raise a limit is told
 * when that is what it does. */
static int limit_to(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit lim = { .rlim_cur = value, .rlim_max = value };

	if (setrlimit(resource, &lim) == 0)
		return 0;
	if (errno != EPERM || getrlimit(resource, &lim) < 0 || lim.rlim_max > value)
		return -1;
	lim.rlim_cur = lim.rlim_max;
	return setrlimit(resource, &lim);
}

int bj_rlimits_set(const struct bj_rlimits *limits, struct bj_err *err)
{
	const struct {
		__rlimit_resource_t resource;
		uint64_t value;
		const char *name;
	} table[] = {
		/* One byte: too small for any file, and the one size at which a crash does not
		 * start the program that core_pattern may name, as root and outside all limits. */
		{ RLIMIT_CORE, 1, "core size" },
		{ RLIMIT_FSIZE, limits->file_size, "file size" },
		{ RLIMIT_NPROC, limits->processes, "processes" },
		{ RLIMIT_CPU, limits->cpu_seconds, "CPU time" },
		{ RLIMIT_NOFILE, 1024, "open files" },
		{ RLIMIT_MEMLOCK, 64 << 10, "locked memory" },
		{ RLIMIT_MSGQUEUE, 64 << 10, "message queues" },
		{ RLIMIT_SIGPENDING, 1024, "pending signals" },
		{ RLIMIT_NICE, 0, "nice" },
		{ RLIMIT_RTPRIO, 0, "real-time priority" },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(table); i++)
		if (limit_to(table[i].resource, table[i].value) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot limit %s",
					  table[i].name);
	return 0;
}

static int lower(__rlimit_resource_t resource, uint64_t value)
{
	struct rlimit lim;

	if (getrlimit(resource, &lim) < 0)
		return -errno;
	if (lim.rlim_max <= value)
		return 0;
	lim.rlim_cur = lim.rlim_max = value;
	return setrlimit(resource, &lim) < 0 ? -errno : 0;
}

int bj_rlimits_lower(uint64_t processes, uint32_t cpu_seconds)
{
	const int r = lower(RLIMIT_NPROC, processes);

	return r < 0 || cpu_seconds == 0 ? r : lower(RLIMIT_CPU, cpu_seconds);
}
