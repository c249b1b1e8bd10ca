/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* What front and launcher say to each other: fixed-size messages over SOCK_SEQPACKET, with
 * descriptors attached. The launcher parses nothing else, and believes nothing: bj_wire_check()
 * holds every field against its range and every descriptor against its type. */

enum { BJ_WIRE_MAGIC = 0x42454c4c, BJ_WIRE_VERSION = 1 };

/* Ceilings that no setting can lift: the launcher's own idea of a sane jar. */
#define BJ_WIRE_MEMORY_MIN     (UINT64_C(4) << 20)
#define BJ_WIRE_MEMORY_MAX     (UINT64_C(1) << 42)
#define BJ_WIRE_TMP_MAX        (UINT64_C(1) << 40)
#define BJ_WIRE_TIMEOUT_NS_MAX (UINT64_C(86400) * 1000000000u)
#define BJ_WIRE_PIDS_MAX       32768u
#define BJ_WIRE_CPU_MILLI_MAX  1024000u
#define BJ_WIRE_SCRIPT_MAX     (UINT64_C(16) << 20)
#define BJ_WIRE_SPEC_MAX       (UINT64_C(256) << 20)
#define BJ_WIRE_OUT_FILES_MAX  100000u
#define BJ_WIRE_OUT_BYTES_MAX  (UINT64_C(1) << 40)
#define BJ_WIRE_FILTER_MAX     4093u /* instructions; the kernel takes 4,096, of which 3 are ours */

/* Images that a launcher can have, the first one for who names none. */
enum { BJ_WIRE_IMAGES = 17 };

enum bj_wire_flag {
	BJ_WIRE_CHECK_ONLY = 1 << 0, /* stop after the interpreter's own syntax check */
	BJ_WIRE_HAS_SECCOMP = 1 << 1,
	BJ_WIRE_HAS_OUT = 1 << 2,
	BJ_WIRE_HAS_INPUTS = 1 << 3, /* the jar must be built around them */
	BJ_WIRE_PLAIN = 1 << 4,      /* neither arguments nor environment */
	BJ_WIRE_HEAVY = 1 << 5,      /* it likely imports what takes long to import */
	BJ_WIRE_AGAIN = 1 << 6, /* a slot lost it before its first line: start it from nothing */
	BJ_WIRE_ALL_FLAGS = (1 << 7) - 1,
	BJ_WIRE_CENSUS = 1 << 7, /* alone: no launch, but a question; see bj_wire_is_census() */
};

/* Descriptors of a launch, in this order; the two last only with their flag. */
enum bj_wire_fd {
	BJ_WIRE_FD_REPLY,   /* seqpacket socket: replies; its end of file cancels the run */
	BJ_WIRE_FD_SCRIPT,  /* sealed memory file: the text */
	BJ_WIRE_FD_SPEC,    /* sealed memory file: a pack of arguments, environment, inputs */
	BJ_WIRE_FD_STDIN,   /* pipe */
	BJ_WIRE_FD_STDOUT,  /* pipe */
	BJ_WIRE_FD_STDERR,  /* pipe */
	BJ_WIRE_FD_VERDICT, /* pipe: one struct bj_wire_verdict */
	BJ_WIRE_FD_FIXED,
	BJ_WIRE_FD_MAX = BJ_WIRE_FD_FIXED + 2, /* sealed filter, pipe for out/ */
};

struct bj_wire_launch {
	uint32_t magic, version;
	uint32_t flags;
	uint32_t language;
	uint64_t memory;
	uint64_t tmp_size;
	uint64_t timeout_ns;
	uint64_t out_bytes;
	uint32_t cpu_milli;
	uint32_t pids;
	uint32_t out_files;
	uint32_t image; /* which of the launcher's images the jar shows */
};

/* What the interpreter said of the script before its first line ran. Written by our own code in
 * the jar; the descriptor is closed before the script runs. */
