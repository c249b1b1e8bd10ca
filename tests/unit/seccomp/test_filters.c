/* SPDX-License-Identifier: Apache-2.0 */

/* The floor and the default filter as a script meets them: DS-SEC, abuse cases 15 to 26. */

#include "sealed.h"

#include "base/cleanup.h"
#include "seccomp/profile.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* As root and with wrong arguments, so that only the filter can be what says EPERM: the kernel
 * itself would answer EFAULT, EINVAL, EBADF or ENOSYS, or do it. */
#define DENY(name)                                                                                 \
	{                                                                                          \
#name, SYS_##name, EPERM,                                                          \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define NEW(name, nr, err)                                                                         \
	{                                                                                          \
#name, nr, err,                                                                    \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

static const struct call NEVER[] = {
	DENY(mount),
	DENY(umount2),
	DENY(pivot_root),
	DENY(chroot),
	DENY(fsopen),
	DENY(fsconfig),
	DENY(fsmount),
	DENY(fspick),
	DENY(open_tree),
	DENY(move_mount),
	DENY(mount_setattr),
	NEW(open_tree_attr, 467, EPERM),
	NEW(statmount, 457, ENOSYS),
	NEW(listmount, 458, ENOSYS),
	DENY(unshare),
	DENY(setns),
	DENY(io_uring_setup),
	DENY(io_uring_enter),
	DENY(io_uring_register),
	DENY(add_key),
	DENY(request_key),
	DENY(keyctl),
	DENY(bpf),
	DENY(perf_event_open),
	DENY(userfaultfd),
	DENY(ptrace),
	DENY(process_vm_readv),
	DENY(process_vm_writev),
	DENY(process_madvise),
	DENY(process_mrelease),
	DENY(kcmp),
	DENY(pidfd_getfd),
	DENY(init_module),
	DENY(finit_module),
	DENY(delete_module),
	DENY(kexec_load),
	DENY(kexec_file_load),
	DENY(reboot),
	DENY(swapon),
	DENY(swapoff),
	DENY(acct),
	DENY(quotactl),
	DENY(quotactl_fd),
	DENY(settimeofday),
	DENY(clock_settime),
	DENY(clock_adjtime),
	DENY(adjtimex),
	DENY(sethostname),
	DENY(setdomainname),
	DENY(syslog),
	DENY(vhangup),
	DENY(name_to_handle_at),
	DENY(open_by_handle_at),
	DENY(lookup_dcookie),
	DENY(fanotify_init),
	DENY(fanotify_mark),
	DENY(remap_file_pages),
	DENY(memfd_secret),
	DENY(personality),
#ifdef __x86_64__
	DENY(iopl),
	DENY(ioperm),
	DENY(modify_ldt),
	DENY(uselib),
	DENY(ustat),
	DENY(sysfs),
	DENY(_sysctl),
	DENY(create_module),
	DENY(query_module),
	DENY(get_kernel_syms),
	DENY(nfsservctl),
	{ "mknod block", SYS_mknod, EPERM, { 0, 0060600 } },
	{ "mknod char", SYS_mknod, EPERM, { 0, 0020600 } },
#endif
	{ "clone3", SYS_clone3, ENOSYS, { 0 } },
	{ "unshare", SYS_unshare, EPERM, { CLONE_NEWUSER } },
	{ "unshare", SYS_unshare, EPERM, { CLONE_NEWTIME } },
	{ "personality", SYS_personality, EPERM, { 0x0040000 } },
	{ "personality high bits", SYS_personality, EPERM, { 0x1ffffffff } },
	{ "TIOCSTI", SYS_ioctl, EPERM, { 0, 0x5412 } },
	{ "TIOCSTI high bits", SYS_ioctl, EPERM, { 0, 0x100005412 } },
	{ "TIOCSTI all high bits", SYS_ioctl, EPERM, { 0, 0xffffffff00005412 } },
	{ "TIOCLINUX", SYS_ioctl, EPERM, { 0, 0x541c } },
	{ "TIOCLINUX high bits", SYS_ioctl, EPERM, { 0, 0x8000000000000000 | 0x541c } },
	{ "mknodat block", SYS_mknodat, EPERM, { 0, 0, 0060600, 0 } },
	{ "mknodat char", SYS_mknodat, EPERM, { 0, 0, 0020600, 0 } },
	{ "mknodat high bits", SYS_mknodat, EPERM, { 0, 0, 0x100002180, 0 } },
	{ "memfd_create", SYS_memfd_create, EACCES, { (unsigned long)"m", 0 } },
	{ "memfd_create MFD_EXEC", SYS_memfd_create, EACCES, { (unsigned long)"m", 0x10 } },
	{ "prctl user dispatch", SYS_prctl, EPERM, { 59, 1 } },
	{ "prctl user dispatch, high bits", SYS_prctl, EPERM, { 0x10000003b, 1 } },
	{ "prlimit of init", SYS_prlimit64, EPERM, { 1, RLIMIT_NOFILE, 1 } },
	{ "prlimit of init, core size", SYS_prlimit64, EPERM, { 1, RLIMIT_CORE, 1 } },
	{ "prlimit, high bits", SYS_prlimit64, EPERM, { 0x100000000, RLIMIT_NOFILE, 1 } },
	{ "priority of init", SYS_setpriority, EPERM, { 0, 1, 19 } },
	{ "priority of init, high bits", SYS_setpriority, EPERM, { 0, 0x100000001, 19 } },
	{ "priority of the user", SYS_setpriority, EPERM, { 2, 0, 19 } },
	{ "ioprio of init", SYS_ioprio_set, EPERM, { 1, 1, 0 } },
	{ "ioprio of the user", SYS_ioprio_set, EPERM, { 3, 0, 0 } },
	{ "scheduler of init", SYS_sched_setscheduler, EPERM, { 1, 5, 0 } },
	{ "affinity of init", SYS_sched_setaffinity, EPERM, { 1, 8, 0 } },
	{ "prctl core scheduling", SYS_prctl, EINVAL, { 62, 0, 0, 0, 0x1000 } },
	{ "madvise mergeable", SYS_madvise, EINVAL, { 0, 0, 12 } },
	{ "madvise mergeable, high bits", SYS_madvise, EINVAL, { 0, 0, 0x10000000c } },
	{ "prctl memory merge", SYS_prctl, EINVAL, { 67, 1 } },
	{ "prctl memory merge, high bits", SYS_prctl, EINVAL, { 0x100000043, 1 } },
	{ "inotify_init1", SYS_inotify_init1, ENOSYS, { 0 } },
	{ "inotify_add_watch", SYS_inotify_add_watch, ENOSYS, { 0 } },
	{ "F_NOTIFY", SYS_fcntl, EINVAL, { 0, 1026, 1 } },
	{ "F_NOTIFY high bits", SYS_fcntl, EINVAL, { 0, 0x100000402, 1 } },
	{ "F_SETLEASE", SYS_fcntl, EINVAL, { 0, 1024, F_RDLCK } },
	{ "F_SETLEASE high bits", SYS_fcntl, EINVAL, { 0, 0x100000400, F_RDLCK } },
	{ "mmap huge pages", SYS_mmap, EPERM, { 0, 2 << 20, 3, 0x40022, ~0ul, 0 } },
	{ "shmget huge pages", SYS_shmget, EPERM, { 0, 2 << 20, 0x1000006c0 | 04000 } },
	{ "memfd_create huge pages", SYS_memfd_create, EPERM, { (unsigned long)"m", 8 | 4 } },
	{ "seccomp filter", SYS_seccomp, ENOSYS, { 1, 0, 0 } },
	{ "seccomp listener", SYS_seccomp, ENOSYS, { 1, 8, 0 } },
	{ "seccomp listener and more", SYS_seccomp, ENOSYS, { 0x100000001, 0x10000002a, 0 } },
	{ "prctl seccomp filter", SYS_prctl, EINVAL, { 22, 2, 0 } },
	{ "prctl seccomp filter, high bits", SYS_prctl, EINVAL, { 0x100000016, 2, 0 } },
	{ "TCP_ULP", SYS_setsockopt, ENOPROTOOPT, { 999, 6, 31 } },
	{ "TCP_ULP high bits", SYS_setsockopt, ENOPROTOOPT, { 999, 0x100000006, 0x10000001f } },
	{ "SO_ATTACH_FILTER", SYS_setsockopt, ENOPROTOOPT, { 999, 1, 26 } },
	{ "SO_ATTACH_REUSEPORT_CBPF", SYS_setsockopt, ENOPROTOOPT, { 999, 1, 51 } },
	{ "IP_ADD_MEMBERSHIP", SYS_setsockopt, ENOPROTOOPT, { 999, 0, 35 } },
	{ "IP_ADD_SOURCE_MEMBERSHIP", SYS_setsockopt, ENOPROTOOPT, { 999, 0, 39 } },
	{ "MCAST_JOIN_GROUP", SYS_setsockopt, ENOPROTOOPT, { 999, 0, 42 } },
	{ "MCAST_JOIN_SOURCE_GROUP", SYS_setsockopt, ENOPROTOOPT, { 999, 0, 46 } },
	{ "IPV6_2292PKTOPTIONS", SYS_setsockopt, ENOPROTOOPT, { 999, 41, 6 } },
	{ "IPV6_ADD_MEMBERSHIP", SYS_setsockopt, ENOPROTOOPT, { 999, 41, 20 } },
	{ "IPV6_FLOWLABEL_MGR", SYS_setsockopt, ENOPROTOOPT, { 999, 41, 32 } },
	{ "MCAST_JOIN_GROUP", SYS_setsockopt, ENOPROTOOPT, { 999, 41, 42 } },
	{ "MCAST_JOIN_SOURCE_GROUP", SYS_setsockopt, ENOPROTOOPT, { 999, 41, 46 } },
	{ "IPV6_RTHDR", SYS_setsockopt, ENOPROTOOPT, { 999, 41, 57 } },
	{ "TCP_MD5SIG", SYS_setsockopt, ENOPROTOOPT, { 999, 6, 14 } },
	{ "TCP_MD5SIG_EXT", SYS_setsockopt, ENOPROTOOPT, { 999, 6, 32 } },
	{ "TCP_AO_ADD_KEY", SYS_setsockopt, ENOPROTOOPT, { 999, 6, 38 } },
	{ "UDP_ENCAP", SYS_setsockopt, ENOPROTOOPT, { 999, 17, 100 } },
	{ "TCP_MD5SIG high bits", SYS_setsockopt, ENOPROTOOPT, { 999, 0x100000006, 0x10000000e } },
	{ "setxattr", SYS_setxattr, EOPNOTSUPP, { (unsigned long)"/", (unsigned long)"user.a" } },
	{ "lsetxattr", SYS_lsetxattr, EOPNOTSUPP, { (unsigned long)"/", (unsigned long)"user.a" } },
	{ "fsetxattr", SYS_fsetxattr, EOPNOTSUPP, { 999, (unsigned long)"user.a" } },
	{ "setxattrat", 463, EOPNOTSUPP, { 999 } },
	{ "UDP_CORK", SYS_setsockopt, ENOPROTOOPT, { 999, 17, 1 } },
	{ "sendto MSG_MORE", SYS_sendto, EOPNOTSUPP, { 999, 0, 0, 0x8000 } },
	{ "sendmsg MSG_MORE", SYS_sendmsg, EOPNOTSUPP, { 999, 0, 0xc000 } },
	{ "sendmmsg MSG_MORE", SYS_sendmmsg, EOPNOTSUPP, { 999, 0, 0, 0x8000 } },
	{ "sendto MSG_OOB", SYS_sendto, EOPNOTSUPP, { 999, 0, 0, 1 } },
	{ "sendmsg MSG_OOB", SYS_sendmsg, EOPNOTSUPP, { 999, 0, 0x41 } },
	{ "sendmmsg MSG_OOB", SYS_sendmmsg, EOPNOTSUPP, { 999, 0, 0, 1 } },
	{ "sendfile", SYS_sendfile, EINVAL, { 999, 999, 0, 1 } },
	{ "splice", SYS_splice, EINVAL, { 999, 0, 999, 0, 1 } },
	{ "TCP_ZEROCOPY_RECEIVE", SYS_getsockopt, ENOPROTOOPT, { 999, 6, 35 } },
	{ "TCP_ZEROCOPY_RECEIVE high bits", SYS_getsockopt, ENOPROTOOPT, { 999, 6, 0x100000023 } },
	{ "SO_ZEROCOPY", SYS_setsockopt, ENOPROTOOPT, { 999, 1, 60 } },
	{ "SO_TIMESTAMPING", SYS_setsockopt, ENOPROTOOPT, { 999, 1, 37 } },
	{ "SO_TIMESTAMPING_NEW", SYS_setsockopt, ENOPROTOOPT, { 999, 1, 65 } },
	{ "SO_TIMESTAMP", SYS_setsockopt, ENOPROTOOPT, { 999, 1, 29 } },
	{ "SO_TIMESTAMPNS", SYS_setsockopt, ENOPROTOOPT, { 999, 1, 35 } },
	{ "SO_TIMESTAMP_NEW", SYS_setsockopt, ENOPROTOOPT, { 999, 1, 63 } },
	{ "SO_TIMESTAMPNS_NEW", SYS_setsockopt, ENOPROTOOPT, { 999, 1, 64 } },
	{ "SIOCGSTAMP", SYS_ioctl, ENOTTY, { 999, 0x8906 } },
	{ "SIOCGSTAMPNS high bits", SYS_ioctl, ENOTTY, { 999, 0x100008907 } },
	{ "SIOCGSTAMP_NEW", SYS_ioctl, ENOTTY, { 999, 0x80108906 } },
	{ "SIOCGSTAMPNS_NEW", SYS_ioctl, ENOTTY, { 999, 0x80108907 } },
	{ "UDP_GRO", SYS_setsockopt, ENOPROTOOPT, { 999, 17, 104 } },
	{ "TCP_TX_DELAY", SYS_setsockopt, ENOPROTOOPT, { 999, 6, 37 } },
	{ "IP_MINTTL", SYS_setsockopt, ENOPROTOOPT, { 999, 0, 21 } },
	{ "IPV6_MINHOPCOUNT", SYS_setsockopt, ENOPROTOOPT, { 999, 41, 73 } },
	{ "TCP_LINGER2", SYS_setsockopt, ENOPROTOOPT, { 999, 6, 8 } },
	{ "F_SETDELEG", SYS_fcntl, EINVAL, { 999, 1040 } },
	{ "F_SETDELEG high bits", SYS_fcntl, EINVAL, { 999, 0x100000410 } },
	{ "O_NOTIFICATION_PIPE", SYS_pipe2, ENOPKG, { 0, 0200 } },
	{ "O_NOTIFICATION_PIPE and what does not exist", SYS_pipe2, ENOPKG, { 0, 0203 } },
	{ "PR_SET_VMA", SYS_prctl, EINVAL, { 0x53564d41, 0, 0 } },
	{ "IP_RECVERR", SYS_setsockopt, 0, { 999, 0, 11 } },
	{ "IPV6_RECVERR", SYS_setsockopt, 0, { 999, 41, 25 } },
	{ "SIOCGIFBR", SYS_ioctl, ENOPKG, { 999, 0x8940 } },
	{ "SIOCSIFBR", SYS_ioctl, ENOPKG, { 999, 0x8941 } },
	{ "SIOCGIFVLAN", SYS_ioctl, ENOPKG, { 999, 0x8982 } },
	{ "SIOCSIFVLAN high bits", SYS_ioctl, ENOPKG, { 999, 0x100008983 } },
	{ "SIOCBRADDBR", SYS_ioctl, ENOPKG, { 999, 0x89a0 } },
	{ "SIOCBRDELBR high bits", SYS_ioctl, ENOPKG, { 999, 0x1000089a1 } },
	{ "POSIX_FADV_DONTNEED", SYS_fadvise64, 0, { 999, 0, 0, 4 } },
	{ "POSIX_FADV_DONTNEED high bits", SYS_fadvise64, 0, { 999, 0, 0, 0x100000004 } },
	{ "RWF_NOWAIT", SYS_preadv2, EOPNOTSUPP, { 999, 0, 0, 0, 0, 8 } },
	{ "RWF_NOWAIT and more", SYS_preadv2, EOPNOTSUPP, { 999, 0, 0, 0, 0, 0x100000009 } },
	{ "mincore", SYS_mincore, ENOSYS, { 0, 4096, 0 } },
	{ "madvise pageout", SYS_madvise, EINVAL, { 0, 0, 21 } },
	{ "madvise collapse", SYS_madvise, EINVAL, { 0, 0, 25 } },
	{ "fsync", SYS_fsync, 0, { 999 } },
	{ "fdatasync", SYS_fdatasync, 0, { 999 } },
	{ "syncfs", SYS_syncfs, 0, { 999 } },
	{ "cachestat", 451, ENOSYS, { 999 } },
	{ "io_setup", SYS_io_setup, ENOSYS, { 1, 0 } },
};

/* Not in our allow-list, though a custom profile may give them back. */
static const struct call NOT_BY_DEFAULT[] = {
	DENY(io_submit),
	DENY(mbind),
	DENY(set_mempolicy),
	DENY(move_pages),
	DENY(migrate_pages),
	NEW(number 470, 470, ENOSYS),
	NEW(number 512, 512, ENOSYS),
	NEW(number 600, 600, ENOSYS),
};

/* libc tries these and falls back only when the kernel does not have them: the filter lets the
 * kernel answer, and it complains about the arguments. */
static const struct call ALLOWED[] = {
	{ "statx", SYS_statx, EFAULT, { 0, 0, 0, 0, 0 } },
	{ "openat2", SYS_openat2, EINVAL, { 0, 0, 0, 0 } },
	{ "faccessat2", SYS_faccessat2, EFAULT, { 0, 0, 0, 0 } },
	{ "close_range", SYS_close_range, 0, { 100, 200, 0 } },
	{ "rseq", SYS_rseq, EINVAL, { 1, 1, 1, 1 } },
	{ "membarrier", SYS_membarrier, 0, { 0 } },
	{ "futex_waitv", SYS_futex_waitv, EINVAL, { 0, 0, 0, 0, 0 } },
	{ "landlock_create_ruleset", SYS_landlock_create_ruleset, EFAULT, { 0, 16, 0 } },
	{ "pidfd_open", SYS_pidfd_open, EINVAL, { 0, 0 } },
	{ "personality query", SYS_personality, 0, { 0xffffffff } },
	{ "prlimit", SYS_prlimit64, EFAULT, { 0, RLIMIT_NOFILE, 1 } },
	{ "own priority", SYS_setpriority, 0, { 0, 0, 0 } },
	{ "affinity of another", SYS_sched_setaffinity, EFAULT, { 0x3fffffff, 8, 0 } },
	{ "prlimit of another, read", SYS_prlimit64, ESRCH, { 0x3fffffff, RLIMIT_NOFILE, 0 } },
	{ "TCGETS", SYS_ioctl, EBADF, { 999, 0x5401 } },
	{ "mknodat FIFO", SYS_mknodat, EFAULT, { 0, 0, 0010600, 0 } },
	{ "UDP", SYS_socket, 0, { AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 17 } },
	{ "TCP", SYS_socket, 0, { AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0 } },
	{ "unix", SYS_socket, 0, { AF_UNIX, SOCK_SEQPACKET, 0 } },
	{ "rt_sigaction read", SYS_rt_sigaction, 0, { SIGSYS, 0, 0, 8 } },
	{ "TCP_NODELAY", SYS_setsockopt, EBADF, { 999, 6, 1 } },
	{ "getsockopt", SYS_getsockopt, EBADF, { 999, 6, 11 } },
	{ "SIOCGIFCONF", SYS_ioctl, EBADF, { 999, 0x8912 } },
	{ "POSIX_FADV_WILLNEED", SYS_fadvise64, EBADF, { 999, 0, 0, 3 } },
	{ "preadv2", SYS_preadv2, EBADF, { 999, 0, 0, 0, 0, 1 } },
	{ "madvise", SYS_madvise, 0, { 0, 0, 4 } },
	{ "sendto", SYS_sendto, EBADF, { 999, 0, 0, 0x4000 } },
	{ "sendmsg", SYS_sendmsg, EBADF, { 999, 0, 0x4000 } },
};

/* What the kernel says to these depends on its settings, but the filter does not say EPERM. */
static const struct call REACHED[] = {
	{ "TCP by name", SYS_socket, 0, { AF_INET, SOCK_STREAM, 6 } },
	{ "ping", SYS_socket, 0, { AF_INET, SOCK_DGRAM, 1 } },
	{ "TCP over IPv6", SYS_socket, 0, { AF_INET6, SOCK_STREAM, 0 } },
	{ "TCP over IPv6 by name", SYS_socket, 0, { AF_INET6, SOCK_STREAM, 6 } },
	{ "UDP over IPv6", SYS_socket, 0, { AF_INET6, SOCK_DGRAM, 17 } },
	{ "ping over IPv6", SYS_socket, 0, { AF_INET6, SOCK_DGRAM, 58 } },
	{ "mknodat plain", SYS_mknodat, 0, { 0, 0, 0600, 0 } },
	{ "mknodat regular", SYS_mknodat, 0, { 0, 0, 0100600, 0 } },
	{ "mknodat socket", SYS_mknodat, 0, { 0, 0, 0140600, 0 } },
	{ "memfd_create sealed", SYS_memfd_create, 0, { (unsigned long)"m", 8 } },
#ifdef __x86_64__
	{ "mknod plain", SYS_mknod, 0, { 0, 0600, 0 } },
	{ "mknod regular", SYS_mknod, 0, { 0, 0100600, 0 } },
	{ "mknod FIFO", SYS_mknod, 0, { 0, 0010600, 0 } },
	{ "mknod socket", SYS_mknod, 0, { 0, 0140600, 0 } },
#endif
};

/* What an IP socket may be. For all else the kernel would ask for a module. */
static int ip_socket(int family, int type, int protocol)
{
	const int echo = family == AF_INET ? 1 : 58;
	const int own = type == SOCK_STREAM ? 6 : 17;

	if (type == SOCK_RAW)
		return EPERM;
	if (type != SOCK_STREAM && type != SOCK_DGRAM)
		return ESOCKTNOSUPPORT;
	if (protocol == echo && type == SOCK_DGRAM)
		return EACCES; /* the kernel's own word: no group may send it */
	return protocol == 0 || protocol == own ? 0 : EPROTONOSUPPORT;
}

static const char ALLOW_ALL[] = "{\"defaultAction\": \"SCMP_ACT_ALLOW\"}";

static void denied_calls_are_denied(void **state)
{
	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(NEVER); i++)
		expect_call(NULL, &NEVER[i]);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(NOT_BY_DEFAULT); i++)
		expect_call(NULL, &NOT_BY_DEFAULT[i]);
}

