/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/peer.h"

static int docker_run(void *self, const struct bj_spec *spec, struct bj_result *result,
		      struct bj_verdict *ret_verdict, struct bj_err *err)
{
	const struct bj_peer peer = { .process = self, .role = true };

	return bj_peer_run(&peer, spec, result, ret_verdict, err);
}

const struct bj_backend bj_backend_docker = { .id = BJ_BACKEND_DOCKER, .run = docker_run };
