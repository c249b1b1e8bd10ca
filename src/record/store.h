/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"
#include "record/journal.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

/* The database and the journal before it: one SQLite file in WAL mode, and one of lines (journal.h)
 * that become rows of it. One connection writes and one reads, each behind a lock of its own, so
 * that a long list does not hold up a run. */

/* The statements that are used for every run, prepared once. The order is that of store.c. */
enum bj_statement {
	BJ_ST_BEGIN,
	BJ_ST_FINISH,
	BJ_ST_DETAIL,
	BJ_ST_STATE,
	BJ_ST_USE,
	BJ_ST_PLACE,
	BJ_ST_MOVE,
	BJ_ST_COUNT,
};

struct bj_store {
	char *path;
	pthread_mutex_t open_lock; /* over whether the two connections are there */
	sqlite3 *db;
	pthread_mutex_t lock; /* over @db and the statements */
	sqlite3_stmt *statements[BJ_ST_COUNT];
	sqlite3 *reader;
	pthread_mutex_t reader_lock;
	int reserve; /* descriptor of a file that holds space back */
	struct bj_journal journal;
	atomic_ullong skipped; /* lines of the journal that nobody understands */
};

/* Make the store at @path ready for runs: the journal is open, and the database is made and brought
 * to the newest schema when it is not. A newer schema than ours is refused. A database that is as
 * it should be is opened by whoever needs it first. @dir_fd: its folder, borrowed. */
int bj_store_init(struct bj_store *store, const char *path, int dir_fd, struct bj_err *err);

/* The same, with the database open: a process may give up its rights to the files after that. */
int bj_store_open(struct bj_store *store, const char *path, int dir_fd, struct bj_err *err);
void bj_store_done(struct bj_store *store);

/* A transaction that writes, with the lock; what the journal holds is in the database by then.
 * bj_store_commit() and bj_store_rollback() let go. */
int bj_store_begin(struct bj_store *store, struct bj_err *err);

/* The same for what has nothing to do with the rows of runs: the journal stays as it is. */
int bj_store_begin_aside(struct bj_store *store, struct bj_err *err);
int bj_store_commit(struct bj_store *store, struct bj_err *err);
void bj_store_rollback(struct bj_store *store);

/* The connection that reads, with its lock, after what the journal holds was brought in. NULL:
 * @err says why not. bj_store_let_go() ends it. */
sqlite3 *bj_store_read(struct bj_store *store, struct bj_err *err);

/* The same for what has nothing to do with the rows of runs. */
sqlite3 *bj_store_read_aside(struct bj_store *store, struct bj_err *err);
void bj_store_let_go(struct bj_store *store);

/* Fill @err with what the database says. */
int bj_store_err(sqlite3 *db, struct bj_err *err, const char *what);

/* Run @sql, which gives no rows. With the lock. */
int bj_store_exec(sqlite3 *db, const char *sql, struct bj_err *err);

/* The statement @which, reset and unbound. With the lock. */
sqlite3_stmt *bj_store_get(struct bj_store *store, enum bj_statement which);

/* Prepare @sql on @db; the caller finalizes it (AUTO_STMT). NULL: @err is filled. */
sqlite3_stmt *bj_store_prepare(sqlite3 *db, const char *sql, struct bj_err *err);

static inline void bj_cleanup_stmt(sqlite3_stmt **st)
{
	sqlite3_finalize(*st);
}
#define AUTO_STMT __attribute__((cleanup(bj_cleanup_stmt)))

/* A copy of a text column; NULL where it is NULL. */
char *bj_store_text(sqlite3_stmt *st, int column);

/* Space that is held back, so that what has begun can be finished when the disk is full. */
bool bj_store_reserve(struct bj_store *store);       /* false: there is no room for it */
void bj_store_spend_reserve(struct bj_store *store); /* let go of it */

/* Write pages back from the log, as far as nobody is in the way. */
void bj_store_checkpoint(struct bj_store *store);