static void ordinary_calls_reach_the_kernel(void **state)
{
	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(ALLOWED); i++)
		expect_call(NULL, &ALLOWED[i]);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(REACHED); i++) {
		const int status = in_child(NULL, try_call, &REACHED[i]);

		if (!WIFEXITED(status) || WEXITSTATUS(status) == EPERM)
			fail_msg("%s is refused: wait status %#x", REACHED[i].name, status);
	}
}

/* DS-SEC: the most generous custom profile there is gives back nothing of the floor. */
static void custom_profile_cannot_lift_the_floor(void **state)
{
	AUTO_BUF struct bj_buf code = { 0 };

	(void)state;
	assert_int_equal(bj_profile_compile(ALLOW_ALL, strlen(ALLOW_ALL), &code, NULL), 0);

	const struct bj_filter custom = { code.data, code.size };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(NEVER); i++)
		expect_call(&custom, &NEVER[i]);
	expect_call(&custom, &(struct call)NEW(number 470, 470, ENOSYS));
	expect_call(&custom, &(struct call)NEW(number 639, 639, ENOSYS));
	expect_call(&custom, &(struct call){ "mbind", SYS_mbind, EINVAL, { 1, 0, 0, 0, 0, 0 } });
}

/* Every type, and every protocol that there is, under the most generous profile. */
static int ask_for_ip_sockets(const void *arg)
{
	(void)arg;
	for (int type = 0; type < 16; type++)
		for (int protocol = 0; protocol <= 262; protocol++)
			for (int family = AF_INET; family <= AF_INET6;
			     family += AF_INET6 - AF_INET) {
				const int fd = socket(family, type, protocol);
				const int got = fd < 0 ? errno : 0;
				const int want = ip_socket(family, type, protocol);

				if (fd >= 0)
					close(fd);
				if (got != want && !(want == EACCES && got == 0))
					return 1;
			}
	return 0;
}

