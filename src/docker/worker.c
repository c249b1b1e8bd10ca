/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation: one run in a container.
 *
 *	make     track, create, start; the container's shell waits for a line
 *	upload   helper, script and inputs go into a tmpfs of the container
 *	go       the line and the order are written; the clock of the script starts
 *	pump     the engine's stream is taken apart and handed to the front's pipes
 *	judge    cause and status from the helper's end record, or from the engine
 *	remove   in every case, whatever happened before
 *
 * A warm run finds its container made already. */

#include "docker/worker.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "docker/attach.h"
#include "docker/image.h"
#include "docker/pump.h"
#include "docker/records.h"
#include "docker/upload.h"
#include "jar/layers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Containers that nobody removed may be removed by anybody this long after their deadline. */
enum { EXPIRY_SECONDS = 3600 };

/* How long a container may take to end after its helper did. */
enum { LAST_WORD_MS = 3000 };

/* What holds for every container; the helper sees to closed descriptors and a session. */
#define LAYERS                                                                                     \
	(BJ_LAYERS_CGROUP | BJ_LAYER_BIT(BJ_LAYER_PID_NS) | BJ_LAYER_BIT(BJ_LAYER_MOUNT_NS) |      \
	 BJ_LAYER_BIT(BJ_LAYER_NET_NS) | BJ_LAYER_BIT(BJ_LAYER_IPC_NS) |                           \
	 BJ_LAYER_BIT(BJ_LAYER_UTS_NS) | BJ_LAYER_BIT(BJ_LAYER_CGROUP_NS) |                        \
	 BJ_LAYER_BIT(BJ_LAYER_READ_ONLY_ROOT) | BJ_LAYER_BIT(BJ_LAYER_TMPFS_LIMITS) |             \
	 BJ_LAYER_BIT(BJ_LAYER_NOBODY) | BJ_LAYER_BIT(BJ_LAYER_CAPABILITIES) |                     \
	 BJ_LAYER_BIT(BJ_LAYER_NO_NEW_PRIVS) | BJ_LAYER_BIT(BJ_LAYER_SECCOMP) |                    \
	 BJ_LAYER_BIT(BJ_LAYER_RLIMITS) | BJ_LAYER_BIT(BJ_LAYER_CLOSED_FDS) |                      \
	 BJ_LAYER_BIT(BJ_LAYER_SESSION) | BJ_LAYER_BIT(BJ_LAYER_PRIVATE_PROC))

/* --- making and removing ---------------------------------------------------------------------- */

/* Podman raises the number of a user's processes unless it is told one, and raising takes a
 * capability that not every root has: tell it one that is lower than ours. */
static int64_t fewer_processes(const struct bj_docker *docker)
{
	struct rlimit limit;

	if (!docker->podman || getrlimit(RLIMIT_NPROC, &limit) < 0)
		return 0;
	return limit.rlim_max / 2 < BJ_WIRE_PIDS_MAX ? (int64_t)limit.rlim_max / 2
						     : BJ_WIRE_PIDS_MAX;
}

static void tell(const struct bj_role_launch *run, enum bj_wire_reply_kind kind, const char *text)
{
	struct bj_wire_reply reply = { .magic = BJ_WIRE_MAGIC, .kind = kind };

	snprintf(reply.err.msg, sizeof(reply.err.msg), "%s", text);
	bj_fd_send(run->fds[BJ_WIRE_FD_REPLY], &reply, sizeof(reply), NULL, 0);
}

static void tell_progress(void *ctx, const char *text)
{
	tell(ctx, BJ_REPLY_NOTE, text);
}

static int create(const struct bj_worker_ground *ground, const struct bj_wire_launch *launch,
		  const struct bj_role_launch *run, const char *name, struct bj_err *err)
{
	char share[128];
	struct bj_container_plan plan = {
		.launch = launch,
		.image = ground->settings->image[launch->language],
		.runtime = ground->settings->runtime,
		.seccomp = ground->seccomp,
		.owner = ground->track->owner,
		.run_id = run ? run->run_id : "",
		.expires = (uint64_t)time(NULL) + launch->timeout_ns / 1000000000u + EXPIRY_SECONDS,
		.processes = fewer_processes(ground->docker),
		.required = ground->settings->required,
	};

	if (bj_share_make(ground->share, name, share, sizeof(share)))
		plan.share = share;

	struct bj_err why = { 0 };
	int r = bj_container_create(ground->docker, name, &plan, &why);

	if (r == -BJ_E_INVALID && plan.share) {
		bj_share_remove(ground->share, name);
		plan.share = NULL;
		r = bj_container_create(ground->docker, name, &plan, &why);
	}
	if (r == -BJ_E_NOT_FOUND && !ground->settings->pull)
		return bj_image_missing(ground->docker, plan.image, err);
	if (r == -BJ_E_NOT_FOUND) {
		r = bj_image_pull(ground->docker, plan.image, run ? tell_progress : NULL,
				  (void *)run, &why);
		if (r == 0)
			r = bj_container_create(ground->docker, name, &plan, &why);
	}
	/* What failed on the way does not count when the last attempt was good. */
	if (r < 0 && err)
		*err = why;
	return r;
}

