/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/cgroup.h"
#include "jar/nets.h"
#include "jar/nursery.h"
#include "jar/seal.h"
#include "jar/wire.h"

/* One jar as the launcher sees it. Every call here is made by the launcher's only thread, and
 * none of them waits: what takes time is an event.
 *
 *	BUILDING  init makes namespaces and mounts		-> EMPTY
 *	EMPTY	  nothing runs in it but init			-> FILLING
 *	FILLING	  the script's process joins and seals itself	-> WAITING, or RUNNING when cold
 *	WAITING	  a sealed interpreter waits for its script	-> RUNNING
 *	RUNNING	  the script runs; its deadline holds		-> ENDING
 *	ENDING	  collecting, killing, waiting for init
 *
 * A jar is used once. */

enum bj_jar_phase {
	BJ_JAR_BUILDING,
	BJ_JAR_EMPTY,
	BJ_JAR_FILLING,
	BJ_JAR_WAITING,
	BJ_JAR_RUNNING,
	BJ_JAR_ENDING,
};

/* What all jars of a launcher share. */
struct bj_jar_ground {
	struct bj_cgroups *cgroups; /* NULL: this machine has none for us */
	uint64_t required;          /* layers that must hold: bits of enum bj_layer_id */
	struct {
		bool there;
		const char *python, *bash;
	} images[BJ_WIRE_IMAGES];
	enum bj_mounts_proc proc;
	int init_exe;
	int procs[BJ_MOUNTS_PROCS]; /* jars share them evenly */
	size_t n_procs;
	struct bj_nets *nets;       /* NULL: none is kept */
	struct bj_nursery *nursery; /* without a pid: the launcher bears inits itself */
	bool alone;                 /* there is one run: nobody else waits for the launcher */
	bool own_uids;              /* each jar gets kernel uids of its own */
	bool has_net;               /* we are in the network namespace of the jar with serial 0 */
	uint32_t uid_count;         /* uids from 1 on, as seen from the launcher */
};

/* What a descriptor of a jar means to the event loop. */
enum bj_jar_event {
	BJ_JAR_EV_REPLY,   /* the front said something, or is gone */
	BJ_JAR_EV_SYNC,    /* init reports that the jar is built, if the launcher bore it */
	BJ_JAR_EV_PID,     /* the pid of the script's process */
	BJ_JAR_EV_REPORT,  /* the script's process reports */
	BJ_JAR_EV_SLOT,    /* a waiting interpreter says something; the script goes this way */
	BJ_JAR_EV_LAST,    /* the script's last call, before the kernel tears it down */
	BJ_JAR_EV_MAIN,    /* the script ended */
	BJ_JAR_EV_INIT,    /* init ended: all processes are gone */
	BJ_JAR_EV_COLLECT, /* the collector ended */
	BJ_JAR_EV_OOM,
	BJ_JAR_EV_COUNT,
};

