/* SPDX-License-Identifier: Apache-2.0 */
#include "record/audit_tail.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "record/audit_line.h"
#include "record/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* How much of a file's end is read: lines have some hundred bytes. */
enum { TAIL = 512 << 10 };

/* The end of the file @number, from the first line that is whole; its size in *@ret_size. NULL: it
 * cannot be read. */
static char *read_end(int dir, unsigned int number, size_t *ret_size)
{
	char name[BJ_AUDIT_NAME];
	struct stat st;

	bj_audit_file_name(number, name);

	AUTO_FD int fd = bj_state_file(dir, name, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;

	const off_t from = st.st_size > TAIL ? st.st_size - TAIL : 0;
	AUTO_FREE char *text = malloc(TAIL + 1);
	const ssize_t n = text ? pread(fd, text, TAIL, from) : -1;

	if (n < 0)
		return NULL;

	/* What stands before the first line's end belongs to a line that we cut. */
	const char *cut = from > 0 ? memchr(text, '\n', (size_t)n) : NULL;
	const size_t skip = from > 0 ? (cut ? (size_t)(cut - text) + 1 : (size_t)n) : 0;

	memmove(text, text + skip, (size_t)n - skip);
	*ret_size = (size_t)n - skip;
	return BJ_TAKE_PTR(text);
}

/* One line as it is shown: what it says, without what proves it. */
static void add_line(json_t *list, const char *text, size_t size)
{
	static const char *const names[] = { "seq", "time", "kind", "data" };
	json_t *line = json_loadb(text, size, 0, NULL);
	json_t *shown = json_is_object(line) ? json_object() : NULL;

	for (size_t i = 0; shown && i < BJ_ARRAY_SIZE(names); i++)
		json_object_set(shown, names[i], json_object_get(line, names[i]));
	if (shown)
		json_array_append_new(list, shown);
	json_decref(line);
}

/* The lines of @text from its end on. */
static void add_lines(json_t *list, const char *text, size_t size, size_t max)
{
	while (size > 0 && json_array_size(list) < max) {
		const size_t end = text[size - 1] == '\n' ? size - 1 : size;
		const char *before = end > 0 ? memrchr(text, '\n', end) : NULL;
		const size_t start = before ? (size_t)(before - text) + 1 : 0;

		add_line(list, text + start, end - start);
		size = start;
	}
}

int bj_audit_tail(const struct bj_audit *audit, size_t max, json_t **ret, struct bj_err *err)
{
	AUTO_FREE unsigned int *files = NULL;
	json_t *list = json_array();
	size_t n = 0;
	const int r = audit ? bj_audit_files(bj_audit_folder(audit), &files, &n, err) : 0;

	if (r < 0 || !list) {
		json_decref(list);
		return r < 0 ? r
			     : bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the audit log");
	}
	while (n > 0 && json_array_size(list) < max) {
		size_t size = 0;
		AUTO_FREE char *text = read_end(bj_audit_folder(audit), files[--n], &size);

		if (!text)
			break;
		add_lines(list, text, size, max);
	}
	*ret = list;
	return 0;
}
