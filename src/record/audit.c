/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * Appending, under a lock that all processes share:
 *
 *	settle   look whether the head is the one we wrote; if not, somebody else appended or died
 *		 in mid-write: read it, and write the line that it names if the log lacks it
 *	head     write the new head, which holds the new line
 *	line     write the line
 *
 * A process that dies before the head is written has appended nothing; one that dies after has
 * appended the line, whoever writes it in the end. When the log does not fit the head in any other
 * way, somebody changed it: appending goes on in a fresh file that begins with a line audit.broken,
 * so that it is neither hidden nor a way to stop belljar.
 *
 * After a power cut the log may be ahead of its head, since it is made durable first. Lines past
 * the head are taken over when they are signed and chained: nobody else can make such lines. */

#include "record/audit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/utf8.h"
#include "record/audit_line.h"
#include "record/state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

/* While lines come, the thread looks by itself: waking it costs a run more than it takes.
 *
 * A line is durable within DURABLE_MS where the disk allows it. One that comes when a flush has
 * just begun waits for that, for the group and for the next flush: what two flushes leave of the
 * time is the group's. A fast disk gets fewer and larger groups, a slow one is not kept waiting. */
enum { DURABLE_MS = 40, GROUP_MAX_MS = 20, GROUP_MIN_MS = 2, IDLE_MS = 1000 };

struct bj_audit {
	pthread_mutex_t lock; /* over all that follows, in this process */
	int dir, log, head_fd, lock_fd;
	unsigned int log_number; /* of the file that is open */
	ino_t log_inode;
	struct bj_audit_key key;
	uint64_t max_size;
	enum bj_audit_sync sync;
	struct bj_audit_head head; /* of the last line; seq 0: none yet */
	char page[BJ_AUDIT_PAGE];  /* the head as it is in its file */
	bool settled;              /* page and log are as we left them */
	const char *broken;        /* what is wrong with the log; NULL: nothing */

	bool has_flusher, stopping, dirty, asleep;
	uint64_t flush_ns; /* how long one takes: the longest lately */
	pthread_t flusher;
	pthread_cond_t wake;
	atomic_ullong errors;
};

/* --- files ------------------------------------------------------------------------------------ */

