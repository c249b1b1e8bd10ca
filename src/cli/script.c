/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/script.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "spec/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* More than any script; the check's own limit, far below, gives the better message. */
enum { SCRIPT_CEILING = 16 << 20, INPUT_CEILING = 64 << 20 };

int bj_script_open(const char *path, struct bj_err *err)
{
	struct stat st;
	AUTO_FD int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
						: open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0 || fstat(fd, &st) < 0)
		return bj_err_set(err, errno == ENOENT ? BJ_E_NOT_FOUND : BJ_E_SYSTEM, errno,
				  "cannot open %.150s", path);
	if (S_ISDIR(st.st_mode))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "%.150s is a directory; name a script in it", path);
	return bj_take_fd(&fd);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int read_text(struct bj_script *s, const char *path, int fd_take, size_t max,
		     struct bj_err *err)
{
	AUTO_FD int fd = fd_take;

	s->path = path;
	s->text.max = max;
	snprintf(s->name, sizeof(s->name), "%s", strcmp(path, "-") == 0 ? "" : last_part(path));

	const int r = bj_fd_read_all(fd, &s->text);

	if (r == -EFBIG)
		return bj_err_set(err, BJ_E_LIMIT, 0, "%.150s is larger than %zu MiB", path,
				  max >> 20);
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot read %.150s", path);
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t a = strlen(text), b = strlen(end);

	return a > b && strcmp(text + a - b, end) == 0;
}

/* The language of "#!/usr/bin/env python3" and the like; -1: none, or another one. */
static int from_shebang(const struct bj_script *s)
{
	char line[128];

	if (s->text.size < 3 || memcmp(s->text.data, "#!", 2) != 0)
		return -1;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(s->text.data, "\r\n"), s->text.data);
	if (strstr(line, "python"))
		return BJ_LANG_PYTHON;
	return ends_with(line, "sh") || strstr(line, "bash ") || strstr(line, "sh -") ? BJ_LANG_BASH
										      : -1;
}

static int from_suffix(const struct bj_script *s)
{
	if (ends_with(s->name, ".py"))
		return BJ_LANG_PYTHON;
	return ends_with(s->name, ".sh") || ends_with(s->name, ".bash") ? BJ_LANG_BASH : -1;
}

static int tell_language(struct bj_script *s, const char *asked, struct bj_err *err)
{
	int language;

	if (asked) {
		language = bj_language_from_name(asked);
		if (language < 0)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "Invalid script_type: %.60s. Must be 'python' or 'bash'",
					  asked);
	} else {
		language = from_shebang(s);
		if (language < 0)
			language = from_suffix(s);
		if (language < 0)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "cannot tell the language of %.100s; "
					  "say --language python or --language bash",
					  s->path);
	}
	s->language = (enum bj_language)language;
	return 0;
}

int bj_script_read_any(struct bj_script *script, const char *path, int fd_take,
		       const char *language, struct bj_err *err)
{
	const int r = read_text(script, path, fd_take, SCRIPT_CEILING, err);

	return r < 0 ? r : tell_language(script, language, err);
}

int bj_script_read(struct bj_script *script, const char *path, int fd_take, const char *language,
		   struct bj_err *err)
{
	const int r = bj_script_read_any(script, path, fd_take, language, err);

	if (r == 0 && script->text.size == 0)
		return bj_err_set(err, BJ_E_INVALID, 0, "%.150s is empty; there is nothing to run",
				  path);
	return r;
}

int bj_script_read_input(struct bj_script *script, const char *path, int fd_take,
			 struct bj_err *err)
{
	return read_text(script, path, fd_take, INPUT_CEILING, err);
}

void bj_script_done(struct bj_script *script)
{
	bj_buf_done(&script->text);
}
