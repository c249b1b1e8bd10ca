/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/creds.h"

#include "base/err.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of @keep only what is there can be kept: a container may have taken some away. */
static int set_caps(uint64_t keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		const uint32_t bits = (uint32_t)(keep >> (32 * i)) & data[i].permitted;

		data[i] = (struct __user_cap_data_struct){ .effective = bits, .permitted = bits };
	}
	return (int)syscall(SYS_capset, &head, data);
}

/* To drop one copies all credentials, to look at it does not. But a set with this capability is
 * whole or nearly so, as that of every new user namespace is; those of containers lack it. Then it
 * takes less not to look. */
static int drop_bounding(uint64_t keep, struct bj_err *err)
{
	const bool whole = prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) > 0;

	for (int cap = 0; cap <= 63; cap++) {
		const int there = whole ? 1 : prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (there == 0 || (keep & (UINT64_C(1) << cap)))
			continue;
		if (there > 0 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		if (errno == EINVAL)
			break; /* past the last capability that this kernel knows */
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot drop capability %d", cap);
	}
	return 0;
}

int bj_creds_keep_caps(uint64_t keep, struct bj_err *err)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot clear ambient capabilities");

	/* The bounding set takes a right to drop. Without that right our own go all the same. */
	const int r = drop_bounding(keep, err);

	if (set_caps(keep) < 0 && r == 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot set capabilities");
	return r;
}

int bj_creds_keep_over_exec(struct bj_err *err)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read capabilities");
	for (int i = 0; i < 2; i++)
		data[i].inheritable = data[i].permitted;
	if (syscall(SYS_capset, &head, data) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot set capabilities");
	for (int cap = 0; cap < 64; cap++)
		if ((data[cap / 32].permitted & (1u << (cap % 32))) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot keep capability %d",
					  cap);
	return 0;
}

int bj_creds_drop_caps(struct bj_err *err)
{
	return bj_creds_keep_caps(0, err);
}

int bj_creds_end_root(struct bj_err *err)
{
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
				   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
				   SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED | SECBIT_KEEP_CAPS_LOCKED;

	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot end the rights of uid 0");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 || set_caps(0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot set capabilities");
	return 0;
}

int bj_creds_become(uid_t uid, gid_t gid, struct bj_err *err)
{
	if (setgroups(0, NULL) < 0 && errno != EPERM)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot drop supplementary groups");
	if (setresgid(gid, gid, gid) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot become group %u", gid);
	if (setresuid(uid, uid, uid) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot become user %u", uid);
	return 0;
}

int bj_creds_no_new_privs(struct bj_err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot set no_new_privs");
	return 0;
}