static int open_log(struct bj_audit *a, unsigned int number, int flags)
{
	char name[BJ_AUDIT_NAME];
	struct stat st;

	bj_audit_file_name(number, name);
	if (a->log >= 0 && a->log_number == number &&
	    fstatat(a->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == a->log_inode)
		return 0;
	if (a->log >= 0) {
		/* Nobody comes back to it: its last lines are made durable now. */
		if (a->sync != BJ_AUDIT_NEVER && fdatasync(a->log) < 0)
			a->errors++;
		close(a->log);
	}
	a->log_number = number;
	a->log = bj_state_file(a->dir, name, O_RDWR | flags);
	if (a->log < 0)
		return a->log;
	if (fstat(a->log, &st) < 0)
		return -errno;
	a->log_inode = st.st_ino;
	return 0;
}

/* One write, in place of what is there. */
static int write_page(const struct bj_audit *a, const char page[BJ_AUDIT_PAGE])
{
	const ssize_t n = pwrite(a->head_fd, page, BJ_AUDIT_PAGE, 0);

	return n == BJ_AUDIT_PAGE ? 0 : n < 0 ? -errno : -EIO;
}

static int write_at(int fd, const char *data, size_t size, uint64_t offset)
{
	while (size > 0) {
		const ssize_t n = pwrite(fd, data, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* That there is no room is told apart from all else, and a quota that is used up is no other thing:
 * whoever keeps some back makes it then. */
static int cannot_write(int errnum, struct bj_err *err)
{
	const bool room = errnum != ENOSPC && errnum != EDQUOT;

	return bj_err_set(err, room ? BJ_E_SYSTEM : BJ_E_LIMIT, room ? errnum : ENOSPC,
			  "cannot write to the audit log%s", room ? "" : " (free some space)");
}

static uint64_t end_of(const struct bj_audit_head *head)
{
	return head->offset + head->size;
}

/* Whether the file that is open is still the one of that name, and ends at @end. */
static bool log_ends_at(const struct bj_audit *a, uint64_t end)
{
	char name[BJ_AUDIT_NAME];
	struct stat st;

	bj_audit_file_name(a->log_number, name);
	return a->log >= 0 && fstatat(a->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_ino == a->log_inode && (uint64_t)st.st_size == end;
}

/* --- settling --------------------------------------------------------------------------------- */

/* The log is not what its head says: go on in a fresh file. */
static int begin_anew(struct bj_audit *a, const char *why, struct bj_err *err)
{
	AUTO_FREE unsigned int *files = NULL;
	size_t n = 0;
	const int r = bj_audit_files(a->dir, &files, &n, err);

	if (r < 0)
		return r;
	if (n > 0 && files[n - 1] > a->head.file)
		a->head.file = files[n - 1];
	a->head.file++;
	a->head.offset = a->head.size = 0;
	a->broken = why;
	return 0;
}

/* Take over what follows the head in the log: lines of ours, and at the end a piece of one. */
static int adopt(struct bj_audit *a, const char *text, size_t size, struct bj_err *err)
{
	uint64_t at = end_of(&a->head);
	const char *end;

	while (size > 0 && (end = memchr(text, '\n', size))) {
		const size_t n = (size_t)(end - text) + 1;
		struct bj_audit_line line = { 0 };
		const bool fits = bj_audit_line_read(&a->key, text, n - 1, &line, NULL) == 0 &&
				  line.seq == a->head.seq + 1 &&
				  strcmp(line.prev, a->head.hash) == 0;

		bj_audit_line_done(&line);
		if (!fits)
			return begin_anew(a, "lines after the last one do not belong there", err);
		a->head.seq = line.seq;
		a->head.offset = at;
		a->head.size = n;
		memcpy(a->head.hash, line.hash, sizeof(a->head.hash));
		memcpy(a->head.line, text, n);
		at += n;
		text += n;
		size -= n;
	}
	/* A piece of a line was never whole, so nobody was told of it. */
	if (size > 0 && ftruncate(a->log, (off_t)at) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot mend the audit log");
	return 0;
}

/* Compare the end of the log with the head's line. */
static int settle_log(struct bj_audit *a, struct bj_err *err)
{
	AUTO_BUF struct bj_buf tail = { .max = 64 << 20 };
	const struct bj_audit_head *h = &a->head;
	int r = open_log(a, h->file, h->offset == 0 ? O_CREAT : 0);

	if (r < 0)
		return begin_anew(a, "the file of the last line is missing", err);
	if (lseek(a->log, (off_t)h->offset, SEEK_SET) < 0 || bj_fd_read_all(a->log, &tail) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the audit log");

	struct stat st;

	if (fstat(a->log, &st) < 0 || (uint64_t)st.st_size < h->offset)
		return begin_anew(a, "the log is shorter than its head says", err);

	const size_t n = tail.size < h->size ? tail.size : h->size;

	if (n > 0 && memcmp(tail.data, h->line, n) != 0)
		return begin_anew(a, "the last line is not the one that its head names", err);
	if (n < h->size) {
		/* Whoever wrote the head died before the line was whole. */
		r = write_at(a->log, h->line + n, h->size - n, h->offset + n);
		return r < 0 ? cannot_write(-r, err) : 0;
	}
	return adopt(a, tail.data + n, tail.size - n, err);
}

static bool is_empty(const struct bj_audit *a, unsigned int number)
{
	char name[BJ_AUDIT_NAME];
	struct stat st;

	bj_audit_file_name(number, name);
	return fstatat(a->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size == 0;
}

static int settle(struct bj_audit *a, struct bj_err *err)
{
	char page[BJ_AUDIT_PAGE] = { 0 };
	const ssize_t n = pread(a->head_fd, page, sizeof(page), 0);

	if (n < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the audit log's head");
	if (a->settled && memcmp(page, a->page, sizeof(page)) == 0 &&
	    log_ends_at(a, end_of(&a->head)))
		return 0;
	a->settled = false;
	memcpy(a->page, page, sizeof(page));
	a->broken = NULL;
	if (n == 0) {
		/* The first line ever, unless there are lines already. */
		a->head = (struct bj_audit_head){ .file = 0 };
		memcpy(a->head.hash, bj_audit_no_hash, sizeof(a->head.hash));

		const int r = begin_anew(a, "the head is missing", err);

		/* Whoever was first may have failed between its file and its head. */
		if (r == 0 && a->head.file == 2 && is_empty(a, 1))
			a->head.file = 1;
		if (r == 0 && a->head.file == 1)
			a->broken = NULL;
		return r;
	}
	if (bj_audit_head_recall(&a->key, page, &a->head) < 0) {
		a->head = (struct bj_audit_head){ .file = 0 };
		memcpy(a->head.hash, bj_audit_no_hash, sizeof(a->head.hash));
		return begin_anew(a, "the head was not made with the key of this log", err);
	}

	const int r = settle_log(a, err);

	a->settled = r == 0 && !a->broken;
	return r;
}

/* --- appending -------------------------------------------------------------------------------- */

/* The head as it was before: there may have been none. */
static int restore_page(const struct bj_audit *a)
{
	if (a->page[0])
		return write_page(a, a->page);
	return ftruncate(a->head_fd, 0) < 0 ? -errno : 0;
}

/* Take a line back that could not be written: the head as it was, no piece of the line. False: the
 * head in its file, @page, still holds the line, so whoever comes next writes it. */
static bool take_back(struct bj_audit *a, const struct bj_audit_head *next, const char *page)
{
	char now[BJ_AUDIT_PAGE];

	if (restore_page(a) == 0 && ftruncate(a->log, (off_t)next->offset) < 0)
		bj_log(BJ_LOG_DEBUG, "a piece of a line stays in the audit log");
	a->settled = false;
	return pread(a->head_fd, now, sizeof(now), 0) != sizeof(now) ||
	       memcmp(now, page, sizeof(now)) != 0;
}

static int write_both(struct bj_audit *a, const struct bj_audit_head *next, struct bj_err *err)
{
	char page[BJ_AUDIT_PAGE];
	int r = bj_audit_head_print(&a->key, next, !a->has_flusher, page, err);

	if (r < 0)
		return r;
	if (next->offset == 0 || a->log < 0) {
		r = open_log(a, next->file, next->offset == 0 ? O_CREAT : 0);
		if (r < 0)
			return cannot_write(-r, err);
	}
	r = write_page(a, page);
	if (r == 0) {
		r = write_at(a->log, next->line, next->size, next->offset);
		/* Nobody may hear that it failed and say the same again. */
		if (r < 0 && !take_back(a, next, page))
			return 0;
	}
	if (r < 0)
		return cannot_write(-r, err);
	memcpy(a->page, page, sizeof(page));
	a->head = *next;
	a->settled = true;
	return 0;
}

static int add_line(struct bj_audit *a, const char *kind, const char *data, struct bj_err *err)
{
	AUTO_BUF struct bj_buf text = { 0 };
	struct bj_audit_head next = { .file = a->head.file,
				      .offset = end_of(&a->head),
				      .seq = a->head.seq + 1 };
	const int r = bj_audit_line_make(&a->key, next.seq, a->head.hash, kind, data, &text,
					 next.hash, err);

	if (r < 0)
		return r;
	memcpy(next.line, text.data, text.size);
	next.line[text.size] = '\n';
	next.size = text.size + 1;
	if (next.offset > 0 && next.offset + next.size > a->max_size) {
		next.file++;
		next.offset = 0;
	}
	return write_both(a, &next, err);
}

/* Say what is wrong with the log before anything else is said. */
static int add_broken(struct bj_audit *a, struct bj_err *err)
{
	char why[160];

	snprintf(why, sizeof(why), "{\"why\":\"%s\"}", a->broken);

	const int r = add_line(a, "audit.broken", why, err);

	if (r == 0)
		a->broken = NULL;
	return r;
}

static int append(struct bj_audit *a, const char *kind, const char *data, struct bj_err *err)
{
	int r = settle(a, err);

	if (r == 0 && a->broken) {
		r = add_broken(a, err);
		if (r == 0)
			r = settle(a, err);
	}
	if (r == 0)
		r = add_line(a, kind, data, err);
	if (r == 0 && a->sync == BJ_AUDIT_ALWAYS &&
	    (fdatasync(a->log) < 0 || fdatasync(a->head_fd) < 0))
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make the audit log durable");
	return r;
}

json_t *bj_audit_text(const char *text)
{
	size_t n = 0;
	AUTO_FREE char *good = text ? bj_utf8_repair(text, strlen(text), &n) : NULL;

	return !text ? NULL : good ? json_stringn(good, n) : json_string("?");
}

int bj_audit_append(struct bj_audit *a, const char *kind, json_t *data_take, struct bj_err *err)
{
	AUTO_FREE char *text = data_take ? json_dumps(data_take, JSON_COMPACT) : NULL;

	json_decref(data_take);
	if (!a || text)
		return bj_audit_append_text(a, kind, text, err);
	a->errors++;
	return bj_err_set(err, BJ_E_INVALID, 0, "nothing can be said of %s in the audit log", kind);
}

int bj_audit_append_text(struct bj_audit *a, const char *kind, const char *data, struct bj_err *err)
{
	int r;

	if (!a)
		return 0;
	pthread_mutex_lock(&a->lock);
	do
		r = flock(a->lock_fd, LOCK_EX);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot lock the audit log");
	else
		r = append(a, kind, data, err);
	flock(a->lock_fd, LOCK_UN);
	if (r == 0 && !a->dirty && a->has_flusher) {
		a->dirty = true;
		if (a->asleep)
			pthread_cond_signal(&a->wake);
	}
	if (r < 0)
		a->errors++;
	pthread_mutex_unlock(&a->lock);
	return r;
}

uint64_t bj_audit_errors(const struct bj_audit *a)
{
	return a ? a->errors : 0;
}

int bj_audit_folder(const struct bj_audit *a)
{
	return a->dir;
}

/* --- durability ------------------------------------------------------------------------------- */

/* Sign the head if it is still ours. With our lock. */
static void sign_head(struct bj_audit *a)
{
	char page[BJ_AUDIT_PAGE], now[BJ_AUDIT_PAGE];

	if (!a->settled || flock(a->lock_fd, LOCK_EX) < 0)
		return;
	if (pread(a->head_fd, now, sizeof(now), 0) == sizeof(now) &&
	    memcmp(now, a->page, sizeof(now)) == 0 &&
	    bj_audit_head_print(&a->key, &a->head, true, page, NULL) == 0 &&
	    write_page(a, page) == 0)
		memcpy(a->page, page, sizeof(page));
	flock(a->lock_fd, LOCK_UN);
}

/* The log first: see the top. */
static void flush(struct bj_audit *a)
{
	a->dirty = false;
	sign_head(a);

	AUTO_FD int log = a->log >= 0 ? fcntl(a->log, F_DUPFD_CLOEXEC, 3) : -1;

	const uint64_t start = bj_clock_now();

	pthread_mutex_unlock(&a->lock);
	if (a->sync == BJ_AUDIT_GROUP &&
	    ((log >= 0 && fdatasync(log) < 0) || fdatasync(a->head_fd) < 0))
		a->errors++;
	pthread_mutex_lock(&a->lock);

	const uint64_t took = bj_clock_now() - start, before = a->flush_ns - a->flush_ns / 8;

	a->flush_ns = took > before ? took : before;
}

/* Whoever comes in this time shares the cost. Returns how long it was, in milliseconds. */
static unsigned int wait_group(struct bj_audit *a)
{
	const uint64_t flushes = 2 * a->flush_ns / 1000000;
	const uint64_t left = flushes < DURABLE_MS ? DURABLE_MS - flushes : 0;
	const unsigned int ms = left > GROUP_MAX_MS   ? GROUP_MAX_MS
				: left < GROUP_MIN_MS ? GROUP_MIN_MS
						      : (unsigned int)left;
	const struct timespec group = { .tv_nsec = (long)ms * 1000000L };

	pthread_mutex_unlock(&a->lock);
	nanosleep(&group, NULL);
	pthread_mutex_lock(&a->lock);
	return ms;
}

static void *flusher(void *ctx)
{
	struct bj_audit *a = ctx;
	unsigned int idle = IDLE_MS;

	pthread_mutex_lock(&a->lock);
	while (!a->stopping || a->dirty) {
		if (!a->dirty && idle >= IDLE_MS) {
			a->asleep = true;
			pthread_cond_wait(&a->wake, &a->lock);
			a->asleep = false;
			continue;
		}
		if (!a->stopping)
			idle += wait_group(a);
		if (a->dirty) {
			idle = 0;
			flush(a);
		}
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* --- opening and closing ---------------------------------------------------------------------- */

static int open_files(struct bj_audit *a, int top, const char *state_dir, struct bj_err *err)
{
	a->dir = bj_state_below(top, state_dir, BJ_AUDIT_DIR, err);
	if (a->dir < 0)
		return a->dir;
	a->lock_fd = bj_state_file(top, BJ_AUDIT_LOCK, O_RDWR | O_CREAT);
	a->head_fd = bj_state_file(top, BJ_AUDIT_HEAD, O_RDWR | O_CREAT);
	if (a->lock_fd < 0 || a->head_fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, a->lock_fd < 0 ? -a->lock_fd : -a->head_fd,
				  "cannot open the audit log in %.120s", state_dir);
	return 0;
}

/* A key without a log would look like a log that was taken away: begin it at once. */
static int begin(struct bj_audit *a, bool made, struct bj_err *err)
{
	char public[BJ_AUDIT_HASH];

	if (!made)
		return 0;
	sodium_bin2hex(public, sizeof(public), a->key.public, sizeof(a->key.public));
	return bj_audit_append(a, "audit.begin", json_pack("{s:s}", "public_key", public), err);
}

static int open_all(struct bj_audit *a, const struct bj_audit_settings *settings,
		    const char *state_dir, bool service, struct bj_err *err)
{
	bool made = false;
	AUTO_FD int top = bj_state_open(state_dir, NULL, err);
	int r = top < 0 ? top : open_files(a, top, state_dir, err);

	if (r == 0)
		r = bj_audit_key_open(settings->key, top, &a->key, &made, err);
	if (r == 0)
		r = begin(a, made, err);
	return r < 0 || !service ? r : bj_audit_background(a, err);
}

int bj_audit_background(struct bj_audit *a, struct bj_err *err)
{
	if (!a || a->has_flusher)
		return 0;

	/* Nobody knows the disk yet. */
	a->flush_ns = (DURABLE_MS - GROUP_MAX_MS / 2) / 2 * UINT64_C(1000000);

	const int r = pthread_create(&a->flusher, NULL, flusher, a);

	a->has_flusher = r == 0;
	return r ? bj_err_set(err, BJ_E_SYSTEM, r, "cannot start a thread for the audit log") : 0;
}

int bj_audit_open(const struct bj_audit_settings *settings, const char *state_dir, bool service,
		  struct bj_audit **ret, struct bj_err *err)
{
	struct bj_audit *a = settings->enabled ? calloc(1, sizeof(*a)) : NULL;

	if (!settings->enabled) {
		*ret = NULL;
		return 0;
	}
	if (!a)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot open the audit log");
	*a = (struct bj_audit){ .dir = -1,
				.log = -1,
				.head_fd = -1,
				.lock_fd = -1,
				.max_size = settings->max_size,
				.sync = settings->sync };
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->wake, NULL);

	const int r = open_all(a, settings, state_dir, service, err);

	if (r < 0) {
		bj_audit_close(a);
		return r;
	}
	*ret = a;
	return 0;
}

void bj_audit_close(struct bj_audit *a)
{
	if (!a)
		return;
	if (a->has_flusher) {
		pthread_mutex_lock(&a->lock);
		a->stopping = true;
		pthread_cond_signal(&a->wake);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->flusher, NULL);
	}
	const int fds[] = { a->dir, a->log, a->head_fd, a->lock_fd };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	sodium_memzero(&a->key, sizeof(a->key));
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->wake);
	free(a);
}
