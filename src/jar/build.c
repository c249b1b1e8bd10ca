/* SPDX-License-Identifier: Apache-2.0 */

/* How the launcher builds a jar: init, its identity, the cgroup. */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "jar/jar.h"
#include "jar/layers.h"
#include "jar/namespaces.h"
#include "jar/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/socket.h>

static int make_cgroup(struct bj_jar *jar, const struct bj_jar_ground *ground, struct bj_err *err)
{
	char name[32];

	if (!ground->cgroups)
		return 0;
	snprintf(name, sizeof(name), "jar-%llu", (unsigned long long)jar->serial);

	const int r = bj_cgroup_new(ground->cgroups, name, &jar->cgroup_limits, &jar->cgroup, err);

	if (r < 0)
		return r;
	jar->reply.cgroup_version = (uint8_t)bj_cgroups_version(ground->cgroups);
	jar->reply.layers |= BJ_LAYERS_CGROUP;
	jar->watch[BJ_JAR_EV_OOM] = bj_cgroup_oom_fd(jar->cgroup);
	return 0;
}

/* Two kernel uids per jar, init's and the script's, that no other live jar has. */
static struct bj_userns_ids pick_ids(const struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	if (!ground->own_uids)
		return (struct bj_userns_ids){ .script = BJ_JAR_UID, .shared = true };

	const uint32_t first = 1 + 2 * (jar->index % (ground->uid_count / 2));

	return (struct bj_userns_ids){ .init = first, .script = first + 1 };
}

/* --- init by the launcher ----------------------------------------------------------------------
 */

/* A process that starts while init does needs the namespace at once. Init hides it for a moment
 * when it changes its uid: open it before. */
static int open_pid_ns(struct bj_jar *jar, struct bj_err *err)
{
	char path[48];

	if (!jar->cold_only)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", jar->init_pid);
	jar->pid_ns = open(path, O_RDONLY | O_CLOEXEC);
	return jar->pid_ns < 0 ? bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %s", path) : 0;
}

__attribute__((noreturn)) static void be_init(const struct bj_seal_build *plan, const int *sync)
{
	static char *const argv[] = { (char *)"jar-init", NULL };
	static char *const envp[] = { NULL };

	close(sync[0]);
	bj_seal_init(plan, sync[1], sync[1]);
	syscall(SYS_execveat, plan->init_exe, "", argv, envp, AT_EMPTY_PATH);
	_exit(1);
}

static int bear_init(struct bj_jar *jar, const struct bj_seal_build *plan,
		     const struct bj_userns_ids *ids, struct bj_err *err)
{
	/* It makes its network namespace itself. */
	const uint64_t flags = bj_namespaces() & ~(uint64_t)CLONE_NEWNET;
	int sync[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sync) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");
	jar->watch[BJ_JAR_EV_SYNC] = sync[0];
	jar->init_pid = bj_sys_clone3(flags, &jar->watch[BJ_JAR_EV_INIT], -1);
	if (jar->init_pid == 0)
		be_init(plan, sync);

	const int errnum = errno;

	close(sync[1]);
	if (jar->init_pid < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errnum,
				  "cannot make namespaces; run `belljar doctor`");

	int r = bj_userns_map(plan->proc_fd, jar->init_pid, ids, err);

	if (r == 0)
		r = open_pid_ns(jar, err);
	if (r == 0 && send(sync[0], "g", 1, MSG_NOSIGNAL) != 1)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "the jar's init died");
	return r;
}

/* --- init by a nursery ------------------------------------------------------------------------ */

/* False when there is none that listens. */
static bool ask_nursery(struct bj_jar *jar, const struct bj_jar_ground *ground,
			const struct bj_seal_build *plan, const struct bj_userns_ids *ids)
{
	const struct bj_nursery_ask ask = { .plan = *plan,
					    .ids = *ids,
					    .proc = jar->index % (uint32_t)ground->n_procs,
					    .wants_pid_ns = jar->cold_only };

	if (!ground->nursery || ground->nursery->pid <= 0)
		return false;
	AUTO_FD int net = ground->nets ? bj_nets_take(ground->nets) : -1;
	jar->nursed = bj_nursery_ask(ground->nursery, &ask, plan->spec_fd, net) == 0;
	jar->unborn = jar->nursed;
	return jar->nursed;
}

