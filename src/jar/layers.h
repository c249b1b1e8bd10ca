/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The layers of a jar, in the order in which they are reported. */
enum bj_layer_id {
	BJ_LAYER_USER_NS,
	BJ_LAYER_PID_NS,
	BJ_LAYER_MOUNT_NS,
	BJ_LAYER_NET_NS,
	BJ_LAYER_IPC_NS,
	BJ_LAYER_UTS_NS,
	BJ_LAYER_CGROUP_NS,
	BJ_LAYER_READ_ONLY_ROOT,
	BJ_LAYER_PRIVATE_PROC,
	BJ_LAYER_TMPFS_LIMITS,
	BJ_LAYER_NOBODY,
	BJ_LAYER_CAPABILITIES,
	BJ_LAYER_NO_NEW_PRIVS,
	BJ_LAYER_SECCOMP,
	BJ_LAYER_LANDLOCK,
	BJ_LAYER_RLIMITS,
	BJ_LAYER_CLOSED_FDS,
	BJ_LAYER_SESSION,
	BJ_LAYER_MEMORY,
	BJ_LAYER_CPU,
	BJ_LAYER_PIDS,
	BJ_LAYER_COUNT,
};

#define BJ_LAYER_BIT(id) (UINT64_C(1) << (id))

/* What `require` names. Basic is what an undelegated rootless host can give. */
#define BJ_LAYERS_FULL (BJ_LAYER_BIT(BJ_LAYER_COUNT) - 1)
#define BJ_LAYERS_CGROUP                                                                           \
	(BJ_LAYER_BIT(BJ_LAYER_MEMORY) | BJ_LAYER_BIT(BJ_LAYER_CPU) | BJ_LAYER_BIT(BJ_LAYER_PIDS))
#define BJ_LAYERS_BASIC                                                                            \
	(BJ_LAYERS_FULL & ~(BJ_LAYERS_CGROUP | BJ_LAYER_BIT(BJ_LAYER_LANDLOCK) |                   \
			    BJ_LAYER_BIT(BJ_LAYER_PRIVATE_PROC)))

const char *bj_layer_name(enum bj_layer_id id);

/* Whether the build leaves this layer out on purpose: always false in a normal build. A test
 * build (-Dfaults=true) reads the layer's name from BELLJAR_FAULT, so that the tests can show
 * that each layer is missed when it is gone. */
#ifdef BJ_FAULTS
bool bj_layer_faulty(enum bj_layer_id id);
#else
static inline bool bj_layer_faulty(enum bj_layer_id id)
{
	(void)id;
	return false;
}
#endif
