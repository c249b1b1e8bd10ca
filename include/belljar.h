/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* belljar: run a Python or Bash script sealed off from the machine.
 *
 * Theory of use: bj_open() once, bj_run() as often as you like (from any thread), bj_close().
 * A spec is a plain value that says what to run and with which limits; a result is a plain value
 * that says what happened. Strings in a spec are borrowed for the length of the call; everything
 * in a result belongs to the result and dies with bj_result_free(). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stable codes: a function that fails returns the negated code. */
enum bj_code {
	BJ_E_SYSTEM = 1,  /* the kernel said no; errnum says why */
	BJ_E_INVALID,     /* an argument or a setting is wrong */
	BJ_E_UNSUPPORTED, /* this machine cannot do what is required */
	BJ_E_NOT_FOUND,   /* a file, an image, an interpreter is missing */
	BJ_E_LIMIT,       /* too large, too many, too long */
	BJ_E_DENIED,      /* policy says no */
	BJ_E_PROTOCOL,    /* another process broke the agreed format */
	BJ_E_CANCELLED,   /* the caller asked to stop */
};

/* A plain value the caller owns: no allocation, so it can be filled after clone(2) and sent
 * to the parent in one atomic pipe write. */
struct bj_err {
	int code;      /* enum bj_code: stable, shown to API users */
	int errnum;    /* errno at the point of failure, or 0 */
	char msg[240]; /* one sentence, outermost context first, ends with what to do */
};

enum bj_language { BJ_LANG_PYTHON, BJ_LANG_BASH };
enum bj_backend_id { BJ_BACKEND_NATIVE, BJ_BACKEND_DOCKER, BJ_BACKEND_DIRECT };
enum bj_severity { BJ_SEV_INFO, BJ_SEV_LOW, BJ_SEV_MEDIUM, BJ_SEV_HIGH, BJ_SEV_CRITICAL };
enum bj_risk { BJ_RISK_LOW, BJ_RISK_MEDIUM, BJ_RISK_HIGH, BJ_RISK_CRITICAL };
enum bj_policy { BJ_POLICY_DEFAULT, BJ_POLICY_STRICT, BJ_POLICY_OFF };
enum bj_require { BJ_REQUIRE_FULL, BJ_REQUIRE_BASIC };
/* Where a request comes from: a person or a program of the local user, or an agent over the API.
 * What comes through a tool says so by naming it. */
enum bj_through { BJ_THROUGH_OWN, BJ_THROUGH_API };

enum bj_state { BJ_PENDING, BJ_QUEUED, BJ_RUNNING, BJ_FINISHED, BJ_INTERRUPTED };

enum bj_cause {
	BJ_CAUSE_NONE,
	BJ_CAUSE_EXITED,
	BJ_CAUSE_SIGNAL,
	BJ_CAUSE_TIMEOUT,
	BJ_CAUSE_OOM,
	BJ_CAUSE_PIDS,
	BJ_CAUSE_OUTPUT,
	BJ_CAUSE_SECCOMP,
	BJ_CAUSE_CANCELLED,
	BJ_CAUSE_DENIED,
	BJ_CAUSE_EXPIRED,
	BJ_CAUSE_QUOTA,
	BJ_CAUSE_REJECTED,
	BJ_CAUSE_INFRASTRUCTURE,
};

/* What a run may use. Every field is enforced or the run is refused. */
struct bj_limits {
	uint64_t memory;     /* bytes, tmpfs pages included, swap off */
	uint32_t cpu_milli;  /* thousandths of one CPU, for the whole jar */
	uint32_t pids;       /* processes and threads */
	uint64_t timeout_ms; /* wall clock, from the start of the interpreter; 0: the settings' */
	uint64_t tmp_size;   /* bytes of /tmp and of the working directory, each */
	uint64_t max_output; /* bytes kept per stream in the result */
	uint64_t output_cap; /* bytes per stream after which the run is killed */
	uint32_t out_files;  /* files collected from out/ */
	uint64_t out_bytes;  /* bytes collected from out/ */
};

/* A file that the script finds, read-only, in its working directory. */
struct bj_input {
	const char *name; /* a plain file name */
	const void *data;
	size_t size;
};

struct bj_result;

/* One thing that happened while a run was under way. Data is borrowed for the call. */
enum bj_event_kind { BJ_EV_STATE, BJ_EV_STDOUT, BJ_EV_STDERR, BJ_EV_SAMPLE };
struct bj_event {
	enum bj_event_kind kind;
	enum bj_state state;
	const char *data; /* output; with a state: what goes on, for a person, or NULL */
	size_t size;
	/* A sample: what the run used since its start, and the memory in use. */
	uint64_t elapsed_us, cpu_us, memory;
};

