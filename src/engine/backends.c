/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/backends.h"

#include "backend/direct_role.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "docker/broker.h"
#include "jar/layers.h"
#include "spec/names.h"

#include <string.h>

/* --- the processes ---------------------------------------------------------------------------- */

int bj_backends_start_native(const struct bj_settings *s, bool warm, struct bj_launcher **ret,
			     struct bj_err *err)
{
	static const enum bj_mounts_proc procs[] = {
		[BJ_PROC_PID] = BJ_MOUNTS_PROC_PID,
		[BJ_PROC_COMPAT] = BJ_MOUNTS_PROC_COMPAT,
		[BJ_PROC_NONE] = BJ_MOUNTS_PROC_NONE,
	};
	const struct bj_launch_settings launch = {
		.cgroup = s->cgroup,
		.uid_base = s->uid_base,
		.uid_count = s->uid_count,
		.required = s->require == BJ_REQUIRE_FULL ? BJ_LAYERS_FULL : BJ_LAYERS_BASIC,
		.python = s->python,
		.bash = s->bash,
		.proc = procs[s->proc],
		.bound = true,
		/* A process that runs one script has no use for interpreters that wait. */
		.slots = warm ? s->warm_slots : 0,
		.shape = { .limits = { .memory = s->limits.memory,
				       .cpu_milli = s->limits.cpu_milli,
				       .pids = s->limits.pids },
			   .tmp_size = s->limits.tmp_size },
		.modules = (const char *const *)s->warm_preload.items,
	};

	return bj_launcher_new(&launch, ret, err);
}

static int start_native(struct belljar *bj, struct bj_err *err)
{
	return bj_backends_start_native(bj->settings, bj->warm, &bj->launcher, err);
}

static int start_broker(const struct bj_settings *s, bool sweep, struct bj_role **ret,
			struct bj_err *err)
{
	const struct bj_broker_settings broker = {
		.host = s->docker_host,
		.image = { [BJ_LANG_PYTHON] = s->docker_image ? s->docker_image : s->docker_python,
			   [BJ_LANG_BASH] = s->docker_image ? s->docker_image : s->docker_bash },
		.runtime = s->docker_runtime,
		.state_dir = s->state_dir,
		.seccomp_file = s->seccomp,
		.seccomp_engine = s->docker_seccomp == BJ_DOCKER_PROFILE_ENGINE,
		.required = s->require == BJ_REQUIRE_FULL,
		.pull = s->docker_pull,
		.sweep_all = sweep,
		.pool = s->docker_pool,
		.timeout_ms = s->docker_timeout_ms,
	};

	return bj_broker_new(&broker, ret, err);
}

static int start_docker(struct belljar *bj, struct bj_err *err)
{
	return start_broker(bj->settings, false, &bj->broker, err);
}

static int start_direct(struct belljar *bj, struct bj_err *err)
{
	const struct bj_settings *s = bj->settings;

	return s->allow_unsafe ? bj_direct_new(s->python, s->bash, &bj->direct, err) : 0;
}

/* --- the table -------------------------------------------------------------------------------- */

static void *native_self(const struct belljar *bj)
{
	return bj->launcher;
}

static void *docker_self(const struct belljar *bj)
{
	return bj->broker;
}

static void *direct_self(const struct belljar *bj)
{
	return bj->direct;
}

static const struct {
	const struct bj_backend *backend;
	int (*start)(struct belljar *bj, struct bj_err *err);
	void *(*self)(const struct belljar *bj);
} BACKENDS[] = {
	[BJ_BACKEND_NATIVE] = { &bj_backend_native, start_native, native_self },
	[BJ_BACKEND_DOCKER] = { &bj_backend_docker, start_docker, docker_self },
	[BJ_BACKEND_DIRECT] = { &bj_backend_direct, start_direct, direct_self },
};

/* The settings' list of backends to fall back to, by place; false at its end. */
static bool fallback_at(const struct bj_settings *s, size_t i, enum bj_backend_id *ret)
{
	if (i < s->fallback.n) {
		*ret = strcmp(s->fallback.items[i], "direct") == 0 ? BJ_BACKEND_DIRECT
								   : BJ_BACKEND_NATIVE;
		return true;
	}
	*ret = BJ_BACKEND_DIRECT;
	return i == s->fallback.n && s->fallback_to_direct;
}

static bool may_be_used(const struct bj_settings *s, enum bj_backend_id id)
{
	enum bj_backend_id other;

	if (s->backend == id)
		return true;
	for (size_t i = 0; fallback_at(s, i, &other); i++)
		if (other == id)
			return true;
	return false;
}

