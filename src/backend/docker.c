/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/peer.h"
#include "jar/role.h"

static int docker_run(void *self, const struct bj_spec *spec, struct bj_result *result,
		      struct bj_verdict *ret_verdict, struct bj_err *err)
{
	const struct bj_peer peer = { .socket = bj_role_socket(self),
				      .name = "broker",
				      .role = true };
	const int r = bj_role_ready(self, NULL, err);

	return r < 0 ? r : bj_peer_run(&peer, spec, result, ret_verdict, err);
}

const struct bj_backend bj_backend_docker = { .id = BJ_BACKEND_DOCKER, .run = docker_run };
