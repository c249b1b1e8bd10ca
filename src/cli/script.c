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

static int open_path(const char *path, int flags, struct bj_err *err)
{
	struct stat st;

	if (!path[0])
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "the name of a file is empty; is a variable not set?");

	AUTO_FD int fd = strcmp(path, "-") == 0
				 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
				 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);

	if (fd < 0 || fstat(fd, &st) < 0)
		return bj_err_set(err, errno == ENOENT ? BJ_E_NOT_FOUND : BJ_E_SYSTEM, errno,
				  "cannot open %.150s", path);
	if (S_ISDIR(st.st_mode))
		return bj_err_set(err, BJ_E_INVALID, 0, "%.150s is a directory; name a file in it",
				  path);
	/* Only the opening must not wait: a pipe whose writer is slow is read to its end. */
	if ((flags & O_NONBLOCK) && strcmp(path, "-") != 0 && fcntl(fd, F_SETFL, 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read %.150s", path);
	return bj_take_fd(&fd);
}

int bj_script_open(const char *path, struct bj_err *err)
{
	return open_path(path, O_NONBLOCK, err);
}

int bj_script_open_stream(const char *path, struct bj_err *err)
{
	return open_path(path, 0, err);
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

/* Take the next word off @line: its start, with its length in *@ret_len; a length of 0 at the end.
 */
static const char *next_word(const char **line, size_t *ret_len)
{
	const char *word = *line + strspn(*line, " \t");

	*ret_len = strcspn(word, " \t\r\n");
	*line = word + *ret_len;
	return word;
}

/* Whether the interpreter of @size bytes is @name, or @name with a version behind it. */
static bool is_program(const char *program, size_t size, const char *name)
{
	const size_t len = strlen(name);

	return size >= len && memcmp(program, name, len) == 0 &&
	       strspn(program + len, "0123456789.") >= size - len;
}

/* The last part of the path of the program that a "#!" line starts, past env and its options. */
static const char *program_of(const char *line, size_t *ret_len)
{
	bool env = false;

	for (;;) {
		const char *word = next_word(&line, ret_len);

		if (env && *ret_len > 0 && (word[0] == '-' || memchr(word, '=', *ret_len)))
			continue;

		const char *slash = memrchr(word, '/', *ret_len);
		const char *program = slash ? slash + 1 : word;

		*ret_len -= (size_t)(program - word);
		if (env || *ret_len != 3 || memcmp(program, "env", 3) != 0)
			return program;
		env = true;
	}
}

/* The language of "#!/usr/bin/env python3" and the like; -1: none, or another one. */
static int from_shebang(const struct bj_script *s)
{
	static const struct {
		const char *name;
		enum bj_language language;
	} programs[] = { { "python", BJ_LANG_PYTHON },
			 { "bash", BJ_LANG_BASH },
			 { "dash", BJ_LANG_BASH },
			 { "sh", BJ_LANG_BASH } };
	size_t len = 0;

	if (s->text.size < 3 || memcmp(s->text.data, "#!", 2) != 0)
		return -1;

	const char *program = program_of(s->text.data + 2, &len);

	for (size_t i = 0; len > 0 && i < BJ_ARRAY_SIZE(programs); i++)
		if (is_program(program, len, programs[i].name))
			return programs[i].language;
	return -1;
}

static int from_suffix(const struct bj_script *s)
{
	if (ends_with(s->name, ".py"))
		return BJ_LANG_PYTHON;
	return ends_with(s->name, ".sh") || ends_with(s->name, ".bash") ? BJ_LANG_BASH : -1;
}

int bj_script_language(const char *asked, struct bj_err *err)
{
	const int language = bj_language_from_name(asked);

	if (language < 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "Invalid script_type: %.60s. Must be 'python' or 'bash'", asked);
	return language;
}

static int tell_language(struct bj_script *s, const char *asked, struct bj_err *err)
{
	int language = asked ? bj_script_language(asked, err) : from_shebang(s);

	if (asked && language < 0)
		return language;
	if (language < 0)
		language = from_suffix(s);
	if (language < 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "cannot tell the language of %.100s; "
				  "say --language python or --language bash",
				  s->path);
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
