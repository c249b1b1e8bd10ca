/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/track.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "docker/share.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#define SUFFIX ".active"
#define KEPT   ".kept"

enum {
	MAX_FILE = 16 << 20,
	/* An engine may finish a create that was asked for just before the owner died. */
	LATE_CREATE_SECONDS = 5,
};

/* --- the own file ----------------------------------------------------------------------------- */

static int make_dirs(const char *dir, struct bj_err *err)
{
	char path[512];
	const size_t n = (size_t)snprintf(path, sizeof(path), "%s", dir);

	if (n >= sizeof(path))
		return bj_err_set(err, BJ_E_INVALID, 0, "the state directory has too long a name");
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %.100s", path);
		*p = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make %.100s", path);
	return 0;
}

static void default_dir(char *path, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		snprintf(path, size, "/run/belljar/docker");
	else if (runtime && runtime[0] == '/')
		snprintf(path, size, "%s/belljar/docker", runtime);
	else
		snprintf(path, size, "/tmp/belljar-%u/docker", geteuid());
}

/* The directory is ours and nobody else may write to it, or its files prove nothing. */
static int open_dir(const char *state_dir, char path[400], struct bj_err *err)
{
	struct stat st;

	if (state_dir)
		snprintf(path, 400, "%s/docker", state_dir);
	else
		default_dir(path, 400);

	const int r = make_dirs(path, err);

	if (r < 0)
		return r;
	AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %.100s", path);
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "%.100s belongs to somebody else; set state_dir", path);
	return bj_take_fd(&fd);
}

