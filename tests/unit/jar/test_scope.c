/* SPDX-License-Identifier: Apache-2.0 */

/* SCRP-06: what happens when the user's systemd cannot be asked. (That it can is tested on a
 * machine that has one, by tests/vm.) Each case runs in a child with a /run of its own. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "jar/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { SETUP_FAILED = 99 };

static bool write_file(const char *path, const char *text)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && bj_fd_write_all(fd, text, strlen(text)) == 0;
}

/* Ordinary users may mount in a user namespace only. */
static bool own_mounts(uid_t uid, gid_t gid)
{
	char uid_map[32], gid_map[32];

	if (uid == 0)
		return unshare(CLONE_NEWNS) == 0;
	snprintf(uid_map, sizeof(uid_map), "%u %u 1", uid, uid);
	snprintf(gid_map, sizeof(gid_map), "%u %u 1", gid, gid);
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", uid_map) &&
	       write_file("/proc/self/gid_map", gid_map);
}

/* An empty /run, and nothing of the caller's bus. */
static bool own_run(void)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	char options[48];

	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	unsetenv("XDG_RUNTIME_DIR");
	snprintf(options, sizeof(options), "uid=%u,gid=%u", uid, gid);
	return own_mounts(uid, gid) && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", "/run", "tmpfs", 0, options) == 0;
}

static bool pretend_systemd(void)
{
	return mkdir("/run/systemd", 0755) == 0 && mkdir("/run/systemd/system", 0755) == 0;
}

/* A socket where the bus of this user belongs. */
static int listen_as_bus(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char folder[48];
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(folder, sizeof(folder), "/run/user/%u", geteuid());
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/bus", folder);
	if (mkdir("/run/user", 0755) < 0 || mkdir(folder, 0700) < 0 || fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 1) < 0)
		return -1;
	return fd;
}

/* 0 when it was refused in time, with @words, and left no process. */
static int is_refused(const char *words)
{
	struct bj_err err = { 0 };
	const uint64_t start = bj_clock_now();
	const int r = bj_scope_enter(&err);
	const uint64_t took = bj_clock_now() - start;

	if (r == -BJ_E_UNSUPPORTED && strstr(err.msg, words) && strstr(err.msg, "belljar doctor") &&
	    took < UINT64_C(5000000000) && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
		return 0;
	printf("%d after %.1f s: %s\n", r, (double)took / 1e9, err.msg);
	return 1;
}

static int without_systemd(void)
{
	return is_refused("no systemd is here");
}

static int without_bus(void)
{
	return pretend_systemd() ? is_refused("cannot ask the user's systemd") : SETUP_FAILED;
}

/* Connections are taken by the kernel, and that is all. */
static int with_deaf_bus(void)
{
	return pretend_systemd() && listen_as_bus() >= 0 ? is_refused("did not answer")
							 : SETUP_FAILED;
}

static int with_rude_bus(void)
{
	const int fd = pretend_systemd() ? listen_as_bus() : -1;

	if (fd < 0)
		return SETUP_FAILED;
	const pid_t bus = fork();
	if (bus == 0) {
		close(accept(fd, NULL, NULL));
		_exit(0);
	}
	struct bj_err err = { 0 };
	const int r = bj_scope_enter(&err);

	waitpid(bus, NULL, 0);
	return r == -BJ_E_UNSUPPORTED && strstr(err.msg, "cannot ask the user's systemd") ? 0 : 1;
}

static int without_library(void)
{
	glob_t found;
	int hidden = 0;

	if (!pretend_systemd() || glob("/usr/lib/*/libsystemd.so.0", 0, NULL, &found) != 0)
		return SETUP_FAILED;
	for (size_t i = 0; i < found.gl_pathc; i++)
		hidden += mount("/dev/null", found.gl_pathv[i], NULL, MS_BIND, NULL) == 0;
	globfree(&found);
	return hidden ? is_refused("without libsystemd.so.0") : SETUP_FAILED;
}

static void in_own_run(int (*what)(void))
{
	int status = -1;
	const pid_t pid = fork();

	if (pid == 0) {
		const int r = own_run() ? what() : SETUP_FAILED;

		fflush(stdout);
		_exit(r);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define CASE(name, body)                                                                           \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		in_own_run(body);                                                                  \
	}

CASE(no_systemd_is_said, without_systemd)
CASE(no_bus_is_said, without_bus)
CASE(a_deaf_bus_costs_two_seconds, with_deaf_bus)
CASE(a_bus_that_hangs_up_is_said, with_rude_bus)
CASE(no_library_is_said, without_library)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_systemd_is_said),
		cmocka_unit_test(no_bus_is_said),
		cmocka_unit_test(a_deaf_bus_costs_two_seconds),
		cmocka_unit_test(a_bus_that_hangs_up_is_said),
		cmocka_unit_test(no_library_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
