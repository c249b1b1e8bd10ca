/* SPDX-License-Identifier: Apache-2.0 */

/* What a launcher makes before its first jar: the tree that jars are copies of, and itself small.
 */

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/creds.h"
#include "jar/embed.h"
#include "jar/layers.h"
#include "launch/launch.h"
#include "launch/launcher.h"
#include "seccomp/filters.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* What making, joining, ending and measuring a jar takes. */
#define CAP_BIT(cap) (UINT64_C(1) << (cap))
#define KEEP_CAPS                                                                                  \
	(CAP_BIT(CAP_SYS_ADMIN)    /* namespaces, mounts, setns */                                 \
	 | CAP_BIT(CAP_SETUID)     /* maps, becoming nobody */                                     \
	 | CAP_BIT(CAP_SETGID)     /* the same for groups */                                       \
	 | CAP_BIT(CAP_SETPCAP)    /* dropping the bounding set in children */                     \
	 | CAP_BIT(CAP_SYS_PTRACE) /* setns by the pidfd of an init that is not dumpable */        \
	 | CAP_BIT(CAP_KILL))      /* ending jars, whose uids differ from ours */

/* And making many: entering the mount namespaces that jars are copies of (roots.h). */
#define KEEP_CAPS_MANY (KEEP_CAPS | CAP_BIT(CAP_SYS_CHROOT))

#define KERNELS_OWN_SLACK_NS 50000ul

/* Real-time for too long means a fault of ours: step back before the machine suffers. */
static void on_overtime(int sig)
{
	const struct sched_param param = { 0 };

	(void)sig;
	sched_setscheduler(0, SCHED_OTHER, &param);
}

/* The best effort of a process that must act within milliseconds. Refusal is fine: then the
 * deadline is as exact as the machine is idle. The kernel counts the time between two waits; past
 * the first limit we lose the privilege, past the second our life, and every jar with it. */
static void be_quick(void)
{
	const struct sched_param param = { .sched_priority = 1 };
	const struct rlimit limit = { .rlim_cur = 200000, .rlim_max = 2000000 };
	const struct sigaction action = { .sa_handler = on_overtime };

	if (setrlimit(RLIMIT_RTTIME, &limit) == 0 && sigaction(SIGXCPU, &action, NULL) == 0)
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
}

/* What our caller was given and all jars would inherit: timers that may be late, and with them the
 * deadline; the same addresses in each process; a class of its own at the disk; being spared when
 * memory is short, which would keep a memory limit from ending anything. Without a /proc the last
 * one stays. */
static void be_ordinary(void)
{
	AUTO_FD int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	char sign = 0;

	prctl(PR_SET_TIMERSLACK, KERNELS_OWN_SLACK_NS, 0, 0, 0);
	personality(PER_LINUX);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_NONE);
	if (fd >= 0 && read(fd, &sign, 1) == 1 && sign == '-')
		(void)!pwrite(fd, "0", 1, 0);
}

/* A copy of the init program that nothing can change. */
static int init_program(struct bj_err *err)
{
	const int fd = bj_fd_memfile("jar-init", bj_embed_init, bj_embed_init_size);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -fd, "cannot make the jar's init");
	return fd;
}

/* Ask the starter for what it alone can give: the maps of our user namespace, and cgroups. */
static int ask_means(struct launcher *l, struct bj_err *err)
{
	struct bj_launch_means means;
	int fds[BJ_HIER_COUNT], rooms[BJ_HIER_COUNT];
	size_t n = 0, next = 0;

	if (write(l->starter, "m", 1) != 1 || bj_fd_recv(l->starter, &means, sizeof(means), fds,
							 BJ_HIER_COUNT, &n, 0) != sizeof(means))
		return bj_err_set(err, BJ_E_SYSTEM, 0,
				  "the starter could not hand over the cgroups; too many "
				  "descriptors of this user may be on their way");
	if (!means.mapped)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "cannot map users into a user namespace; run `belljar doctor`");
	for (int h = 0; h < BJ_HIER_COUNT; h++)
		rooms[h] = means.has_room[h] && next < n ? fds[next++] : -1;
	l->no_cgroups = means.why;
	if (means.has_cgroups)
		l->ground.cgroups = bj_cgroups_adopt(&means.cgroups, rooms);
	return 0;
}

/* Enter the network namespace that the starter has made, still as root of the machine: our first
 * jar is born in it. Without one that jar makes its own. */
