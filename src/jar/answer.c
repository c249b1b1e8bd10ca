/* SPDX-License-Identifier: Apache-2.0 */

/* What the front is told of a run that is over, and when. */

#include "base/fd.h"
#include "jar/jar.h"

#include <signal.h>
#include <sys/wait.h>

static enum bj_cause cause_of_death(const struct bj_jar *jar, const struct bj_cgroup_stats *stats)
{
	const int status = jar->reply.wait_status;

	if (jar->reply.cause != BJ_CAUSE_NONE)
		return (enum bj_cause)jar->reply.cause;
	if (stats->oom_kills > 0)
		return BJ_CAUSE_OOM;
	if (stats->pids_hits > 0)
		return BJ_CAUSE_PIDS;
	if (WIFEXITED(status))
		return BJ_CAUSE_EXITED;
	return WTERMSIG(status) == SIGSYS ? BJ_CAUSE_SECCOMP : BJ_CAUSE_SIGNAL;
}

void bj_jar_complete(struct bj_jar *jar)
{
	struct bj_cgroup_stats stats = { 0 };

	if (jar->cgroup) {
		bj_cgroup_read_stats(jar->cgroup, &stats);
		jar->reply.cpu_ns = stats.cpu_ns;
		jar->reply.peak_memory = stats.peak_memory;
	}
	jar->reply.cause = cause_of_death(jar, &stats);
	jar->reply.kind = jar->failed ? BJ_REPLY_FAILED : BJ_REPLY_ENDED;
}

void bj_jar_send(struct bj_jar *jar)
{
	if (jar->watch[BJ_JAR_EV_REPLY] >= 0)
		bj_fd_send_now(jar->watch[BJ_JAR_EV_REPLY], &jar->reply, sizeof(jar->reply));
	jar->replied = true;
}

bool bj_jar_reply_early(struct bj_jar *jar)
{
	const uint64_t left = jar->exited && !jar->main_gone;

	if (jar->replied || !(jar->main_gone || jar->exited) || jar->collecting || jar->failed ||
	    !jar->cgroup || jar->reply.cause != BJ_CAUSE_NONE ||
	    bj_cgroup_population(jar->cgroup) != left)
		return false;
	bj_jar_complete(jar);
	jar->reply.cleanup_ok = 1;
	bj_jar_send(jar);
	return true;
}
