/* SPDX-License-Identifier: Apache-2.0 */

/* The audit log as somebody left it who could write to its files. The first byte picks what the
 * rest is:
 *
 *	0  the page of the head
 *	1  the head's first line, made right with our key; what follows it is the input's
 *	2  one line
 *	3  the data of a line that we make, which must be read back
 *	4  the log itself, as its tail and its verification read it
 *
 * No page and no line that our key did not make passes. */

#include "fuzz.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "record/audit_line.h"
#include "record/audit_tail.h"
#include "record/audit_verify.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum what { HEAD, OUR_HEAD, LINE, OUR_LINE, LOG, KINDS };

static struct bj_audit_key ours;

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* --- a log of our own ------------------------------------------------------------------------- */

static char top[] = "/tmp/bj-fuzz-audit-XXXXXX";
static struct bj_audit *audit;

static void remove_top(void)
{
	static const char *const names[] = { "/audit/audit-000001.jsonl",
					     "/audit",
					     "/audit.head",
					     "/audit.lock",
					     "/keys/audit.key",
					     "/keys/audit.key.pub",
					     "/keys",
					     "" };
	char path[96];

	bj_audit_close(audit);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s%s", top, names[i]);
		remove(path);
	}
}

static void open_log(void)
{
	const struct bj_audit_settings settings = { .enabled = true, .max_size = 1 << 20 };
	char path[96];

	require(mkdtemp(top) && bj_audit_open(&settings, top, false, &audit, NULL) == 0);
	atexit(remove_top);
	require(bj_audit_append_text(audit, "fuzz", "{}", NULL) == 0);
	snprintf(path, sizeof(path), "%s/keys/audit.key", top);
	require(bj_audit_key_read(path, &ours, NULL) == 0);
}

/* --- the head --------------------------------------------------------------------------------- */

/* Exactly as long as it is, so that reading past its end shows. */
static char *new_page(const uint8_t *data, size_t size)
{
	char *page = calloc(1, BJ_AUDIT_PAGE);

	require(page != NULL);
	memcpy(page, data, size < BJ_AUDIT_PAGE ? size : BJ_AUDIT_PAGE);
	return page;
}

static void read_page(const char *page, bool may_pass)
{
	struct bj_audit_key public_half = ours;
	struct bj_audit_head head;
	struct bj_err err = { 0 };

	public_half.can_sign = false;
	if (bj_audit_head_read(&ours, page, &head, &err) == 0)
		require(may_pass && head.size <= BJ_AUDIT_LINE_MAX &&
			head.line[head.size - 1] == '\n' && strlen(head.hash) == BJ_AUDIT_HASH - 1);
	else
		require(err.code == BJ_E_DENIED && err.msg[0]);
	require(bj_audit_head_recall(&ours, page, &head) != 0 || may_pass);
	require(bj_audit_head_read(&public_half, page, &head, &err) != 0 || may_pass);
}

static void read_head(const uint8_t *data, size_t size)
{
	AUTO_FREE char *page = new_page(data, size);

	read_page(page, false);
}

/* Who holds the key may say of the log what he likes: the line that follows is still held against
 * the hash. */
static void read_our_head(const uint8_t *data, size_t size)
{
	struct bj_audit_head head = { .file = 1, .seq = 1 };
	char made[BJ_AUDIT_PAGE];

	head.size = size < BJ_AUDIT_LINE_MAX ? size : BJ_AUDIT_LINE_MAX;
	memcpy(head.line, data, head.size);
	bj_audit_hash(head.line, head.size > 0 ? head.size - 1 : 0, head.hash);
	if (bj_audit_head_print(&ours, &head, true, made, NULL) < 0)
		return;

	AUTO_FREE char *page = new_page((const uint8_t *)made, sizeof(made));

	read_page(page, true);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void read_line(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = malloc(size + !size);
	struct bj_audit_line line = { 0 };
	struct bj_err err = { 0 };

	require(text != NULL);
	memcpy(text, data, size);
	require(bj_audit_line_read(&ours, text, size, &line, &err) == -BJ_E_DENIED);
	bj_audit_line_done(&line);
}

/* What we write is what we read. */
static void read_our_line(const uint8_t *data, size_t size)
{
	AUTO_BUF struct bj_buf text = { 0 };
	struct bj_audit_line line = { 0 };
	char hash[BJ_AUDIT_HASH];
	json_t *value = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	AUTO_FREE char *plain = json_is_object(value) ? json_dumps(value, JSON_COMPACT) : NULL;

	json_decref(value);
	if (!plain)
		return;
	require(bj_audit_line_make(&ours, 7, bj_audit_no_hash, "fuzz", plain, &text, hash, NULL) ==
		0);
	require(bj_audit_line_read(&ours, text.data, text.size, &line, NULL) == 0);
	require(line.seq == 7 && strcmp(line.hash, hash) == 0 &&
		strcmp(line.prev, bj_audit_no_hash) == 0);
	bj_audit_line_done(&line);
}

/* --- the log ---------------------------------------------------------------------------------- */

static void count(void *ctx, const char *where, const char *what)
{
	require(where[0] && what[0]);
	++*(uint64_t *)ctx;
}

static void read_log(const uint8_t *data, size_t size)
{
	struct bj_audit_report report;
	struct bj_err err = { 0 };
	uint64_t told = 0;
	json_t *list = NULL;
	char path[96];

	snprintf(path, sizeof(path), "%s/audit/audit-000001.jsonl", top);
	AUTO_FD int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	require(bj_audit_tail(audit, 5, &list, &err) == 0 && json_array_size(list) <= 5);
	for (size_t i = 0; i < json_array_size(list); i++)
		require(json_is_object(json_array_get(list, i)));
	json_decref(list);
	require(bj_audit_verify(top, &ours, 1, count, &told, &report, &err) == 0);
	require(report.problems == told && (size == 0 || told > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[KINDS])(const uint8_t *data, size_t size) = {
		[HEAD] = read_head,         [OUR_HEAD] = read_our_head, [LINE] = read_line,
		[OUR_LINE] = read_our_line, [LOG] = read_log,
	};

	if (!audit)
		open_log();
	if (size > 0)
		readers[data[0] % KINDS](data + 1, size - 1);
	return 0;
}
