/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/probe.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "jar/landlock.h"
#include "jar/probe_view.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { TEXT_SIZE = 512 };

/* --- words ----------------------------------------------------------------------------------- */

void bj_probe_found(struct bj_probe_item *item, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(item->found, sizeof(item->found), fmt, ap);
	va_end(ap);
}

void bj_probe_miss(struct bj_probe_item *item, const char *fmt, ...)
{
	va_list ap;

	item->ok = false;
	va_start(ap, fmt);
	vsnprintf(item->fix, sizeof(item->fix), fmt, ap);
	va_end(ap);
}

/* --- files below the root -------------------------------------------------------------------- */

int bj_probe_open(const struct bj_probe_view *view, const char *path, int flags)
{
	/* The running machine may be too old for openat2, and needs no confinement. */
	if (view->live) {
		const int fd = openat(view->root_fd, path, flags | O_CLOEXEC);

		return fd < 0 ? -errno : fd;
	}

	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC),
				.resolve = RESOLVE_IN_ROOT };
	const long fd = syscall(SYS_openat2, view->root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

bool bj_probe_read(const struct bj_probe_view *view, const char *path, char *text, size_t size)
{
	AUTO_FD int fd = bj_probe_open(view, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n < 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

long bj_probe_number(const struct bj_probe_view *view, const char *path, long missing)
{
	char text[32];

	return bj_probe_read(view, path, text, sizeof(text)) ? strtol(text, NULL, 10) : missing;
}

bool bj_probe_exists(const struct bj_probe_view *view, const char *path)
{
	AUTO_FD int fd = bj_probe_open(view, path, O_PATH);

	return fd >= 0;
}

bool bj_probe_kernel_at_least(const struct bj_probe_view *view, unsigned long major,
			      unsigned long minor)
{
	char text[TEXT_SIZE], *rest = text;

	if (!bj_probe_read(view, "proc/sys/kernel/osrelease", text, sizeof(text)))
		return false;

	const unsigned long have = strtoul(text, &rest, 10);

	return have > major ||
	       (have == major && *rest == '.' && strtoul(rest + 1, NULL, 10) >= minor);
}

/* --- the checks ------------------------------------------------------------------------------ */

/* Every check gets an item that is ok so far. */
struct check {
	const char *name;
	enum bj_probe_need need;
	void (*run)(const struct bj_probe_view *view, const struct check *check,
		    struct bj_probe_item *item);
	const char *word;    /* for checks that differ in one word */
	unsigned long flags; /* for namespaces */
};

#define CHECK(function)                                                                            \
	static void function(const struct bj_probe_view *view, const struct check *check,          \
			     struct bj_probe_item *item)

static bool has_proc(const struct bj_probe_view *view)
{
	return bj_probe_exists(view, "proc/self");
}

CHECK(check_kernel)
{
	char text[64] = "unknown";

	(void)check;
	bj_probe_read(view, "proc/sys/kernel/osrelease", text, sizeof(text));
	bj_probe_found(item, "Linux %s", text);
	if (!has_proc(view)) {
		bj_probe_found(item, "cannot be told: /proc is not mounted");
		bj_probe_miss(item, "mount it with `mount -t proc proc /proc` and ask again: all "
				    "the rest is read there");
	} else if (!bj_probe_kernel_at_least(view, 5, 14)) {
		bj_probe_miss(item, "boot Linux 5.14 or later");
	}
}

/* A sysctl that exists only on some machines and stands in the way of ordinary users. */
CHECK(check_apparmor)
{
	static const char FILE_NAME[] = "proc/sys/kernel/apparmor_restrict_unprivileged_userns";

	(void)check;
	if (view->root || bj_probe_number(view, FILE_NAME, 0) == 0) {
		bj_probe_found(item, "does not restrict user namespaces here");
		return;
	}
	bj_probe_found(item, "takes the rights out of user namespaces of ordinary users");
	bj_probe_miss(item, "as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; or "
			    "give belljar a profile with the rule `userns,` in /etc/apparmor.d");
}

CHECK(check_userns_clone)
{
	(void)check;
	if (view->root ||
	    bj_probe_number(view, "proc/sys/kernel/unprivileged_userns_clone", 1) != 0) {
		bj_probe_found(item, "ordinary users may make user namespaces");
		return;
	}
	bj_probe_found(item, "ordinary users may not make user namespaces");
	bj_probe_miss(item, "as root: sysctl -w kernel.unprivileged_userns_clone=1");
}

CHECK(check_namespace)
{
	char path[96];

	snprintf(path, sizeof(path), "proc/self/ns/%s", check->word);
	if (!bj_probe_exists(view, path)) {
		bj_probe_found(item, "not in this kernel");
		bj_probe_miss(item, "boot a kernel with %s namespaces, such as Debian's",
			      check->word);
		return;
	}
	snprintf(path, sizeof(path), "proc/sys/user/max_%s_namespaces", check->word);
	if (bj_probe_number(view, path, 1) == 0) {
		bj_probe_found(item, "none may be made: user.max_%s_namespaces is 0", check->word);
		bj_probe_miss(item, "as root: sysctl -w user.max_%s_namespaces=15000", check->word);
		return;
	}

	const int errnum = view->live ? bj_probe_try_namespaces(check->flags) : 0;

	if (errnum == 0) {
		bj_probe_found(item, view->live ? "works" : "there");
		return;
	}
	bj_probe_found(item, "the kernel refuses it: %s", strerror(errnum));
	bj_probe_miss(item, "in a container: docker run --security-opt seccomp=unconfined "
			    "--security-opt apparmor=unconfined; elsewhere see the checks above");
}

CHECK(check_mount_api)
{
	const int errnum = view->live ? bj_probe_try_mount_api()
				      : (bj_probe_kernel_at_least(view, 5, 12) ? 0 : ENOSYS);

	(void)check;
	if (errnum == 0) {
		bj_probe_found(item, "open_tree, fsopen, mount_setattr");
		return;
	}
	bj_probe_found(item, "the kernel refuses it: %s", strerror(errnum));
	bj_probe_miss(item,
		      errnum == ENOSYS
			      ? "boot Linux 5.14 or later; in a container: docker run "
				"--security-opt seccomp=unconfined"
			      : "in a container: docker run --security-opt seccomp=unconfined "
				"--security-opt apparmor=unconfined");
}

/* For files that are read line by line. NULL when it is not there. */
static FILE *open_lines(const struct bj_probe_view *view, const char *path)
{
	AUTO_FD int fd = bj_probe_open(view, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "re");

	if (f)
		bj_take_fd(&fd);
	return f;
}

/* Whether something is mounted over a part of /proc, as container engines do. */
static bool proc_is_masked(const struct bj_probe_view *view)
{
	AUTO_FILE FILE *f = open_lines(view, "proc/self/mountinfo");
	char line[2048];

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		const char *place = line;

		/* The fifth word is the mount point. */
		for (int i = 0; place && i < 4; i++) {
			place = strchr(place, ' ');
			place = place ? place + 1 : NULL;
		}
		if (place && strncmp(place, "/proc/", 6) == 0 &&
		    strncmp(place, "/proc/sys/fs/binfmt_misc ", 25) != 0)
			return true;
	}
	return false;
}

CHECK(check_proc)
{
	const bool masked = proc_is_masked(view);
	const int errnum = view->live ? bj_probe_try_proc() : (masked ? EPERM : 0);

	(void)check;
	if (errnum == 0) {
		bj_probe_found(item, "a jar gets a /proc of its own");
		return;
	}
	bj_probe_found(item, "%s: the kernel refuses a new /proc",
		       masked ? "parts of /proc are covered" : strerror(errnum));
	bj_probe_miss(item,
		      "in a container: docker run --security-opt systempaths=unconfined; or do "
		      "without: native.proc: none and native.require: basic");
}

CHECK(check_seccomp)
{
	char text[TEXT_SIZE];

	(void)check;
	if (!bj_probe_read(view, "proc/sys/kernel/seccomp/actions_avail", text, sizeof(text))) {
		bj_probe_found(item, "not in this kernel");
		bj_probe_miss(item, "boot a kernel with CONFIG_SECCOMP_FILTER, such as Debian's");
		return;
	}
	bj_probe_found(item, "%.120s", text);
	if (!strstr(text, "kill_process") || !strstr(text, "errno"))
		bj_probe_miss(item, "boot Linux 5.14 or later");
}

CHECK(check_landlock)
{
	char text[TEXT_SIZE] = "";
	uint32_t abi = 0;

	(void)check;
	if (view->live) {
		abi = bj_landlock_abi();
		bj_probe_found(item, abi ? "version %u" : "not in force", abi);
	} else {
		bj_probe_read(view, "sys/kernel/security/lsm", text, sizeof(text));
		abi = strstr(text, "landlock") != NULL;
		bj_probe_found(item, "%.120s", text[0] ? text : "unknown");
	}
	if (!abi)
		bj_probe_miss(item,
			      "add landlock to the lsm= list of the kernel's command line, or "
			      "boot a kernel with CONFIG_SECURITY_LANDLOCK");
}

/* Whether @user has a line in a file such as /etc/subuid. */
static bool has_subids(const struct bj_probe_view *view, const char *path)
{
	AUTO_FILE FILE *f = open_lines(view, path);
	const size_t len = strlen(view->user);
	char line[256];

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, view->user, len) == 0 && line[len] == ':')
			return true;
	return false;
}

