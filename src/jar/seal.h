/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/mounts.h"
#include "jar/wire.h"

/* What a new process does on its way from clone to exec. All plans are plain, borrowed values. */

/* How to build a jar. */
struct bj_seal_build {
	uint32_t image; /* number of the template */
	uint64_t tmp_size;
	enum bj_mounts_proc proc;
	int spec_fd;    /* a pack with inputs, or -1 */
	uid_t init_uid; /* of init, inside the jar; the script is BJ_JAR_UID */
	int init_exe;   /* sealed memory file with the init program */
	int proc_fd;    /* a /proc of the launcher */
	bool has_net;   /* it is born in a network namespace that was kept (nets.h) */
	bool has_root;  /* it is born with its template as the root (roots.h) */
};

/* What holds for the script's process besides its cgroup. */
struct bj_seal_limits {
	uint64_t tmp_size;
	uint32_t pids;
	bool pids_cgroup;     /* a cgroup counts the processes too */
	uint32_t cpu_seconds; /* without a cgroup, of each process; 0: no limit */
};

/* What a process of the jar tells the launcher before it executes or runs anything else. */
struct bj_seal_report {
	int32_t failed; /* 1: err says why */
	uint32_t landlock_abi;
	uint64_t layers;
	uint64_t nonce; /* of a slot: that of the request it answers */
	struct bj_err err;
};

/* A script to start from nothing. */
struct bj_seal_script {
	enum bj_language language;
	bool check_only;
	bool wait; /* Bash that waits: standard input is its library, the verdict a socket */
	struct bj_seal_limits limits;
	int stdin_fd, stdout_fd, stderr_fd, verdict_fd, spec_fd;
	int filter_fd;             /* custom filter, or -1 */
	int last_fd;               /* socket for who hears the last call (farewell.h), or -1 */
	bool tell_sockets;         /* and of sockets */
	const char *python, *bash; /* interpreters, as paths inside the jar */
};

/* The namespaces of a jar: flags for setns of those who join. Init is born into all of them but
 * one: its network namespace it makes itself. */
uint64_t bj_seal_namespaces(void);

/* In the jar's init: wait for one packet on @sync (identity maps are written), build the jar, send
 * a report on @sync with a directory for the script attached, become the init program. */
__attribute__((noreturn)) void bj_seal_init(const struct bj_seal_build *plan, int sync);

/* In a zygote: load the part of the filter that it can keep to itself. The kernel checks and
 * translates that once, and slots inherit it. False: it did not, and they load the whole. */
bool bj_seal_begin(void);

/* Steps 2 to 9 of the seal (see seal.c), for a process that has joined the jar. Reads a custom
 * filter from @filter_fd when it is not -1. @begun: what bj_seal_begin() said. *@report gets what
 * holds. */
int bj_seal_self(const struct bj_seal_limits *limits, int filter_fd, bool begun,
		 struct bj_seal_report *report);

/* In the script's process, all namespaces joined: seal and execute the interpreter. A report goes
 * to @report_fd (close-on-exec): before the exec with what holds, and after it only when the exec
 * failed. */
__attribute__((noreturn)) void bj_seal_script(const struct bj_seal_script *plan, int report_fd);
