/* SPDX-License-Identifier: Apache-2.0 */

/* The manager is asked by a child that ends when it has the answer: so a library that comes with
 * a dozen others, and a connection to the user's bus, never are in the process that becomes the
 * parent of all jars; and a bus that does not answer costs two seconds and a kill. */

#include "jar/scope.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>

#define LIBRARY  "libsystemd.so.0"
#define SERVICE  "org.freedesktop.systemd1"
#define OBJECT   "/org/freedesktop/systemd1"
#define MANAGER  "org.freedesktop.systemd1.Manager"
#define DOCTOR   "run `belljar doctor` for the fix"
#define WAIT_SEC 2

/* The part of sd-bus that is used, as its manual gives it. Types are opaque. */
struct bus;
struct message;
typedef int (*on_message)(struct message *m, void *data, void *error);

struct sd_bus {
	int (*open_user)(struct bus **ret);
	int (*call_method)(struct bus *bus, const char *service, const char *object,
			   const char *interface, const char *member, void *ret_error,
			   struct message **ret_reply, const char *types, ...);
	int (*match_signal)(struct bus *bus, void **ret_slot, const char *sender,
			    const char *object, const char *interface, const char *member,
			    on_message callback, void *data);
	int (*message_read)(struct message *m, const char *types, ...);
	int (*process)(struct bus *bus, struct message **ret);
	int (*wait)(struct bus *bus, uint64_t usec);
};

/* The job that makes the scope, and how it ended. */
struct job {
	const struct sd_bus *api;
	const char *path;
	bool over, done;
};

/* --- in the child ----------------------------------------------------------------------------- */

static int load(struct sd_bus *ret, struct bj_err *err)
{
	static const struct {
		const char *name;
		size_t offset;
	} symbols[] = {
		{ "sd_bus_open_user", offsetof(struct sd_bus, open_user) },
		{ "sd_bus_call_method", offsetof(struct sd_bus, call_method) },
		{ "sd_bus_match_signal", offsetof(struct sd_bus, match_signal) },
		{ "sd_bus_message_read", offsetof(struct sd_bus, message_read) },
		{ "sd_bus_process", offsetof(struct sd_bus, process) },
		{ "sd_bus_wait", offsetof(struct sd_bus, wait) },
	};
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "cannot ask systemd for a cgroup without " LIBRARY "; " DOCTOR);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(symbols); i++) {
		void *function = dlsym(library, symbols[i].name);

		if (!function)
			return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
					  LIBRARY " has no %s; install a newer one",
					  symbols[i].name);
		memcpy((char *)ret + symbols[i].offset, &function, sizeof(function));
	}
	return 0;
}

/* A login sets the address of the bus; su, cron and system services do not. */
static void find_bus(void)
{
	char path[48];

	if (getenv("DBUS_SESSION_BUS_ADDRESS") || getenv("XDG_RUNTIME_DIR"))
		return;
	snprintf(path, sizeof(path), "/run/user/%u", geteuid());
	setenv("XDG_RUNTIME_DIR", path, 1);
}

static int connect_bus(const struct sd_bus *api, struct bus **ret, struct bj_err *err)
{
	find_bus();

	int r = api->open_user(ret);

	/* The connection is made in the background: only an answer shows that it works. */
	if (r >= 0)
		r = api->call_method(*ret, SERVICE, OBJECT, MANAGER, "Subscribe", NULL, NULL, "");
	if (r < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, -r,
				  "cannot ask the user's systemd for a cgroup; " DOCTOR);
	return 0;
}

static int on_removed(struct message *m, void *data, void *error)
{
	struct job *job = data;
	const char *path = NULL, *unit = NULL, *result = NULL;
	uint32_t id = 0;

	(void)error;
	if (job->api->message_read(m, "uoss", &id, &path, &unit, &result) >= 0 &&
	    strcmp(path, job->path) == 0) {
		job->over = true;
		job->done = strcmp(result, "done") == 0;
	}
	return 0;
}

static int start_scope(struct bus *bus, struct job *job, pid_t pid)
{
	struct message *reply = NULL;
	uint64_t random = 0;
	char name[64];

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(name, sizeof(name), "belljar-%016llx.scope", (unsigned long long)random);

	/* The unit, what to do when there is one of that name, five properties, and no other
	 * units. A scope that failed is forgotten like any other. */
	const int r = job->api->call_method(
		bus, SERVICE, OBJECT, MANAGER, "StartTransientUnit", NULL, &reply,
		"ssa(sv)a(sa(sv))", name, "fail", 5, "Description", "s", "belljar's jars", "PIDs",
		"au", 1, (uint32_t)pid, "DelegateControllers", "as", 3, "cpu", "memory", "pids",
		"CollectMode", "s", "inactive-or-failed", "Slice", "s", "app.slice", 0);

	return r < 0 ? r : job->api->message_read(reply, "o", &job->path);
}

static int wait_for_job(struct bus *bus, const struct job *job)
{
	while (!job->over) {
		int r = job->api->process(bus, NULL);

		if (r == 0)
			r = job->api->wait(bus, UINT64_MAX); /* the parent has the clock */
		if (r < 0)
			return r;
	}
	return job->done ? 0 : -ECANCELED;
}

static int ask(pid_t pid, struct bj_err *err)
{
	struct sd_bus api = { 0 };
	struct bus *bus = NULL;
	struct job job = { .api = &api };
	int r = load(&api, err);

	if (r == 0)
		r = connect_bus(&api, &bus, err);
	if (r < 0)
		return r;
	r = api.match_signal(bus, NULL, SERVICE, OBJECT, MANAGER, "JobRemoved", on_removed, &job);
	if (r >= 0)
		r = start_scope(bus, &job, pid);
	if (r >= 0)
		r = wait_for_job(bus, &job);
	if (r < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, -r,
				  "the user's systemd makes no scope for belljar; " DOCTOR);
	return 0;
}

/* --- in the caller ---------------------------------------------------------------------------- */

__attribute__((noreturn)) static void child(int out, pid_t parent)
{
	struct bj_err err = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	ask(parent, &err);
	_exit(write(out, &err, sizeof(err)) != sizeof(err));
}

/* The child's verdict, or that there was none in time. */
static int read_verdict(int fd, struct bj_err *err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct bj_err said = { 0 };

	if (poll(&p, 1, WAIT_SEC * 1000) <= 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, ETIMEDOUT,
				  "the user's systemd did not answer; " DOCTOR);
	if (read(fd, &said, sizeof(said)) != sizeof(said))
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "asking the user's systemd for a cgroup failed; " DOCTOR);
	if (said.code && err)
		*err = said;
	return -said.code;
}

int bj_scope_enter(struct bj_err *err)
{
	const pid_t self = getpid();
	int pair[2];

	if (access("/run/systemd/system", F_OK) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the own cgroup is not delegated, and no systemd is here to ask; "
				  "`belljar doctor` tells how to delegate one");
	if (pipe2(pair, O_CLOEXEC) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a pipe");
	AUTO_FD int in = pair[0];
	AUTO_FD int out = pair[1];
	const pid_t pid = fork();

	if (pid == 0)
		child(out, self);
	if (pid < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot fork");
	/* The end of the child is an answer too. */
	close(bj_take_fd(&out));

	const int r = read_verdict(in, err);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return r;
}
