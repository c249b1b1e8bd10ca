/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/container.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "docker/inside.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Bytes of the tmpfs that script and helper are uploaded to. */
#define SCRIPT_TMPFS_SIZE (BJ_WIRE_SPEC_MAX * 2 + (UINT64_C(16) << 20))

/* The shell waits for the one line that says that helper and script are in place. */
#define WAIT_FOR_HELPER "read -r go && exec " BJ_INSIDE_HELPER

bool bj_container_name(char name[BJ_CONTAINER_NAME])
{
	unsigned char bytes[16];
	int n = snprintf(name, BJ_CONTAINER_NAME, "%s", BJ_CONTAINER_PREFIX);

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		n += snprintf(name + n, BJ_CONTAINER_NAME - (size_t)n, "%02x", bytes[i]);
	return true;
}

/* --- the template ----------------------------------------------------------------------------- */

static json_t *tmpfs(const struct bj_wire_launch *launch)
{
	char options[128];

	snprintf(options, sizeof(options), "rw,noexec,nosuid,nodev,size=%" PRIu64 ",mode=1777",
		 launch->tmp_size);
	return json_pack("{s:s, s:s}", "/tmp", options, "/work", options);
}

/* A directory of this machine, read-only. Or a volume that lives in memory: the engine can unpack
 * an archive into it while the container runs, and what it unpacks belongs to root, so the script
 * can read it and change nothing. */
static json_t *script_mount(const struct bj_container_plan *plan)
{
	char options[96];

	if (plan->share)
		return json_pack("[{s:s, s:s, s:s, s:b, s:{s:s}}]", "Type", "bind", "Source",
				 plan->share, "Target", "/script", "ReadOnly", 1, "BindOptions",
				 "Propagation", "rprivate");

	snprintf(options, sizeof(options), "size=%" PRIu64 ",mode=0755,nosuid,nodev",
		 (uint64_t)SCRIPT_TMPFS_SIZE);
	return json_pack("[{s:s, s:s, s:{s:b, s:{s:s}, s:{s:s, s:{s:s, s:s, s:s}}}}]", "Type",
			 "volume", "Target", "/script", "VolumeOptions", "NoCopy", 1, "Labels",
			 BJ_LABEL_OWNER, plan->owner, "DriverConfig", "Name", "local", "Options",
			 "type", "tmpfs", "device", "tmpfs", "o", options);
}

static json_t *ulimit(const char *name, json_int_t value)
{
	return json_pack("{s:s, s:I, s:I}", "Name", name, "Soft", value, "Hard", value);
}

static json_t *security(const struct bj_container_plan *plan)
{
	json_t *list = json_pack("[s]", "no-new-privileges:true");

	if (plan->seccomp) {
		struct bj_buf option = { 0 };

		bj_buf_printf(&option, "seccomp=%s", plan->seccomp);

		AUTO_FREE char *text = bj_buf_take(&option);

		json_array_append_new(list, json_string(text ? text : ""));
	}
	return list;
}

static json_t *host_config(const struct bj_container_plan *plan)
{
	const struct bj_wire_launch *l = plan->launch;
	json_t *host = json_pack(
		"{s:s, s:I, s:I, s:i, s:I, s:I, s:b, s:[s], s:o, s:o, s:o, s:b, s:{s:s}, s:[o, o, "
		"o], s:b, s:s, s:s, s:I, s:b}",
		"NetworkMode", "none", "Memory", (json_int_t)l->memory, "MemorySwap",
		(json_int_t)l->memory, "MemorySwappiness", 0, "NanoCpus",
		(json_int_t)l->cpu_milli * 1000000, "PidsLimit", (json_int_t)l->pids,
		"ReadonlyRootfs", 1, "CapDrop", "ALL", "SecurityOpt", security(plan), "Tmpfs",
		tmpfs(l), "Mounts", script_mount(plan), "Init", 1, "LogConfig", "Type", "none",
		"Ulimits", ulimit("core", 0), ulimit("nofile", 1024), ulimit("memlock", 64 << 10),
		"Privileged", 0, "CgroupnsMode", "private", "IpcMode", "private", "ShmSize",
		(json_int_t)l->tmp_size, "AutoRemove", 0);

	if (plan->processes)
		json_array_append_new(json_object_get(host, "Ulimits"),
				      ulimit("nproc", (json_int_t)plan->processes));
	if (host && plan->runtime)
		json_object_set_new(host, "Runtime", json_string(plan->runtime));
	return host;
}

