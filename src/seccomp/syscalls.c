/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/syscalls.h"

#include "base/cleanup.h"

#include <seccomp.h>
#include <string.h>

/* Debian 12 has libseccomp 2.5.4, which ends at Linux 5.17. These have the same number on every
 * architecture. */
static const struct {
	const char *name;
	int number;
} NEWER[] = {
	{ "set_mempolicy_home_node", 450 },
	{ "cachestat", 451 },
	{ "fchmodat2", 452 },
	{ "map_shadow_stack", 453 },
	{ "futex_wake", 454 },
	{ "futex_wait", 455 },
	{ "futex_requeue", 456 },
	{ "statmount", 457 },
	{ "listmount", 458 },
	{ "lsm_get_self_attr", 459 },
	{ "lsm_set_self_attr", 460 },
	{ "lsm_list_modules", 461 },
	{ "mseal", 462 },
	{ "setxattrat", 463 },
	{ "getxattrat", 464 },
	{ "listxattrat", 465 },
	{ "removexattrat", 466 },
	{ "open_tree_attr", 467 },
	{ "file_getattr", 468 },
	{ "file_setattr", 469 },
};

int bj_syscall_number(const char *name)
{
	const int number = seccomp_syscall_resolve_name(name);

	if (number != __NR_SCMP_ERROR)
		return number;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(NEWER); i++)
		if (strcmp(NEWER[i].name, name) == 0)
			return NEWER[i].number;
	return __NR_SCMP_ERROR;
}
