/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"

#include <jansson.h>

/* The audit log: JSON lines, each signed and chained to the one before by its hash.
 *
 * A line is {"seq", "time", "kind", "data", "prev", "sig"}: prev is the BLAKE2b hash of the line
 * before, sig the Ed25519 signature of all that stands before it. A head, kept apart, names the
 * last line. docs/audit.md says what that proves.
 *
 * Several processes and threads may append to one log. */
struct bj_audit;

enum { BJ_AUDIT_HASH = 65, BJ_AUDIT_LINE_MAX = 3500 };

/* Open the log below @state_dir, which is made when it is missing. @service: a thread of this
 * process makes lines durable within 50 ms; else nobody does, unless the settings say always.
 * *@ret is NULL when the settings switch the log off. The caller closes *@ret. */
int bj_audit_open(const struct bj_audit_settings *settings, const char *state_dir, bool service,
		  struct bj_audit **ret, struct bj_err *err);
void bj_audit_close(struct bj_audit *audit); /* NULL is fine */

/* Make lines durable in the background from now on, as for a service. Starts a thread: call it once
 * rights are given up. */
int bj_audit_background(struct bj_audit *audit, struct bj_err *err); /* NULL is fine */

/* Append a line: it is written (not yet durable) when this returns 0. @kind is a word such as
 * run.start; @data (taken) an object without secrets; NULL, which is what a text that is none makes
 * of it, fails. Texts in it that are too long are cut. On failure nothing was appended, and what
 * was to be recorded must not happen; -BJ_E_LIMIT: for want of room. Only where the settings want
 * every line durable, and the disk took it but does not say that it is, the line may be there all
 * the same. @audit NULL does nothing. */
int bj_audit_append(struct bj_audit *audit, const char *kind, json_t *data_take,
		    struct bj_err *err);

/* The same with the text of an object, for what is written with every run. */
int bj_audit_append_text(struct bj_audit *audit, const char *kind, const char *data,
			 struct bj_err *err);

/* @text, which may come from anywhere, as a value in the data of a line: bytes that are no text are
 * replaced. NULL: it is NULL. */
json_t *bj_audit_text(const char *text);

/* Lines that could not be appended by this process. */
uint64_t bj_audit_errors(const struct bj_audit *audit);

/* The folder of its files, borrowed. */
int bj_audit_folder(const struct bj_audit *audit);