int bj_worker_make(const struct bj_worker_ground *ground, const struct bj_wire_launch *launch,
		   const struct bj_role_launch *run, const char *name, struct bj_err *err)
{
	int r = bj_track_add(ground->track, name, err);

	if (r < 0)
		return r;
	r = create(ground, launch, run, name, err);
	if (r == 0)
		r = bj_container_start(ground->docker, name, err);
	if (r < 0)
		bj_worker_remove(ground, name);
	return r;
}

bool bj_worker_remove(const struct bj_worker_ground *ground, const char *name)
{
	if (bj_container_remove(ground->docker, name, NULL) < 0)
		return false;
	bj_share_remove(ground->share, name);
	bj_track_drop(ground->track, name);
	return true;
}

void bj_worker_tidy(const struct bj_worker_ground *ground, const char *name)
{
	/* The helper has said its last word: the container is about to end by itself. */
	(void)bj_container_wait(ground->docker, name, LAST_WORD_MS, NULL);
	(void)bj_worker_remove(ground, name);
}

/* --- one run ---------------------------------------------------------------------------------- */

static int send_order(struct bj_attach *attach, const struct bj_wire_launch *launch,
		      struct bj_pump *pump, struct bj_err *err)
{
	struct bj_inside_order order = {
		.magic = BJ_INSIDE_MAGIC,
		.flags =
			(launch->flags & BJ_WIRE_CHECK_ONLY ? (uint32_t)BJ_INSIDE_CHECK_ONLY : 0u) |
			(launch->flags & BJ_WIRE_HAS_OUT ? (uint32_t)BJ_INSIDE_OUT : 0u),
		.language = launch->language,
		.out_files = launch->out_files,
		.out_bytes = launch->out_bytes,
		/* We kill first. This is for the case that none of us is left to do it. */
		.timeout_ns = launch->timeout_ns + UINT64_C(2000000000),
	};

	if (!bj_records_nonce(order.nonce))
		return bj_err_set(err, BJ_E_SYSTEM, errno, "no random numbers");
	bj_records_init(&pump->records, order.nonce, true);
	bj_records_init(&pump->err_records, order.nonce, false);
	if (bj_attach_write_all(attach, "go\n", 3) < 0 ||
	    bj_attach_write_all(attach, &order, sizeof(order)) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the Docker engine closed the stream of a container");
	return 0;
}

/* Bring the files of the run to where the container sees them. */
static int bring(const struct bj_worker_ground *ground, const struct bj_role_launch *run,
		 const char *name, struct bj_err *err)
{
	AUTO_BUF struct bj_buf tar = { 0 };
	const struct bj_upload upload = { .script_fd = run->fds[BJ_WIRE_FD_SCRIPT],
					  .spec_fd = run->fds[BJ_WIRE_FD_SPEC],
					  .language = (enum bj_language)run->launch.language };

	if (bj_share_has(ground->share, name))
		return bj_upload_share(&upload, ground->share, name, err);

	const int r = bj_upload_make(&upload, &tar, err);

	return r < 0 ? r : bj_container_upload(ground->docker, name, "/script", &tar, err);
}

static int set_going(const struct bj_worker_ground *ground, const struct bj_role_launch *run,
		     const char *name, struct bj_attach *attach, struct bj_pump *pump,
		     struct bj_err *err)
{
	int r = bj_attach_open(attach, ground->docker, name, err);