/* What a person decided about a run that needs approval. */
enum bj_decision_kind {
	BJ_DECISION_NONE,
	BJ_DECISION_APPROVED,
	BJ_DECISION_DENIED,
	BJ_DECISION_EXPIRED,
};
struct bj_decision {
	enum bj_decision_kind kind;
	char *by;            /* who decided; NULL: nobody */
	char *reason;        /* NULL: none was given */
	uint64_t decided_ms; /* milliseconds since 1970 */
};

/* What a person is asked before a run that needs approval. All borrowed for the call. */
struct bj_question {
	const struct bj_spec *spec;
	const struct bj_result *found; /* findings, risk and effective risk */
	const char *rule;              /* the approval rule that asks */
	const char *last_approved;     /* the script approved last for this tool or file, masked;
					* NULL: none is kept */
};

/* What to run. Zero it, then call bj_spec_init() for the defaults of a handle. */
struct bj_spec {
	char id[33];        /* set by bj_run() when empty */
	const char *script; /* the text; may hold NUL bytes, which the check refuses */
	size_t script_size;
	enum bj_language language;
	enum bj_backend_id backend;
	enum bj_policy policy;
	bool trust;      /* skip the import and danger layers for this call; recorded */
	bool check_only; /* stop after the interpreter's own syntax check */
	bool heavy;      /* set by bj_run(): it names a module that takes long to import */
	unsigned char image_place; /* set by bj_run(): where the settings have the image */
	struct bj_limits limits;
	uint64_t timeout_asked_ms; /* what was asked before clamping; 0: nothing */
	const char *const *args;   /* NULL-terminated script arguments, or NULL */
	const char *const *env;    /* NULL-terminated K=V, added to the fixed list, or NULL */
	const struct bj_input *inputs;
	size_t n_inputs;
	int stdin_fd;        /* borrowed; -1: empty */
	int out_dir_fd;      /* borrowed directory that receives what was left in out/; -1: none */
	const char *image;   /* NULL: the setting image; a service also has images.allow */
	const void *seccomp; /* extra filter program (struct sock_filter array), or NULL */
	size_t seccomp_size;
	int cancel_fd; /* readable: cancel the run; -1: none */
	void (*on_event)(void *ctx, const struct bj_event *event); /* NULL: none */
	void *event_ctx;
	bool samples; /* tell what it uses now and then; only the backend native can */
	void (*on_step)(void *ctx, const char *name); /* check, approve, run or record begins */
	void *step_ctx;
	/* Set by bj_run(): the backend calls it once the run is on its way, while it comes up.
	 * When that fails the run is ended. */
	int (*on_launched)(void *ctx, struct bj_err *err);
	void *launched_ctx;
	/* Who asks, for rules, records and quotas. */
	enum bj_through through;
	const char *name;           /* what the script is called, such as its file; NULL: nothing */
	const char *tenant;         /* NULL: the local user */
	const char *actor;          /* name of the key or the user; NULL: not known */
	const char *tool;           /* the tool it came through; NULL: none */
	enum bj_risk declared_risk; /* of that tool; only with @tool */
	/* Ask a person in place. 1: *@ret_by and *@ret_reason (each may stay NULL; taken by the
	 * caller, freed with free()) say who decided and why, and *@ret_approved what; 0: nobody
	 * can be asked now, so the run waits. NULL: never ask in place. */
	int (*on_ask)(void *ctx, const struct bj_question *question, bool *ret_approved,
		      char **ret_by, char **ret_reason);
	void *ask_ctx;
};

/* One finding of the check. */
struct bj_finding {
	char *layer;   /* length, syntax, secrets, dangers, imports */
	char *rule;    /* stable id */
	char *message; /* one sentence */
	char *source;  /* the source line, secrets masked; may be NULL */
	enum bj_severity severity;
	uint32_t line, column, end_column; /* from 1, in characters; 0: unknown */
	bool blocks;                       /* under the policy in force */
};

struct bj_output {
	char *data; /* head and, when truncated, a marker line and the tail; NUL-terminated */
	size_t size;
	uint64_t total; /* bytes the script wrote */
	bool truncated;
};

/* One layer of isolation as it was really enforced. */
struct bj_layer {
	const char *name;
	bool enforced;
};

/* What a run used up to a moment, and the memory in use then. */
struct bj_sample {
	uint64_t elapsed_us, cpu_us, memory;
};