struct bj_jar {
	uint32_t index; /* of its slot; names the uids */
	uint64_t serial;
	uint32_t image; /* what it shows; set before it is built */
	enum bj_jar_phase phase;
	enum bj_language language; /* of what waits in it, or of its run */
	bool unborn;               /* the nursery was asked for its init, and has not answered */
	bool nursed;               /* the same, or that init has not built it yet */
	bool warm;                 /* filled from a zygote */
	bool sealed;               /* the script's process has said so */
	bool early;                /* the same, but nobody has told its pid yet */
	uint32_t stock;            /* the launcher's: which pool made it; 0: none */
	bool has_run;
	bool unwanted;             /* the front wants its run no more */
	bool cold_only;            /* no zygote can start its run */
	bool shares_net;           /* we are in its network namespace ourselves */
	bool unheard;              /* nobody wants to know when its run starts */
	struct bj_wire_launch run; /* with has_run */
	int fds[BJ_WIRE_FD_FIXED]; /* of the run; -1 once given away */
	int out_fd, filter_fd;
	struct bj_cgroup_limits cgroup_limits; /* as written */
	uint64_t tmp_size;
	uid_t init_uid; /* as seen from the launcher */
	struct bj_cgroup *cgroup;
	pid_t init_pid, helper_pid, main_pid, collect_pid;
	int net_fd;                    /* its network namespace, to be kept; -1: it is not */
	unsigned int told;             /* calls of it that we heard of since the last tick */
	bool networked;                /* a socket was made in it, ever */
	int files_fd;                  /* where the script goes */
	int pid_ns;                    /* the jar's pid namespace, for a cold start; -1: none */
	int go_fd;                     /* tells the process of a cold start to enter; -1: none */
	int watch[BJ_JAR_EV_COUNT];    /* descriptors for the event loop; -1: none */
	bool watched[BJ_JAR_EV_COUNT]; /* the epoll has it */
	int epoll;
	uint64_t nonce;             /* what the zygote was asked with, and its slot answers with */
	bool wrong;                 /* the zygote's answer was to something else */
	uint64_t asked;             /* clock nanoseconds: when it was begun */
	uint64_t filling;           /* the same: when its interpreter was started */
	uint64_t started, deadline; /* the same; deadline 0: none */
	uint64_t ended;             /* the same: since when it is dying */
	unsigned int samples;       /* that the front was sent */
	struct bj_wire_reply reply; /* grows into the last message */
	bool main_gone, dying, collecting;
	bool exited;  /* answered: the script has ended; its process stands in its last call, for
			 ever */
	bool replied; /* the front has its last message */
	bool failed;  /* err in the reply says why */
};

/* A jar is not built or filled after this long: it never will be. A thousand that are asked for at
 * once take ten seconds on two busy CPUs. */
#define BJ_JAR_BUILD_NS UINT64_C(40000000000)

/* A jar that is answered and holds nothing but a process in its last call is torn down after this
 * time, or later while others start: that takes longer than a short run. */
#define BJ_JAR_LINGER_NS     UINT64_C(3000000)
#define BJ_JAR_LINGER_MAX_NS UINT64_C(100000000)

/* Those that ended within such a span go together: the kernel removes several network namespaces at
 * once for little more than one. */
#define BJ_JAR_LINGER_SPAN_NS UINT64_C(32000000)

/* What jars are built for when there is no run yet. */
struct bj_jar_shape {
	struct bj_cgroup_limits limits;
	uint64_t tmp_size;
};

/* @epoll watches the descriptors of this jar; borrowed. */
void bj_jar_init(struct bj_jar *jar, int epoll);

/* Watch what is new to watch, with the jar's index and the event as data. */
int bj_jar_watch(struct bj_jar *jar, struct bj_err *err);

/* Start to build: for the run that is attached, or for whoever comes. */
int bj_jar_build(struct bj_jar *jar, const struct bj_jar_ground *ground,
		 const struct bj_jar_shape *shape, struct bj_err *err);

/* What a nursery, and then the init that it bore, say of this jar. Takes the descriptors. */
void bj_jar_heard(struct bj_jar *jar, const struct bj_jar_ground *ground,
		  struct bj_seal_report *report, const int *fds_take);

/* The nursery is gone, and with it the socket for its inits' reports: this jar, which none has
 * built yet, never will be. */
void bj_jar_lose_nursery(struct bj_jar *jar);

/* The namespaces to join for whoever is to be in the jar and comes from us. */
uint64_t bj_jar_namespaces(const struct bj_jar *jar);

/* What comes with requests and answers of a nursery, so that it finds the jar and no later one. */
static inline uint64_t bj_jar_nonce(const struct bj_jar *jar)
{
	return (uint64_t)jar->index << 32 | (uint32_t)jar->serial;
}

/* Whether the jar has the layers @required; fails with the name of the first that it has not. */
int bj_jar_check_required(const struct bj_jar *jar, uint64_t required, struct bj_err *err);

