/* SPDX-License-Identifier: Apache-2.0 */

/* From the front to the launcher. The front forks a *starter*. It makes the cgroups, still as the
 * user who called, starts the launcher as pid 1 of a new pid namespace, writes the launcher's
 * identity maps, and waits: so the front has one ordinary child to reap, and what the launcher has
 * no right to remove is removed after it. */

#include "launch/launch.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/signals.h"
#include "jar/cgroup.h"
#include "jar/cgroup_file.h"
#include "jar/creds.h"
#include "jar/layers.h"
#include "jar/net.h"
#include "jar/scope.h"
#include "jar/subids.h"
#include "jar/sys.h"
#include "jar/wire.h"
#include "seccomp/filters.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

/* --- the starter ------------------------------------------------------------------------------ */

/* Where the starter and the launcher have what they need. */
enum { FD_CONTROL = 3, FD_CALLER, FD_FREE, FD_SYNC = FD_FREE, FD_CLAIM, FD_LAUNCHER_FREE };

/* Descriptors that starter and launcher take for one jar, and for jars one after the other, with
 * room to spare. */
enum { MIN_FILES = 64, MIN_FILES_MANY = 112 };

enum { GRACE_MS = 10000 }; /* for a launcher whose users are gone */

/* Nothing of the caller's reaches the launcher but the control socket and, when @caller is not -1,
 * the caller's pidfd. The standard streams become the two ends of a pipe that nobody else has:
 * always at its end to read, always broken to write. */
static int shed_fds(int control, int caller)
{
	int dead[2];

	if (pipe(dead) < 0)
		return -1;

	/* A caller with closed streams has all of these in the way of each other: move them up. */
	const int from[] = { dead[0], dead[1], dead[1], control, caller };
	int high[BJ_ARRAY_SIZE(from)];

	for (size_t i = 0; i < BJ_ARRAY_SIZE(from); i++)
		high[i] = from[i] < 0 ? -1 : fcntl(from[i], F_DUPFD_CLOEXEC, FD_FREE);
	for (int i = 0; i < (int)BJ_ARRAY_SIZE(from); i++)
		if (from[i] >= 0 && dup3(high[i], i, i < FD_CONTROL ? 0 : O_CLOEXEC) < 0)
			return -1;
	if (!bj_layer_faulty(BJ_LAYER_CLOSED_FDS) &&
	    close_range(caller < 0 ? FD_CALLER : FD_FREE, ~0u, 0) < 0)
		return -1;
	return 0;
}

/* The caller may be any program: its signal handlers are not ours to run, and with its umask a jar
 * could have files that nobody can read. */
static void forget_caller(void)
{
	bj_signals_reset();
	signal(SIGPIPE, SIG_IGN);
	umask(022);
}

/* What is missed later in a place that cannot say so, or cannot clean up. */
static int check_means(const struct bj_launch_settings *settings, struct bj_err *err)
{
	/* Removing cgroups takes descriptors, too. */
	const uint64_t files = bj_fd_raise_limit();
	const unsigned int least = settings->ahead ? MIN_FILES : MIN_FILES_MANY;

	if (files < least)
		return bj_err_set(err, BJ_E_LIMIT, 0,
				  "no more than %llu files may be open; allow %u with `ulimit -n`",
				  (unsigned long long)files, least);
	if (access("/proc/self/uid_map", F_OK) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "/proc is not mounted; mount it: belljar finds cgroups and maps "
				  "users through it");
	return 0;
}

static void report_failure(int control, const struct bj_err *err)
{
	const struct bj_wire_reply hello = { .magic = BJ_WIRE_MAGIC,
					     .kind = BJ_REPLY_HELLO,
					     .err = *err };

	bj_fd_send(control, &hello, sizeof(hello), NULL, 0);
}

/* Make the cgroups while we are still who called. Root gives them to the uid that the launcher
 * will have. */
static struct bj_cgroups *make_cgroups(const struct bj_launch_settings *settings,
				       const struct bj_subids *ids, struct bj_err *why)
{
	const uid_t uid = geteuid() == 0 ? ids->self_uid : (uid_t)-1;
	struct bj_cgroups *groups = NULL;
	int r = bj_cgroups_new(settings->cgroup, uid, &groups, why);

	/* An ordinary user's own cgroup is seldom his to divide, but his systemd has one. */
	if (r == -BJ_E_UNSUPPORTED && geteuid() != 0 && !settings->cgroup &&
	    bj_scope_enter(why) == 0)
		r = bj_cgroups_new(NULL, uid, &groups, why);
	return r < 0 ? NULL : groups;
}

/* In the launcher: of the starter's descriptors it keeps what it needs, and the claim on its
 * uids, which must not end before it does. */
