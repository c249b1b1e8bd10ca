/* SPDX-License-Identifier: Apache-2.0 */

/* How the launcher builds a jar: init, its identity, the cgroup. */

#include "base/clock.h"
#include "base/err.h"
#include "jar/jar.h"
#include "jar/layers.h"
#include "jar/sys.h"
#include "jar/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
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

/* In init, which may have the launcher's own descriptors up to here. */
__attribute__((noreturn)) static void be_init(const struct bj_jar *jar,
					      const struct bj_seal_build *plan, const int *sync)
{
	if (jar->birth_fd < 0)
		close(sync[0]);
	else if (bj_births_leave(sync[1]) < 0)
		_exit(1);
	bj_seal_init(plan, sync[1]);
}

/* Start the process. sync[1] is its end of the socket; it is ours to close, now or when it has
 * spoken. */
static int bear_init(struct bj_jar *jar, const struct bj_jar_ground *ground,
		     struct bj_seal_build *plan, int *sync, struct bj_err *err)
{
	/* It makes its network namespace itself, if we have none for it. */
	uint64_t flags = bj_seal_namespaces() & ~(uint64_t)CLONE_NEWNET;

	/* The program, /proc and the socket must be below what it leaves. A spec is not. */
	if (ground->births && plan->spec_fd < 0 && plan->init_exe < ground->births->first &&
	    bj_births_take(ground->births, &sync[1])) {
		jar->births = ground->births;
		jar->birth_fd = sync[1];
		flags |= CLONE_FILES;
	}
	plan->has_net = ground->nets && bj_nets_enter(ground->nets);
	plan->has_root = ground->roots && bj_roots_enter(ground->roots, jar->image);
	jar->init_pid = bj_sys_clone3(flags, &jar->watch[BJ_JAR_EV_INIT], -1);
	if (jar->init_pid == 0)
		be_init(jar, plan, sync);

	const int errnum = errno;

	if (plan->has_root)
		bj_roots_go_back(ground->roots);
	if (plan->has_net)
		bj_nets_go_back(ground->nets);

	if (jar->birth_fd < 0)
		close(sync[1]);
	if (jar->init_pid < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errnum,
				  "cannot make namespaces; run `belljar doctor`");
	return 0;
}

static int start_init(struct bj_jar *jar, const struct bj_jar_ground *ground, struct bj_err *err)
{
	const struct bj_userns_ids ids = pick_ids(jar, ground);

	jar->init_uid = ids.shared ? ids.script : ids.init;

	const bool inputs = jar->has_run && (jar->run.flags & BJ_WIRE_HAS_INPUTS);
	struct bj_seal_build plan = {
		.image = jar->image,
		.tmp_size = jar->tmp_size,
		.proc = ground->proc,
		.spec_fd = inputs ? jar->fds[BJ_WIRE_FD_SPEC] : -1,
		.init_uid = ground->own_uids ? 0 : BJ_JAR_UID,
		.init_exe = ground->init_exe,
		.proc_fd = ground->procs[jar->index % ground->n_procs],
	};
	int sync[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sync) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");
	jar->watch[BJ_JAR_EV_SYNC] = sync[0];

	int r = bear_init(jar, ground, &plan, sync, err);

	if (r == 0 && !bj_layer_faulty(BJ_LAYER_USER_NS))
		r = bj_userns_map(jar->init_pid, &ids, err);
	if (r == 0)
		r = open_pid_ns(jar, err);
	if (r == 0 && send(sync[0], "g", 1, MSG_NOSIGNAL) != 1)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "the jar's init died");
	return r;
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
	jar->deadline = bj_clock_now() + BJ_JAR_BUILD_NS;

	/* Init stays outside the cgroup, so that it is neither throttled nor killed for want of
	 * memory. It comes up while the cgroup is made. */
	int r = start_init(jar, ground, err);

	if (r == 0)
		r = make_cgroup(jar, ground, err);
	if (r == 0)
		r = bj_jar_check_required(jar, ground->required & BJ_LAYERS_CGROUP, err);
	return r < 0 ? r : bj_jar_hurry(jar, ground, err);
}