/* Attach a run to the jar, whatever its phase up to WAITING. Takes the descriptors. */
void bj_jar_attach(struct bj_jar *jar, const struct bj_wire_launch *run, const int *fds_take);

/* Move the run of @from, whose script has not started, to @to, which has none. */
void bj_jar_move_run(struct bj_jar *from, struct bj_jar *to);

/* BUILDING, with a run that only a cold start can do: start the process for it, which comes up
 * while init builds the jar. Does nothing otherwise. */
int bj_jar_hurry(struct bj_jar *jar, const struct bj_jar_ground *ground, struct bj_err *err);

/* EMPTY, with a run: start its interpreter from nothing. */
int bj_jar_fill_cold(struct bj_jar *jar, const struct bj_jar_ground *ground, struct bj_err *err);

/* EMPTY: start a Bash that waits for a script. @library_fd and @spec_fd, an empty pack, are
 * borrowed. */
int bj_jar_fill_bash(struct bj_jar *jar, const struct bj_jar_ground *ground, int library_fd,
		     int spec_fd, struct bj_err *err);

/* EMPTY: whoever starts the interpreter tells its pid on @pid_fd; the interpreter reports on the
 * other end of @slot_fd, in one message with what hears its last call, and listens there. Both are
 * taken. A pid that is not in the jar, or a report without jar->nonce, makes the jar fail with
 * jar->wrong. */
void bj_jar_fill_warm(struct bj_jar *jar, int pid_fd_take, int slot_fd_take);

/* Whether @pid is a child of ours beside init in the jar's pid namespace: its end will be taken for
 * that of the script. */
bool bj_jar_holds(const struct bj_jar *jar, pid_t pid);

/* Hand the attached run to the waiting interpreter. */
int bj_jar_go(struct bj_jar *jar, struct bj_err *err);

/* A descriptor is ready. The loop then looks at jar->phase, and at bj_jar_over(). */
void bj_jar_handle(struct bj_jar *jar, const struct bj_jar_ground *ground, enum bj_jar_event event);

/* Parts of the former, for the files of this module: stop to watch a descriptor and close it; init
 * has built the jar, or not; what the front wants; what the script's process says in its last call,
 * or before it makes a socket. */
void bj_jar_unwatch(struct bj_jar *jar, enum bj_jar_event event);
void bj_jar_built(struct bj_jar *jar, const struct bj_seal_report *report, int files_fd_take);
void bj_jar_handle_wish(struct bj_jar *jar);
void bj_jar_handle_last(struct bj_jar *jar, const struct bj_jar_ground *ground);

/* All processes are gone; the reply is complete. */
bool bj_jar_over(const struct bj_jar *jar);

/* Send the last message before the jar is over, when the kernel says that no process of the script
 * is left: what remains is tidying up. True when it was sent. */
bool bj_jar_reply_early(struct bj_jar *jar);

/* Parts of the former: fill in what only the end knows; send the last message. */
void bj_jar_complete(struct bj_jar *jar);
void bj_jar_send(struct bj_jar *jar);

/* So many calls of a script are answered between two ticks: sockets, and last calls of processes
 * whose last call tells nothing. */
enum { BJ_JAR_TOLD_MAX = 256 };

/* Look at what the kernel tells nobody: call it every BJ_JAR_TICK_NS while the jar lives. */
#define BJ_JAR_TICK_NS UINT64_C(50000000)
void bj_jar_tick(struct bj_jar *jar);

/* The deadline has passed. */
void bj_jar_expire(struct bj_jar *jar);

/* The end, for @cause. The first cause stays. */
void bj_jar_kill(struct bj_jar *jar, enum bj_cause cause);

/* The end, because of a failure of ours. */
void bj_jar_fail(struct bj_jar *jar, const struct bj_err *err);

/* Give everything back to @ground, and send the last message if it was not sent. */
void bj_jar_done(struct bj_jar *jar, const struct bj_jar_ground *ground);