CHECK(check_uids)
{
	(void)check;
	if (view->root) {
		bj_probe_found(item, "each jar gets kernel uids of its own");
		return;
	}
	if (!has_subids(view, "etc/subuid") || !has_subids(view, "etc/subgid")) {
		bj_probe_found(item, "no subordinate ids: jars share the uid of %s", view->user);
		bj_probe_miss(item,
			      "as root: usermod --add-subuids 100000-165535 --add-subgids "
			      "100000-165535 %s",
			      view->user);
		return;
	}
	if (!bj_probe_exists(view, "usr/bin/newuidmap") ||
	    !bj_probe_exists(view, "usr/bin/newgidmap")) {
		bj_probe_found(item, "no newuidmap: jars share the uid of %s", view->user);
		bj_probe_miss(item, "as root: apt-get install uidmap");
		return;
	}
	bj_probe_found(item, "each jar gets subordinate ids of %s", view->user);
}

CHECK(check_groups)
{
	AUTO_FILE FILE *f = open_lines(view, "proc/self/status");
	char line[TEXT_SIZE];

	(void)check;
	bj_probe_found(item, "none to carry into a jar");
	if (!f || view->root)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "Groups:", 7) != 0)
			continue;

		char *list = line + 7 + strspn(line + 7, " \t");
		size_t len = strcspn(list, "\n");

		while (len > 0 && list[len - 1] == ' ')
			len--;
		list[len] = '\0';
		/* One group is the user's own. */
		if (!strchr(list, ' '))
			return;
		bj_probe_found(item, "%.100s: a jar keeps them", list);
		bj_probe_miss(item, "run belljar as a user of its own, without extra groups");
		return;
	}
}

