/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * A commit appends to the log (WAL) and does not wait for the disk: what was committed survives the
 * death of every process, and of the machine up to the last checkpoint. Checkpoints, which do wait,
 * happen aside of runs. executions holds what lists and filters need, in rows of a few hundred
 * bytes; details holds the rest. The key of both is the time of creation in microseconds, made
 * unique: a list goes along it, newest first, and a time is a position.
 *
 * Opening it takes longer than a cold run can bear, so `belljar run` does without: it looks at the
 * file's first bytes, which name the schema, and writes to the journal. */

#include "record/store.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "record/fold.h"
#include "record/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Whoever holds the database works for milliseconds, and its death lets go at once; but it may be
 * starved, or wait for a slow disk.
 *
 * The first process to open the records reads the log as a whole: a short one is a quick start. */
enum { BUSY_MS = 60000, RESERVE = 4 << 20, LOG_PAGES = 200 };

static const char *const STATEMENTS[] = {
	[BJ_ST_BEGIN] =
		"INSERT INTO executions (seq, id, tenant, actor, tool, through, language, backend,"
		" policy, trusted, script_sha256, inputs_sha256, binding, limits, risk,"
		" effective_risk, state, started_ms, owner, approval, approver, name)"
		" VALUES (max(?1, coalesce((SELECT max(seq) FROM executions), 0) + 1), ?2, ?3, ?4,"
		" ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, "
		"?22)"
		" ON CONFLICT (id) DO UPDATE SET backend = excluded.backend,"
		" risk = excluded.risk, effective_risk = excluded.effective_risk,"
		" state = excluded.state, started_ms = excluded.started_ms,"
		" owner = excluded.owner, approval = excluded.approval,"
		" approver = excluded.approver"
		" WHERE executions.state <> 3 OR ?1 / 1000 > executions.ended_ms",
	[BJ_ST_FINISH] =
		"UPDATE executions SET state = ?2, cause = ?3, exit_code = ?4, signal = ?5,"
		" ended_ms = ?6, duration_us = ?7, cpu_us = ?8, peak_memory = ?9, owner = NULL,"
		" artifact = ?10, artifact_bytes = ?14, backend = ?11, approval = ?12,"
		" approver = ?13 WHERE id = ?1",
	[BJ_ST_DETAIL] =
		"INSERT INTO details (seq, result, script) SELECT seq, ?2, ?3 FROM executions"
		" WHERE id = ?1 ON CONFLICT (seq) DO UPDATE SET result = excluded.result,"
		" script = excluded.script",
	[BJ_ST_STATE] = "SELECT state FROM executions WHERE id = ?1",
	[BJ_ST_USE] = "INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
		      " ON CONFLICT (tenant, day) DO UPDATE SET runs = runs + excluded.runs,"
		      " cpu_us = cpu_us + excluded.cpu_us,"
		      " memory_mib_ms = memory_mib_ms + excluded.memory_mib_ms,"
		      " output_bytes = output_bytes + excluded.output_bytes,"
		      " artifact_bytes = artifact_bytes + excluded.artifact_bytes,"
		      " cost_micros = cost_micros + excluded.cost_micros",
	[BJ_ST_PLACE] = "SELECT mark, place FROM journal",
	[BJ_ST_MOVE] = "INSERT INTO journal VALUES (1, ?1, ?2)"
		       " ON CONFLICT (one) DO UPDATE SET"
		       " mark = excluded.mark, place = excluded.place",
};
_Static_assert(BJ_ARRAY_SIZE(STATEMENTS) == BJ_ST_COUNT, "one text for each statement");

int bj_store_err(sqlite3 *db, struct bj_err *err, const char *what)
{
	const int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;

	if (code == SQLITE_FULL)
		return bj_err_set(err, BJ_E_LIMIT, ENOSPC,
				  "%s; free some space, or point state_dir elsewhere", what);
	return bj_err_set(err, BJ_E_SYSTEM, 0, "%s: %s", what,
			  db ? sqlite3_errmsg(db) : "no memory");
}

int bj_store_exec(sqlite3 *db, const char *sql, struct bj_err *err)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return bj_store_err(db, err, "the records cannot be used");
	return 0;
}

static bool is_busy(sqlite3 *db)
{
	const int code = sqlite3_errcode(db);

	return code == SQLITE_BUSY || code == SQLITE_PROTOCOL;
}

/* For the few places where SQLite does not wait by itself: two processes that make the same new
 * database meet in the change to a log, and an index of the log that somebody left half written is
 * mended by one of those who find it. */