static int shed_starter(int sync, int claim)
{
	if (dup3(sync, FD_LAUNCHER_FREE + 1, O_CLOEXEC) < 0 ||
	    (claim >= 0 && dup3(claim, FD_LAUNCHER_FREE, O_CLOEXEC) < 0) ||
	    dup3(FD_LAUNCHER_FREE + 1, FD_SYNC, O_CLOEXEC) < 0 ||
	    (claim >= 0 && dup3(FD_LAUNCHER_FREE, FD_CLAIM, O_CLOEXEC) < 0))
		return -1;
	if (bj_layer_faulty(BJ_LAYER_CLOSED_FDS))
		return 0;
	return close_range(claim >= 0 ? FD_LAUNCHER_FREE : FD_CLAIM, ~0u, 0);
}

/* Where there is one jar its network namespace is made here, meanwhile. It takes the kernel as long
 * as all else that a jar is, and a launcher of an ordinary user could not enter it. */
static bool makes_net(const struct bj_launch_settings *settings)
{
	return settings->ahead && geteuid() == 0 && !bj_layer_faulty(BJ_LAYER_NET_NS);
}

static pid_t fork_launcher(const struct bj_launch_settings *settings, bool watch, int *ret_sync,
			   const struct bj_cgroups *cgroups, const struct bj_subids *ids)
{
	const bool root = geteuid() == 0;
	int pair[2], pidfd = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;

	/* Root builds the jars' tree first and enters its user namespace then. */
	const pid_t pid =
		bj_sys_clone3(CLONE_NEWNS | CLONE_NEWPID | (root ? 0 : (uint64_t)CLONE_NEWUSER),
			      &pidfd, cgroups ? bj_cgroups_nursery(cgroups) : -1);

	if (pid == 0) {
		const struct bj_launch_birth birth = { .control = FD_CONTROL,
						       .caller = watch ? FD_CALLER : -1,
						       .sync = FD_SYNC,
						       .root = root,
						       .net = makes_net(settings),
						       .uids = ids->count };
		if (shed_starter(pair[1], ids->claim) < 0)
			_exit(1);
		bj_launch_main(&birth, settings);
	}
	close(pair[1]);
	if (pidfd >= 0)
		close(pidfd);
	*ret_sync = pair[0];
	return pid;
}

/* What all jars may have together, where the settings leave it open: so much that the machine
 * stays alive, whatever they do. */
static struct bj_cgroup_limits derive_caps(struct bj_cgroup_limits all)
{
	const uint64_t pids = bj_cgfile_read_number(AT_FDCWD, "/proc/sys/kernel/pid_max", "");
	struct sysinfo info;

	if (all.memory == 0 && sysinfo(&info) == 0)
		all.memory = (uint64_t)info.totalram * info.mem_unit / 10 * 9;
	if (all.pids == 0)
		all.pids = (uint32_t)(pids / 2);
	/* More than any machine has: the kernel need not count. */
	if (all.cpu_milli >= BJ_LAUNCH_ALL_CPUS)
		all.cpu_milli = 0;
	return all;
}

/* Make the other cgroups while the launcher builds its tree. *@groups is NULL afterwards when they
 * cannot be had. */
static void complete_cgroups(const struct bj_launch_settings *settings, struct bj_cgroups **groups,
			     struct bj_err *why)
{
	const struct bj_cgroup_limits all = derive_caps(settings->all);

	if (*groups && settings->ahead)
		bj_cgroups_expect_one(*groups);
	if (*groups && bj_cgroups_complete(*groups, &all, why) < 0)
		bj_cgroups_free(BJ_TAKE_PTR(*groups));
	/* Whoever waits for one run does not wait for what others left behind. */
	if (!settings->ahead)
		bj_cgroups_sweep(*groups);
}

/* Send the launcher what it waits for. The kernel refuses to when too many descriptors of this user
 * are on their way, which is up to others of the same uid: then it must not wait for ever. */
static void hand_over(int sync, const void *msg, size_t size, const int *fds, size_t n)
{
	if (bj_fd_send(sync, msg, size, fds, n) < 0)
		shutdown(sync, SHUT_WR);
}

