/* SPDX-License-Identifier: Apache-2.0 */

/* The broker's own process: it opens the engine, keeps the pool of waiting containers, and sees to
 * it that a worker that dies leaves nothing. Everything that takes time happens in children. */

#include "docker/broker.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "docker/embed.h"
#include "docker/profile.h"
#include "docker/worker.h"
#include "jar/creds.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum {
	POOL_MAX = 64,
	/* A container that waited this long makes room for a fresh one. */
	POOL_SECONDS = 1800,
	PROFILE_MAX = 1 << 20,
};

enum child_kind { WORKER, FILLER, CLEANER };

/* A child and the container it has in hand. */
struct child {
	pid_t pid;
	enum child_kind kind;
	char name[BJ_CONTAINER_NAME];
	struct bj_wire_launch shape;
};

/* A container that waits for its script. */
struct waiting {
	char name[BJ_CONTAINER_NAME];
	struct bj_wire_launch shape;
	time_t born;
};

struct broker {
	struct bj_broker_settings settings;
	struct bj_docker docker;
	struct bj_track track;
	struct bj_share share;
	struct bj_worker_ground ground;
	struct bj_buf profile; /* the user's, as it was read */
	char *custom;          /* and as engines get it; NULL: there is none */
	char profile_path[480];
	struct child *children;
	size_t n_children;
	struct waiting pool[POOL_MAX];
	size_t n_pool;
	unsigned int runs;
	bool leaving;
	/* for the worker that is forked next */
	char next[BJ_CONTAINER_NAME];
	bool next_warm;
	bool untidy; /* in the worker: the container is still there */
	struct bj_wire_launch shape;
};

/* --- children --------------------------------------------------------------------------------- */

static bool remember(struct broker *b, pid_t pid, enum child_kind kind, const char *name,
		     const struct bj_wire_launch *shape)
{
	struct child *list = realloc(b->children, (b->n_children + 1) * sizeof(*list));

	if (!list)
		return false;
	b->children = list;
	list[b->n_children] = (struct child){ .pid = pid, .kind = kind };
	snprintf(list[b->n_children].name, BJ_CONTAINER_NAME, "%s", name);
	if (shape)
		list[b->n_children].shape = *shape;
	b->n_children++;
	return true;
}

/* Fork a child that makes or removes the container @name. */
static void fork_for(struct broker *b, enum child_kind kind, const char *name,
		     const struct bj_wire_launch *shape)
{
	const pid_t pid = fork();

	if (pid == 0) {
		const bool good = kind == FILLER
					  ? bj_worker_make(&b->ground, shape, NULL, name, NULL) == 0
					  : bj_worker_remove(&b->ground, name);

		_exit(!good);
	}
	if (pid > 0)
		remember(b, pid, kind, name, shape);
}

/* --- the pool --------------------------------------------------------------------------------- */

/* Two launches want the same container: all that the template takes from a launch. */
static bool same_shape(const struct bj_wire_launch *a, const struct bj_wire_launch *b)
{
	return a->language == b->language && a->memory == b->memory && a->tmp_size == b->tmp_size &&
	       a->cpu_milli == b->cpu_milli && a->pids == b->pids;
}

static void forget_waiting(struct broker *b, size_t i)
{
	b->pool[i] = b->pool[--b->n_pool];
}

/* Take a container that fits @launch out of the pool; old ones are removed on the way. */
static bool take_waiting(struct broker *b, const struct bj_wire_launch *launch)
{
	for (size_t i = b->n_pool; i-- > 0;) {
		if (time(NULL) - b->pool[i].born > POOL_SECONDS) {
			fork_for(b, CLEANER, b->pool[i].name, NULL);
			forget_waiting(b, i);
		}
	}
	for (size_t i = 0; i < b->n_pool; i++)
		if (same_shape(&b->pool[i].shape, launch)) {
			snprintf(b->next, sizeof(b->next), "%s", b->pool[i].name);
			forget_waiting(b, i);
			return true;
		}
	return false;
}