	if (r == 0)
		r = bring(ground, run, name, err);
	return r < 0 ? r : send_order(attach, &run->launch, pump, err);
}

/* --- judging ---------------------------------------------------------------------------------- */

/* A limit that the container's own cgroup does not show is not claimed: a runtime may have been
 * told to leave cgroups alone. The CPU quota stands beside the others. */
static uint64_t layers_seen(const struct bj_inside_end *end, const struct bj_wire_launch *launch)
{
	uint64_t layers = LAYERS & ~BJ_LAYERS_CGROUP;

	if (end->memory_limit > 0 && end->memory_limit <= launch->memory)
		layers |= BJ_LAYER_BIT(BJ_LAYER_MEMORY) | BJ_LAYER_BIT(BJ_LAYER_CPU);
	if (end->pids_limit > 0 && end->pids_limit <= launch->pids)
		layers |= BJ_LAYER_BIT(BJ_LAYER_PIDS);
	return layers;
}

/* The helper's word: its numbers come from the kernel. */
static void judge_end(const struct bj_inside_end *end, const struct bj_wire_launch *launch,
		      struct bj_wire_reply *ret)
{
	ret->layers = layers_seen(end, launch);
	ret->wait_status = end->wait_status;
	ret->cpu_ns = end->cpu_ns;
	ret->peak_memory = end->peak_memory;
	ret->cgroup_version = (uint8_t)end->cgroup_version;
	if (ret->cause != BJ_CAUSE_NONE)
		return;
	if (end->err.code) {
		ret->err = end->err;
		ret->err.msg[sizeof(ret->err.msg) - 1] = '\0';
		ret->cause = BJ_CAUSE_INFRASTRUCTURE;
	} else if (end->oom_kills > 0) {
		ret->cause = BJ_CAUSE_OOM;
	} else if (end->pids_hits > 0) {
		ret->cause = BJ_CAUSE_PIDS;
	} else if (WIFEXITED(end->wait_status)) {
		ret->cause = BJ_CAUSE_EXITED;
	} else {
		ret->cause =
			WTERMSIG(end->wait_status) == SIGSYS ? BJ_CAUSE_SECCOMP : BJ_CAUSE_SIGNAL;
	}
}

/* No word of the helper: it was killed, by us, by the script or for want of memory. */
static void judge_engine(const struct bj_worker_ground *ground, const struct bj_pump *pump,
			 const char *name, time_t since, struct bj_wire_reply *ret)
{
	struct bj_container_state state = { 0 };

	ret->wait_status = SIGKILL;
	ret->cpu_ns = pump->usage.cpu_ns;
	ret->peak_memory = pump->usage.memory;
	if (ret->cause != BJ_CAUSE_NONE)
		return;
	if (bj_container_inspect(ground->docker, name, &state, &ret->err) < 0) {
		ret->err.code = BJ_E_SYSTEM;
		bj_err_wrap(&ret->err, "the Docker engine went away during the run");
		ret->cause = BJ_CAUSE_INFRASTRUCTURE;
		return;
	}
	/* The engine marks a container only when its first process was killed for memory. */
	if (state.oom_killed || bj_container_had_oom(ground->docker, name, since, NULL) == 1) {
		ret->cause = BJ_CAUSE_OOM;
	} else if (!state.running && state.exit_code > 128 && state.exit_code < 128 + 65) {
		ret->cause = BJ_CAUSE_SIGNAL;
		ret->wait_status = state.exit_code - 128;
	} else {
		bj_err_set(&ret->err, BJ_E_SYSTEM, 0,
			   state.running ? "the Docker engine closed the streams during the run"
					 : "the container ended with status %d before its script",
			   state.exit_code);
		ret->cause = BJ_CAUSE_INFRASTRUCTURE;
	}
}

/* From the first byte to the verdict about it all. */
static void run_script(const struct bj_worker_ground *ground, struct bj_pump *pump,
		       struct bj_wire_reply *ret)
{
	const struct bj_wire_launch *launch = &pump->run->launch;
	const uint64_t started = bj_clock_now();
	const time_t since = time(NULL);

	tell(pump->run, BJ_REPLY_STARTED, "");
	ret->cause = bj_pump_run(pump, started + launch->timeout_ns);
	ret->duration_ns = bj_clock_now() - started;
	ret->layers = LAYERS;
	if (pump->have_end)
		judge_end(&pump->end, launch, ret);
	else
		judge_engine(ground, pump, pump->container, since, ret);
}

bool bj_worker_run(const struct bj_worker_ground *ground, struct bj_role_launch *run,
		   const char *name, bool warm, struct bj_wire_reply *ret)
{
	struct bj_attach attach = { 0 };
	struct bj_pump pump = {
		.attach = &attach, .run = run, .docker = ground->docker, .container = name
	};
	int r = warm ? 0 : bj_worker_make(ground, &run->launch, run, name, &ret->err);

	ret->cleanup_ok = true;
	ret->warm = warm;
	if (r < 0)
		return false;
	r = set_going(ground, run, name, &attach, &pump, &ret->err);
	if (r == 0)
		run_script(ground, &pump, ret);
	/* The engine does well, and what is left is tracked: the answer need not wait for it. */
	if (r == 0 && pump.have_end && ret->err.code == 0)
		return true;
	bj_attach_close(&attach);
	ret->cleanup_ok = bj_worker_remove(ground, name);
	return false;
}
