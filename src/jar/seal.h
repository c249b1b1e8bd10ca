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
	int init_exe;   /* sealed memory file with the init program; -1: it is that already */
	int proc_fd;    /* a /proc of the launcher */
	bool has_net;   /* it is born in its network namespace: made for it, or kept (nets.h) */
	bool has_root;  /* it is born with its template as the root (roots.h) */
	uint64_t nonce; /* comes back in the report */
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
	uint64_t nonce; /* that of the request it answers */
	int32_t born;   /* of a nursery (nursery.h): the pid of an init that has yet to build */
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

/* In the jar's init: wait for a byte on @go_fd (identity maps are written), build the jar, send a
 * report on @report_fd with a directory for the script attached, give up all that it had. What is
 * left to do is to become the init program. */
void bj_seal_init(const struct bj_seal_build *plan, int go_fd, int report_fd);

/* In a zygote: load the part of the filter that it can keep to itself. The kernel checks and
 * translates that once, and slots inherit it. False: it did not, and they load the whole. */
bool bj_seal_begin(void);

/* Steps 2 to 9 of the seal (see seal.c), for a process that has joined the jar. Reads a custom
 * filter from @filter_fd when it is not -1. Where a zygote has begun (bj_seal_begin), *@last_fd
 * gets what hears the last call (farewell.h), or -1; elsewhere @last_fd is NULL. *@report gets what
 * holds. */
int bj_seal_self(const struct bj_seal_limits *limits, int filter_fd, int *last_fd,
		 struct bj_seal_report *report);

/* In the script's process, all namespaces joined: seal and execute the interpreter. A report goes
 * to @report_fd (close-on-exec): before the exec with what holds, and after it only when the exec
 * failed. */
__attribute__((noreturn)) void bj_seal_script(const struct bj_seal_script *plan, int report_fd);
