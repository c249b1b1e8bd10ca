/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * A jar is made by three processes that are children of the launcher.
 *
 * init (seal_init.c) is born into new namespaces, of the launcher or of a nursery (nursery.h), and
 * makes its network namespace itself, unless it is born in one that an earlier jar left as it was
 * (nets.h). It waits until its user and group maps are written, builds the jar's file tree, pivots
 * into it unless it is born there (roots.h), says that it is ready, gives up all that it had and
 * does nothing from then on but to hold the namespaces open (hold.h).
 *
 * A helper, a child of the launcher, joins the cgroups (limits are written already) and the
 * namespaces, forks the script's process and ends. That process is therefore inside every wall
 * before it does anything, and a child of the launcher, which learns its exit status from the
 * kernel and from nobody else. (Where there is one run that process joins the cgroups itself, as
 * the first thing it does; fill.c has the reason.)
 *
 * The script's process seals itself in a fixed order, each step while it still has the right to
 * take it:
 *	 1 own session, own standard streams, every other descriptor closed
 *	 2 own cgroup namespace (it must be in its cgroup by then)
 *	 3 resource limits
 *	 4 bounding set of capabilities (needs CAP_SETPCAP)
 *	 5 user and group nobody (needs CAP_SETUID, CAP_SETGID)
 *	 6 all capabilities gone (a change of uid between two unprivileged uids keeps them)
 *	 7 no_new_privs
 *	 8 Landlock (needs 7)
 *	 9 seccomp, last, because it forbids most of the above (needs 7)
 *	10 exec
 * Whatever fails ends the process with a report: nothing runs half sealed. */

#include "jar/seal.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/signals.h"
#include "jar/creds.h"
#include "jar/exec.h"
#include "jar/farewell.h"
#include "jar/landlock.h"
#include "jar/layers.h"
#include "jar/pack.h"
#include "jar/rlimits.h"
#include "seccomp/filters.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* --- the script ------------------------------------------------------------------------------- */

enum {
	FD_VERDICT = 3,
	FD_REPORT = 4,
	FD_SPEC = 5,
	FD_FILTER = 6,
	FD_LAST = 7,
	FD_FIRST_UNUSED = 8
};

/* Move @from to exactly @to. Sources may lie in the target range: they were moved above it. */
static int place_fd(int from, int to, int flags)
{
	return dup3(from, to, flags) < 0 ? -1 : 0;
}

