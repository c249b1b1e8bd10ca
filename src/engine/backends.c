/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/backends.h"

#include "backend/direct_role.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "docker/broker.h"
#include "engine/pin.h"
#include "jar/layers.h"
#include "launch/launch.h"
#include "spec/names.h"

#include <string.h>

/* --- the processes ---------------------------------------------------------------------------- */

/* An image has its own, unless the settings name a path in the first one. */
static const char *interpreter(const struct bj_settings *s, size_t place, const char *key,
			       const char *set, const char *found)
{
	return found[0] && (place > 0 || !bj_settings_was_set(s, key)) ? found : set;
}

_Static_assert((int)BJ_WIRE_IMAGES == 1 + (int)BJ_IMAGES_ALLOWED, "one place for each image");

/* Look up all images. @pinned keeps the texts that @launch points to. A process that runs one
 * script needs the first one. */
static int find_images(const struct bj_settings *s, size_t n, struct bj_pinned *pinned,
		       struct bj_launch_settings *launch, struct bj_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const int r = bj_pin_look(s, i, &pinned[i], err);

		if (r < 0)
			return r;
		launch->images[i] = (struct bj_launch_image){
			.there = pinned[i].there,
			.root = pinned[i].root[0] ? pinned[i].root : NULL,
			.python = interpreter(s, i, "native.python", s->python, pinned[i].python),
			.bash = interpreter(s, i, "native.bash", s->bash, pinned[i].bash),
		};
	}
	return 0;
}

static struct bj_launch_pools pools_of(const struct bj_settings *s)
{
	return (struct bj_launch_pools){
		.python = s->warm_slots,
		.heavy = s->warm_heavy.n > 0 ? s->warm_heavy_slots : 0,
		.bash = s->warm_bash_slots,
		.empty = s->warm_jars,
		.max = s->warm_max,
		.images = s->warm_images,
		.modules = (const char *const *)s->warm_preload.items,
		.heavy_modules = (const char *const *)s->warm_heavy.items,
	};
}

int bj_backends_start_native(const struct bj_settings *s, enum bj_backends_use use,
			     struct bj_process **ret, struct bj_err *err)
{
	static const enum bj_mounts_proc procs[] = {
		[BJ_PROC_PID] = BJ_MOUNTS_PROC_PID,
		[BJ_PROC_COMPAT] = BJ_MOUNTS_PROC_COMPAT,
		[BJ_PROC_NONE] = BJ_MOUNTS_PROC_NONE,
	};
	struct bj_pinned pinned[BJ_WIRE_IMAGES];
	struct bj_launch_settings launch = {
		.cgroup = s->cgroup,
		.uid_base = s->uid_base,
		.uid_count = s->uid_count,
		.all = { .memory = s->all_memory,
			 .cpu_milli = s->all_cpu_milli,
			 .pids = s->all_pids },
		.required = s->require == BJ_REQUIRE_FULL ? BJ_LAYERS_FULL : BJ_LAYERS_BASIC,
		.proc = procs[s->proc],
		.bound = true,
		.ahead = use == BJ_USE_SOON,
		/* A process that runs one script has no use for interpreters that wait. */
		.pools = use == BJ_USE_MUCH ? pools_of(s) : (struct bj_launch_pools){ 0 },
		.shape = { .limits = { .memory = s->limits.memory,
				       .cpu_milli = s->limits.cpu_milli,
				       .pids = s->limits.pids },
			   .tmp_size = s->limits.tmp_size },
	};

	const int r = find_images(s, use == BJ_USE_MUCH ? 1 + s->images_allow.n : 1, pinned,
				  &launch, err);

	return r < 0 ? r : bj_launcher_new(&launch, ret, err);
}

static int start_native(const struct belljar *bj, struct bj_process **ret, struct bj_err *err)
{
	return bj_backends_start_native(bj->settings,
					bj->warm   ? BJ_USE_MUCH
					: bj->soon ? BJ_USE_SOON
						   : BJ_USE_LATER,
					ret, err);
}

static const char *docker_image(const struct bj_settings *s, enum bj_language language)
{
	if (s->docker_image)
		return s->docker_image;
	return language == BJ_LANG_PYTHON ? s->docker_python : s->docker_bash;
}

static int start_broker(const struct bj_settings *s, bool sweep, struct bj_process **ret,
			struct bj_err *err)
{
	const struct bj_broker_settings broker = {
		.host = s->docker_host,
		.image = { [BJ_LANG_PYTHON] = docker_image(s, BJ_LANG_PYTHON),
			   [BJ_LANG_BASH] = docker_image(s, BJ_LANG_BASH) },
		.runtime = s->docker_runtime,
		.state_dir = s->state_dir,
		.seccomp_file = s->seccomp,
		.seccomp_engine = s->docker_seccomp == BJ_DOCKER_PROFILE_ENGINE,
		.required = s->require == BJ_REQUIRE_FULL,
		.mount_script = s->docker_mount_script,
		.pull = s->docker_pull,
		.sweep_all = sweep,
		.pool = s->docker_pool,
		.sweep_ms = s->docker_sweep_ms,
		.timeout_ms = s->docker_timeout_ms,
	};