static int exec_patiently(sqlite3 *db, const char *sql, struct bj_err *err)
{
	static const struct timespec pause = { .tv_nsec = 2000000 };
	const uint64_t until = bj_clock_now() + BUSY_MS * UINT64_C(1000000);
	int r;

	while ((r = bj_store_exec(db, sql, err)) < 0 && is_busy(db) && bj_clock_now() < until)
		nanosleep(&pause, NULL);
	return r;
}

sqlite3_stmt *bj_store_prepare(sqlite3 *db, const char *sql, struct bj_err *err)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		bj_store_err(db, err, "the records cannot be read");
	return st;
}

char *bj_store_text(sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	return text ? strdup(text) : NULL;
}

/* --- schema ----------------------------------------------------------------------------------- */

static int schema_of(sqlite3 *db, int *ret, struct bj_err *err)
{
	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, "PRAGMA user_version", err);

	if (!st || sqlite3_step(st) != SQLITE_ROW)
		return bj_store_err(db, err, "the records cannot be read");
	*ret = sqlite3_column_int(st, 0);
	return 0;
}

static int migrate(sqlite3 *db, int from, struct bj_err *err)
{
	char version[64];
	int r = exec_patiently(db, "BEGIN IMMEDIATE", err);

	if (r < 0)
		return r;
	/* Another process may have done it while we waited. */
	r = schema_of(db, &from, err);
	for (size_t i = (size_t)from; r == 0 && i < bj_schema_steps; i++)
		r = bj_store_exec(db, bj_schema[i], err);
	snprintf(version, sizeof(version), "PRAGMA user_version = %zu", bj_schema_steps);
	if (r == 0)
		r = bj_store_exec(db, version, err);
	if (r == 0)
		r = bj_store_exec(db, "COMMIT", err);
	if (r < 0)
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

static int bring_up(sqlite3 *db, struct bj_err *err)
{
	int have = 0, r = schema_of(db, &have, err);

	if (r == 0 && have > (int)bj_schema_steps)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "these records were written by a newer belljar; use that one, or "
				  "another state_dir");
	if (r == 0 && have < (int)bj_schema_steps) {
		r = migrate(db, have, err);
		/* Into the file itself: see look_at_file(). */
		sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	}
	return r;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int open_db(const char *path, int flags, sqlite3 **ret, struct bj_err *err)
{
	static const char setup[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
				    "PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON;"
				    "PRAGMA foreign_keys = OFF";
	sqlite3 *db = NULL;
	int persist = 1;

	if (sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		const int r = bj_store_err(db, err, "the records cannot be opened");

		sqlite3_close(db);
		return r;
	}
	sqlite3_extended_result_codes(db, 0);
	sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_wal_autocheckpoint(db, LOG_PAGES);
	/* The end of a run does not wait for the disk. */
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);

	const int r = exec_patiently(db, setup, err);

	if (r < 0) {
		sqlite3_close(db);
		return r;
	}
	*ret = db;
	return 0;
}

/* Made by us before SQLite sees it: with the mode that its log then takes over. Whether it needs no
 * more than that: its first bytes say that it is a database with our schema. */
static int look_at_file(int dir_fd, const char *path, bool *ret_ready, struct bj_err *err)
{
	enum { MAGIC = 16, VERSION = 60, HEAD = 64 };
	const char *slash = strrchr(path, '/');
	unsigned char head[HEAD];
	AUTO_FD int fd = openat(dir_fd, slash ? slash + 1 : path,
				O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno,
				  "cannot keep records in %.100s; set state_dir, or "
				  "record.enabled to false",
				  path);

	const bool whole = pread(fd, head, sizeof(head), 0) == HEAD;
	const unsigned char *v = head + VERSION;

	*ret_ready = whole && memcmp(head, "SQLite format 3", MAGIC) == 0 && !v[0] && !v[1] &&
		     !v[2] && v[3] == bj_schema_steps;
	return 0;
}

static int prepare_all(struct bj_store *store, struct bj_err *err)
{
	for (int i = 0; i < BJ_ST_COUNT; i++) {
		if (sqlite3_prepare_v3(store->db, STATEMENTS[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &store->statements[i], NULL) != SQLITE_OK)
			return bj_store_err(store->db, err, "the records cannot be used");
	}
	return 0;
}

static void close_database(struct bj_store *store)
{
	for (int i = 0; i < BJ_ST_COUNT; i++) {
		sqlite3_finalize(store->statements[i]);
		store->statements[i] = NULL;
	}
	sqlite3_close(store->reader);
	sqlite3_close(store->db);
	store->reader = store->db = NULL;
}

static int open_database(struct bj_store *store, struct bj_err *err)
{
	int r = open_db(store->path, SQLITE_OPEN_READWRITE, &store->db, err);

	if (r == 0)
		r = bring_up(store->db, err);
	if (r == 0)
		r = prepare_all(store, err);
	if (r == 0)
		r = open_db(store->path, SQLITE_OPEN_READWRITE, &store->reader, err);
	if (r < 0)
		close_database(store);
	return r;
}

/* Open it unless it is. */
static int need_database(struct bj_store *store, struct bj_err *err)
{
	pthread_mutex_lock(&store->open_lock);

	const int r = store->reader ? 0 : open_database(store, err);

	pthread_mutex_unlock(&store->open_lock);
	return r;
}

int bj_store_init(struct bj_store *store, const char *path, int dir_fd, struct bj_err *err)
{
	bool ready = false;

	*store = (struct bj_store){ .reserve = -1, .journal = { .fd = -1 }, .path = strdup(path) };
	pthread_mutex_init(&store->open_lock, NULL);
	pthread_mutex_init(&store->lock, NULL);
	pthread_mutex_init(&store->reader_lock, NULL);

	int r = store->path ? look_at_file(dir_fd, path, &ready, err)
			    : bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot open the records");

	if (r == 0 && !ready)
		r = need_database(store, err);
	if (r == 0) {
		store->reserve =
			openat(dir_fd, "reserve", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (store->reserve < 0)
			r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot hold space back");
	}
	if (r == 0)
		r = bj_journal_open(&store->journal, dir_fd, "journal", err);
	if (r < 0)
		bj_store_done(store);
	return r;
}

int bj_store_open(struct bj_store *store, const char *path, int dir_fd, struct bj_err *err)
{
	int r = bj_store_init(store, path, dir_fd, err);

	if (r < 0)
		return r;
	r = need_database(store, err);
	if (r < 0)
		bj_store_done(store);
	return r;
}

void bj_store_done(struct bj_store *store)
{
	if (!store->path)
		return;
	close_database(store);
	bj_journal_done(&store->journal);
	if (store->reserve >= 0)
		close(store->reserve);
	pthread_mutex_destroy(&store->open_lock);
	pthread_mutex_destroy(&store->lock);
	pthread_mutex_destroy(&store->reader_lock);
	free(store->path);
	*store = (struct bj_store){ .reserve = -1, .journal = { .fd = -1 } };
}

/* --- using ------------------------------------------------------------------------------------ */

int bj_store_begin(struct bj_store *store, struct bj_err *err)
{
	const int r = bj_fold(store, err);

	return r < 0 ? r : bj_store_begin_aside(store, err);
}

int bj_store_begin_aside(struct bj_store *store, struct bj_err *err)
{
	int r = need_database(store, err);

	if (r < 0)
		return r;
	pthread_mutex_lock(&store->lock);
	r = exec_patiently(store->db, "BEGIN IMMEDIATE", err);

	if (r < 0)
		pthread_mutex_unlock(&store->lock);
	return r;
}

void bj_store_rollback(struct bj_store *store)
{
	/* A full disk may have rolled it back already. */
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	pthread_mutex_unlock(&store->lock);
}

int bj_store_commit(struct bj_store *store, struct bj_err *err)
{
	const int r = bj_store_exec(store->db, "COMMIT", err);

	if (r < 0) {
		bj_store_rollback(store);
		return r;
	}
	pthread_mutex_unlock(&store->lock);
	return 0;
}

sqlite3 *bj_store_read_aside(struct bj_store *store, struct bj_err *err)
{
	if (need_database(store, err) < 0)
		return NULL;
	pthread_mutex_lock(&store->reader_lock);
	return store->reader;
}

sqlite3 *bj_store_read(struct bj_store *store, struct bj_err *err)
{
	return bj_fold(store, err) < 0 ? NULL : bj_store_read_aside(store, err);
}

void bj_store_let_go(struct bj_store *store)
{
	pthread_mutex_unlock(&store->reader_lock);
}

sqlite3_stmt *bj_store_get(struct bj_store *store, enum bj_statement which)
{
	sqlite3_stmt *st = store->statements[which];

	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	return st;
}

bool bj_store_reserve(struct bj_store *store)
{
	struct stat st;

	if (fstat(store->reserve, &st) == 0 && st.st_blocks * 512 >= RESERVE)
		return true;
	return posix_fallocate(store->reserve, 0, RESERVE) == 0;
}

void bj_store_spend_reserve(struct bj_store *store)
{
	if (ftruncate(store->reserve, 0) < 0)
		return; /* then there is nothing to gain */
}

void bj_store_checkpoint(struct bj_store *store)
{
	sqlite3 *db = bj_store_read_aside(store, NULL);

	if (!db)
		return;
	sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	bj_store_let_go(store);
}
