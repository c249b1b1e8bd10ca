/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/collect.h"

#include "jar/creds.h"
#include "jar/mounts.h"
#include "jar/sys.h"
#include "jar/walk.h"
#include "seccomp/filters.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

__attribute__((noreturn)) static void collector(const struct bj_collect_plan *plan)
{
	/* Still root of the jar's user namespace: nothing of the script survives this, since the
	 * kernel lets no process fork past a pending SIGKILL. */
	kill(-1, SIGKILL);
	if (bj_creds_become(BJ_JAR_UID, BJ_JAR_GID, NULL) < 0 || bj_creds_drop_caps(NULL) < 0 ||
	    bj_creds_no_new_privs(NULL) < 0 || bj_filter_load(&bj_filter_collect) < 0)
		_exit(1);
	_exit(bj_walk_out(BJ_JAR_OUT, plan->out_fd, plan->max_files, plan->max_bytes) < 0);
}

pid_t bj_collect_start(const struct bj_collect_plan *plan, int *ret_pidfd)
{
	const pid_t helper = bj_sys_clone3(0, ret_pidfd, -1);

	if (helper != 0)
		return helper;
	signal(SIGPIPE, SIG_DFL); /* a front that is gone ends the collection */
	if (setns(plan->init_pidfd, (int)plan->namespaces) < 0)
		_exit(1);

	const pid_t pid = fork();

	if (pid == 0)
		collector(plan);

	int status = -1;

	waitpid(pid, &status, 0);
	_exit(status != 0);
}