enum bj_wire_verdict_kind { BJ_VERDICT_OK = 1, BJ_VERDICT_SYNTAX = 2 };
struct bj_wire_verdict {
	uint32_t kind;
	uint32_t line;   /* from 1; 0: unknown */
	uint32_t column; /* from 1; 0: unknown */
	char message[500];
};

enum bj_wire_reply_kind {
	BJ_REPLY_HELLO = 1, /* on the control socket, once: the launcher is up or says why not */
	BJ_REPLY_STARTED,   /* not when one waited: the script's process executes the interpreter */
	BJ_REPLY_ENDED,     /* all processes of the jar are gone */
	BJ_REPLY_FAILED,    /* no run took place: err says why */
	BJ_REPLY_NOTE,      /* what goes on before the script starts: a sentence in err.msg */
	BJ_REPLY_SAMPLE,    /* what it uses now; peak_memory is what is in use */
};

struct bj_wire_reply {
	uint32_t magic;
	uint32_t kind;
	int32_t wait_status; /* of the script, from the kernel */
	uint32_t cause;      /* enum bj_cause */
	uint64_t duration_ns;
	uint64_t cpu_ns;
	uint64_t peak_memory;
	uint64_t layers; /* bits of enum bj_layer_id */
	uint32_t landlock_abi;
	uint8_t cgroup_version; /* 0: none */
	uint8_t own_uid;
	uint8_t cleanup_ok;
	uint8_t warm;    /* an interpreter waited for the script */
	uint32_t swept;  /* HELLO: leftovers of dead belljars that were removed */
	uint32_t places; /* HELLO: runs that can be under way at once; 0: there is no table */
	uint32_t aside;  /* HELLO: 1: the front is in another cgroup until the launcher has ended */
	struct bj_err err;
};

/* What the launcher keeps, by kind of jar: Python, Python with large modules, Bash, empty. */
enum { BJ_WIRE_KINDS = 4 };
struct bj_wire_kind {
	uint32_t ready, coming; /* jars that wait, and those on their way there */
	uint32_t busy;          /* jars of this kind that have a script */
	uint32_t target;        /* how many should wait now */
	uint32_t zygotes;       /* that are up */
	uint32_t zygote_starts; /* since the launcher started */
	uint32_t failures;      /* jars that came to nothing before a script came */
};

/* Why zygotes ended. */
enum bj_wire_end {
	BJ_END_DEAD,
	BJ_END_WRONG, /* wrong answers, or slots that fail again and again */
	BJ_END_SLOW,
	BJ_END_OLD,    /* it had made as many slots as one may */
	BJ_END_UNUSED, /* nobody asks for its image, others are asked for, or memory is short */
	BJ_WIRE_ENDS,
};

/* And by image, all kinds together. */
struct bj_wire_shelf {
	uint32_t ready, coming, busy, target, zygotes;
};

struct bj_wire_census {
	uint32_t magic;
	uint32_t cold; /* jars of runs that found none of these */
	uint32_t jars, max_jars;
	uint32_t ends[BJ_WIRE_ENDS]; /* of zygotes, since the launcher started */
	struct bj_wire_kind kinds[BJ_WIRE_KINDS];
	struct bj_wire_shelf images[BJ_WIRE_IMAGES];
};

/* A wish of the front about a run, one byte on the reply socket. */
enum bj_wire_wish { BJ_WISH_CANCEL = 'c', BJ_WISH_OUTPUT = 'o', BJ_WISH_SAMPLE = 's' };

/* Samples that a run may be asked for. They fit into the socket with room to spare, so a front that
 * asks and does not listen cannot make the launcher wait. */
enum { BJ_WIRE_SAMPLES_MAX = 100 };

/* Whether @msg and its descriptors are sane. 0 or negative with @err. */
int bj_wire_check(const struct bj_wire_launch *msg, size_t size, const int *fds, size_t n_fds,
		  struct bj_err *err);

/* Whether @msg asks for a census, with the socket that gets it as its one descriptor. */
bool bj_wire_is_census(const struct bj_wire_launch *msg, size_t size, const int *fds, size_t n_fds);
