/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp_install.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "cli/jsonc.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { CONFIG_MAX = 64 << 20 };

/* Where each client keeps its servers, and in which form. */
static const struct client {
	const char *name;
	const char *base_env, *base; /* the variable that may name the folder, else below $HOME */
	const char *file;
	const char *section;
	bool toml;
} CLIENTS[] = {
	{ "claude", NULL, "", ".claude.json", "mcpServers", false },
	{ "cursor", NULL, ".cursor/", "mcp.json", "mcpServers", false },
	{ "vscode", "XDG_CONFIG_HOME", ".config/", "Code/User/mcp.json", "servers", false },
	{ "codex", "CODEX_HOME", ".codex/", "config.toml", "mcp_servers", true },
};

static const struct client *find_client(const char *name)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(CLIENTS); i++)
		if (strcmp(CLIENTS[i].name, name) == 0)
			return &CLIENTS[i];
	return NULL;
}

/* --- what to write ---------------------------------------------------------------------------- */

static int place_of(const struct client *c, char path[PATH_MAX], struct bj_err *err)
{
	const char *base = c->base_env ? getenv(c->base_env) : NULL;
	const char *home = getenv("HOME");
	char resolved[PATH_MAX];
	int n;

	if (base && base[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/%s", base, c->file);
	else if (home && home[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/%s%s", home, c->base, c->file);
	else
		return bj_err_set(err, BJ_E_INVALID, 0, "HOME is not set; say where you live");
	if (n >= PATH_MAX)
		return bj_err_set(err, BJ_E_LIMIT, 0, "the path of the configuration is too long");
	/* A link stays one: what it points at is written. */
	if (realpath(path, resolved))
		memcpy(path, resolved, strlen(resolved) + 1);
	return 0;
}

/* The command line as a JSON array without its first word; NULL when it cannot be said so. */
static json_t *arguments(const char *config)
{
	AUTO_FREE char *whole = config ? realpath(config, NULL) : NULL;

	return config ? json_pack("[s, s, s]", "mcp", "--config", whole ? whole : config)
		      : json_pack("[s]", "mcp");
}

/* Our entry, in the form of the client. */
static int make_entry(const struct client *c, const char *config, struct bj_buf *ret,
		      struct bj_err *err)
{
	char self[PATH_MAX] = "";
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	json_t *args, *entry;
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *list = NULL;
	AUTO_FREE char *command = NULL;

	if (n <= 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot tell where belljar is");
	args = arguments(config);
	list = args ? json_dumps(args, 0) : NULL;
	entry = json_pack("{s:s, s:s, s:o}", "type", "stdio", "command", self, "args", args);
	text = entry ? json_dumps(entry, 0) : NULL;
	if (entry)
		command = json_dumps(json_object_get(entry, "command"), JSON_ENCODE_ANY);
	json_decref(entry);
	if (!list || !text || !command)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "the configuration is UTF-8, and the path of belljar or of the "
				  "settings file is not");
	if (c->toml)
		bj_buf_printf(ret, "command = %s\nargs = %s\n", command, list);
	else
		bj_buf_puts(ret, text);
	return ret->failed ? bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory") : 0;
}

static int read_old(const char *path, struct bj_buf *ret, struct bj_err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	ret->max = CONFIG_MAX;
	bj_buf_puts(ret, "");
	if (fd < 0 && errno == ENOENT)
		return 0;
	r = fd < 0 ? -errno : bj_fd_read_all(fd, ret);
	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot read %.150s", path) : 0;
}

/* --- writing it ------------------------------------------------------------------------------- */

static void make_folders(const char *path)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0700); /* one that is there is fine, others fail at the file */
		*slash = '/';
	}
}

/* All of it or nothing: into a new file beside it, which takes its place. */
static int write_new(const char *path, const struct bj_buf *text, struct bj_err *err)
{
	AUTO_FREE char *beside = NULL;
	struct stat st;
	const mode_t mode = stat(path, &st) == 0 ? st.st_mode & 0777 : 0600;

	if (asprintf(&beside, "%s.belljar-XXXXXX", path) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory");
	make_folders(path);

	AUTO_FD int fd = mkostemp(beside, O_CLOEXEC);
	int r = fd < 0 ? -errno : bj_fd_write_all(fd, text->data, text->size);

	if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0 || rename(beside, path) < 0))
		r = -errno;
	if (r < 0 && fd >= 0)
		unlink(beside);
	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot write %.150s", path) : 0;
}

static int agreed(bool yes, struct bj_err *err)
{
	char answer[8] = "";

	if (yes)
		return 1;
	if (!isatty(STDIN_FILENO))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "nobody is there to ask; add --yes to write this");
	printf("Write this? [y/N] ");
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

int bj_mcp_install(const char *name, const char *config, bool yes, struct bj_err *err)
{
	const struct client *c = find_client(name);
	AUTO_BUF struct bj_buf entry = { 0 };
	AUTO_BUF struct bj_buf old = { 0 };
	AUTO_BUF struct bj_buf new = { 0 };
	char path[PATH_MAX];
	int r;

	if (!c)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "--install %.40s: say claude, cursor, vscode or codex", name);
	r = place_of(c, path, err);
	if (r == 0)
		r = make_entry(c, config, &entry, err);
	if (r == 0)
		r = read_old(path, &old, err);
	if (r == 0) {
		r = (c->toml ? bj_toml_put : bj_jsonc_put)(old.data, old.size, c->section,
							   "belljar", entry.data, &new, err);
		if (r < 0)
			return bj_err_wrap(err, "%.150s", path);
	}
	if (r == 1) {
		printf("%s has belljar already; nothing to do.\n", path);
		return 0;
	}
	if (r == 0) {
		printf("%s: %s.belljar\n%s\n", path, c->section, entry.data);
		r = agreed(yes, err);
	}
	if (r == 0)
		printf("Nothing was changed.\n");
	if (r > 0) {
		r = write_new(path, &new, err);
		if (r == 0)
			printf("Written. Start %s anew to use it.\n", c->name);
	}
	return r;
}
