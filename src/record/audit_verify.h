/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/audit_line.h"

/* Reading the audit log: all lines in order, and what is wrong with them. */

/* A log to read. Nothing of it is made or changed. */
struct bj_audit_reader;

/* Open the log below @state_dir as it is at this moment. -BJ_E_NOT_FOUND: there is
 * none. */
int bj_audit_reader_open(const char *state_dir, struct bj_audit_reader **ret, struct bj_err *err);
void bj_audit_reader_free(struct bj_audit_reader *reader); /* NULL is fine */

/* The next line, without its end: 1 with @ret_text (valid until the next call), 0 at the end of
 * what there was when the reader was opened. */
int bj_audit_reader_next(struct bj_audit_reader *reader, const char **ret_text, size_t *ret_size,
			 struct bj_err *err);

/* Look again: lines that came since are read next. */
int bj_audit_reader_refresh(struct bj_audit_reader *reader, struct bj_err *err);

/* Where the last line was: its file's path and its number from 1. */
const char *bj_audit_reader_file(const struct bj_audit_reader *reader);
uint64_t bj_audit_reader_line(const struct bj_audit_reader *reader);

/* Whether the last line had its end. */
bool bj_audit_reader_whole(const struct bj_audit_reader *reader);

/* What a check found. */
struct bj_audit_report {
	uint64_t lines, first_seq, last_seq;
	char hash[BJ_AUDIT_HASH]; /* of the last line */
	bool head_ahead; /* the last line is only in the head: its writer died, the next one adds it
			  */
	uint64_t problems;
};

/* Check all lines from @from on (1: all) against each other and against the head. Each problem is
 * told to @tell with its place (FILE:LINE). The return value is negative only when the log cannot
 * be read; problems are counted in @ret. */
int bj_audit_verify(const char *state_dir, const struct bj_audit_key *key, uint64_t from,
		    void (*tell)(void *ctx, const char *where, const char *what), void *ctx,
		    struct bj_audit_report *ret, struct bj_err *err);

/* The head as it is now. */
int bj_audit_head_load(const char *state_dir, const struct bj_audit_key *key,
		       struct bj_audit_head *ret, struct bj_err *err);
