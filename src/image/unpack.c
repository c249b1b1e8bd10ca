/* SPDX-License-Identifier: Apache-2.0 */
#include "image/unpack.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "jar/creds.h"
#include "jar/landlock.h"
#include "jar/mounts.h"
#include "seccomp/filters.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

_Static_assert(sizeof(struct bj_unpack_report) <= 4096, "a report is one write to a pipe");

enum { FD_ARCHIVE = 3, FD_DIR, FD_REPORT, FD_FREE };

/* Decompressors ask for windows; none needs this much. */
#define MEMORY_MAX (UINT64_C(2) << 30)

/* --- the work --------------------------------------------------------------------------------- */

static int lay_one(const struct bj_archive_lib *lib, const struct bj_bundle *b, size_t i,
		   struct bj_tree *tree, struct bj_err *err)
{
	char digest[BJ_DIGEST_HEX];
	AUTO_FD int fd = bj_bundle_open(b, b->layers[i]);
	int r = fd < 0 ? bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read a layer") : 0;

	if (r == 0 && i > 0)
		r = bj_image_layer(lib, fd, true, tree, digest, err);
	if (r == 0)
		r = bj_image_layer(lib, fd, false, tree, digest, err);
	if (r == 0 && strcmp(digest, b->diffs[i]) != 0)
		r = bj_err_set(err, BJ_E_INVALID, 0,
			       "the archive was changed: layer %zu has another digest", i + 1);
	return r;
}

static int unpack_bundle(const struct bj_archive_lib *lib, const struct bj_unpack_plan *plan,
			 int spool, struct bj_tree *tree, struct bj_unpack_report *ret,
			 struct bj_err *err)
{
	struct bj_bundle *b = calloc(1, sizeof(*b));
	int r = b ? bj_bundle_read(b, lib, plan->archive, spool, plan->limits.bytes, err)
		  : bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for an archive");

	for (size_t i = 0; r == 0 && i < b->n_layers; i++)
		r = lay_one(lib, b, i, tree, err);
	if (r == 0) {
		snprintf(ret->digest, sizeof(ret->digest), "%s", b->digest);
		snprintf(ret->name, sizeof(ret->name), "%s", b->name);
		snprintf(ret->path, sizeof(ret->path), "%s", b->path);
		ret->layers = (uint32_t)b->n_layers;
	}
	if (b)
		bj_bundle_done(b);
	free(b);
	return r;
}

/* A tree without a config is one layer. Its digest is that of a config that says just that. */
static int unpack_rootfs(const struct bj_archive_lib *lib, const struct bj_unpack_plan *plan,
			 struct bj_tree *tree, struct bj_unpack_report *ret, struct bj_err *err)
{
	char diff[BJ_DIGEST_HEX], config[256];
	const int r = bj_image_layer(lib, plan->archive, false, tree, diff, err);

	if (r < 0)
		return r;
	snprintf(config, sizeof(config), "{\"rootfs\":{\"diff_ids\":[\"sha256:%s\"]}}", diff);
	bj_image_digest(config, strlen(config), ret->digest);
	ret->layers = 1;
	return 0;
}

int bj_unpack_here(const struct bj_archive_lib *lib, const struct bj_unpack_plan *plan, int root,
		   int spool, struct bj_unpack_report *ret, struct bj_err *err)
{
	struct bj_tree tree = { .root = root, .limits = plan->limits };
	const int r = plan->rootfs ? unpack_rootfs(lib, plan, &tree, ret, err)
				   : unpack_bundle(lib, plan, spool, &tree, ret, err);

	ret->bytes = tree.bytes;
	ret->files = tree.files;
	ret->dropped = tree.dropped;
	return r;
}

/* --- the process ------------------------------------------------------------------------------ */

static void limit(int what, uint64_t value)
{
	const struct rlimit lim = { value, value };

	(void)setrlimit(what, &lim);
}

/* Give up all that unpacking does not take. What a machine does not offer is not asked for twice:
 * the tree's own rules hold without it. */
static int seal(const struct bj_unpack_plan *plan, struct bj_unpack_report *report,
		struct bj_err *err)
{
	static const struct bj_landlock_rule here[] = { { ".", BJ_LANDLOCK_WRITE } };
	int r = geteuid() == 0 ? bj_creds_become(BJ_JAR_UID, BJ_JAR_GID, err) : 0;