static void no_ip_socket_asks_for_a_module(void **state)
{
	AUTO_BUF struct bj_buf code = { 0 };

	(void)state;
	assert_int_equal(bj_profile_compile(ALLOW_ALL, strlen(ALLOW_ALL), &code, NULL), 0);
	assert_int_equal(
		in_child(&(struct bj_filter){ code.data, code.size }, ask_for_ip_sockets, NULL), 0);
}

/* Abuse case 26. */
static void only_three_socket_families_exist(void **state)
{
	(void)state;
	for (unsigned long family = 0; family <= 45; family++) {
		const bool ours = family == AF_UNIX || family == AF_INET || family == AF_INET6;
		struct call c = { "socket", SYS_socket, EAFNOSUPPORT, { family, SOCK_DGRAM, 0 } };

		if (ours)
			c.errnum = 0;
		expect_call(NULL, &c);
		c = (struct call){
			"socketpair", SYS_socketpair, EAFNOSUPPORT, { family, SOCK_STREAM, 0, 0 }
		};
		if (family == AF_UNIX)
			c.errnum = EFAULT;
		else if (ours)
			c.errnum = EPERM;
		expect_call(NULL, &c);
		c = (struct call){ "socket, high bits",
				   SYS_socket,
				   EAFNOSUPPORT,
				   { family | 0x100000000, SOCK_DGRAM, 0 } };
		expect_call(NULL, &c);
	}
}

