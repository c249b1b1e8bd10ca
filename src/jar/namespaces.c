/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/namespaces.h"

#include "base/cleanup.h"
#include "jar/layers.h"

#include <sched.h>

static const struct {
	uint64_t flag;
	enum bj_layer_id layer;
} NAMESPACES[] = {
	{ CLONE_NEWUSER, BJ_LAYER_USER_NS }, { CLONE_NEWPID, BJ_LAYER_PID_NS },
	{ CLONE_NEWNS, BJ_LAYER_MOUNT_NS },  { CLONE_NEWNET, BJ_LAYER_NET_NS },
	{ CLONE_NEWIPC, BJ_LAYER_IPC_NS },   { CLONE_NEWUTS, BJ_LAYER_UTS_NS },
};

uint64_t bj_namespaces(void)
{
	uint64_t flags = 0;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(NAMESPACES); i++)
		if (!bj_layer_faulty(NAMESPACES[i].layer))
			flags |= NAMESPACES[i].flag;
	return flags;
}

uint64_t bj_namespaces_layers(void)
{
	uint64_t layers = 0;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(NAMESPACES); i++)
		layers |= BJ_LAYER_BIT(NAMESPACES[i].layer);
	return layers;
}
