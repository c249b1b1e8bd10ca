/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * A row of the database costs a transaction; a line costs one write. So a run writes lines, and
 * the lines become rows aside, many in one transaction (fold.c).
 *
 *	append   under a lock that all processes share: look at the size, write the line there. A
 *		 writer that cannot write all of it cuts the file back to that size.
 *	read     under the same lock, so that no line is half there: whole lines only.
 *	empty    under the same lock, when every line is in the database and the file is long.
 *
 * A writer that is killed in mid-write leaves a piece of a line, and nobody was told of it. The
 * next writer ends that piece: it becomes a line that no reader understands, which is skipped.
 *
 * The file begins with a mark, random for each filling, and the database keeps mark and offset of
 * what it holds, in the transaction that brought it in. So a line is brought in exactly once,
 * whoever dies when: a place with another mark means that all of the file is new, and so does a
 * place in mid-line, which a power cut can make of one. The mark goes in with the first line, by
 * the same write; a file that is shorter than it holds nothing. */

#include "record/journal.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { CHUNK = 1 << 20, LONG = 256 << 10, HEADER = BJ_JOURNAL_MARK + 1 };

int bj_journal_open(struct bj_journal *j, int dir_fd, const char *name, struct bj_err *err)
{
	const int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	*j = (struct bj_journal){ .fd = fd };
	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open the journal of runs");
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->grown, NULL);
	return 0;
}

void bj_journal_done(struct bj_journal *j)
{
	if (j->fd < 0)
		return;
	close(j->fd);
	pthread_mutex_destroy(&j->lock);
	pthread_cond_destroy(&j->grown);
	*j = (struct bj_journal){ .fd = -1 };
}

/* Take both locks. 0 or -errno: then neither is held. */
static int enter(struct bj_journal *j)
{
	int r;

	pthread_mutex_lock(&j->lock);
	do
		r = flock(j->fd, LOCK_EX) < 0 ? -errno : 0;
	while (r == -EINTR);
	if (r < 0)
		pthread_mutex_unlock(&j->lock);
	return r;
}

static void leave(struct bj_journal *j)
{
	flock(j->fd, LOCK_UN);
	pthread_mutex_unlock(&j->lock);
}

static int size_of(const struct bj_journal *j, uint64_t *ret)
{
	struct stat st;

	if (fstat(j->fd, &st) < 0)
		return -errno;
	*ret = (uint64_t)st.st_size;
	return 0;
}

/* The mark of the file; empty when there is none yet. One that a power cut took is a mark too. */
static void read_mark(const struct bj_journal *j, char mark[BJ_JOURNAL_MARK + 1])
{
	const ssize_t n = pread(j->fd, mark, BJ_JOURNAL_MARK, 0);

	mark[n == BJ_JOURNAL_MARK ? n : 0] = '\0';
	for (ssize_t i = 0; n == BJ_JOURNAL_MARK && i < n; i++)
		if (!isxdigit((unsigned char)mark[i]))
			mark[i] = '?';
}

/* --- appending -------------------------------------------------------------------------------- */

