/* SPDX-License-Identifier: Apache-2.0 */
#include "record/artifact.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "record/folder.h"
#include "record/known.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

enum { WINDOW = 1 << 20, OVERLAP = 64 << 10 };

#define ASIDE ".new-" /* and whose it is, and the id of the run */

/* Where the id stands in a final name: after the time and the hash. */
enum { ID_AT = 30 };

static int open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int make_dir(int at, const char *name)
{
	if (mkdirat(at, name, bj_folder_mode(at, true)) < 0 && errno != EEXIST)
		return -1;
	return open_dir(at, name);
}

static void aside_name(const struct bj_record *rec, const struct bj_spec *spec, char name[64])
{
	snprintf(name, 64, ASIDE "%" PRId64 "-%s", rec->archive->owner.number, spec->id);
}

/* --- removing --------------------------------------------------------------------------------- */

/* Everything in @dir, two levels deep, which is all that we make. */
static uint64_t empty_dir(int dir_take, unsigned int depth)
{
	AUTO_DIR DIR *d = fdopendir(dir_take);
	const struct dirent *e;
	uint64_t bytes = 0;

	if (!d) {
		close(dir_take);
		return 0;
	}
	while ((e = readdir(d))) {
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		bytes += (uint64_t)st.st_size;
		if (S_ISDIR(st.st_mode) && depth > 0) {
			const int sub = open_dir(dirfd(d), e->d_name);

			if (sub >= 0)
				bytes += empty_dir(sub, depth - 1);
		}
		unlinkat(dirfd(d), e->d_name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
	}
	return bytes;
}

static uint64_t remove_at(int top, const char *name)
{
	const int dir = open_dir(top, name);
	const uint64_t bytes = dir < 0 ? 0 : empty_dir(dir, 2);

	unlinkat(top, name, AT_REMOVEDIR);
	return bytes;
}

uint64_t bj_artifact_remove(struct bj_archive *ar, const char *name)
{
	return strchr(name, '/') ? 0 : remove_at(ar->artifacts, name);
}

void bj_artifact_drop(const struct bj_record *rec, const struct bj_spec *spec)
{
	char name[64];

	aside_name(rec, spec, name);
	remove_at(rec->archive->artifacts, name);
}

/* Whether the records, which have the run of the folder @name, know nothing of the folder. */
static bool is_unknown(struct bj_archive *ar, const char *name)
{
	sqlite3 *db = bj_store_read(&ar->store, NULL);
	bool known = true;

	if (!db)
		return false;
	{
		AUTO_STMT sqlite3_stmt *st = bj_store_prepare(
			db,
			"SELECT 1 FROM executions WHERE id = ?1 AND (artifact = ?2 OR state IN"
			" (1, 2))",
			NULL);

		if (st) {
			sqlite3_bind_text(st, 1, name + ID_AT, -1, SQLITE_STATIC);
			sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
			known = sqlite3_step(st) != SQLITE_DONE;
		}
	}
	bj_store_let_go(&ar->store);
	return !known;
}

/* Only what no living process is about to use. */
static bool is_orphan(struct bj_archive *ar, int top, const char *name)
{
	if (strncmp(name, ASIDE, strlen(ASIDE)) == 0)
		return !bj_owner_lives(&ar->owner, strtoll(name + strlen(ASIDE), NULL, 10));
	if (strlen(name) <= ID_AT || name[8] != 'T' || name[16] != '-' || name[ID_AT - 1] != '-')
		return false; /* not of our making */

	/* Its writer holds it until the record names it. */
	AUTO_FD int dir = open_dir(top, name);

	return dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0 && is_unknown(ar, name);
}

unsigned int bj_artifact_sweep(struct bj_archive *ar)
{
	const int top = open_dir(ar->artifacts, ".");
	AUTO_DIR DIR *d = top < 0 ? NULL : fdopendir(top);
	const struct dirent *e;
	unsigned int n = 0;

	while (d && (e = readdir(d)))
		if (is_orphan(ar, dirfd(d), e->d_name)) {
			remove_at(dirfd(d), e->d_name);
			n++;
		}
	return n;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* A folder that is being filled. */
struct filling {
	const struct bj_record *rec;
	int dir;
	uint64_t room; /* bytes that may still be written */
	uint64_t bytes;
	bool cut;
	unsigned int renamed; /* files that were given another name */
	int failed;           /* errno of the first failure */
};

static void fail(struct filling *f, int errnum)
{
	f->failed = f->failed ? f->failed : errnum;
}

static int create(struct filling *f, const char *name)
{
	const int fd = openat(f->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			      bj_folder_mode(f->dir, false));

	if (fd < 0)
		fail(f, errno);
	return fd;
}

/* As much of it as there is room for. */
static void add(struct filling *f, int fd, const char *data, size_t size)
{
	const size_t n = size < f->room ? size : (size_t)f->room;
	const int r = bj_fd_write_all(fd, data, n);

	f->cut |= n < size;
	f->room -= n;
	f->bytes += n;
	if (r < 0)
		fail(f, -r);
}

static void put(struct filling *f, const char *name, const char *data, size_t size)
{
	AUTO_FD int fd = create(f, name);

	if (fd < 0)
		return;
	add(f, fd, data, size);
	if (fsync(fd) < 0)
		fail(f, errno);
}

static void put_masked(struct filling *f, const char *name, const char *data, size_t size)
{
	AUTO_FREE char *masked = bj_record_mask(f->rec, data, size);

	if (masked)
		put(f, name, masked, size);
	else
		f->failed = ENOMEM;
}

/* A stream may be as long as the output cap: it goes through a window. What was masked stays in the
 * window's last part, so a secret that lies across its end is found with the next one. */
static void mask_through(struct filling *f, int from, int to)
{
	AUTO_FREE char *window = malloc(WINDOW);
	size_t have = 0;
	ssize_t n = 1;

	while (window && n > 0 && !f->failed) {
		n = read(from, window + have, WINDOW - have);
		if (n < 0) {
			fail(f, errno);
			return;
		}
		have += (size_t)n;

		const size_t keep = n == 0 ? 0 : have < OVERLAP ? have : OVERLAP;
		AUTO_FREE char *masked = bj_record_mask(f->rec, window, have);

		if (!masked)
			break;
		add(f, to, masked, have - keep);
		memcpy(window, masked + have - keep, keep);
		have = keep;
	}
	if (n > 0)
		fail(f, ENOMEM);
}

static void put_stream(struct filling *f, struct bj_spool *spool, int i, const char *name)
{
	const int from = bj_spool_rewind(spool, i);
	AUTO_FD int to = from < 0 ? -1 : create(f, name);

	if (to < 0)
		return;
	mask_through(f, from, to);
	if (fsync(to) < 0)
		fail(f, errno);
}

/* Files that the script left are there already. What is text loses its secrets. */
static void mask_file(struct filling *f, int dir, const char *name)
{
	AUTO_FD int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	AUTO_BUF struct bj_buf text = { .max = (size_t)1 << 30 };
	size_t n = 0;

	/* What cannot be read whole cannot be masked, and is not kept. */
	if (fd < 0 || bj_fd_read_all(fd, &text) < 0) {
		unlinkat(dir, name, 0);
		f->cut = true;
		return;
	}
	f->room = f->room > text.size ? f->room - text.size : 0;
	f->bytes += text.size;

	AUTO_FREE char *good = text.size ? bj_utf8_repair(text.data, text.size, &n) : NULL;

	/* Bytes that are no text stay as they are, but for secrets that the run was given: stars
	 * in a picture break it. */
	if (good && n == text.size && memcmp(good, text.data, n) == 0 && !memchr(good, 0, n)) {
		AUTO_FREE char *masked = bj_record_mask(f->rec, text.data, text.size);

		if (!masked || pwrite(fd, masked, n, 0) != (ssize_t)n)
			fail(f, EIO);
	} else if (text.size && f->rec->known && f->rec->known->n) {
		bj_known_mask(f->rec->known, text.data, text.size);
		if (pwrite(fd, text.data, text.size, 0) != (ssize_t)text.size)
			fail(f, EIO);
	}
	if (fsync(fd) < 0)
		fail(f, errno);
}

/* A name can tell as much as what is in the file. Of two that look alike without their secrets one
 * gets a number instead. */
static void mask_name(struct filling *f, int dir, const char *name)
{
	AUTO_FREE char *masked = bj_record_mask(f->rec, name, strlen(name));
	char numbered[32];
	int r;

	if (!masked) {
		fail(f, ENOMEM);
		return;
	}
	if (strcmp(masked, name) == 0)
		return;
	r = renameat2(dir, name, dir, masked, RENAME_NOREPLACE);
	while (r < 0 && errno == EEXIST) {
		snprintf(numbered, sizeof(numbered), "masked-%u", ++f->renamed);
		r = renameat2(dir, name, dir, numbered, RENAME_NOREPLACE);
	}
	if (r < 0)
		fail(f, errno);
}

/* Only plain files are collected. Some file systems do not say here what an entry is. */
static bool is_collected(const struct dirent *e)
{
	return e->d_type == DT_REG || (e->d_type == DT_UNKNOWN && strcmp(e->d_name, ".") != 0 &&
				       strcmp(e->d_name, "..") != 0);
}

static void mask_names(struct filling *f)
{
	const int top = open_dir(f->dir, "files");
	AUTO_DIR DIR *d = top < 0 ? NULL : fdopendir(top);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_collected(e))
			mask_name(f, dirfd(d), e->d_name);
}

static size_t mask_files(struct filling *f)
{
	const int top = open_dir(f->dir, "files");
	AUTO_DIR DIR *d = top < 0 ? NULL : fdopendir(top);
	const struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d)))
		if (is_collected(e)) {
			mask_file(f, dirfd(d), e->d_name);
			n++;
		}
	if (top >= 0 && n == 0)
		unlinkat(f->dir, "files", AT_REMOVEDIR);
	return n;
}

