/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/layers.h"

#include <stdlib.h>
#include <string.h>

static const char *const NAMES[BJ_LAYER_COUNT] = {
	[BJ_LAYER_USER_NS] = "user_namespace",
	[BJ_LAYER_PID_NS] = "pid_namespace",
	[BJ_LAYER_MOUNT_NS] = "mount_namespace",
	[BJ_LAYER_NET_NS] = "network_namespace",
	[BJ_LAYER_IPC_NS] = "ipc_namespace",
	[BJ_LAYER_UTS_NS] = "uts_namespace",
	[BJ_LAYER_CGROUP_NS] = "cgroup_namespace",
	[BJ_LAYER_READ_ONLY_ROOT] = "read_only_root",
	[BJ_LAYER_PRIVATE_PROC] = "private_proc",
	[BJ_LAYER_TMPFS_LIMITS] = "tmpfs_limits",
	[BJ_LAYER_NOBODY] = "nobody",
	[BJ_LAYER_CAPABILITIES] = "capabilities",
	[BJ_LAYER_NO_NEW_PRIVS] = "no_new_privs",
	[BJ_LAYER_SECCOMP] = "seccomp",
	[BJ_LAYER_LANDLOCK] = "landlock",
	[BJ_LAYER_RLIMITS] = "rlimits",
	[BJ_LAYER_CLOSED_FDS] = "closed_fds",
	[BJ_LAYER_SESSION] = "session",
	[BJ_LAYER_MEMORY] = "memory",
	[BJ_LAYER_CPU] = "cpu",
	[BJ_LAYER_PIDS] = "pids",
};

const char *bj_layer_name(enum bj_layer_id id)
{
	return (size_t)id < BJ_LAYER_COUNT ? NAMES[id] : "unknown";
}

#ifdef BJ_FAULTS
bool bj_layer_faulty(enum bj_layer_id id)
{
	const char *fault = getenv("BELLJAR_FAULT");

	return fault && strcmp(fault, NAMES[id]) == 0;
}
#endif