/* It has an init. */
static void take_init(struct bj_jar *jar, const struct bj_jar_ground *ground,
		      const struct bj_seal_report *report, const int *fds_take)
{
	struct bj_err err = report->err;

	jar->init_pid = report->born;
	jar->watch[BJ_JAR_EV_INIT] = fds_take[0];
	jar->pid_ns = fds_take[1];
	/* It may have been given up meanwhile. */
	if (jar->dying)
		pidfd_send_signal(jar->watch[BJ_JAR_EV_INIT], SIGKILL, NULL, 0);
	else if (report->failed || bj_jar_hurry(jar, ground, &err) < 0)
		bj_jar_fail(jar, &err);
}

void bj_jar_heard(struct bj_jar *jar, const struct bj_jar_ground *ground,
		  struct bj_seal_report *report, const int *fds_take)
{
	jar->unborn = false;
	if (report->born > 0)
		take_init(jar, ground, report, fds_take);
	else
		bj_jar_built(jar, report, fds_take[0]);
}

void bj_jar_lose_nursery(struct bj_jar *jar)
{
	struct bj_err err = { 0 };

	jar->unborn = false;
	bj_err_set(&err, BJ_E_SYSTEM, 0, "the jars' nursery died");
	if (!jar->dying)
		bj_jar_fail(jar, &err);
}

/* --- both ------------------------------------------------------------------------------------- */

static int start_init(struct bj_jar *jar, const struct bj_jar_ground *ground, struct bj_err *err)
{
	const struct bj_userns_ids ids = pick_ids(jar, ground);
	jar->shares_net = ground->has_net && jar->serial == 0;

	const bool inputs = jar->has_run && (jar->run.flags & BJ_WIRE_HAS_INPUTS);
	const struct bj_seal_build plan = {
		.image = jar->image,
		.tmp_size = jar->tmp_size,
		.proc = ground->proc,
		.spec_fd = inputs ? jar->fds[BJ_WIRE_FD_SPEC] : -1,
		.init_uid = ground->own_uids ? 0 : BJ_JAR_UID,
		.init_exe = ground->init_exe,
		.proc_fd = ground->procs[jar->index % ground->n_procs],
		.nonce = bj_jar_nonce(jar),
		.has_net = jar->shares_net,
	};

	jar->init_uid = ids.shared ? ids.script : ids.init;
	return ask_nursery(jar, ground, &plan, &ids) ? 0 : bear_init(jar, &plan, &ids, err);
}

/* To join where one is already would take rights over it. */
uint64_t bj_jar_namespaces(const struct bj_jar *jar)
{
	return bj_namespaces() & ~(uint64_t)(jar->shares_net ? CLONE_NEWNET : 0);
}

int bj_jar_check_required(const struct bj_jar *jar, uint64_t required, struct bj_err *err)
{
	const uint64_t missing = required & ~jar->reply.layers;

	for (int id = 0; id < BJ_LAYER_COUNT; id++)
		if (missing & BJ_LAYER_BIT(id))
			return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
					  "this machine does not enforce %s; run `belljar doctor` "
					  "for the fix, or accept less with native.require: basic",
					  bj_layer_name((enum bj_layer_id)id));
	return 0;
}

int bj_jar_build(struct bj_jar *jar, const struct bj_jar_ground *ground,
		 const struct bj_jar_shape *shape, struct bj_err *err)
{
	jar->phase = BJ_JAR_BUILDING;
	jar->cgroup_limits = shape->limits;
	jar->tmp_size = shape->tmp_size;
	jar->reply.magic = BJ_WIRE_MAGIC;
	jar->reply.own_uid = ground->own_uids;
	jar->unheard = ground->alone;
	jar->asked = bj_clock_now();
	jar->deadline = jar->asked + BJ_JAR_BUILD_NS;

	/* Init stays outside the cgroup, so that it is neither throttled nor killed for want of
	 * memory. It comes up while the cgroup is made. */
	int r = start_init(jar, ground, err);

	if (r == 0)
		r = make_cgroup(jar, ground, err);
	if (r == 0)
		r = bj_jar_check_required(jar, ground->required & BJ_LAYERS_CGROUP, err);
	return r < 0 ? r : bj_jar_hurry(jar, ground, err);
}