static void look_for_interpreter(const struct bj_probe_view *view, const char *path,
				 const char *package, struct bj_probe_item *item)
{
	AUTO_FD int fd = bj_probe_open(view, path[0] == '/' ? path + 1 : path, O_PATH);
	char version[64] = "";
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & S_IXOTH &&
	    (!view->live || bj_probe_try_version(path, version, sizeof(version)))) {
		bj_probe_found(item, "%.80s%s%s", path, version[0] ? ": " : "", version);
		return;
	}
	bj_probe_found(item, fd < 0 ? "no %.100s" : "%.100s cannot be executed", path);
	bj_probe_miss(item, "as root: apt-get install %s; or set native.%s", package,
		      strncmp(package, "python", 6) == 0 ? "python" : "bash");
}

CHECK(check_python)
{
	(void)check;
	look_for_interpreter(view, view->target->python, "python3", item);
}

CHECK(check_bash)
{
	(void)check;
	look_for_interpreter(view, view->target->bash, "bash", item);
}

CHECK(check_memfd)
{
	const long value = bj_probe_number(view, "proc/sys/vm/memfd_noexec", -1);

	(void)check;
	if (value < 0)
		bj_probe_found(item, "no sysctl; a jar refuses memfd_create");
	else
		bj_probe_found(item, "vm.memfd_noexec is %ld; a jar asks for MFD_NOEXEC_SEAL",
			       value);
}

/* Copies of sent datagrams that no cgroup counts: a jar turns them off where its network may. */
CHECK(check_copies)
{
	(void)check;
	if (bj_probe_number(view, "proc/sys/net/core/tstamp_allow_data", 0) == 0) {
		bj_probe_found(item, "the kernel makes none for anybody");
		return;
	}

	const int errnum = view->live ? bj_probe_try_copies()
				      : (bj_probe_kernel_at_least(view, 6, 18) ? 0 : ENOENT);

	if (errnum != ENOENT) {
		bj_probe_found(item, errnum ? "cannot be told without a network namespace"
					    : "a jar's network makes none");
		return;
	}
	bj_probe_found(item, "a script may have the kernel keep copies of what it sends, beside "
			     "its memory limit");
	bj_probe_miss(item, "as root: sysctl -w net.core.tstamp_allow_data=0");
}

