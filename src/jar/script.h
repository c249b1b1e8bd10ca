/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>

/* How a script gets into a jar that is already there. */

/* What the launcher says to a waiting interpreter, with its streams, the verdict's pipe and the
 * spec attached. */
struct bj_slot_go {
	uint32_t check_only;
	uint32_t no_limits;   /* a test build leaves them out */
	uint32_t cpu_seconds; /* as bj_rlimits_cpu_seconds() says; 0: a cgroup counts them */
	uint32_t reserved;
	uint64_t processes; /* as bj_rlimits_processes() says */
};

enum bj_slot_fd {
	BJ_SLOT_STDIN,
	BJ_SLOT_STDOUT,
	BJ_SLOT_STDERR,
	BJ_SLOT_VERDICT,
	BJ_SLOT_SPEC,
	BJ_SLOT_FDS
};

/* Copy the text in @script_fd to its place below @files_fd, owned by @uid, which must exist in the
 * jar. The jar cannot write there, so no path of its making is followed. */
int bj_script_put(int files_fd, int script_fd, enum bj_language language, uid_t uid,
		  struct bj_err *err);
