/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/cgroup.h"
#include "jar/seal.h"
#include "jar/wire.h"

/* One jar as the launcher sees it: from the launch message to the last process gone. Every call
 * here is made by the launcher's only thread. */

/* What all jars of a launcher share. */
struct bj_jar_ground {
	struct bj_cgroups *cgroups; /* NULL: this machine has none for us */
	uint64_t required;          /* layers that must hold: bits of enum bj_layer_id */
	const char *python, *bash;
	enum bj_mounts_proc proc;
	int init_exe;
	bool own_uids;                /* each jar gets kernel uids of its own */
	uint32_t uid_base, uid_count; /* as seen from the launcher */
};

/* What a descriptor of a jar means to the event loop. */
enum bj_jar_event {
	BJ_JAR_EV_REPLY,   /* the front said something, or is gone */
	BJ_JAR_EV_REPORT,  /* the script's process reports */
	BJ_JAR_EV_MAIN,    /* the script ended */
	BJ_JAR_EV_INIT,    /* init ended: all processes are gone */
	BJ_JAR_EV_COLLECT, /* the collector ended */
	BJ_JAR_EV_OOM,
	BJ_JAR_EV_COUNT,
};

struct bj_jar {
	uint32_t index; /* of its slot; names the cgroup and the uids */
	uint64_t serial;
	struct bj_wire_launch launch;
	int fds[BJ_WIRE_FD_MAX]; /* -1 once given away */
	int out_fd, filter_fd;
	struct bj_cgroup *cgroup;
	pid_t init_pid, main_pid, collect_pid;
	int watch[BJ_JAR_EV_COUNT]; /* descriptors for the event loop; -1: none */
	uint64_t started, deadline; /* clock nanoseconds */
	struct bj_wire_reply reply; /* grows into the last message */
	bool main_gone, dying, collecting;
	bool failed; /* err in the reply says why */
};

/* Make the jar and start the script in it. On success the loop watches jar->watch. On failure
 * nothing is left, and @err says why. Takes the descriptors in either case. */
int bj_jar_start(struct bj_jar *jar, const struct bj_jar_ground *ground,
		 const struct bj_wire_launch *launch, const int *fds_take, size_t n_fds,
		 struct bj_err *err);

/* A descriptor is ready. 1 when the jar is over: the caller sends its reply and forgets it. */
int bj_jar_handle(struct bj_jar *jar, const struct bj_jar_ground *ground, enum bj_jar_event event);

/* Look at what the kernel tells nobody: call it every BJ_JAR_TICK_NS while the jar lives. */
#define BJ_JAR_TICK_NS UINT64_C(50000000)
void bj_jar_tick(struct bj_jar *jar);

/* The end, for @cause. The first cause stays. */
void bj_jar_kill(struct bj_jar *jar, enum bj_cause cause);

/* Give back everything but the reply socket. */
void bj_jar_done(struct bj_jar *jar);