int bj_track_open(struct bj_track *track, const char *dir, struct bj_err *err)
{
	unsigned char bytes[16];
	char name[64];

	*track = (struct bj_track){ .fd = -1 };
	track->dir = open_dir(dir, track->path, err);
	if (track->dir < 0)
		return -err->code;
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return bj_err_set(err, BJ_E_SYSTEM, errno, "no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(track->owner + 2 * i, 3, "%02x", bytes[i]);
	/* Locked under another name first: nobody must see it without its lock. */
	snprintf(name, sizeof(name), ".%s", track->owner);
	track->fd =
		openat(track->dir, name, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	if (track->fd < 0 || flock(track->fd, LOCK_EX | LOCK_NB) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot track containers on disk");

	char final[64];

	snprintf(final, sizeof(final), "%s" SUFFIX, track->owner);
	if (renameat(track->dir, name, track->dir, final) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot track containers on disk");
	return 0;
}

static int write_line(const struct bj_track *track, char sign, const char *name)
{
	char line[BJ_CONTAINER_NAME + 2];
	const int n = snprintf(line, sizeof(line), "%c%s\n", sign, name);

	return write(track->fd, line, (size_t)n) == n ? 0 : -1;
}

int bj_track_add(const struct bj_track *track, const char *name, struct bj_err *err)
{
	if (write_line(track, '+', name) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot track a container on disk");
	return 0;
}

void bj_track_drop(const struct bj_track *track, const char *name)
{
	write_line(track, '-', name);
}

int bj_track_keep(struct bj_track *track, const char *text, char *path, size_t size,
		  struct bj_err *err)
{
	char file[64];

	snprintf(file, sizeof(file), "%s" KEPT, track->owner);
	AUTO_FD int fd = openat(track->dir, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const int r = fd < 0 ? -errno : bj_fd_write_all(fd, text, strlen(text));

	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot keep a file in %.100s",
				  track->path);
	snprintf(path, size, "%s/%s", track->path, file);
	return 0;
}

/* The track of @owner and what was kept beside it. */
static void unlink_owner(const struct bj_track *track, const char *owner)
{
	static const char *const suffixes[] = { KEPT, SUFFIX };
	char file[64];

	for (size_t i = 0; i < BJ_ARRAY_SIZE(suffixes); i++) {
		snprintf(file, sizeof(file), "%.32s%s", owner, suffixes[i]);
		unlinkat(track->dir, file, 0);
	}
}

/* --- files of owners -------------------------------------------------------------------------- */

static int read_lines(int fd, struct bj_buf *text)
{
	text->max = MAX_FILE;
	return lseek(fd, 0, SEEK_SET) < 0 ? -1 : bj_fd_read_all(fd, text);
}

/* The name at @line when it is one of ours and no later line says that it is gone. */
static bool is_alive(const char *line, char name[BJ_CONTAINER_NAME])
{
	char gone[BJ_CONTAINER_NAME + 3];
	const size_t n = strcspn(line, "\n");

	if (line[0] != '+' || n < strlen(BJ_CONTAINER_PREFIX) + 2 || n > BJ_CONTAINER_NAME ||
	    line[n] != '\n' ||
	    strncmp(line + 1, BJ_CONTAINER_PREFIX, strlen(BJ_CONTAINER_PREFIX)) != 0 ||
	    strspn(line + 1 + strlen(BJ_CONTAINER_PREFIX), "0123456789abcdef") !=
		    n - 1 - strlen(BJ_CONTAINER_PREFIX))
		return false;
	snprintf(gone, sizeof(gone), "-%.*s\n", (int)n - 1, line + 1);
	snprintf(name, BJ_CONTAINER_NAME, "%.*s", (int)n - 1, line + 1);
	return !strstr(line, gone);
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

void bj_track_close(struct bj_track *track)
{
	AUTO_BUF struct bj_buf text = { 0 };
	char name[BJ_CONTAINER_NAME];
	bool alive = false;

	if (track->fd >= 0 && read_lines(track->fd, &text) == 0) {
		for (const char *l = text.data; l && !alive; l = next_line(l))
			alive = is_alive(l, name);
		if (!alive)
			unlink_owner(track, track->owner);
	}
	if (track->fd >= 0)
		close(track->fd);
	if (track->dir >= 0)
		close(track->dir);
	track->fd = track->dir = -1;
}

/* --- sweeping --------------------------------------------------------------------------------- */

/* Open the file of an owner that is dead: the descriptor, or -1. */
static int open_dead(const struct bj_track *track, const char *file)
{
	const size_t n = strlen(file);

	if (n != strlen(SUFFIX) + BJ_OWNER_ID - 1 ||
	    strcmp(file + n - strlen(SUFFIX), SUFFIX) != 0 ||
	    strncmp(file, track->owner, BJ_OWNER_ID - 1) == 0)
		return -1;
	AUTO_FD int fd = openat(track->dir, file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -1;
	return bj_take_fd(&fd);
}

/* Remove one container of a dead owner; one that is not there may still be on its way. */
static int remove_late(struct bj_docker *docker, const char *name, time_t written,
		       struct bj_err *err)
{
	int r = bj_container_remove(docker, name, err);

	while (r == 1 && time(NULL) < written + LATE_CREATE_SECONDS) {
		poll(NULL, 0, 100);
		r = bj_container_remove(docker, name, err);
	}
	return r;
}

/* What bears the label of a dead owner and was not in its track: a volume whose container is gone
 * already, a container that is stopped. */
static void prune_owner(struct bj_docker *docker, const char *owner)
{
	static const char *const kinds[] = { "containers", "volumes" };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(kinds); i++) {
		char path[160];

		/* filters={"label":["belljar.owner=OWNER"]}, escaped */
		snprintf(path, sizeof(path),
			 "/%s/prune?filters=%%7B%%22label%%22%%3A%%5B%%22" BJ_LABEL_OWNER
			 "%%3D%.32s%%22%%5D%%7D",
			 kinds[i], owner);

		const struct bj_docker_call call = { .method = "POST", .path = path, .body = "" };

		(void)bj_docker_do(docker, &call, NULL, NULL);
	}
}

static int sweep_owner(const struct bj_track *track, struct bj_docker *docker, const char *file,
		       int fd, struct bj_err *err)
{
	AUTO_BUF struct bj_buf text = { 0 };
	char name[BJ_CONTAINER_NAME];
	struct stat st;
	int swept = 0;

	if (fstat(fd, &st) < 0 || read_lines(fd, &text) < 0)
		return 0;
	for (const char *l = text.data; l; l = next_line(l)) {
		if (!is_alive(l, name))
			continue;

		const int r = remove_late(docker, name, st.st_mtime, err);

		if (r < 0)
			return r;
		swept += r == 0;
	}
	prune_owner(docker, file);
	bj_share_sweep(file);
	unlink_owner(track, file);
	return swept;
}

/* Containers of ours whose time is over, whoever made them. */
static int sweep_expired(struct bj_docker *docker, struct bj_err *err)
{
	AUTO_BUF struct bj_buf body = { 0 };
	/* filters={"label":["belljar.owner"]}, escaped */
	const struct bj_docker_call call = {
		.method = "GET",
		.path = "/containers/"
			"json?all=1&filters=%7B%22label%22%3A%5B%22belljar.owner%22%5D%7D"
	};
	const int status = bj_docker_do(docker, &call, &body, err);
	int swept = 0;

	if (status < 0)
		return status;
	if (status != 200)
		return bj_docker_refused("list containers", status, &body, err);

	json_t *list = json_loadb(body.data ? body.data : "", body.size, 0, NULL);
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *id = NULL, *expires = NULL;

		if (json_unpack(item, "{s:s, s:{s:s}}", "Id", &id, "Labels", BJ_LABEL_EXPIRES,
				&expires) == 0 &&
		    strtoull(expires, NULL, 10) < (uint64_t)time(NULL) && id[0] &&
		    strspn(id, "0123456789abcdef") == strlen(id) && strlen(id) <= 64)
			swept += bj_container_remove(docker, id, err) == 0;
	}
	json_decref(list);
	return swept;
}

/* Call @what for the file of every dead owner; stops at the first negative. The sum. */
static int each_dead(const struct bj_track *track, struct bj_docker *docker, bool look_only,
		     struct bj_err *err)
{
	const int fd = openat(track->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int sum = 0;

	while (dir && (e = readdir(dir))) {
		AUTO_FD int file = open_dead(track, e->d_name);

		if (file < 0)
			continue;

		const int r = look_only ? 1 : sweep_owner(track, docker, e->d_name, file, err);

		if (r < 0)
			return r;
		sum += r;
	}
	return sum;
}

bool bj_track_has_dead(const struct bj_track *track)
{
	return each_dead(track, NULL, true, NULL) > 0;
}

int bj_track_sweep(const struct bj_track *track, struct bj_docker *docker, bool all,
		   struct bj_err *err)
{
	const int swept = each_dead(track, docker, false, err);
	const int expired = swept >= 0 && all ? sweep_expired(docker, err) : 0;

	return swept < 0 ? swept : expired < 0 ? expired : swept + expired;
}
