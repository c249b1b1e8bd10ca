/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "record/audit_verify.h"
#include "record/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

struct bj_audit_reader {
	char state_dir[PATH_MAX];
	int dir;
	unsigned int *files; /* as they were when we looked */
	uint64_t *sizes;     /* how much of each is whole */
	size_t n_files;
	size_t at; /* index of the file being read */
	FILE *file;
	uint64_t read; /* bytes of it */
	char path[PATH_MAX + 64];
	uint64_t line;
	bool whole;
	char *text;
	size_t room;
};

/* The files and their sizes, without anybody writing meanwhile. */
static int look(struct bj_audit_reader *r, struct bj_err *err)
{
	char lock_path[PATH_MAX + 16], name[BJ_AUDIT_NAME];
	AUTO_FREE unsigned int *files = NULL;
	size_t n = 0;

	snprintf(lock_path, sizeof(lock_path), "%s/" BJ_AUDIT_LOCK, r->state_dir);

	/* Without the lock file nobody writes. */
	AUTO_FD int lock = open(lock_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (lock >= 0)
		flock(lock, LOCK_SH);

	const int rc = bj_audit_files(r->dir, &files, &n, err);

	if (rc < 0)
		return rc;
	AUTO_FREE uint64_t *sizes = calloc(n + 1, sizeof(*sizes));

	if (!sizes)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the audit log");
	for (size_t i = 0; i < n; i++) {
		struct stat st;

		bj_audit_file_name(files[i], name);
		if (fstatat(r->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			sizes[i] = (uint64_t)st.st_size;
	}
	free(r->files);
	free(r->sizes);
	r->files = BJ_TAKE_PTR(files);
	r->sizes = BJ_TAKE_PTR(sizes);
	r->n_files = n;
	return 0;
}

static int open_file(struct bj_audit_reader *r, struct bj_err *err)
{
	char name[BJ_AUDIT_NAME];

	bj_audit_file_name(r->files[r->at], name);
	snprintf(r->path, sizeof(r->path), "%s/" BJ_AUDIT_DIR "/%s", r->state_dir, name);

	AUTO_FD int fd = bj_state_file(r->dir, name, O_RDONLY);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -fd, "cannot open %.200s", r->path);
	r->file = fdopen(fd, "re");
	if (!r->file)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %.200s", r->path);
	bj_take_fd(&fd);
	r->line = r->read = 0;
	return 0;
}

int bj_audit_reader_open(const char *state_dir, struct bj_audit_reader **ret, struct bj_err *err)
{
	struct bj_audit_reader *r = calloc(1, sizeof(*r));
	char path[PATH_MAX + 16];
	int rc = 0;

	if (!r)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the audit log");
	snprintf(r->state_dir, sizeof(r->state_dir), "%s", state_dir);
	snprintf(path, sizeof(path), "%s/" BJ_AUDIT_DIR, state_dir);
	r->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (r->dir < 0)
		rc = bj_err_set(err, errno == ENOENT ? BJ_E_NOT_FOUND : BJ_E_SYSTEM, errno,
				"cannot open the audit log %.120s", path);
	if (rc == 0)
		rc = look(r, err);
	if (rc < 0) {
		bj_audit_reader_free(r);
		return rc;
	}
	*ret = r;
	return 0;
}

void bj_audit_reader_free(struct bj_audit_reader *r)
{
	if (!r)
		return;
	if (r->file)
		fclose(r->file);
	if (r->dir >= 0)
		close(r->dir);
	free(r->files);
	free(r->sizes);
	free(r->text);
	free(r);
}

int bj_audit_reader_refresh(struct bj_audit_reader *r, struct bj_err *err)
{
	/* Files only come at the end: the one being read keeps its place. */
	const unsigned int current = r->at < r->n_files ? r->files[r->at] : 0;
	const int rc = look(r, err);

	if (rc < 0 || !current)
		return rc;
	for (r->at = 0; r->at < r->n_files && r->files[r->at] < current;)
		r->at++;
	if (r->file)
		clearerr(r->file);
	return 0;
}

int bj_audit_reader_next(struct bj_audit_reader *r, const char **ret_text, size_t *ret_size,
			 struct bj_err *err)
{
	while (r->at < r->n_files) {
		if (!r->file) {
			const int rc = open_file(r, err);

			if (rc < 0)
				return rc;
		}
		if (r->read < r->sizes[r->at]) {
			const ssize_t n = getline(&r->text, &r->room, r->file);

			if (n > 0) {
				r->read += (uint64_t)n;
				r->line++;
				*ret_text = r->text;
				r->whole = r->text[n - 1] == '\n';
				*ret_size = (size_t)n - r->whole;
				return 1;
			}
			if (ferror(r->file))
				return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read %.200s",
						  r->path);
		}
		/* The last file may grow: it stays open. */
		if (r->at + 1 == r->n_files)
			return 0;
		fclose(r->file);
		r->file = NULL;
		r->at++;
	}
	return 0;
}

const char *bj_audit_reader_file(const struct bj_audit_reader *r)
{
	return r->path;
}

uint64_t bj_audit_reader_line(const struct bj_audit_reader *r)
{
	return r->line;
}

bool bj_audit_reader_whole(const struct bj_audit_reader *r)
{
	return r->whole;
}
