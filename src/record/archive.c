/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "record/artifact.h"
#include "record/audit.h"
#include "record/fold.h"
#include "record/folder.h"
#include "record/quota.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define DATABASE "belljar.db"

enum { FEW_FILES = 64, LONG_JOURNAL = 256 << 10 };

/* Orders that wait are sealed with this key: no copy of the database gives them away, and neither
 * do bytes that a deleted row leaves behind. */
static int read_seal_key(struct bj_archive *ar, struct bj_err *err)
{
	static const char name[] = "seal.key";
	AUTO_FD int fd = openat(ar->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && bj_fd_read_exact(fd, ar->seal_key, sizeof(ar->seal_key)) == 0)
		return 0;
	if (fd < 0 && errno != ENOENT)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read %s", name);

	char aside[64];

	randombytes_buf(ar->seal_key, sizeof(ar->seal_key));
	snprintf(aside, sizeof(aside), ".%" PRId64 ".key", ar->owner.number);

	AUTO_FD int out =
		openat(ar->dir, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	const int r = out < 0 ? -errno : bj_fd_write_all(out, ar->seal_key, sizeof(ar->seal_key));

	if (r < 0 || fsync(out) < 0) {
		unlinkat(ar->dir, aside, 0);
		return bj_err_set(err, BJ_E_SYSTEM, r < 0 ? -r : errno, "cannot write %s", name);
	}
	/* Whoever is first decides; a file cut short by a crash is replaced. */
	if (fd >= 0 ? renameat(ar->dir, aside, ar->dir, name) < 0
		    : linkat(ar->dir, aside, ar->dir, name, 0) < 0) {
		unlinkat(ar->dir, aside, 0);
		return errno == EEXIST
			       ? read_seal_key(ar, err)
			       : bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %s", name);
	}
	if (fd < 0)
		unlinkat(ar->dir, aside, 0);
	return 0;
}

/* A database takes several descriptors. */
static void make_room(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FEW_FILES)
		bj_fd_raise_limit();
}

/* The log begins before the first run, and nobody else may know its key. */
static int open_audit(struct bj_archive *ar, const struct bj_settings *settings, struct bj_err *err)
{
	char path[BJ_FOLDER_PATH];
	const int r = bj_folder_path(settings, path, err);

	return r < 0 ? r : bj_audit_open(&settings->audit, path, false, &ar->audit, err);
}

static int open_all(struct bj_archive *ar, const struct bj_settings *settings, struct bj_err *err)
{
	char path[BJ_FOLDER_PATH];
	char file[BJ_FOLDER_PATH + 16];

	make_room();
	ar->dir = bj_folder_open(settings, "records", path, err);
	if (ar->dir < 0)
		return ar->dir;
	ar->artifacts = bj_folder_open(settings, BJ_FOLDER_ARTIFACTS, NULL, err);
	if (ar->artifacts < 0)
		return ar->artifacts;
	snprintf(file, sizeof(file), "%s/" DATABASE, path);
	snprintf(ar->path, sizeof(ar->path), "%s", file);

	int r = bj_owner_init(&ar->owner, ar->dir, "owners", err);

	if (r == 0)
		r = bj_store_init(&ar->store, file, ar->dir, err);
	if (r == 0)
		r = read_seal_key(ar, err);
	if (r == 0)
		r = open_audit(ar, settings, err);
	return r;
}

/* What the dead left. */
static int clean_up(struct bj_archive *ar, const struct bj_settings *settings, struct bj_err *err)
{
	int r = bj_fold(&ar->store, err);

	if (r == 0)
		r = bj_archive_sweep(ar, err);
	if (r >= 0)
		r = bj_quota_sweep(&ar->store, &ar->owner, &settings->price, NULL, NULL, err);
	return r < 0 ? r : 0;
}

int bj_archive_open(const struct bj_settings *settings, struct bj_archive **ret, struct bj_err *err)
{
	int r = bj_archive_open_to_run(settings, ret, err);

	if (r < 0 || !*ret)
		return r;
	r = clean_up(*ret, settings, err);
	if (r < 0) {
		bj_archive_close(*ret);
		*ret = NULL;
	}
	return r;
}