/* Step 1. Streams at 0, 1, 2, the verdict at 3; the rest closes itself at exec. */
static int own_streams(const struct bj_seal_script *plan, int report, struct bj_err *err)
{
	const int from[] = { plan->stdin_fd, plan->stdout_fd, plan->stderr_fd, plan->verdict_fd,
			     report,         plan->spec_fd,   plan->filter_fd, plan->last_fd };
	int high[BJ_ARRAY_SIZE(from)];

	if (!bj_layer_faulty(BJ_LAYER_SESSION) && setsid() < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start a session");
	for (size_t i = 0; i < BJ_ARRAY_SIZE(from); i++) {
		high[i] = from[i] < 0 ? -1 : fcntl(from[i], F_DUPFD_CLOEXEC, FD_FIRST_UNUSED);
		if (from[i] >= 0 && high[i] < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot move a descriptor");
	}
	for (size_t i = 0; i < BJ_ARRAY_SIZE(from); i++)
		if (high[i] >= 0 && place_fd(high[i], (int)i, i <= FD_VERDICT ? 0 : O_CLOEXEC) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot place a descriptor");
	if (!bj_layer_faulty(BJ_LAYER_CLOSED_FDS) && close_range(FD_FIRST_UNUSED, ~0u, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot close descriptors");
	return 0;
}

/* SIGSYS is ignored for good: the filter does not let it be handled, so that a death by SIGSYS is a
 * seccomp kill and nothing else. */
static void fresh_signals(void)
{
	bj_signals_reset();
	signal(SIGSYS, SIG_IGN);
}

/* Steps 2 to 6. */
static int shed_privilege(const struct bj_seal_limits *plan, uint64_t *layers, struct bj_err *err)
{
	/* Twice the room there is: a full file system says so better than SIGXFSZ does. */
	const struct bj_rlimits limits = {
		.file_size = plan->tmp_size * 2,
		.processes = bj_rlimits_processes(plan->pids, plan->pids_cgroup),
		.cpu_seconds = plan->cpu_seconds ? plan->cpu_seconds : RLIM_INFINITY
	};
	int r = 0;

	if (!bj_layer_faulty(BJ_LAYER_CGROUP_NS) && unshare(CLONE_NEWCGROUP) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a cgroup namespace");
	if (!bj_layer_faulty(BJ_LAYER_RLIMITS))
		r = bj_rlimits_set(&limits, err);
	if (r == 0 && !bj_layer_faulty(BJ_LAYER_NOBODY))
		r = bj_creds_become(BJ_JAR_UID, BJ_JAR_GID, err);
	if (r == 0 && !bj_layer_faulty(BJ_LAYER_CAPABILITIES))
		r = bj_creds_drop_caps(err);
	*layers |= BJ_LAYER_BIT(BJ_LAYER_SESSION) | BJ_LAYER_BIT(BJ_LAYER_CLOSED_FDS) |
		   BJ_LAYER_BIT(BJ_LAYER_CGROUP_NS) | BJ_LAYER_BIT(BJ_LAYER_RLIMITS) |
		   BJ_LAYER_BIT(BJ_LAYER_NOBODY) | BJ_LAYER_BIT(BJ_LAYER_CAPABILITIES);
	return r;
}

/* Step 8. */
static int enter_landlock(uint32_t *ret_abi, struct bj_err *err)
{
	static const struct bj_landlock_rule rules[] = {
		{ "/", BJ_LANDLOCK_READ },          { "/dev", BJ_LANDLOCK_USE },
		{ "/dev/shm", BJ_LANDLOCK_WRITE },  { "/tmp", BJ_LANDLOCK_WRITE },
		{ BJ_JAR_WORK, BJ_LANDLOCK_WRITE },
	};

	return bj_landlock_seal(rules, BJ_ARRAY_SIZE(rules), ret_abi, err);
}

/* Landlock and seccomp need no_new_privs, or a capability that is gone by then: the test build that
 * leaves it out must leave them out with it. */
static bool is_left_out(enum bj_layer_id layer)
{
	return bj_layer_faulty(layer) || bj_layer_faulty(BJ_LAYER_NO_NEW_PRIVS);
}

/* Steps 7 and 8. */
static int enter_lsm(struct bj_seal_report *report)
{
	int r = 0;

	if (!bj_layer_faulty(BJ_LAYER_NO_NEW_PRIVS))
		r = bj_creds_no_new_privs(&report->err);
	report->layers |= BJ_LAYER_BIT(BJ_LAYER_NO_NEW_PRIVS);
	if (r < 0)
		return r;
	if (is_left_out(BJ_LAYER_LANDLOCK))
		report->landlock_abi = bj_landlock_abi();
	else
		r = enter_landlock(&report->landlock_abi, &report->err);
	if (report->landlock_abi > 0)
		report->layers |= BJ_LAYER_BIT(BJ_LAYER_LANDLOCK);
	return r;
}

bool bj_seal_begin(void)
{
	/* As in fresh_signals(); with the filter it cannot be done any more. */
	signal(SIGSYS, SIG_IGN);
	return !is_left_out(BJ_LAYER_SECCOMP) && bj_filter_load(&bj_filter_zygote) == 0;
}

/* Step 9 of a process whose zygote has begun it. *@last_fd hears its last call; it ends well
 * without, too. */
static int finish_seccomp(int *last_fd, struct bj_err *err)
{
	*last_fd = bj_farewell_listen(true, &bj_filter_slot);

	const int r = *last_fd >= 0 ? 0 : bj_filter_load(&bj_filter_slot);

	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot load the seccomp filter") : 0;
}

/* Step 9. */
static int enter_seccomp(int filter_fd, struct bj_err *err)
{
	static unsigned char code[BJ_FILTER_MAX];
	struct bj_filter filter = { .code = code };

	if (is_left_out(BJ_LAYER_SECCOMP))
		return 0;
	if (filter_fd >= 0) {
		const ssize_t n = pread(filter_fd, code, sizeof(code), 0);

		if (n < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the filter");
		filter.size = (size_t)n;
	}

	const int r = bj_filter_seal(filter_fd >= 0 ? &filter : NULL);

	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot load the seccomp filters");
	return 0;
}

int bj_seal_self(const struct bj_seal_limits *limits, int filter_fd, int *last_fd,
		 struct bj_seal_report *report)
{
	int r = shed_privilege(limits, &report->layers, &report->err);

	if (r == 0)
		r = enter_lsm(report);
	if (r == 0)
		r = last_fd ? finish_seccomp(last_fd, &report->err)
			    : enter_seccomp(filter_fd, &report->err);
	report->layers |= BJ_LAYER_BIT(BJ_LAYER_SECCOMP);
	report->failed = r < 0;
	return r;
}

static void send_report(const struct bj_seal_report *report)
{
	bj_fd_write_all(FD_REPORT, report, sizeof(*report));
}

__attribute__((noreturn)) static void give_up(struct bj_seal_report *report)
{
	report->failed = 1;
	send_report(report);
	_exit(BJ_SEAL_EXIT);
}

void bj_seal_script(const struct bj_seal_script *plan, int report_fd)
{
	struct bj_seal_report report = { 0 };
	struct bj_exec exec = { .language = plan->language,
				.check_only = plan->check_only,
				.wait = plan->wait,
				.python = plan->python,
				.bash = plan->bash,
				.verdict_fd = FD_VERDICT };
	const void *pack = NULL;
	size_t pack_size = 0;

	if (own_streams(plan, report_fd, &report.err) < 0) {
		report.failed = 1;
		bj_fd_write_all(report_fd, &report, sizeof(report));
		_exit(BJ_SEAL_EXIT);
	}
	fresh_signals();
	umask(022);
	if (chdir(BJ_JAR_WORK) < 0) {
		bj_err_set(&report.err, BJ_E_SYSTEM, errno, "cannot enter " BJ_JAR_WORK);
		give_up(&report);
	}
	/* What waits has a socket instead of a verdict, and ends well without a listener, too. */
	if (plan->wait)
		(void)!bj_farewell_offer(FD_VERDICT, plan->tell_sockets);
	if (plan->last_fd >= 0 && bj_farewell_offer(FD_LAST, plan->tell_sockets) < 0) {
		bj_err_set(&report.err, BJ_E_SYSTEM, errno, "nobody would hear of the end");
		give_up(&report);
	}
	if (bj_pack_map(FD_SPEC, &pack, &pack_size, &report.err) < 0 ||
	    bj_exec_prepare(&exec, pack, pack_size, &report.err) < 0 ||
	    bj_seal_self(&plan->limits, plan->filter_fd >= 0 ? FD_FILTER : -1, NULL, &report) < 0)
		give_up(&report);
	send_report(&report);
	bj_exec_run(&exec, &report.err);
	give_up(&report);
}