static int open_own_net(void)
{
	return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* Make the network namespace of the jar and hand it over; without one the jar makes it itself. */
static void give_net(int sync)
{
	struct bj_err unused;
	AUTO_FD int own = open_own_net();
	AUTO_FD int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const bool made = own >= 0 && unshare(CLONE_NEWNET) == 0;
	AUTO_FD int net = made && bj_net_furnish(proc, &unused) == 0 ? open_own_net() : -1;

	hand_over(sync, "n", 1, &net, net >= 0);
	/* Whoever stays would be where a script is. */
	if (made && setns(own, CLONE_NEWNET) < 0)
		_exit(1);
}

/* Write the launcher's identity maps when it asks for them, in its user namespace by then, and
 * hand over the cgroups. */
static void serve_means(int sync, const struct bj_subids *ids, pid_t launcher,
			const struct bj_cgroups *groups, const struct bj_err *why)
{
	struct bj_launch_means means = { .why = *why };
	int rooms[BJ_HIER_COUNT];
	size_t n = 0;
	char ask;

	if (groups) {
		means.has_cgroups = true;
		means.cgroups = bj_cgroups_tell(groups);
	}
	for (int h = 0; groups && h < BJ_HIER_COUNT; h++) {
		means.has_room[h] = bj_cgroups_rooms(groups)[h] >= 0;
		if (means.has_room[h])
			rooms[n++] = bj_cgroups_rooms(groups)[h];
	}
	if (read(sync, &ask, 1) != 1)
		return; /* the launcher is gone; waiting for it shows that */
	means.mapped = bj_subids_map(ids, launcher);
	hand_over(sync, &means, sizeof(means), rooms, n);
}

/* A launcher ends when those who use it do. One that hangs does not outlive @parent by long: its
 * death is that of all that it started. */
static void wait_for_end(pid_t launcher, pid_t parent)
{
	AUTO_FD int end = pidfd_open(launcher, 0);
	AUTO_FD int user = getppid() == parent ? pidfd_open(parent, 0) : -1;
	struct pollfd fds[] = { { .fd = end, .events = POLLIN }, { .fd = user, .events = POLLIN } };

	/* With all signals at their defaults or ignored nothing interrupts this. */
	if (user >= 0)
		poll(fds, 2, -1);
	if (end >= 0 && !fds[0].revents && poll(fds, 1, GRACE_MS) == 0)
		kill(launcher, SIGKILL);
	waitpid(launcher, NULL, 0);
}

/* All that is left to do is to wait and to remove directories, which the top of a cgroup hierarchy
 * allows to nobody without this capability. Where the bounding set is not ours to shrink it stays:
 * nothing is executed here. */
static int give_up_rights(void)
{
	bj_creds_keep_caps(UINT64_C(1) << CAP_DAC_OVERRIDE, NULL);
	return bj_creds_no_new_privs(NULL) < 0 ? -1 : bj_filter_load(&bj_filter_front);
}

__attribute__((noreturn)) static void starter(int control_fd, int caller,
					      const struct bj_launch_settings *settings)
{
	const pid_t parent = getppid();
	struct bj_err err = { 0 }, why = { 0 };
	int sync = -1;

	forget_caller();
	setsid(); /* Ctrl-C is the front's business */

	if (check_means(settings, &err) < 0) {
		report_failure(control_fd, &err);
		_exit(1);
	}
	if (shed_fds(control_fd, caller) < 0)
		_exit(1);

	struct bj_subids ids = bj_subids_find(settings->uid_base, settings->uid_count);

	/* Root's jars never share a uid. */
	if (geteuid() == 0 && ids.count == 0) {
		bj_err_set(&err, BJ_E_LIMIT, 0,
			   "no user ids are free: too many belljars run; raise native.uid_count");
		report_failure(FD_CONTROL, &err);
		_exit(1);
	}

	struct bj_cgroups *cgroups = make_cgroups(settings, &ids, &why);
	const pid_t pid = fork_launcher(settings, caller >= 0, &sync, cgroups, &ids);

	if (pid < 0) {
		bj_err_set(&err, BJ_E_UNSUPPORTED, errno,
			   "cannot make namespaces; run `belljar doctor` for the fix");
		report_failure(FD_CONTROL, &err);
	} else {
		/* The front must see the launcher's end as an end of file. */
		close(FD_CONTROL);
		/* The front may be gone before us: what ends the rest of its session does not keep
		 * us from cleaning up. */
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		if (makes_net(settings))
			give_net(sync);
		complete_cgroups(settings, &cgroups, &why);
		serve_means(sync, &ids, pid, cgroups, &why);
		/* Nobody needs a launcher whose starter kept what it should not have. */
		if (give_up_rights() < 0)
			kill(pid, SIGKILL);
		wait_for_end(pid, parent);
		if (settings->ahead)
			bj_cgroups_sweep(cgroups);
	}
	bj_cgroups_free(cgroups);
	bj_subids_release(&ids);
	_exit(pid < 0);
}

/* --- the front -------------------------------------------------------------------------------- */

struct body {
	const struct bj_launch_settings *settings;
	int caller;
};

static void run_body(int control, void *body_ptr)
{
	const struct body *body = body_ptr;

	starter(control, body->caller, body->settings);
}

int bj_launcher_new(const struct bj_launch_settings *settings, struct bj_process **ret,
		    struct bj_err *err)
{
	AUTO_FD int caller = settings->bound ? pidfd_open(getpid(), 0) : -1;
	struct body body = { .settings = settings, .caller = caller };

	if (settings->bound && caller < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot watch the own process");
	return bj_process_new("launcher", run_body, &body, ret, err);
}
