/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/profile.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "seccomp/filters.h"
#include "seccomp/rule.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* "flags" and "listener*" tune how a runtime loads the filter; they add no rule. */
static const char *const FIELDS[] = { "defaultAction", "defaultErrnoRet",  "architectures",
				      "archMap",       "syscalls",         "flags",
				      "listenerPath",  "listenerMetadata", NULL };

static void free_json(json_t **json)
{
	json_decref(*json);
}

static void release_rules(struct bj_rules *rules)
{
	if (rules->ctx)
		seccomp_release(rules->ctx);
}

#define AUTO_JSON  __attribute__((cleanup(free_json)))
#define AUTO_RULES __attribute__((cleanup(release_rules)))

static int parse(const char *text, size_t size, json_t **ret_root, struct bj_err *err)
{
	json_error_t where;

	if (size > BJ_PROFILE_MAX_TEXT)
		return bj_err_set(err, BJ_E_LIMIT, 0,
				  "a seccomp profile may have at most %d KiB; shorten it",
				  BJ_PROFILE_MAX_TEXT / 1024);

	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);

	if (!root)
		return bj_err_set(err, BJ_E_INVALID, 0, "line %d, column %d: %s", where.line,
				  where.column, where.text);
	*ret_root = root;
	return 0;
}

static int start(struct bj_rules *rules, struct bj_err *err)
{
	/* Level 3 has KILL_PROCESS and LOG. Told, not asked: the machine that builds may be
	 * older than the one that runs. */
	seccomp_api_set(3);
	rules->ctx = seccomp_init(rules->default_action);
	if (!rules->ctx)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot start a filter");

	int r = seccomp_attr_set(rules->ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	if (r == 0)
		r = seccomp_attr_set(rules->ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot set up a filter") : 0;
}

static int add_rules(const json_t *root, struct bj_rules *rules, struct bj_err *err)
{
	const json_t *entries = json_object_get(root, "syscalls");

	if (entries && !json_is_null(entries) && !json_is_array(entries))
		return bj_err_set(err, BJ_E_INVALID, 0, "syscalls must be a list");
	for (size_t i = 0; i < json_array_size(entries); i++) {
		const int r = bj_rule_add(rules, json_array_get(entries, i), i, err);

		if (r < 0)
			return r;
	}
	if ((rules->default_action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		return bj_rule_add_unknown(rules, err);
	return 0;
}

/* libseccomp 2.5 writes to descriptors only. */
static int export(scmp_filter_ctx ctx, struct bj_buf *ret_code, struct bj_err *err)
{
	AUTO_FD int fd = memfd_create("filter", MFD_CLOEXEC);
	AUTO_BUF struct bj_buf code = { .max = BJ_FILTER_MAX };

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a memory file");

	int r = seccomp_export_bpf(ctx, fd);

	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot compile the filter");
	if (lseek(fd, 0, SEEK_SET) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the filter");
	r = bj_fd_read_all(fd, &code);
	if (r == -EFBIG)
		return bj_err_set(err, BJ_E_LIMIT, 0,
				  "the profile compiles to more than 4093 instructions; "
				  "use fewer conditions");
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot read the filter");
	*ret_code = code;
	code = (struct bj_buf){ 0 };
	return 0;
}

/* The header and then the rules; with no filter in @rules they are only looked at. */
static int read_profile(const json_t *root, struct bj_rules *rules, bool compile,
			struct bj_err *err)
{
	int r = bj_rule_check_fields(root, "the profile", FIELDS, err);

	if (r == 0)
		r = bj_rule_action(root, "", "defaultAction", "defaultErrnoRet",
				   &rules->default_action, err);
	if (r == 0 && compile)
		r = start(rules, err);
	return r < 0 ? r : add_rules(root, rules, err);
}

int bj_profile_check(const char *text, size_t size, struct bj_err *err)
{
	AUTO_JSON json_t *root = NULL;
	struct bj_rules rules = { .newest = -1 };
	const int r = parse(text, size, &root, err);

	return r < 0 ? r : read_profile(root, &rules, false, err);
}

static int compile_here(const char *text, size_t size, struct bj_buf *ret_code, struct bj_err *err)
{
	AUTO_JSON json_t *root = NULL;
	AUTO_RULES struct bj_rules rules = { .newest = -1 };
	int r = parse(text, size, &root, err);

	if (r == 0)
		r = read_profile(root, &rules, true, err);
	return r < 0 ? r : export(rules.ctx, ret_code, err);
}

/* In the child: what happened as a struct bj_err, then the program. */
static _Noreturn void compile_child(int fd, const char *text, size_t size)
{
	const struct rlimit cpu = { BJ_PROFILE_CPU_SECONDS, BJ_PROFILE_CPU_SECONDS };
	const struct rlimit core = { 0, 0 };
	struct bj_buf code = { 0 };
	struct bj_err err = { 0 };

	if (setrlimit(RLIMIT_CPU, &cpu) < 0 || setrlimit(RLIMIT_CORE, &core) < 0)
		bj_err_set(&err, BJ_E_SYSTEM, errno, "cannot limit the compiler");
	else
		compile_here(text, size, &code, &err);

	const bool sent = bj_fd_write_all(fd, &err, sizeof(err)) == 0 &&
			  bj_fd_write_all(fd, code.data, code.size) == 0;

	_exit(sent ? 0 : 1);
}

/* Take what compile_child() wrote. It is ours, but it may be cut short anywhere. */
static int receive(int fd, struct bj_buf *ret_code, struct bj_err *err)
{
	AUTO_BUF struct bj_buf code = { .max = BJ_FILTER_MAX };
	struct bj_err said;

	if (bj_fd_read_exact(fd, &said, sizeof(said)) < 0 ||
	    (said.code == 0 && (bj_fd_read_all(fd, &code) < 0 || code.size == 0)))
		return bj_err_set(err, BJ_E_LIMIT, 0,
				  "its conditions take more than %d s to compile; use fewer "
				  "arguments in a rule",
				  BJ_PROFILE_CPU_SECONDS);
	if (said.code != 0) {
		if (err)
			*err = said;
		return -said.code;
	}
	*ret_code = code;
	code = (struct bj_buf){ 0 };
	return 0;
}

int bj_profile_compile(const char *text, size_t size, struct bj_buf *ret_code, struct bj_err *err)
{
	int pipe_fds[2];
	int r = bj_profile_check(text, size, err);

	if (r < 0)
		return r;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a pipe");

	const pid_t pid = fork();

	if (pid == 0)
		compile_child(pipe_fds[1], text, size);
	close(pipe_fds[1]);
	r = pid < 0 ? bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start the compiler")
		    : receive(pipe_fds[0], ret_code, err);
	close(pipe_fds[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

static int read_text(const char *path, struct bj_buf *text, struct bj_err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return bj_err_set(err, errno == ENOENT ? BJ_E_NOT_FOUND : BJ_E_SYSTEM, errno,
				  "cannot open the seccomp profile %.100s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "the seccomp profile %.100s is not a plain file", path);

	const int r = bj_fd_read_all(fd, text);

	if (r == -EFBIG)
		return bj_err_set(err, BJ_E_LIMIT, 0,
				  "the seccomp profile %.100s is larger than %d KiB; shorten it",
				  path, BJ_PROFILE_MAX_TEXT / 1024);
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot read the seccomp profile %.100s",
				  path);
	return 0;
}

int bj_profile_compile_file(const char *path, struct bj_buf *ret_code, struct bj_err *err)
{
	AUTO_BUF struct bj_buf text = { .max = BJ_PROFILE_MAX_TEXT };
	int r = read_text(path, &text, err);

	if (r < 0)
		return r;
	r = bj_profile_compile(text.data ? text.data : "", text.size, ret_code, err);
	return r < 0 ? bj_err_wrap(err, "the seccomp profile %.60s", path) : 0;
}