static size_t count_fillers(const struct broker *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_children; i++)
		n += b->children[i].kind == FILLER;
	return n;
}

/* Keep the pool full of what was asked for last. The oldest shape makes room. */
static void fill_pool(struct broker *b, const struct bj_wire_launch *shape)
{
	const size_t size = b->settings.pool < POOL_MAX ? b->settings.pool : POOL_MAX;
	char name[BJ_CONTAINER_NAME];

	if (b->n_pool == size && size > 0 && !same_shape(&b->pool[0].shape, shape)) {
		fork_for(b, CLEANER, b->pool[0].name, NULL);
		forget_waiting(b, 0);
	}
	for (size_t n = b->n_pool + count_fillers(b); n < size; n++)
		if (bj_container_name(name))
			fork_for(b, FILLER, name, shape);
}

/* --- what a role does ------------------------------------------------------------------------- */

static int read_profile(struct broker *b, struct bj_err *err)
{
	const char *file = b->settings.seccomp_file;

	if (!file) {
		b->ground.seccomp = b->settings.seccomp_engine ? NULL : bj_embed_profile;
		return 0;
	}
	AUTO_FD int fd = open(file, O_RDONLY | O_CLOEXEC);
	b->profile.max = PROFILE_MAX;

	const int r = fd < 0 ? -errno : bj_fd_read_all(fd, &b->profile);

	if (r < 0 || b->profile.size == 0)
		return bj_err_set(err, BJ_E_NOT_FOUND, -r, "cannot read the profile %.150s", file);
	b->custom = bj_docker_profile(b->profile.data, bj_embed_profile, bj_embed_floor, err);
	b->ground.seccomp = b->custom;
	return b->custom ? 0 : -BJ_E_INVALID;
}

static void start_sweep(struct broker *b)
{
	const pid_t pid = fork();

	if (pid == 0)
		_exit(bj_track_sweep(&b->track, &b->docker, false, NULL) < 0);
	if (pid > 0)
		remember(b, pid, CLEANER, "", NULL);
}

/* What dead brokers left is removed by a child, beside the first run; `belljar gc` waits. */
static int sweep(struct broker *b, struct bj_wire_reply *hello)
{
	if (b->settings.sweep_all) {
		const int swept = bj_track_sweep(&b->track, &b->docker, true, &hello->err);

		hello->swept = swept > 0 ? (uint32_t)swept : 0;
		return swept < 0 ? swept : 0;
	}
	if (bj_track_has_dead(&b->track))
		start_sweep(b);
	return 0;
}

static void greet(void *self, struct bj_wire_reply *hello)
{
	struct broker *b = self;
	int r = read_profile(b, &hello->err);

	if (r == 0)
		r = bj_docker_open(&b->docker, b->settings.host, (long)b->settings.timeout_ms,
				   &hello->err);
	if (r == 0)
		r = bj_track_open(&b->track, b->settings.state_dir, &hello->err);
	if (r == 0 && b->docker.podman && b->ground.seccomp) {
		/* Podman takes a path where Docker takes the profile itself. */
		r = bj_track_keep(&b->track, b->ground.seccomp, b->profile_path,
				  sizeof(b->profile_path), &hello->err);
		b->ground.seccomp = b->profile_path;
	}
	if (r < 0)
		return;
	b->ground.settings = &b->settings;
	b->ground.docker = &b->docker;
	b->ground.track = &b->track;
	b->ground.share = &b->share;
	if (b->settings.mount_script)
		bj_share_open(&b->share, b->track.owner, &b->docker.host);
	if (sweep(b, hello) < 0)
		return;
	/* The socket is open to us by who we are; no other privilege is needed from here on. */
	(void)bj_creds_drop_caps(NULL);
	(void)bj_creds_no_new_privs(NULL);
}