static int clone_with(const void *arg)
{
	const unsigned long flags = *(const unsigned long *)arg;
	const long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? errno : 0;
}

/* Each flag alone and together with harmless ones and high bits: no namespaces, and no children for
 * the script's parent. */
static void expect_no_strange_child(const struct bj_filter *custom)
{
	static const unsigned long FLAGS[] = { CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
					       CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
					       CLONE_NEWNET, CLONE_PARENT };
	unsigned long flags = CLONE_FILES;

	assert_int_equal(in_child(custom, clone_with, &flags), 0);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(FLAGS); i++) {
		const unsigned long tries[] = { FLAGS[i], FLAGS[i] | CLONE_FILES,
						FLAGS[i] | 0xff00000000000000 };

		for (size_t j = 0; j < BJ_ARRAY_SIZE(tries); j++) {
			const int status = in_child(custom, clone_with, &tries[j]);

			assert_true(WIFEXITED(status));
			assert_int_equal(WEXITSTATUS(status), EPERM);
		}
	}
}

/* Abuse cases 12 and 18, under our own profile and under the floor alone. */
static void clone_makes_no_strange_child(void **state)
{
	AUTO_BUF struct bj_buf code = { 0 };

	(void)state;
	expect_no_strange_child(NULL);
	assert_int_equal(bj_profile_compile(ALLOW_ALL, strlen(ALLOW_ALL), &code, NULL), 0);
	expect_no_strange_child(&(struct bj_filter){ code.data, code.size });
}

