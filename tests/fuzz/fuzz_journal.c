/* SPDX-License-Identifier: Apache-2.0 */

/* The journal. An input that begins with '{' is one line: whatever is taken for one must come out
 * the same when it is printed and read again, and as one line. Any other is a file, as a power cut
 * or a writer that was killed may leave it, after two bytes that say where somebody stopped reading
 * it: every whole line is read once, and what comes after it reaches the database. */

#include "fuzz.h"

#include "base/cleanup.h"
#include "record/fold.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = BJ_JOURNAL_MARK + 1 };

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* --- one line --------------------------------------------------------------------------------- */

static void check_line(const char *line, size_t size)
{
	AUTO_BUF struct bj_buf once = { 0 }, twice = { 0 };
	struct bj_entry e, back;

	if (bj_entry_parse(line, size, &e) < 0)
		return;
	bj_entry_print(&e, &once);
	require(!once.failed && !memchr(once.data, '\n', once.size));
	require(bj_entry_parse(once.data, once.size, &back) == 0);
	bj_entry_print(&back, &twice);
	require(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
	require(back.script_size == e.script_size);
	if (e.script_size)
		require(memcmp(back.script, e.script, e.script_size) == 0);
	bj_entry_done(&e);
	bj_entry_done(&back);
}

/* --- a file ----------------------------------------------------------------------------------- */

static const char AFTER[] =
	"{\"version\":1,\"parts\":1,\"id\":\"after\",\"backend\":0,\"approval\":0,"
	"\"created_us\":1,\"started_ms\":1,\"owner\":0,\"script_sha256\":\"00\","
	"\"through\":0,\"language\":0,\"policy\":0,\"trusted\":0,\"risk\":0,"
	"\"effective_risk\":0,\"state\":2}";

/* The files have no name any more by the time foreign bytes come. */
static struct bj_store *open_store(void)
{
	static struct bj_store store;
	static bool open_already;
	char dir[] = "/tmp/belljar-fuzz-XXXXXX", file[sizeof(dir) + sizeof("/belljar.db")];

	if (open_already)
		return &store;
	require(sodium_init() >= 0 && mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/belljar.db", dir);

	AUTO_FD int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *list = opendir(dir);

	require(dir_fd >= 0 && list && bj_store_open(&store, file, dir_fd, NULL) == 0);
	for (struct dirent *entry = readdir(list); entry; entry = readdir(list))
		unlinkat(dir_fd, entry->d_name, 0);
	rmdir(dir);
	open_already = true;
	return &store;
}

/* What is left to read of a file of @size bytes for somebody who stopped at @offset: [*@ret_start,
 * *@ret_end). */
static void expect(const char *data, size_t size, size_t offset, size_t *ret_start, size_t *ret_end)
{
	const bool place = offset >= HEADER && offset <= size && data[offset - 1] == '\n';
	const size_t start = place ? offset : HEADER;
	const char *last = size > start ? memrchr(data + start, '\n', size - start) : NULL;

	*ret_start = start;
	*ret_end = last ? (size_t)(last - data) + 1 : start;
}

static void check_read(struct bj_journal *j, const char *data, size_t size, size_t offset)
{
	AUTO_BUF struct bj_buf lines = { 0 };
	struct bj_journal_place place = { 0 };
	uint64_t all = 0;
	size_t start, end;

	require(bj_journal_read(j, &place, &lines, &all) == 0 && all == size);
	place.offset = offset; /* with the mark that it found */
	require(bj_journal_read(j, &place, &lines, &all) == 0 && all == size);
	expect(data, size, offset, &start, &end);
	require(place.offset == start && lines.size == end - start);
	if (lines.size)
		require(memcmp(lines.data, data + start, lines.size) == 0);
}

/* Everything as it was before the first input, but for the schema. */
static void fill(struct bj_store *store, const char *data, size_t size)
{
	struct bj_journal *j = &store->journal;

	require(bj_store_exec(store->db,
			      "DELETE FROM journal; DELETE FROM executions;"
			      " DELETE FROM details; DELETE FROM usage",
			      NULL) == 0);
	j->end = 0;
	j->seen = (struct bj_journal_place){ 0 };
	require(ftruncate(j->fd, 0) == 0 && pwrite(j->fd, data, size, 0) == (ssize_t)size);
}

static bool has_row(struct bj_store *store)
{
	AUTO_STMT sqlite3_stmt *st =
		bj_store_prepare(store->db, "SELECT 1 FROM executions WHERE id = 'after'", NULL);

	return sqlite3_step(st) == SQLITE_ROW;
}

static void check_file(const char *data, size_t size, size_t offset)
{
	struct bj_store *store = open_store();
	struct bj_journal *j = &store->journal;
	size_t start, end;

	fill(store, data, size);
	check_read(j, data, size, offset);
	expect(data, size, 0, &start, &end);
	while (start < end) {
		const char *stop = memchr(data + start, '\n', end - start);

		check_line(data + start, (size_t)(stop - data) - start);
		start = (size_t)(stop - data) + 1;
	}
	require(bj_fold(store, NULL) == 0);
	require(bj_journal_append(j, AFTER, sizeof(AFTER) - 1) == 0);
	require(bj_fold(store, NULL) == 0 && bj_journal_unseen(j) == 0);
	require(has_row(store));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	if (size > 0 && data[0] == '{')
		check_line(text, size);
	else if (size >= 2)
		check_file(text + 2, size - 2, (size_t)data[0] | (size_t)data[1] << 8);
	return 0;
}