static void put_result(struct filling *f, const struct bj_spec *spec,
		       const struct bj_result *result, bool code)
{
	AUTO_FREE char *script =
		code ? bj_record_mask(f->rec, spec->script, spec->script_size) : NULL;
	size_t n = 0;
	AUTO_FREE char *good = script ? bj_utf8_repair(script, spec->script_size, &n) : NULL;
	AUTO_FREE char *masked = bj_record_result(f->rec, result, code);
	json_t *object = json_pack(
		"{s:o, s:o, s:b}", "code", good ? json_stringn_nocheck(good, n) : json_null(),
		"result", masked ? json_loads(masked, JSON_ALLOW_NUL, NULL) : NULL, "cut", f->cut);
	AUTO_FREE char *text =
		object ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) : NULL;

	json_decref(object);
	f->room = UINT64_MAX; /* it is bounded by itself, and half of it is no JSON */
	if (text)
		put(f, "result.json", text, strlen(text));
	else
		f->failed = ENOMEM;
}

static void final_name(const struct bj_spec *spec, const struct bj_result *result,
		       char name[BJ_ARTIFACT_NAME])
{
	const time_t seconds = (time_t)(result->started_unix_ms / 1000);
	struct tm tm;
	char when[32];

	gmtime_r(&seconds, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(name, BJ_ARTIFACT_NAME, "%s-%.12s-%.32s", when, result->script_sha256, spec->id);
}

static int fill(const struct bj_record *rec, int top, const struct bj_spec *spec,
		const struct bj_result *result, struct bj_spool *spool, struct bj_artifact *ret,
		struct bj_err *err)
{
	const bool code = bj_record_keeps_code(rec, result);
	char aside[64];

	aside_name(rec, spec, aside);

	AUTO_FD int dir = make_dir(top, aside);
	struct filling f = { .rec = rec,
			     .dir = dir,
			     .room = rec->settings->record.artifact_bytes,
			     .failed = dir < 0 ? errno : 0 };

	if (dir >= 0) {
		flock(dir, LOCK_SH | LOCK_NB); /* where that fails, nobody sweeps it either */
		mask_names(&f);
		mask_files(&f);
		if (code)
			put_masked(&f, "script", spec->script, spec->script_size);
		put_stream(&f, spool, 0, "stdout");
		put_stream(&f, spool, 1, "stderr");
		put_result(&f, spec, result, code);
	}
	final_name(spec, result, ret->name);
	ret->bytes = f.bytes;
	if (!f.failed &&
	    (fsync(dir) < 0 || renameat(top, aside, top, ret->name) < 0 || fsync(top) < 0))
		f.failed = errno;
	if (f.failed) {
		remove_at(top, aside);
		return bj_err_set(err, BJ_E_SYSTEM, f.failed, "cannot keep the artifacts of %.32s",
				  spec->id);
	}
	ret->lock = bj_take_fd(&dir);
	return 1;
}

int bj_artifact_files(const struct bj_record *rec, const struct bj_spec *spec)
{
	char name[64];

	if (!rec->archive || !rec->settings->record.files || spec->out_dir_fd >= 0 ||
	    rec->settings->store_code == BJ_STORE_NEVER)
		return -1;
	aside_name(rec, spec, name);

	AUTO_FD int dir = make_dir(rec->archive->artifacts, name);

	return dir < 0 ? -1 : make_dir(dir, "files");
}

int bj_artifact_keep(const struct bj_record *rec, const struct bj_spec *spec,
		     const struct bj_result *result, struct bj_spool *spool, bool files,
		     struct bj_artifact *ret, struct bj_err *err)
{
	const bool more =
		result->out.truncated || result->err.truncated || (files && result->out_files > 0);

	if (rec->settings->store_code == BJ_STORE_NEVER ||
	    (!bj_record_keeps_code(rec, result) && !more)) {
		if (files)
			bj_artifact_drop(rec, spec);
		return 0;
	}

	pthread_mutex_lock(&rec->archive->artifact_lock);

	const int r = fill(rec, rec->archive->artifacts, spec, result, spool, ret, err);

	pthread_mutex_unlock(&rec->archive->artifact_lock);
	return r;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The folder of the run @id; negative: it has none. */
static int open_folder(struct bj_archive *ar, const char *id)
{
	AUTO_FREE char *name = NULL;
	sqlite3 *db = bj_store_read(&ar->store, NULL);

	if (!db)
		return -1;
	{
		AUTO_STMT sqlite3_stmt *st =
			bj_store_prepare(db, "SELECT artifact FROM executions WHERE id = ?1", NULL);

		if (st)
			sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
		if (st && sqlite3_step(st) == SQLITE_ROW)
			name = bj_store_text(st, 0);
	}
	bj_store_let_go(&ar->store);

	return !name || strchr(name, '/') ? -1 : open_dir(ar->artifacts, name);
}

static void list_dir(int dir_take, const char *prefix, json_t *list)
{
	AUTO_DIR DIR *d = fdopendir(dir_take);
	const struct dirent *e;
	struct stat st;

	if (!d)
		close(dir_take);
	while (d && (e = readdir(d))) {
		char name[300];

		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		snprintf(name, sizeof(name), "%s%s", prefix, e->d_name);
		json_array_append_new(list, json_pack("{s:s, s:I}", "name", name, "bytes",
						      (json_int_t)st.st_size));
	}
}

json_t *bj_artifact_list(struct bj_archive *ar, const char *id)
{
	AUTO_FD int dir = open_folder(ar, id);
	json_t *list = json_array();

	if (dir >= 0) {
		const int files = open_dir(dir, "files");

		list_dir(bj_take_fd(&dir), "", list);
		if (files >= 0)
			list_dir(files, "files/", list);
	}
	return list;
}

int bj_artifact_open(struct bj_archive *ar, const char *id, const char *name, struct bj_err *err)
{
	AUTO_FD int dir = open_folder(ar, id);
	const bool file = strncmp(name, "files/", 6) == 0;
	const char *leaf = file ? name + 6 : name;
	AUTO_FD int sub = dir >= 0 && file ? open_dir(dir, "files") : -1;
	AUTO_FD int fd = -1;
	struct stat st;

	if (dir >= 0 && leaf[0] && leaf[0] != '.' && !strchr(leaf, '/'))
		fd = openat(file ? sub : dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return bj_err_set(err, BJ_E_NOT_FOUND, 0, "run %.32s has no artifact %.60s", id,
				  name);
	return bj_take_fd(&fd);
}