static void assert_killed_by_seccomp(int status)
{
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

#ifdef __x86_64__
static int call_i386(const void *arg)
{
	long r;

	(void)arg;
	/* getpid by its 32-bit number */
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
	return 0;
}

static void other_architectures_die(void **state)
{
	const struct call x32 = { "x32 getpid", 0x40000000 | SYS_getpid, 0, { 0 } };

	(void)state;
	assert_killed_by_seccomp(in_child(NULL, call_i386, NULL));
	assert_killed_by_seccomp(in_child(NULL, try_call, &x32));
}
#endif

/* A script cannot end with SIGSYS by itself, so that cause seccomp is never forged. */
static int die_of_sigsys(const void *arg)
{
	struct sigaction act = { .sa_handler = SIG_DFL };

	(void)arg;
	sigaction(SIGSYS, &act, NULL);
	signal(SIGSYS, SIG_DFL);
	syscall(SYS_rt_sigaction, 0x10000001fL, &act, NULL, 8L);
	raise(SIGSYS);
	kill(getpid(), SIGSYS);
	if (syscall(SYS_rt_sigaction, SIGSYS, NULL, &act, 8L) < 0 || act.sa_handler != SIG_IGN)
		return 2;
	return 0;
}

static void sigsys_stays_ignored(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, die_of_sigsys, NULL), 0);
}