struct bj_result {
	char id[33];
	enum bj_state state;
	enum bj_cause cause;
	bool success; /* cause exited with code 0 */
	enum bj_language language;
	struct bj_output out, err;
	int exit_code; /* -1: none */
	int signal;    /* 0: none */
	bool timeout;
	bool no_interpreter; /* cause infrastructure: the interpreter is missing */
	bool validation_failed;
	char *validation_error; /* NULL: none */
	char *error;            /* one sentence; NULL: none */
	struct bj_finding *findings;
	size_t n_findings;
	enum bj_risk risk;           /* of the script by itself */
	enum bj_risk effective_risk; /* the higher of that and the tool's declared one */
	char **risk_reasons;
	size_t n_risk_reasons;
	struct bj_decision decision;
	char script_sha256[65]; /* in hex */
	char **blocked_imports;
	size_t n_blocked_imports;
	uint64_t started_unix_ms;
	uint64_t duration_us;
	uint64_t cpu_us;
	uint64_t peak_memory;
	struct bj_sample *samples; /* over time, where spec->samples asked for them */
	size_t n_samples;
	uint64_t cost_micros;   /* what it cost, in millionths of price.currency */
	uint32_t retry_after_s; /* cause quota or infrastructure: when to try again; 0: no use */
	/* meta */
	enum bj_backend_id runtime;
	char *image;        /* what the interpreter came from; NULL: the host's own files */
	char *image_digest; /* "sha256:..."; NULL: not known */
	enum bj_backend_id fallback_from; /* with a reason: what was asked for and not there */
	char *fallback_reason;            /* NULL: nothing was replaced */
	enum bj_policy policy;
	bool trusted;
	bool warm; /* an interpreter waited for the script */
	struct bj_limits asked, effective;
	bool cleanup_success;
	const char *cgroup;   /* "v1", "v2", "none" */
	const char *uid_mode; /* "own": a kernel uid of its own; "shared": the caller's */
	uint32_t landlock_abi;
	struct bj_layer *layers;
	size_t n_layers;
	uint32_t out_files; /* collected from out/ */
	uint64_t out_bytes;
	uint32_t out_refused; /* links, devices, too many, too large */
};

/* A handle: settings and a launcher process. Thread-safe once open. */
struct belljar;

/* Open with the settings of @config_file (NULL: the usual places) and the environment. Starts
 * the launcher: call it early, before other threads run. The caller closes *@ret_bj. */
int bj_open(const char *config_file, struct belljar **ret_bj, struct bj_err *err);
void bj_close(struct belljar *bj); /* NULL is fine; ends every run of this handle */

/* Fill @spec with the defaults of @bj for @language. */
void bj_spec_init(const struct belljar *bj, enum bj_language language, struct bj_spec *spec);

/* Check, ask where the approval rules say so, then run. A run that must wait for a person comes
 * back with state pending and no cause. A script that fails, is refused or is killed is a success
 * of bj_run(): read the cause. The caller frees *@ret_result. Negative only when belljar itself
 * failed before there was a result, and -BJ_E_INVALID for a spec that nobody could run: a limit
 * that its setting may not have, a descriptor that is not open. */
int bj_run(struct belljar *bj, const struct bj_spec *spec, struct bj_result **ret_result,
	   struct bj_err *err);
void bj_result_free(struct bj_result *result); /* NULL is fine */

/* Decide about the run @id, which waits. @by: who decides; @reason: NULL for none. -BJ_E_NOT_FOUND:
 * nothing with this id was ever asked; -BJ_E_DENIED: somebody decided before, or it is too late. */
int bj_decide(struct belljar *bj, const char *id, bool approve, const char *by, const char *reason,
	      struct bj_err *err);

/* Run what waits under @id and was approved: once, whoever else tries. Of @hooks (NULL: none) only
 * the callbacks and cancel_fd count. -BJ_E_DENIED: it is not approved, or it has begun already. */
int bj_resume(struct belljar *bj, const char *id, const struct bj_spec *hooks,
	      struct bj_result **ret_result, struct bj_err *err);

/* The result as one JSON object, one line. The caller frees it with free(). NULL: no memory. */
char *bj_result_to_json(const struct bj_result *result);

/* Remove what belljars that died left behind (cgroups, containers). Live ones are not touched.
 * Returns how many things were removed. */
int bj_cleanup_all(struct belljar *bj, struct bj_err *err);

const char *bj_version(void);

#ifdef __cplusplus
}
#endif