CHECK(check_controllers)
{
	(void)check;
	bj_probe_cgroup_controllers(view, item);
}

CHECK(check_delegation)
{
	(void)check;
	bj_probe_cgroup_delegation(view, item);
}

CHECK(check_kill)
{
	(void)check;
	bj_probe_cgroup_kill(view, item);
}

static const struct check CHECKS[] = {
	{ "kernel", BJ_PROBE_BASIC, check_kernel, NULL, 0 },
	{ "apparmor", BJ_PROBE_BASIC, check_apparmor, NULL, 0 },
	{ "unprivileged_userns", BJ_PROBE_BASIC, check_userns_clone, NULL, 0 },
	{ "user_namespace", BJ_PROBE_BASIC, check_namespace, "user", 0 },
	{ "pid_namespace", BJ_PROBE_BASIC, check_namespace, "pid", CLONE_NEWPID },
	{ "mount_namespace", BJ_PROBE_BASIC, check_namespace, "mnt", CLONE_NEWNS },
	{ "network_namespace", BJ_PROBE_BASIC, check_namespace, "net", CLONE_NEWNET },
	{ "ipc_namespace", BJ_PROBE_BASIC, check_namespace, "ipc", CLONE_NEWIPC },
	{ "uts_namespace", BJ_PROBE_BASIC, check_namespace, "uts", CLONE_NEWUTS },
	{ "cgroup_namespace", BJ_PROBE_BASIC, check_namespace, "cgroup", CLONE_NEWCGROUP },
	{ "mount_api", BJ_PROBE_BASIC, check_mount_api, NULL, 0 },
	{ "private_proc", BJ_PROBE_FULL, check_proc, NULL, 0 },
	{ "seccomp", BJ_PROBE_BASIC, check_seccomp, NULL, 0 },
	{ "landlock", BJ_PROBE_FULL, check_landlock, NULL, 0 },
	{ "cgroup_controllers", BJ_PROBE_FULL, check_controllers, NULL, 0 },
	{ "cgroup_delegation", BJ_PROBE_FULL, check_delegation, NULL, 0 },
	{ "cgroup_kill", BJ_PROBE_NOTE, check_kill, NULL, 0 },
	{ "own_uids", BJ_PROBE_NOTE, check_uids, NULL, 0 },
	{ "groups", BJ_PROBE_NOTE, check_groups, NULL, 0 },
	{ "memfd", BJ_PROBE_NOTE, check_memfd, NULL, 0 },
	{ "copies_of_sent", BJ_PROBE_NOTE, check_copies, NULL, 0 },
	{ "python", BJ_PROBE_BASIC, check_python, NULL, 0 },
	{ "bash", BJ_PROBE_BASIC, check_bash, NULL, 0 },
};

_Static_assert(BJ_ARRAY_SIZE(CHECKS) <= BJ_PROBE_MAX, "a probe holds every check");

/* --- the whole ------------------------------------------------------------------------------- */

static void name_user(struct bj_probe_view *view)
{
	const struct passwd *pw = view->live ? getpwuid(view->target->uid) : NULL;

	if (pw)
		snprintf(view->user, sizeof(view->user), "%s", pw->pw_name);
	else
		snprintf(view->user, sizeof(view->user), "%u", view->target->uid);
}

int bj_probe_run(const struct bj_probe_target *target, struct bj_probe *ret, struct bj_err *err)
{
	AUTO_FD int root = open(target->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct bj_probe_view view = {
		.target = target,
		.root_fd = root,
		.live = strcmp(target->root, "/") == 0,
		.root = target->uid == 0,
	};
	struct bj_probe probe = { .full = true, .basic = true };

	if (root < 0)
		return bj_err_set(err, BJ_E_NOT_FOUND, errno, "cannot open %.100s", target->root);
	name_user(&view);

	/* Without /proc all but the first would be told as missing, and none of it is true. */
	const size_t n = has_proc(&view) ? BJ_ARRAY_SIZE(CHECKS) : 1;

	for (size_t i = 0; i < n; i++) {
		struct bj_probe_item *item = &probe.items[probe.n++];

		*item = (struct bj_probe_item){ .name = CHECKS[i].name,
						.need = CHECKS[i].need,
						.ok = true };
		CHECKS[i].run(&view, &CHECKS[i], item);
		if (!item->ok && item->need >= BJ_PROBE_FULL)
			probe.full = false;
		if (!item->ok && item->need >= BJ_PROBE_BASIC)
			probe.basic = false;
	}
	*ret = probe;
	return 0;
}
