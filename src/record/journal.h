/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

#include <pthread.h>

/* The journal: the file in which the beginning and the end of every run are written, one line
 * each, before they reach the database. Several processes and threads may append to one. */

enum { BJ_JOURNAL_LINE_MAX = 256 << 20, BJ_JOURNAL_MARK = 32 };

/* A place in it. The file is emptied now and then; the mark says which filling is meant. */
struct bj_journal_place {
	char mark[BJ_JOURNAL_MARK + 1];
	uint64_t offset;
};

struct bj_journal {
	int fd;                       /* -1: closed */
	pthread_mutex_t lock;         /* the file's own lock is the process's, not the thread's */
	uint64_t end;                 /* where our last line ended; 0: not known */
	struct bj_journal_place seen; /* all up to here is in the database, or no line */
	bool fresh;                   /* lines came since somebody looked */
	bool asleep;                  /* who looks waits for @grown */
	pthread_cond_t grown;
};

/* Open the file @name of @dir_fd, made when it is missing. */
int bj_journal_open(struct bj_journal *journal, int dir_fd, const char *name, struct bj_err *err);
void bj_journal_done(struct bj_journal *journal);

/* Append @line, which holds no line's end. It is in the file, as a whole, when this returns 0: the
 * death of any process does not take it back, but a power cut may. -errno: nothing of it is there.
 */
int bj_journal_append(struct bj_journal *journal, const char *line, size_t size);

/* How much there is that nobody in this process has seen; 0: nothing. */
uint64_t bj_journal_unseen(struct bj_journal *journal);

/* Read whole lines from *@place on into @ret, some MiB at most; *@place becomes where they begin:
 * the start of the file when it was emptied since. Bytes too many for any line are left out, and
 * so is the piece of a line at the end. *@ret_size: the file's size. 0 or -errno. */
int bj_journal_read(struct bj_journal *journal, struct bj_journal_place *place, struct bj_buf *ret,
		    uint64_t *ret_size);

/* Everything up to @place, and the file as far as @size, need not be looked at again. Empties the
 * file when it is long and nothing follows @place. */
void bj_journal_settle(struct bj_journal *journal, const struct bj_journal_place *place,
		       uint64_t size);