	return bj_broker_new(&broker, ret, err);
}

static int start_docker(const struct belljar *bj, struct bj_process **ret, struct bj_err *err)
{
	return start_broker(bj->settings, false, ret, err);
}

static int start_direct(const struct belljar *bj, struct bj_process **ret, struct bj_err *err)
{
	const struct bj_settings *s = bj->settings;

	return s->allow_unsafe ? bj_direct_new(s->python, s->bash, ret, err) : 0;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct {
	const struct bj_backend *backend;
	int (*start)(const struct belljar *bj, struct bj_process **ret, struct bj_err *err);
	const char *process; /* its name where another process has started it */
} BACKENDS[BJ_ENGINE_PROCESSES] = {
	[BJ_BACKEND_NATIVE] = { &bj_backend_native, start_native, "launcher" },
	[BJ_BACKEND_DOCKER] = { &bj_backend_docker, start_docker, "broker" },
	[BJ_BACKEND_DIRECT] = { &bj_backend_direct, start_direct, "host of direct runs" },
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

int bj_backends_pin(struct bj_settings *settings, struct bj_err *err)
{
	return may_be_used(settings, BJ_BACKEND_NATIVE) ? bj_pin_images(settings, err) : 0;
}

int bj_backends_watch(const struct bj_settings *settings)
{
	return may_be_used(settings, BJ_BACKEND_NATIVE) ? bj_pin_watch(settings) : -1;
}

int bj_backends_start(struct belljar *bj, struct bj_err *err)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(BACKENDS); i++) {
		const int r = may_be_used(bj->settings, (enum bj_backend_id)i)
				      ? BACKENDS[i].start(bj, &bj->process[i], err)
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
	struct bj_process *launcher = NULL, *broker = NULL;
	int r = bj_backends_start_native(settings, BJ_USE_LATER, &launcher, err);

	if (r == 0)
		r = bj_process_ready(launcher, &jars, err);
	bj_process_free(launcher);
	if (r == 0 && may_be_used(settings, BJ_BACKEND_DOCKER)) {
		r = start_broker(settings, true, &broker, err);
		if (r == 0)
			r = bj_process_ready(broker, &containers, err);
		bj_process_free(broker);
	}
	return r < 0 ? r : (int)(jars + containers);
}

void bj_backends_stop(struct belljar *bj, bool wait)
{
	for (int i = 0; i < BJ_ENGINE_PROCESSES; i++)
		(wait ? bj_process_free : bj_process_leave)(bj->process[i]);
}

void bj_backends_release(struct belljar *bj, struct bj_engine_parts *parts)
{
	for (int i = 0; i < BJ_ENGINE_PROCESSES; i++)
		if (bj->process[i])
			parts->control[i] =
				bj_process_release(BJ_TAKE_PTR(bj->process[i]), &parts->pid[i]);
}

int bj_backends_adopt(struct belljar *bj, struct bj_engine_parts *parts, struct bj_err *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < BJ_ENGINE_PROCESSES; i++)
		if (parts->control[i] >= 0)
			r = bj_process_adopt(BACKENDS[i].process, bj_take_fd(&parts->control[i]),
					     &bj->process[i], err);
	return r;
}

int bj_engine_ready(struct belljar *bj, struct bj_err *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < BJ_ENGINE_PROCESSES; i++) {
		unsigned int swept = 0;

		if (bj->process[i])
			r = bj_process_ready(bj->process[i], &swept, err);
		bj->swept += swept;
	}
	if (r == 0 && bj->process[bj->settings->backend])
		bj->places = bj_process_places(bj->process[bj->settings->backend]);
	return r;
}

/* Say in @result which image the run sees. */
static void name_image(const struct bj_settings *s, enum bj_backend_id id,
		       const struct bj_spec *spec, struct bj_result *result)
{
	const char *image = bj_pin_at(s, spec->image_place);

	if (id == BJ_BACKEND_NATIVE && image)
		bj_pin_split(image, &result->image, &result->image_digest);
	else if (id == BJ_BACKEND_DOCKER)
		result->image = strdup(docker_image(s, spec->language));
}

int bj_backends_run(struct belljar *bj, enum bj_backend_id id, const struct bj_spec *spec,
		    struct bj_result *result, struct bj_verdict *ret_verdict, struct bj_err *err)
{
	void *self = (size_t)id < BJ_ARRAY_SIZE(BACKENDS) ? bj->process[id] : NULL;

	result->runtime = id;
	name_image(bj->settings, id, spec, result);
	result->cgroup = "none";
	result->uid_mode = "shared";
	if (id == BJ_BACKEND_DIRECT && !bj->settings->allow_unsafe)
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "the backend direct seals nothing off and is not allowed; set "
				  "allow_unsafe: true if that is what you want");
	/* What stands in for the jar has other interpreters. */
	if (spec->image_place > 0 && id != BJ_BACKEND_NATIVE)
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "only the backend native has images of images.allow");
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
