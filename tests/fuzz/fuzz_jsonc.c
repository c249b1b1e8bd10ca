/* SPDX-License-Identifier: Apache-2.0 */

/* Configuration files that people wrote, into which an entry is put: what comes out must be such a
 * file again, hold the entry, and take it a second time without a change. */

#include "fuzz.h"

#include "base/cleanup.h"
#include "cli/jsonc.h"

#include <string.h>

typedef int put_fn(const char *text, size_t size, const char *section, const char *name,
		   const char *value, struct bj_buf *ret, struct bj_err *err);

static void put_twice(put_fn *put, const char *text, size_t size, const char *value)
{
	AUTO_BUF struct bj_buf once = { 0 };
	AUTO_BUF struct bj_buf twice = { 0 };
	struct bj_err err = { 0 };
	const int r = put(text, size, "mcpServers", "belljar", value, &once, &err);

	if (r < 0 && !err.msg[0])
		abort();
	if (r != 0)
		return;
	if (!once.data ||
	    put(once.data, once.size, "mcpServers", "belljar", value, &twice, &err) != 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	put_twice(bj_jsonc_put, text, size, "{\"command\": \"belljar\", \"args\": [\"mcp\"]}");
	put_twice(bj_toml_put, text, size, "command = \"belljar\"\nargs = [\"mcp\"]\n");
	return 0;
}
