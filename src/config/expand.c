/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "config/load.h"

#include <string.h>

/* A value is a word or a path, so this is plenty, and it stops a variable of megabytes. */
enum { MAX_EXPANDED = 16384, MAX_VARIABLE = 128 };

#define NAME_START "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define NAME_REST  NAME_START "0123456789"

/* Expand the reference that starts behind "${" at @p. Returns where the text goes on; NULL with
 * @err. What a variable holds is not expanded again. */
static const char *expand_one(const char *p, struct bj_buf *out, struct bj_err *err)
{
	const char *end = strchr(p, '}');
	const size_t len = strspn(p, NAME_REST);
	char name[MAX_VARIABLE];

	if (!end || len == 0 || len >= sizeof(name) || !strchr(NAME_START, p[0]) ||
	    (p[len] != '}' && strncmp(p + len, ":-", 2) != 0)) {
		bj_err_set(err, BJ_E_INVALID, 0,
			   "a ${...} is broken; write ${NAME} or ${NAME:-default}");
		return NULL;
	}
	snprintf(name, sizeof(name), "%.*s", (int)len, p);

	const char *value = getenv(name);

	if (value && value[0] != '\0') {
		bj_buf_puts(out, value);
	} else if (p[len] == ':') {
		bj_buf_add(out, p + len + 2, (size_t)(end - (p + len + 2)));
	} else {
		bj_err_set(err, BJ_E_INVALID, 0,
			   "the variable %.60s is not set; set it or write ${%.60s:-default}", name,
			   name);
		return NULL;
	}
	return end + 1;
}

int bj_expand(const char *text, char **ret, struct bj_err *err)
{
	AUTO_BUF struct bj_buf out = { .max = MAX_EXPANDED };

	while (*text) {
		if (strncmp(text, "$${", 3) == 0) {
			bj_buf_puts(&out, "${");
			text += 3;
		} else if (strncmp(text, "${", 2) == 0) {
			text = expand_one(text + 2, &out, err);
			if (!text)
				return -BJ_E_INVALID;
		} else {
			const size_t n = 1 + strcspn(text + 1, "$");

			bj_buf_add(&out, text, n);
			text += n;
		}
	}

	char *value = bj_buf_take(&out);

	if (!value)
		return bj_err_set(err, BJ_E_LIMIT, 0, "the value is longer than %d characters",
				  MAX_EXPANDED);
	*ret = value;
	return 0;
}
