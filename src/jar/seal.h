/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/cgroup.h"
#include "jar/mounts.h"
#include "jar/wire.h"

/* What a new process does on its way from clone to exec. */

/* Everything a jar's processes need to know. Plain, borrowed, made by the launcher. */
struct bj_seal_plan {
	const struct bj_wire_launch *launch;
	const int *fds;                 /* as in enum bj_wire_fd */
	int filter_fd;                  /* custom filter, or -1 */
	const struct bj_cgroup *cgroup; /* NULL: none */
	const char *python;             /* interpreters, as paths inside the jar */
	const char *bash;
	enum bj_mounts_proc proc;
	uid_t init_uid; /* of init, inside the jar; the script is BJ_JAR_UID */
	int init_exe;   /* sealed memory file with the init program */
};

/* What a process of the jar tells the launcher before it executes something else. */
struct bj_seal_report {
	int32_t failed; /* 1: err says why */
	uint32_t landlock_abi;
	uint64_t layers;
	struct bj_err err;
};

/* The namespaces of a jar: flags for clone3 of init and for setns of those who join. */
uint64_t bj_seal_namespaces(void);

/* In the jar's init: wait for one byte on @sync (identity maps are written), build the jar, send
 * a report on @sync, become the init program. */
__attribute__((noreturn)) void bj_seal_init(const struct bj_seal_plan *plan, int sync);

/* In the script's process, all namespaces joined: seal and execute the interpreter. A report goes
 * to @report (close-on-exec): before the exec with what holds, and after it only when the exec
 * failed. */
__attribute__((noreturn)) void bj_seal_script(const struct bj_seal_plan *plan, int report);
