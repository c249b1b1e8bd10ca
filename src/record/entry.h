/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

#include <jansson.h>

/* What a line of the journal says about a run: that it begins, how it ended, or both at once for
 * one that was refused before it began. The same values become its row in the database. */

enum { BJ_ENTRY_BEGIN = 1, BJ_ENTRY_END = 2 };

/* A plain value; its texts are borrowed, or belong to @root. */
struct bj_entry {
	int64_t parts; /* BJ_ENTRY_BEGIN, BJ_ENTRY_END or both */
	const char *id;
	int64_t backend, approval;
	const char *approver;

	/* How it begins. */
	int64_t created_us, started_ms;
	int64_t owner; /* 0: nobody runs it */
	const char *tenant, *actor, *tool, *name, *script_sha256, *binding;
	const char *limits; /* JSON */
	int64_t through, language, policy, trusted, risk, effective_risk, state;

	/* How it ended. */
	int64_t cause;
	int64_t exit_code; /* -1: none */
	int64_t signal;    /* 0: none */
	int64_t ended_ms, duration_us, cpu_us, peak_memory;
	const char *artifact;
	int64_t artifact_bytes;
	const char *result; /* JSON; NULL: not kept */
	const char *script; /* NULL: not kept */
	size_t script_size;
	/* What it used, for the sums of a day; runs 0: it is in them already, or used nothing. */
	int64_t runs, memory_mib_ms, output_bytes, out_bytes, cost_micros;

	json_t *root; /* owned; NULL: nothing is */
	char *own[3]; /* owned texts */
};

/* The line for @entry, without its end, into @ret; ret->failed says whether it went well. */
void bj_entry_print(const struct bj_entry *entry, struct bj_buf *ret);

/* Read a line of @size bytes. The caller ends *@ret with bj_entry_done(). -BJ_E_INVALID: it is no
 * line of ours. */
int bj_entry_parse(const char *line, size_t size, struct bj_entry *ret);
void bj_entry_done(struct bj_entry *entry);
