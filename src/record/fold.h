/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/entry.h"
#include "record/store.h"

/* From the journal into the database. */

/* Bring in what is in the journal of @store and not in its database. Each line once, whoever else
 * does the same. */
int bj_fold(struct bj_store *store, struct bj_err *err);

/* In a transaction: the row of a run, new or changed, and what goes with it. 0 or negative; the
 * database says why. */
int bj_fold_row(struct bj_store *store, const struct bj_entry *entry);
int bj_fold_detail(struct bj_store *store, const char *id, const char *result, const char *script,
		   size_t script_size);

/* A thread that brings lines in soon after they were written, many at a time. */
struct bj_fold_thread;
int bj_fold_start(struct bj_store *store, struct bj_fold_thread **ret, struct bj_err *err);
void bj_fold_stop(struct bj_fold_thread *thread); /* NULL is fine; brings in what is there */