int bj_backends_start(struct belljar *bj, struct bj_err *err)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(BACKENDS); i++) {
		const int r = may_be_used(bj->settings, (enum bj_backend_id)i)
				      ? BACKENDS[i].start(bj, err)
				      : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

/* A launcher and a broker sweep when they come up: one more of each, for that alone. */
int bj_engine_sweep(const struct bj_settings *settings, struct bj_err *err)
{
	unsigned int jars = 0, containers = 0;
	struct bj_launcher *launcher = NULL;
	struct bj_role *broker = NULL;
	int r = bj_backends_start_native(settings, false, &launcher, err);

	if (r == 0)
		r = bj_launcher_ready(launcher, &jars, err);
	bj_launcher_free(launcher);
	if (r == 0 && may_be_used(settings, BJ_BACKEND_DOCKER)) {
		r = start_broker(settings, true, &broker, err);
		if (r == 0)
			r = bj_role_ready(broker, &containers, err);
		bj_role_free(broker);
	}
	return r < 0 ? r : (int)(jars + containers);
}

void bj_backends_stop(struct belljar *bj)
{
	bj_launcher_free(bj->launcher);
	bj_role_free(bj->broker);
	bj_role_free(bj->direct);
}

static void release_role(struct bj_role **role, enum bj_backend_id id,
			 struct bj_engine_parts *parts)
{
	if (*role)
		parts->control[id] = bj_role_release(BJ_TAKE_PTR(*role), &parts->pid[id]);
}

void bj_backends_release(struct belljar *bj, struct bj_engine_parts *parts)
{
	if (bj->launcher)
		parts->control[BJ_BACKEND_NATIVE] = bj_launcher_release(
			BJ_TAKE_PTR(bj->launcher), &parts->pid[BJ_BACKEND_NATIVE]);
	release_role(&bj->broker, BJ_BACKEND_DOCKER, parts);
	release_role(&bj->direct, BJ_BACKEND_DIRECT, parts);
}

int bj_backends_adopt(struct belljar *bj, struct bj_engine_parts *parts, struct bj_err *err)
{
	int *control = parts->control;
	int r = 0;

	if (control[BJ_BACKEND_NATIVE] >= 0)
		r = bj_launcher_adopt(bj_take_fd(&control[BJ_BACKEND_NATIVE]), &bj->launcher, err);
	if (r == 0 && control[BJ_BACKEND_DOCKER] >= 0)
		r = bj_role_adopt("broker", bj_take_fd(&control[BJ_BACKEND_DOCKER]), &bj->broker,
				  err);
	if (r == 0 && control[BJ_BACKEND_DIRECT] >= 0)
		r = bj_role_adopt("host of direct runs", bj_take_fd(&control[BJ_BACKEND_DIRECT]),
				  &bj->direct, err);
	return r;
}

int bj_engine_ready(struct belljar *bj, struct bj_err *err)
{
	int r = bj->launcher ? bj_launcher_ready(bj->launcher, NULL, err) : 0;

	if (r == 0 && bj->broker)
		r = bj_role_ready(bj->broker, NULL, err);
	if (r == 0 && bj->direct)
		r = bj_role_ready(bj->direct, NULL, err);
	return r;
}

int bj_backends_run(struct belljar *bj, enum bj_backend_id id, const struct bj_spec *spec,
		    struct bj_result *result, struct bj_verdict *ret_verdict, struct bj_err *err)
{
	void *self = (size_t)id < BJ_ARRAY_SIZE(BACKENDS) ? BACKENDS[id].self(bj) : NULL;

	result->runtime = id;
	result->cgroup = "none";
	result->uid_mode = "shared";
	if (id == BJ_BACKEND_DIRECT && !bj->settings->allow_unsafe)
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "the backend direct seals nothing off and is not allowed; set "
				  "allow_unsafe: true if that is what you want");
	if (!self)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "this belljar was not opened for the backend %s; set backend: %s",
				  bj_backend_name(id), bj_backend_name(id));
	return BACKENDS[id].backend->run(self, spec, result, ret_verdict, err);
}

bool bj_backends_next(const struct belljar *bj, enum bj_backend_id first, enum bj_backend_id tried,
		      const struct bj_err *err, enum bj_backend_id *ret_next)
{
	bool passed = tried == first;
	enum bj_backend_id next;

	/* Only a backend that is not there is replaced, never one that failed on the way. */
	if (err->code != BJ_E_UNSUPPORTED && err->code != BJ_E_NOT_FOUND)
		return false;
	for (size_t i = 0; fallback_at(bj->settings, i, &next); i++) {
		if (passed && next != first) {
			*ret_next = next;
			return true;
		}
		passed = passed || next == tried;
	}
	return false;
}