char *bj_container_body(const struct bj_container_plan *plan)
{
	char expires[24];

	snprintf(expires, sizeof(expires), "%" PRIu64, plan->expires);

	json_t *body =
		json_pack("{s:s, s:s, s:[s,s,s], s:[], s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:b, "
			  "s:b, s:{s:[s]}, "
			  "s:{s:s, s:s, s:s}, s:o}",
			  "Image", plan->image, "User", "65534:65534", "Entrypoint", "/bin/sh",
			  "-c", WAIT_FOR_HELPER, "Cmd", "WorkingDir", "/", "Hostname", "jar",
			  "NetworkDisabled", 1, "AttachStdin", 1, "AttachStdout", 1, "AttachStderr",
			  1, "OpenStdin", 1, "StdinOnce", 1, "Tty", 0, "Healthcheck", "Test",
			  "NONE", "Labels", BJ_LABEL_OWNER, plan->owner, BJ_LABEL_RUN, plan->run_id,
			  BJ_LABEL_EXPIRES, expires, "HostConfig", host_config(plan));
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

	json_decref(body);
	return text;
}

/* --- the life --------------------------------------------------------------------------------- */

/* The engine creates a container even when the kernel cannot enforce a limit, and says so in a
 * warning. Swappiness is not a limit: swap itself is off already. */
static int check_warnings(const struct bj_buf *body, struct bj_err *err)
{
	json_t *answer = json_loadb(body->data ? body->data : "", body->size, 0, NULL);
	json_t *warnings = json_object_get(answer, "Warnings");
	json_t *item;
	size_t i;
	int r = 0;

	json_array_foreach(warnings, i, item)
	{
		const char *text = json_string_value(item);

		if (text && !strstr(text, "swappiness"))
			r = bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				       "the Docker engine cannot enforce a limit: %.140s", text);
	}
	json_decref(answer);
	return r;
}

int bj_container_create(struct bj_docker *docker, const char *name,
			const struct bj_container_plan *plan, struct bj_err *err)
{
	AUTO_FREE char *text = bj_container_body(plan);
	AUTO_BUF struct bj_buf answer = { 0 };
	char path[128];

	if (!text)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for a container");
	snprintf(path, sizeof(path), "/containers/create?name=%s", name);

	const struct bj_docker_call call = {
		.method = "POST", .path = path, .body = text, .size = strlen(text)
	};
	const int status = bj_docker_do(docker, &call, &answer, err);

	if (status < 0)
		return status;
	if (status == 404)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "the Docker engine has no image %.100s; run `docker pull %.100s`",
				  plan->image, plan->image);
	/* An engine in a machine or a namespace of its own does not see our files. */
	if (status == 400 && plan->share && answer.data && strstr(answer.data, "bind source path"))
		return bj_err_set(err, BJ_E_INVALID, 0, "the Docker engine sees other files");
	if (status != 201)
		return bj_docker_refused("create a container", status, &answer, err);
	return plan->required ? check_warnings(&answer, err) : 0;
}

/* POST @what to the container, where only 2xx and 304 (it is so already) are fine. */
static int post(struct bj_docker *docker, const char *name, const char *what, long timeout_ms,
		struct bj_err *err)
{
	AUTO_BUF struct bj_buf answer = { 0 };
	char path[160];

	snprintf(path, sizeof(path), "/containers/%s/%s", name, what);

	const struct bj_docker_call call = {
		.method = "POST", .path = path, .body = "", .timeout_ms = timeout_ms
	};
	const int status = bj_docker_do(docker, &call, &answer, err);

	if (status < 0)
		return status;
	if (status / 100 == 2 || status == 304)
		return 0;
	return bj_docker_refused(what, status, &answer, err);
}

int bj_container_start(struct bj_docker *docker, const char *name, struct bj_err *err)
{
	return post(docker, name, "start", 0, err);
}

int bj_container_kill(struct bj_docker *docker, const char *name, struct bj_err *err)
{
	return post(docker, name, "kill", 0, err);
}

int bj_container_wait(struct bj_docker *docker, const char *name, long timeout_ms,
		      struct bj_err *err)
{
	return post(docker, name, "wait", timeout_ms, err);
}

/* A GET whose answer is JSON. NULL with @err. */
static json_t *get(struct bj_docker *docker, const char *path, long timeout_ms, const char *what,
		   struct bj_err *err)
{
	AUTO_BUF struct bj_buf answer = { 0 };
	const struct bj_docker_call call = { .method = "GET",
					     .path = path,
					     .timeout_ms = timeout_ms };
	const int status = bj_docker_do(docker, &call, &answer, err);

	if (status < 0)
		return NULL;
	if (status != 200) {
		bj_docker_refused(what, status, &answer, err);
		return NULL;
	}

	json_t *object = json_loadb(answer.data ? answer.data : "", answer.size,
				    JSON_DISABLE_EOF_CHECK, NULL);

	if (!object)
		bj_err_set(err, BJ_E_PROTOCOL, 0, "the Docker engine answers in an unknown way");
	return object;
}

int bj_container_stats(struct bj_docker *docker, const char *name, long timeout_ms,
		       struct bj_container_usage *ret, struct bj_err *err)
{
	char path[128];
	json_int_t cpu = 0, now = 0, most = 0;

