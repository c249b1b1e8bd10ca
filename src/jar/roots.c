/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/roots.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "jar/layers.h"
#include "jar/mount_api.h"
#include "jar/mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static int open_own(int proc_fd)
{
	return openat(proc_fd, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
}

static void go_back(const struct bj_roots *roots)
{
	/* Whoever stays would take the template's files for the launcher's. */
	if (setns(roots->own, CLONE_NEWNS) < 0)
		abort();
}

static int attach_nobody(int root, struct bj_err *err)
{
	AUTO_FD int proc = bj_mount_clone(AT_FDCWD, BJ_MOUNTS_NOBODY, 0, err);

	return proc < 0 ? proc : bj_mount_attach(proc, root, "proc", err);
}

/* -1 when it cannot be made. */
static int make(const struct bj_roots *roots, uint32_t image, int proc_fd, bool want_proc)
{
	struct bj_err unused;
	int fd = -1;

	if (unshare(CLONE_NEWNS) < 0)
		return -1;

	AUTO_FD int root = bj_mounts_copy(image, &unused);

	if (root >= 0 && (!want_proc || attach_nobody(root, &unused) == 0) &&
	    bj_mounts_make_root(root, &unused) == 0)
		fd = open_own(proc_fd);
	go_back(roots);
	return fd;
}

/* A test build that leaves one of these out takes the long way: there it is left out. */
static bool is_left_out(void)
{
	static const enum bj_layer_id layers[] = { BJ_LAYER_MOUNT_NS, BJ_LAYER_READ_ONLY_ROOT,
						   BJ_LAYER_PRIVATE_PROC };

	for (size_t i = 0; i < BJ_ARRAY_SIZE(layers); i++)
		if (bj_layer_faulty(layers[i]))
			return true;
	return false;
}

void bj_roots_init(struct bj_roots *roots, uint32_t images, int proc_fd, bool want_proc)
{
	*roots = (struct bj_roots){ .own = is_left_out() ? -1 : open_own(proc_fd),
				    .at = BJ_WIRE_IMAGES };
	for (uint32_t i = 0; i < BJ_WIRE_IMAGES; i++) {
		const bool wanted = roots->own >= 0 && (images & (1u << i));

		roots->of[i] = wanted ? make(roots, i, proc_fd, want_proc) : -1;
	}
}

bool bj_roots_enter(struct bj_roots *roots, uint32_t image)
{
	if (roots->at == image)
		return true;
	if (roots->of[image] >= 0 && setns(roots->of[image], CLONE_NEWNS) == 0) {
		roots->at = image;
		return true;
	}
	if (roots->at != BJ_WIRE_IMAGES)
		go_back(roots);
	roots->at = BJ_WIRE_IMAGES;
	return false;
}