static int change_core_size(const void *arg)
{
	const struct rlimit zero = { 0, 0 };
	struct rlimit now;

	(void)arg;
	if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, &zero, NULL) != 0 ||
	    syscall(SYS_prlimit64, 0, 0x100000000 | RLIMIT_CORE, &zero, NULL) != 0 ||
	    syscall(SYS_setrlimit, RLIMIT_CORE, &zero) != 0)
		return 1;
	return syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &now) < 0 || now.rlim_max != 1;
}

static void core_size_stays(void **state)
{
	const struct rlimit one = { 1, 1 };

	(void)state;
	assert_int_equal(setrlimit(RLIMIT_CORE, &one), 0);
	assert_int_equal(in_child(NULL, change_core_size, NULL), 0);
}

static void kill_rule_kills_with_sigsys(void **state)
{
	static const char TEXT[] = "{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [{"
				   "\"name\": \"getppid\", \"action\": \"SCMP_ACT_KILL\"}, {"
				   "\"name\": \"getpgrp\", \"action\": \"SCMP_ACT_TRAP\"}]}";
	const struct call killed = { "getppid", SYS_getppid, 0, { 0 } };
	const struct call trapped = { "getpgrp", SYS_getpgrp, 0, { 0 } };
	AUTO_BUF struct bj_buf code = { 0 };

	(void)state;
	assert_int_equal(bj_profile_compile(TEXT, strlen(TEXT), &code, NULL), 0);

	const struct bj_filter custom = { code.data, code.size };

	assert_killed_by_seccomp(in_child(&custom, try_call, &killed));
	assert_killed_by_seccomp(in_child(&custom, try_call, &trapped));
}