	snprintf(path, sizeof(path), "/containers/%s/stats?stream=0&one-shot=1", name);

	json_t *object = get(docker, path, timeout_ms, "count", err);

	if (!object)
		return err ? -err->code : -BJ_E_SYSTEM;
	json_unpack(object, "{s:{s:{s:I}}}", "cpu_stats", "cpu_usage", "total_usage", &cpu);
	/* Only the first version of cgroups has the peak here. */
	json_unpack(object, "{s:{s:I}}", "memory_stats", "usage", &now);
	json_unpack(object, "{s:{s:I}}", "memory_stats", "max_usage", &most);
	json_decref(object);
	most = most > now ? most : now;
	*ret = (struct bj_container_usage){ cpu > 0 ? (uint64_t)cpu : 0,
					    most > 0 ? (uint64_t)most : 0 };
	return 0;
}

int bj_container_had_oom(struct bj_docker *docker, const char *name, time_t since,
			 struct bj_err *err)
{
	AUTO_BUF struct bj_buf answer = { 0 };
	struct timespec now;
	char path[320];

	clock_gettime(CLOCK_REALTIME, &now);
	/* filters={"container":["NAME"],"event":["oom"]}, escaped */
	snprintf(path, sizeof(path),
		 "/events?since=%lld&until=%lld.%09ld&filters=%%7B%%22container%%22%%3A%%5B%%22%s%%"
		 "22%%5D"
		 "%%2C%%22event%%22%%3A%%5B%%22oom%%22%%5D%%7D",
		 (long long)since, (long long)now.tv_sec, now.tv_nsec, name);

	const struct bj_docker_call call = { .method = "GET", .path = path };
	const int status = bj_docker_do(docker, &call, &answer, err);

	if (status < 0)
		return status;
	return status == 200 && answer.data && strstr(answer.data, "\"oom\"");
}

int bj_container_upload(struct bj_docker *docker, const char *name, const char *path_in,
			const struct bj_buf *tar, struct bj_err *err)
{
	AUTO_BUF struct bj_buf answer = { 0 };
	char path[160];

	snprintf(path, sizeof(path), "/containers/%s/archive?path=%s", name, path_in);

	const struct bj_docker_call call = {
		.method = "PUT",
		.path = path,
		.body = tar->data,
		.size = tar->size,
		.type = "application/x-tar",
	};
	const int status = bj_docker_do(docker, &call, &answer, err);

	if (status < 0)
		return status;
	return status == 200 ? 0 : bj_docker_refused("take the script", status, &answer, err);
}

int bj_container_inspect(struct bj_docker *docker, const char *name, struct bj_container_state *ret,
			 struct bj_err *err)
{
	char path[128];
	int running = 0, oom = 0, code = -1;

	snprintf(path, sizeof(path), "/containers/%s/json", name);

	json_t *object = get(docker, path, 0, "show the container", err);

	if (!object)
		return -err->code;

	const int r = json_unpack(object, "{s:{s:b, s:b, s:i}}", "State", "Running", &running,
				  "OOMKilled", &oom, "ExitCode", &code);

	json_decref(object);
	if (r < 0)
		return bj_err_set(err, BJ_E_PROTOCOL, 0,
				  "the Docker engine describes the container in an unknown way");
	*ret = (struct bj_container_state){ running, oom, code };
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* One removal: the HTTP status. */
static int remove_once(struct bj_docker *docker, const char *name, bool force, struct bj_err *err)
{
	AUTO_BUF struct bj_buf answer = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "/containers/%s?v=1%s", name, force ? "&force=1" : "");

	const struct bj_docker_call call = { .method = "DELETE", .path = path };
	const int status = bj_docker_do(docker, &call, &answer, err);

	if (status >= 0 && status != 204 && status != 200 && status != 404)
		bj_docker_refused("remove a container", status, &answer, err);
	return status;
}

static bool is_gone(int status)
{
	return status == 204 || status == 200 || status == 404;
}

int bj_container_remove(struct bj_docker *docker, const char *name, struct bj_err *err)
{
	struct bj_err why = { 0 };
	int status = remove_once(docker, name, false, &why);

	/* Steps are for an engine that says no. One that says nothing is not asked again. */
	if (status >= 0 && !is_gone(status)) {
		(void)post(docker, name, "stop?t=1", 0, NULL);
		status = remove_once(docker, name, true, &why);
	}
	for (int round = 0; status >= 0 && !is_gone(status) && round < 20; round++) {
		bj_container_kill(docker, name, NULL);
		/* A removal that is under way answers 409 until it is done. */
		poll(NULL, 0, 50);
		status = remove_once(docker, name, true, &why);
	}
	if (is_gone(status))
		return status == 404;
	if (err)
		*err = why;
	return -why.code;
}