	if (r < 0)
		return r;
	(void)unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS);
	(void)bj_creds_drop_caps(NULL);
	/* As in a jar: zero does not keep a crash from starting what core_pattern names. */
	limit(RLIMIT_CORE, 1);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_NOFILE, 256);
#ifndef __SANITIZE_ADDRESS__ /* its shadow alone takes terabytes of addresses */
	limit(RLIMIT_AS, MEMORY_MAX);
#endif
	limit(RLIMIT_FSIZE, plan->limits.bytes);
	signal(SIGXFSZ, SIG_IGN);
	r = bj_creds_no_new_privs(err);
	if (r == 0)
		r = bj_landlock_seal(here, BJ_ARRAY_SIZE(here), &report->landlock_abi, err);
	if (r < 0)
		return r;
	r = bj_filter_load(&bj_filter_import);
	return r < 0 ? bj_err_set(err, BJ_E_UNSUPPORTED, -r, "cannot seal the import") : 0;
}

/* Put @from where nothing else is, then all three to their places; the rest is closed. */
static bool place_fds(const struct bj_unpack_plan *plan, int report)
{
	const int from[] = { plan->archive, plan->dir, report };
	int up[BJ_ARRAY_SIZE(from)];

	for (size_t i = 0; i < BJ_ARRAY_SIZE(from); i++)
		up[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 64);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(from); i++)
		if (up[i] < 0 || dup3(up[i], FD_ARCHIVE + (int)i, O_CLOEXEC) < 0)
			return false;
	return close_range(FD_FREE, ~0u, 0) == 0;
}

__attribute__((noreturn)) static void become_unpacker(const struct bj_unpack_plan *plan,
						      int report_fd)
{
	struct bj_unpack_report report = { 0 };
	struct bj_archive_lib lib;
	struct bj_unpack_plan own = *plan;
	struct bj_err *err = &report.err;

	if (!place_fds(plan, report_fd))
		_exit(1);
	own.archive = FD_ARCHIVE;
	own.dir = FD_DIR;
	umask(022);
	/* What loads files of the system comes before the seal. */
	setlocale(LC_CTYPE, "C.UTF-8");
	json_object_seed(1);

	int r = bj_archive_load(&lib, err);
	const int root = openat(FD_DIR, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const int spool = openat(FD_DIR, "spool", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (r == 0 && (root < 0 || spool < 0 || fchdir(FD_DIR) < 0))
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot unpack an image");
	if (r == 0)
		r = seal(plan, &report, err);
	if (r == 0)
		(void)bj_unpack_here(&lib, &own, root, spool, &report, err);
	_exit(bj_fd_write_all(FD_REPORT, &report, sizeof(report)) < 0);
}

/* --- the caller's side ------------------------------------------------------------------------ */

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

static bool is_sane(const struct bj_unpack_report *r)
{
	return ends(r->err.msg, sizeof(r->err.msg)) && ends(r->digest, sizeof(r->digest)) &&
	       ends(r->name, sizeof(r->name)) && ends(r->path, sizeof(r->path)) &&
	       r->err.code >= 0 && r->err.code <= BJ_E_CANCELLED &&
	       (r->err.code || (strlen(r->digest) == BJ_DIGEST_HEX - 1 &&
				strspn(r->digest, "0123456789abcdef") == BJ_DIGEST_HEX - 1));
}

int bj_unpack(const struct bj_unpack_plan *plan, struct bj_unpack_report *ret, struct bj_err *err)
{
	struct bj_unpack_report report;
	int pipe_fds[2], status = 0;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a pipe");

	const pid_t pid = fork();

	if (pid == 0)
		become_unpacker(plan, pipe_fds[1]);
	close(pipe_fds[1]);
	AUTO_FD int from = pipe_fds[0];
	if (pid < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot start a process to unpack");

	const int got = bj_fd_read_exact(from, &report, sizeof(report));

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (got < 0 || !is_sane(&report))
		return bj_err_set(err, BJ_E_PROTOCOL, 0,
				  "the process that unpacks died (status %d); the archive may be "
				  "hostile",
				  status);
	if (report.err.code) {
		*err = report.err;
		return -err->code;
	}
	*ret = report;
	return 0;
}