/* Abuse case 17. Under a profile, too, that would allow it; and one that would kill whoever loads a
 * filter does not keep the floor from being loaded. */
static int load_own_filter(const void *arg)
{
	return bj_filter_load(arg) == -ENOSYS ? 0 : 1;
}

static void no_filter_of_its_own(void **state)
{
	static const char KILL[] = "{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [{"
				   "\"name\": \"seccomp\", \"action\": \"SCMP_ACT_KILL\"}]}";
	const char *const profiles[] = { ALLOW_ALL, KILL };

	(void)state;
	assert_int_equal(in_child(NULL, load_own_filter, &bj_filter_floor), 0);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(profiles); i++) {
		AUTO_BUF struct bj_buf code = { 0 };

		assert_int_equal(bj_profile_compile(profiles[i], strlen(profiles[i]), &code, NULL),
				 0);

		const struct bj_filter custom = { code.data, code.size };

		assert_int_equal(in_child(&custom, load_own_filter, &bj_filter_floor), 0);
	}
}

/* The longest that may be handed in still leaves room for what is added. */
static int nothing(const void *arg)
{
	(void)arg;
	return 0;
}

static void the_longest_profile_is_loaded(void **state)
{
	static struct sock_filter code[BJ_FILTER_MAX / sizeof(struct sock_filter)];
	const struct bj_filter custom = { code, sizeof(code) };
	const size_t n = BJ_ARRAY_SIZE(code);

	(void)state;
	for (size_t i = 0; i < n; i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 0);
	code[n - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	assert_int_equal(in_child(&custom, nothing, NULL), 0);
}

static void loader_refuses_odd_sizes(void **state)
{
	static const char CODE[8];
	const struct bj_filter odd[] = { { CODE, 0 }, { CODE, 7 }, { CODE, BJ_FILTER_MAX + 8 } };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(odd); i++)
		assert_int_equal(bj_filter_load(&odd[i]), -EINVAL);
}

