/* SPDX-License-Identifier: Apache-2.0 */

/* Lines of the journal: whatever is taken for one must come out the same when it is printed and
 * read again, and as one line. */

#include "fuzz.h"

#include "base/cleanup.h"
#include "record/entry.h"

#include <string.h>

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void again(const struct bj_entry *e)
{
	AUTO_BUF struct bj_buf line = { 0 };
	struct bj_entry back;

	bj_entry_print(e, &line);
	if (line.failed || memchr(line.data, '\n', line.size) ||
	    bj_entry_parse(line.data, line.size, &back) < 0)
		abort();
	if (back.parts != e->parts || !same(back.id, e->id) || !same(back.name, e->name) ||
	    !same(back.result, e->result) || back.ended_ms != e->ended_ms ||
	    back.script_size != e->script_size ||
	    (e->script_size && memcmp(back.script, e->script, e->script_size) != 0))
		abort();
	bj_entry_done(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bj_entry e;

	if (bj_entry_parse((const char *)data, size, &e) < 0)
		return 0;
	again(&e);
	bj_entry_done(&e);
	return 0;
}
