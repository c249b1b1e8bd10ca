/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "check/check.h"
#include "config/settings.h"
#include "record/audit.h"
#include "record/owner.h"
#include "record/store.h"

#include <jansson.h>
#include <stdatomic.h>

/* What is kept of every run: that it begins, and its result before it is answered. Both go into the
 * journal and from there into the database. No secret that the check knows goes in. Thread-safe
 * once open. */

struct bj_fold_thread;

/* The files: journal and database, the folder of artifacts, and our number among the owners of
 * runs. */
struct bj_archive {
	struct bj_store store;
	struct bj_fold_thread *folding; /* NULL: whoever reads brings the journal in */
	struct bj_owner owner;
	struct bj_audit *audit; /* NULL: switched off */
	int dir;                /* the folder of the database */
	int artifacts;          /* the folder of artifacts */
	unsigned char seal_key[32];
	pthread_mutex_t artifact_lock; /* one is written at a time: they are large */
	char path[256];                /* of the database, for messages */
	atomic_ullong errors;          /* beginnings and ends that could not be written */
};

/* Open the archive of @settings; *@ret is NULL when records are switched off. Runs of owners that
 * died are marked as interrupted. All files are open once this returns; a process may give up its
 * rights to them after that. The caller closes *@ret. */
int bj_archive_open(const struct bj_settings *settings, struct bj_archive **ret,
		    struct bj_err *err);

/* The same for a process that runs scripts and may end soon: the database stays closed until it is
 * needed, and nothing is marked. */
int bj_archive_open_to_run(const struct bj_settings *settings, struct bj_archive **ret,
			   struct bj_err *err);

/* A long journal is brought into the database first, so call it once the answer is out. */
void bj_archive_close(struct bj_archive *archive); /* NULL is fine */

/* Bring the journal in, and make the audit log durable, in the background from now on. Starts
 * threads: call it once rights are given up. */
int bj_archive_background(struct bj_archive *archive, struct bj_err *err); /* NULL is fine */

/* Mark the runs of owners that died as interrupted, and remove what they left of artifacts. Returns
 * how many. */
int bj_archive_sweep(struct bj_archive *archive, struct bj_err *err);

/* An archive with the settings and the rules of one engine. All borrowed. */
struct bj_record {
	struct bj_archive *archive; /* NULL: nothing is recorded */
	const struct bj_settings *settings;
	const struct bj_checker *checker; /* masks secrets; NULL: there are none to mask */
	const struct bj_known *known; /* those of one run, masked wherever they stand; or NULL */
};

/* What a decision is bound to, in hex: script, language, arguments, environment, inputs, standard
 * input, limits, policy, trust, backend, image, and the profile of system calls. */
void bj_record_binding(const struct bj_spec *spec, char ret[65]);

/* The run of @spec is about to begin in @state. @result: what the check found. Fails when it cannot
 * be written down: then it must not begin. */
int bj_record_begin(const struct bj_record *record, const struct bj_spec *spec,
		    const struct bj_result *result, enum bj_state state, struct bj_err *err);

/* The folder of artifacts of a run. */
enum { BJ_ARTIFACT_NAME = 80 };
struct bj_artifact {
	char name[BJ_ARTIFACT_NAME];
	uint64_t bytes;
	int lock; /* a descriptor of it: who sweeps leaves it alone while this is open */
};

/* The run has ended, or it never began (rejected, denied): keep @result. @artifact: NULL when it
 * has none. */
int bj_record_finish(const struct bj_record *record, const struct bj_spec *spec,
		     const struct bj_result *result, const struct bj_artifact *artifact,
		     struct bj_err *err);

/* Whether the text of the script goes with a run that ended like @result. */
bool bj_record_keeps_code(const struct bj_record *record, const struct bj_result *result);

/* A copy of @text without secrets; the caller frees it. NULL: no memory. */
char *bj_record_mask(const struct bj_record *record, const char *text, size_t size);

/* The result as JSON without secrets, and without code when @code is false; the caller frees it.
 * NULL: no memory. */
char *bj_record_result(const struct bj_record *record, const struct bj_result *result, bool code);

/* In a transaction: the row of a run, new or changed, past the journal. 0 or negative; the database
 * says why. */
int bj_record_row(const struct bj_record *record, const struct bj_spec *spec,
		  const struct bj_result *result, enum bj_state state);