/* The small filters end a process at the first call it has no use for. */
static int work_then_stray(const void *arg)
{
	const struct bj_filter *own = arg;

	if (bj_filter_load(own) < 0)
		return 1;
	if (syscall(SYS_write, -1, "", 0L) == 0 || errno != EBADF)
		return 2;
	syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
	return 3;
}

static void small_filters_kill(void **state)
{
	const struct bj_filter *const filters[] = { &bj_filter_init, &bj_filter_collect };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(filters); i++) {
		int status = 0;
		const pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			end_child(work_then_stray(filters[i]));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_killed_by_seccomp(status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(denied_calls_are_denied),
		cmocka_unit_test(ordinary_calls_reach_the_kernel),
		cmocka_unit_test(custom_profile_cannot_lift_the_floor),
		cmocka_unit_test(only_three_socket_families_exist),
		cmocka_unit_test(no_ip_socket_asks_for_a_module),
		cmocka_unit_test(clone_makes_no_strange_child),
#ifdef __x86_64__
		cmocka_unit_test(other_architectures_die),
#endif
		cmocka_unit_test(sigsys_stays_ignored),
		cmocka_unit_test(core_size_stays),
		cmocka_unit_test(kill_rule_kills_with_sigsys),
		cmocka_unit_test(no_filter_of_its_own),
		cmocka_unit_test(the_longest_profile_is_loaded),
		cmocka_unit_test(loader_refuses_odd_sizes),
		cmocka_unit_test(small_filters_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
