/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backend/backend.h"
#include "jar/process.h"

/* The front's side of a run, the same for every backend: pack the spec, hand it with the
 * descriptors to the process that runs it, read what comes back. */
struct bj_peer {
	struct bj_process *process; /* borrowed; it need not be up yet */
	bool role;                  /* a role (jar/role.h), which also wants the run id */
};

/* Run @spec to its end, as struct bj_backend says. One call runs one script and may wait in any
 * thread. */
int bj_peer_run(const struct bj_peer *peer, const struct bj_spec *spec, struct bj_result *result,
		struct bj_verdict *ret_verdict, struct bj_err *err);