int bj_archive_open_to_run(const struct bj_settings *settings, struct bj_archive **ret,
			   struct bj_err *err)
{
	*ret = NULL;
	if (!settings->record.enabled)
		return 0;

	struct bj_archive *ar = calloc(1, sizeof(*ar));

	if (!ar || sodium_init() < 0) {
		free(ar);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot open the records");
	}
	ar->dir = ar->artifacts = -1;
	ar->owner.fd = -1;
	ar->store.reserve = ar->store.journal.fd = -1;
	pthread_mutex_init(&ar->artifact_lock, NULL);

	const int r = open_all(ar, settings, err);

	if (r < 0) {
		bj_archive_close(ar);
		return r;
	}
	*ret = ar;
	return 0;
}

void bj_archive_close(struct bj_archive *ar)
{
	struct bj_err ignored;

	if (!ar)
		return;
	bj_fold_stop(ar->folding);
	/* What cannot be brought in now is by whoever reads it. */
	if (ar->store.journal.fd >= 0 && bj_journal_unseen(&ar->store.journal) > LONG_JOURNAL)
		bj_fold(&ar->store, &ignored);
	bj_audit_close(ar->audit);
	bj_store_done(&ar->store);
	bj_owner_done(&ar->owner);
	if (ar->dir >= 0)
		close(ar->dir);
	if (ar->artifacts >= 0)
		close(ar->artifacts);
	sodium_memzero(ar->seal_key, sizeof(ar->seal_key));
	pthread_mutex_destroy(&ar->artifact_lock);
	free(ar);
}

int bj_archive_background(struct bj_archive *ar, struct bj_err *err)
{
	int r = ar ? bj_audit_background(ar->audit, err) : 0;

	if (r == 0 && ar && !ar->folding)
		r = bj_fold_start(&ar->store, &ar->folding, err);
	return r;
}

/* --- interrupted ------------------------------------------------------------------------------ */

static int interrupt(struct bj_archive *ar, int64_t owner, struct bj_err *err)
{
	static const char sql[] = "UPDATE executions SET state = 4, ended_ms = ?2, owner = NULL"
				  " WHERE owner = ?1 AND state IN (1, 2)";
	/* Who is dead has written all that it ever will: how its runs ended may be in the journal.
	 */
	int r = bj_store_begin(&ar->store, err);

	if (r < 0)
		return r;

	AUTO_STMT sqlite3_stmt *st = bj_store_prepare(ar->store.db, sql, err);

	if (st) {
		sqlite3_bind_int64(st, 1, owner);
		sqlite3_bind_int64(st, 2, (sqlite3_int64)bj_clock_unix_ms());
	}
	if (!st || sqlite3_step(st) != SQLITE_DONE) {
		r = bj_store_err(ar->store.db, err, "interrupted runs cannot be marked");
		bj_store_rollback(&ar->store);
		return r;
	}

	const int n = sqlite3_changes(ar->store.db);

	sqlite3_reset(st);
	r = bj_store_commit(&ar->store, err);
	return r < 0 ? r : n;
}

/* The next owner after @after that is not alive; 0: there is none. */
static int64_t next_dead(struct bj_archive *ar, int64_t after)
{
	static const char sql[] = "SELECT DISTINCT owner FROM executions WHERE state <> 3 AND"
				  " state IN (1, 2) AND owner > ?1 ORDER BY owner";
	sqlite3 *db = bj_store_read(&ar->store, NULL);
	int64_t found = 0;

	if (!db)
		return 0;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(db, sql, NULL);

		if (st)
			sqlite3_bind_int64(st, 1, after);
		while (st && !found && sqlite3_step(st) == SQLITE_ROW) {
			const int64_t owner = sqlite3_column_int64(st, 0);

			if (!bj_owner_lives(&ar->owner, owner))
				found = owner;
		}
	}
	bj_store_let_go(&ar->store);
	return found;
}

int bj_archive_sweep(struct bj_archive *ar, struct bj_err *err)
{
	int64_t owner = 0;
	int n = 0;

	while ((owner = next_dead(ar, owner)) != 0) {
		const int r = interrupt(ar, owner, err);

		if (r < 0)
			return r;
		n += r;
	}
	/* Whoever was interrupted may have left a folder half filled. */
	if (n > 0)
		bj_artifact_sweep(ar);
	return n;
}