static int enter_net(struct launcher *l, struct bj_err *err)
{
	AUTO_FD int net = -1;
	size_t n = 0;
	char word;

	if (bj_fd_recv(l->starter, &word, 1, &net, 1, &n, 0) != 1)
		return bj_err_set(err, BJ_E_SYSTEM, 0, "the starter gave no network");
	l->ground.has_net = n == 1 && setns(net, CLONE_NEWNET) == 0;
	return 0;
}

/* Enter the user namespace (unless born in it) and become who we are there. The starter, outside,
 * writes the maps. */
static int give_up_root(struct launcher *l, const struct bj_launch_birth *birth, struct bj_err *err)
{
	const uid_t self = birth->uids ? 0 : BJ_JAR_UID;

	/* A mount namespace that nobody holds is removed at once, and we would wait for that. */
	if (l->once && birth->root)
		(void)!open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (birth->root && setgroups(0, NULL) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot drop supplementary groups");
	if (birth->root && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno,
				  "cannot make a user namespace; run `belljar doctor` for the fix");

	int r = ask_means(l, err);

	if (r == 0)
		r = bj_creds_become(self, self, err);
	if (r < 0)
		return r;
	/* A change of uid hides /proc/self and that of every child, whose maps we must write. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot see own children");
	return 0;
}

/* Open an image and hold it against removal: the lock lasts as long as this process. */
static int hold_image(const struct bj_launch_image *image, struct bj_err *err)
{
	if (!image->there) {
		bj_err_set(err, BJ_E_NOT_FOUND, 0, "there is no image");
		return BJ_MOUNTS_NOTHING;
	}
	if (!image->root)
		return BJ_MOUNTS_HOST;

	const int fd = open(image->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0)
		return fd;
	bj_err_set(err, BJ_E_NOT_FOUND, errno, "cannot use the image at %.100s", image->root);
	if (fd >= 0)
		close(fd);
	return BJ_MOUNTS_NOTHING;
}

/* Only the first one must be there. */
static int hold_images(struct launcher *l, const struct bj_launch_image *images, int *ret_fds,
		       struct bj_err *err)
{
	struct bj_err gone;

	for (int i = 0; i < BJ_WIRE_IMAGES; i++) {
		ret_fds[i] = hold_image(&images[i], i == 0 ? err : &gone);
		l->ground.images[i].there = ret_fds[i] != BJ_MOUNTS_NOTHING;
		l->ground.images[i].python = images[i].python;
		l->ground.images[i].bash = images[i].bash;
	}
	return l->ground.images[0].there ? 0 : -err->code;
}

/* What making jars does not take, neither we nor our children can do. */
static int load_filter(struct bj_err *err)
{
	const int r = bj_filter_load(&bj_filter_launcher);

	return r < 0 ? bj_err_set(err, BJ_E_UNSUPPORTED, -r,
				  "cannot load the launcher's filter; run `belljar doctor`")
		     : 0;
}

/* For one jar one will do. Without an empty one there are no roots (roots.h), and jars pivot. */
static int open_procs(struct launcher *l, struct bj_err *err)
{
	struct bj_err unused;

	l->ground.n_procs = bj_mounts_procs(l->ground.procs, l->once ? 1 : BJ_MOUNTS_PROCS);
	if (l->ground.n_procs == 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open /proc");
	if (!l->once)
		(void)!bj_mounts_nobody(&unused);
	return 0;
}

int ground_build(struct launcher *l, const struct bj_launch_birth *birth,
		 const struct bj_launch_image *images, struct bj_err *err)
{
	int fds[BJ_WIRE_IMAGES];
	int r = hold_images(l, images, fds, err);

	/* A session keyring of our own, empty: keys of the caller are not reachable from a jar. */
	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	be_ordinary();
	be_quick();
	if (r == 0 && !birth->root)
		r = give_up_root(l, birth, err);
	if (r == 0)
		r = bj_mounts_templates(fds, BJ_WIRE_IMAGES, true, err);
	if (r == 0)
		r = open_procs(l, err);
	if (r == 0 && birth->net)
		r = enter_net(l, err);
	if (r == 0 && birth->root)
		r = give_up_root(l, birth, err);
	if (r == 0)
		r = bj_creds_keep_caps(l->once ? KEEP_CAPS : KEEP_CAPS_MANY, err);
	/* Children inherit it: where it is left out, it is left out here, too. */
	if (r == 0 && !bj_layer_faulty(BJ_LAYER_NO_NEW_PRIVS))
		r = bj_creds_no_new_privs(err);
	if (r == 0)
		r = load_filter(err);
	if (r == 0)
		r = l->ground.init_exe = init_program(err);
	return r < 0 ? r : 0;
}
