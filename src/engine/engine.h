/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "check/check.h"
#include "config/settings.h"
#include "jar/process.h"
#include "record/record.h"

/* A process for each backend. */
enum { BJ_ENGINE_PROCESSES = 3 };

/* What bj_open() makes, for doors that bring settings of their own. */
struct belljar {
	struct bj_settings *settings;
	struct bj_checker *checker;
	/* By backend; NULL: it is not called for, or not allowed. */
	struct bj_process *process[BJ_ENGINE_PROCESSES];
	struct bj_buf *filter;   /* the compiled custom profile; NULL: none */
	unsigned int swept;      /* leftovers of dead belljars removed when it came up */
	unsigned int places;     /* for runs at once, since it is up; 0: nobody counts them */
	bool warm;               /* a service: interpreters wait for its scripts */
	bool soon;               /* a run follows at once */
	struct bj_record record; /* its archive is NULL when runs are not recorded */
	bool borrows_archive;    /* the archive outlives this handle */
};

/* As bj_open(), with settings that the caller made. Takes them, also on failure. */
int bj_engine_new(struct bj_settings *settings_take, struct belljar **ret, struct bj_err *err);

/* The same for a caller who runs one script at once: part of that begins already. */
int bj_engine_new_to_run(struct bj_settings *settings_take, struct belljar **ret,
			 struct bj_err *err);

/* The parts of a handle that take privilege to make, for a service whose front has none: one
 * process makes them, sends them over a socket, and another one makes a handle of them. */
struct bj_engine_parts {
	/* By backend: the socket of its process, owned (-1: none), and the child to reap (0 where
	 * it is not a child). */
	int control[BJ_ENGINE_PROCESSES];
	pid_t pid[BJ_ENGINE_PROCESSES];
	struct bj_buf filter; /* the compiled custom profile; empty: none */
};

#define BJ_ENGINE_NO_PARTS ((struct bj_engine_parts){ .control = { -1, -1, -1 } })

/* Pins the image in @settings: the other process learns which one it is. */
int bj_engine_make_parts(struct bj_settings *settings, struct bj_engine_parts *ret,
			 struct bj_err *err);
void bj_engine_parts_done(struct bj_engine_parts *parts);

/* Takes settings and parts, also on failure. Reads the file of the user's rules. @archive:
 * borrowed; NULL: runs are not recorded. */
int bj_engine_from_parts(struct bj_settings *settings_take, struct bj_engine_parts *parts_take,
			 struct bj_archive *archive, struct belljar **ret, struct bj_err *err);

/* Wait until the processes of @bj are up; fails with their own words when one cannot be. */
int bj_engine_ready(struct belljar *bj, struct bj_err *err);

/* As bj_close(), but without waiting until the processes have cleaned up, which they do by
 * themselves. Everything that ran is dead already. */
void bj_engine_leave(struct belljar *bj);

/* Give up every capability of this process, and the calls that a front never makes. Call it once
 * all files that the caller named are open: what comes after reads bytes that nobody vouches for.
 */
int bj_engine_drop_privileges(struct bj_err *err);

/* Remove what dead belljars left, of every backend that @settings can call for. Returns how many
 * things were removed. */
int bj_engine_sweep(const struct bj_settings *settings, struct bj_err *err);

/* A result for a run that never was: cause infrastructure, @message as its error. NULL: no
 * memory. */
struct bj_result *bj_engine_failure(const struct belljar *bj, const char *message);

/* The result of a run that never began, for @cause. */
struct bj_result *bj_engine_unbegun(const struct belljar *bj, const struct bj_spec *spec,
				    enum bj_cause cause, const char *message);

/* Enter the run of @spec, which has an id, as queued: for a door that answers before it begins. */
int bj_engine_enqueue(struct belljar *bj, const struct bj_spec *spec, struct bj_err *err);

/* It was queued and will not run after all. */
void bj_engine_unqueue(struct belljar *bj, const struct bj_spec *spec, enum bj_cause cause,
		       const char *message);

/* What @settings ask of the check, for a script that @backend would run; language and text are
 * left to the caller. */
struct bj_check_request bj_engine_check_request(const struct bj_settings *settings,
						enum bj_backend_id backend, enum bj_policy policy,
						bool trust);

/* Move what the check found out of @result. */
void bj_engine_take_report(struct bj_result *result, struct bj_report *ret);