/* Write all of @iov at @offset; the pieces are used up. */
static int write_pieces(int fd, struct iovec *iov, int n, uint64_t offset)
{
	while (n > 0) {
		const ssize_t done = pwritev(fd, iov, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		offset += (uint64_t)done;

		size_t left = (size_t)done;

		while (n > 0 && left >= iov->iov_len) {
			left -= iov->iov_len;
			iov++;
			n--;
		}
		if (n > 0) {
			iov->iov_base = (char *)iov->iov_base + left;
			iov->iov_len -= left;
		}
	}
	return 0;
}

static bool ends_whole(const struct bj_journal *j, uint64_t size)
{
	char last = '\n';

	return size == j->end || pread(j->fd, &last, 1, (off_t)size - 1) != 1 || last == '\n';
}

static void new_mark(char header[HEADER + 1])
{
	unsigned char bytes[BJ_JOURNAL_MARK / 2];

	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(header, BJ_JOURNAL_MARK + 1, bytes, sizeof(bytes));
	header[BJ_JOURNAL_MARK] = '\n';
}

/* With the locks. */
static int append(struct bj_journal *j, const char *line, size_t size)
{
	char header[HEADER + 1];
	struct iovec iov[3];
	uint64_t at = 0;
	int n = 0, r = size_of(j, &at);

	if (r < 0)
		return r;
	if (at < HEADER) {
		at = 0;
		new_mark(header);
		iov[n++] = (struct iovec){ header, HEADER };
	} else if (!ends_whole(j, at)) {
		iov[n++] = (struct iovec){ (char *)"\n", 1 };
	}
	iov[n++] = (struct iovec){ (char *)line, size };
	iov[n++] = (struct iovec){ (char *)"\n", 1 };

	uint64_t end = at;

	for (int i = 0; i < n; i++)
		end += iov[i].iov_len;
	r = write_pieces(j->fd, iov, n, at);
	/* What cannot be cut off is the piece of a line to whoever comes next. */
	j->end = r == 0 ? end : 0;
	if (r < 0 && ftruncate(j->fd, (off_t)at) < 0)
		return r;
	return r;
}

int bj_journal_append(struct bj_journal *j, const char *line, size_t size)
{
	if (size > BJ_JOURNAL_LINE_MAX)
		return -EFBIG;

	int r = enter(j);

	if (r < 0)
		return r;
	r = append(j, line, size);
	if (r == 0) {
		j->fresh = true;
		if (j->asleep)
			pthread_cond_signal(&j->grown);
	}
	leave(j);
	return r;
}

/* --- reading ---------------------------------------------------------------------------------- */

uint64_t bj_journal_unseen(struct bj_journal *j)
{
	char mark[BJ_JOURNAL_MARK + 1];
	uint64_t size = 0;

	pthread_mutex_lock(&j->lock);
	read_mark(j, mark);

	const bool same = strcmp(mark, j->seen.mark) == 0;
	const uint64_t seen = same ? j->seen.offset : 0;

	if (size_of(j, &size) < 0)
		size = 1; /* let the reader find out */
	pthread_mutex_unlock(&j->lock);
	return !mark[0] || size == seen ? 0 : size < seen ? size : size - seen;
}

/* As many bytes as there are from @offset on, up to @max. */
static int read_chunk(int fd, uint64_t offset, size_t max, struct bj_buf *ret)
{
	ret->size = 0;
	while (ret->size < max) {
		char *to = bj_buf_reserve(ret, max - ret->size);
		const ssize_t n =
			to ? pread(fd, to, max - ret->size, (off_t)(offset + ret->size)) : -1;

		if (!to)
			return -ENOMEM;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		ret->size += (size_t)n;
	}
	return 0;
}

/* With the locks: whole lines from *@offset on. A line that is too long for the buffer makes it
 * larger; one that is too long for anybody is left behind. */
static int read_lines(const struct bj_journal *j, uint64_t *offset, uint64_t size,
		      struct bj_buf *ret)
{
	size_t max = CHUNK;

	for (;;) {
		const uint64_t rest = size - *offset;
		const int r = read_chunk(j->fd, *offset, rest < max ? (size_t)rest : max, ret);
		const char *end = r == 0 && ret->size ? memrchr(ret->data, '\n', ret->size) : NULL;

		if (r < 0 || end || ret->size == rest) {
			ret->size = end ? (size_t)(end - ret->data) + 1 : 0;
			return r;
		}
		if (max < BJ_JOURNAL_LINE_MAX)
			max *= 4;
		else
			*offset += ret->size;
	}
}

/* Whether @place can be where a line ended. A power cut may take the end of the file, of which the
 * database knew, and others may have written there since. */
static bool is_place(const struct bj_journal *j, const struct bj_journal_place *place,
		     const char *mark, uint64_t size)
{
	char last;

	return strcmp(mark, place->mark) == 0 && place->offset >= HEADER && place->offset <= size &&
	       pread(j->fd, &last, 1, (off_t)place->offset - 1) == 1 && last == '\n';
}

int bj_journal_read(struct bj_journal *j, struct bj_journal_place *place, struct bj_buf *ret,
		    uint64_t *ret_size)
{
	struct bj_journal_place at = *place;
	uint64_t size = 0;
	int r = enter(j);

	if (r < 0)
		return r;
	r = size_of(j, &size);
	read_mark(j, at.mark);
	if (!is_place(j, place, at.mark, size))
		at.offset = HEADER;
	ret->size = 0;
	if (r == 0 && size > at.offset)
		r = read_lines(j, &at.offset, size, ret);
	leave(j);
	if (r < 0)
		return r;
	*place = at;
	*ret_size = size;
	return 0;
}

void bj_journal_settle(struct bj_journal *j, const struct bj_journal_place *place, uint64_t size)
{
	char mark[BJ_JOURNAL_MARK + 1];
	uint64_t now = 0;

	if (enter(j) < 0)
		return;
	read_mark(j, mark);
	j->seen = *place;
	j->seen.offset = size;
	/* The place stays in the database: it names a mark that never comes again. */
	if (place->offset >= LONG && size_of(j, &now) == 0 && now == place->offset &&
	    strcmp(mark, place->mark) == 0 && ftruncate(j->fd, 0) == 0)
		j->seen = (struct bj_journal_place){ 0 };
	leave(j);
}
