/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

/* Put one entry into a configuration file that a person wrote: JSON, or JSON with comments and
 * trailing commas. Everything else stays byte for byte. */

/* Add to @text, as member @name of the object that is member @section of the root, the @value
 * (JSON of one object), or put it in place of what is there. The whole new text goes to *@ret. An
 * empty @text counts as {}. 1: the very same value is there already, and *@ret is untouched. Fails
 * when @text is not such a file. */
int bj_jsonc_put(const char *text, size_t size, const char *section, const char *name,
		 const char *value, struct bj_buf *ret, struct bj_err *err);

/* The same for TOML: a table [section.name] with the lines @lines (key = value, each ended by a
 * newline). Lines of an existing table with other keys stay. */
int bj_toml_put(const char *text, size_t size, const char *section, const char *name,
		const char *lines, struct bj_buf *ret, struct bj_err *err);
