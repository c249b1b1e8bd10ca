/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page.h"

#include "base/cleanup.h"
#include "serve/page_files.h"
#include "serve/problem.h"

#include <string.h>

#define FILE_AT(name)                                                                              \
	bj_page_##name, &bj_page_##name##_size, bj_page_##name##_gz, &bj_page_##name##_gz_size

static const struct file {
	const char *path, *type;
	const char *data;
	const unsigned long *size;
	const char *gz; /* the same, gzipped */
	const unsigned long *gz_size;
} FILES[] = {
	{ "/", "text/html; charset=utf-8", FILE_AT(html) },
	{ "/page.js", "text/javascript; charset=utf-8", FILE_AT(js) },
	{ "/page.css", "text/css; charset=utf-8", FILE_AT(css) },
	{ "/icon.svg", "image/svg+xml", FILE_AT(icon) },
};

/* Nothing from elsewhere, nothing inline, no frame around it; and no text can become markup or
 * code, since the browser refuses strings wherever it would parse them. */
static const char POLICY[] = "default-src 'none'; script-src 'self'; style-src 'self'; "
			     "img-src 'self'; connect-src 'self'; base-uri 'none'; "
			     "form-action 'none'; frame-ancestors 'none'; "
			     "require-trusted-types-for 'script'; trusted-types 'none'";

static const struct file *find(const char *path)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(FILES); i++)
		if (strcmp(FILES[i].path, path) == 0)
			return &FILES[i];
	return NULL;
}

bool bj_page_has(const char *path)
{
	return find(path) != NULL;
}

void bj_page_answer(const struct bj_request *request, struct bj_answer *answer)
{
	const struct file *file = find(request->path);
	const char *accepts = request->header(request->ctx, "Accept-Encoding");
	const bool gz = accepts && strstr(accepts, "gzip");

	if (!file) {
		bj_problem_answer(answer, BJ_PROBLEM_NOT_FOUND, "the page has no such file");
		return;
	}
	*answer = (struct bj_answer){ .status = 200,
				      .type = file->type,
				      .body = (char *)(gz ? file->gz : file->data),
				      .size = gz ? *file->gz_size : *file->size,
				      .body_static = true };
	if (gz)
		bj_answer_header(answer, "Content-Encoding", "gzip");
	bj_answer_header(answer, "Vary", "Accept-Encoding");
	bj_answer_header(answer, "Cache-Control", "no-cache");
	bj_answer_header(answer, "Content-Security-Policy", "%s", POLICY);
	bj_answer_header(answer, "Referrer-Policy", "no-referrer");
	bj_answer_header(answer, "Cross-Origin-Opener-Policy", "same-origin");
}