static void prepare(void *self, struct bj_role_launch *run)
{
	struct broker *b = self;

	b->runs++;
	b->shape = run->launch;
	b->next_warm = b->settings.pool > 0 && take_waiting(b, &run->launch);
	if (!b->next_warm && !bj_container_name(b->next))
		b->next[0] = '\0';
}

static void started(void *self, pid_t worker)
{
	struct broker *b = self;

	remember(b, worker, WORKER, b->next, &b->shape);
}

static void work(void *self, struct bj_role_launch *run, struct bj_wire_reply *ret)
{
	struct broker *b = self;

	if (!b->next[0])
		bj_err_set(&ret->err, BJ_E_SYSTEM, 0, "no random numbers");
	else
		b->untidy = bj_worker_run(&b->ground, run, b->next, b->next_warm, ret);
}

static void tidy(void *self)
{
	const struct broker *b = self;

	if (b->untidy)
		bj_worker_tidy(&b->ground, b->next);
}

/* A service lives long: it looks after what others left while it was up. */
static void tick(void *self)
{
	struct broker *b = self;

	if (b->docker.version[0] && bj_track_has_dead(&b->track))
		start_sweep(b);
}

/* A filler is done: its container waits, unless nobody will come for it. */
static void take_filled(struct broker *b, const struct child *c)
{
	if (b->leaving || b->n_pool == POOL_MAX) {
		fork_for(b, CLEANER, c->name, NULL);
		return;
	}
	b->pool[b->n_pool] = (struct waiting){ .shape = c->shape, .born = time(NULL) };
	snprintf(b->pool[b->n_pool++].name, BJ_CONTAINER_NAME, "%s", c->name);
}

static void reaped(void *self, pid_t pid, int status)
{
	struct broker *b = self;
	const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;

	for (size_t i = 0; i < b->n_children; i++) {
		const struct child c = b->children[i];

		if (c.pid != pid)
			continue;
		b->children[i] = b->children[--b->n_children];
		if (c.kind == FILLER && good)
			take_filled(b, &c);
		else if (c.kind != CLEANER && !good && c.name[0])
			fork_for(b, CLEANER, c.name, NULL); /* it died with a container in hand */
		/* A handle that ran a second script will run a third. The pool is filled after a
		 * run, not beside it. */
		if (c.kind == WORKER && b->runs > 1 && !b->leaving)
			fill_pool(b, &c.shape);
		return;
	}
}

static void closing(void *self)
{
	struct broker *b = self;

	b->leaving = true;
}

static void leave(void *self)
{
	struct broker *b = self;
	int status;
	pid_t pid;

	for (size_t i = 0; i < b->n_pool; i++)
		fork_for(b, CLEANER, b->pool[i].name, NULL);
	b->n_pool = 0;
	while ((pid = waitpid(-1, &status, 0)) > 0 || (pid < 0 && errno == EINTR))
		if (pid > 0)
			reaped(b, pid, status);
	bj_share_close(&b->share);
	bj_track_close(&b->track);
	bj_docker_done(&b->docker);
	bj_buf_done(&b->profile);
	free(b->custom);
	free(b->children);
}

int bj_broker_new(const struct bj_broker_settings *settings, struct bj_process **ret,
		  struct bj_err *err)
{
	const struct bj_role_ops ops = {
		.greet = greet,
		.prepare = prepare,
		.started = started,
		.work = work,
		.tidy = tidy,
		.reaped = reaped,
		.closing = closing,
		.leave = leave,
		.tick = tick,
		.tick_ms = (int)settings->sweep_ms,
	};
	struct broker *b = calloc(1, sizeof(*b));

	if (!b)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot start the broker");
	b->settings = *settings;
	b->track.dir = b->track.fd = b->share.dir = -1;

	const int r = bj_role_new("broker", &ops, b, ret, err);

	free(b);
	return r;
}
