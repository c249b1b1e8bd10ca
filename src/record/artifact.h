/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"
#include "record/spool.h"

/* What is kept of a run beside its record: a folder artifacts/executions/<time>-<hash>-<id> of the
 * state directory, with result.json (code and result), script, stdout and stderr in full where the
 * result holds less, and files/. It is written aside, made durable, and then renamed: there is no
 * half folder under a final name. Secrets are masked in all that is text. */

/* Where the files of a run go while it is under way, when the settings keep them: a directory
 * descriptor that the caller closes, or -1. */
int bj_artifact_files(const struct bj_record *record, const struct bj_spec *spec);

/* Keep what the settings say of a run that ended. 1 with the folder in *@ret, whose lock the caller
 * closes once the record names it, 0 when
 * there is nothing to keep, negative when it could not be written. What bj_artifact_files() made
 * is used up. */
int bj_artifact_keep(const struct bj_record *record, const struct bj_spec *spec,
		     const struct bj_result *result, struct bj_spool *spool, bool files,
		     struct bj_artifact *ret, struct bj_err *err);

/* Remove what bj_artifact_files() made. */
void bj_artifact_drop(const struct bj_record *record, const struct bj_spec *spec);

/* The artifacts of the run @id as [{"name", "bytes"}]; NULL: no memory. */
json_t *bj_artifact_list(struct bj_archive *archive, const char *id);

/* Open the artifact @name of the run @id. A descriptor, or -BJ_E_NOT_FOUND. */
int bj_artifact_open(struct bj_archive *archive, const char *id, const char *name,
		     struct bj_err *err);

/* Remove the folder @name; how many bytes were in it. */
uint64_t bj_artifact_remove(struct bj_archive *archive, const char *name);

/* Remove folders that a crash left: half written, or whole and not named by any record. Returns how
 * many. */
unsigned int bj_artifact_sweep(struct bj_archive *archive);
