/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/wire.h"

#include <stdbool.h>

/* Mount namespaces in which the template of an image is the root, and nothing else is there.
 *
 * A jar's mount namespace is a copy of the one that its init is born in. Born in the launcher's
 * own, init would have to copy the template again, pivot into it and drop the rest, and the kernel
 * waits for all CPUs and looks at all processes for that. Born in one of these it has nothing to
 * leave behind, and never had anything else in sight. */
struct bj_roots {
	int own; /* the launcher's; -1: there are no others */
	int of[BJ_WIRE_IMAGES];
	uint32_t at; /* the image whose root we are in; BJ_WIRE_IMAGES: the launcher's own */
};

/* In the launcher's mount namespace, which has a BJ_MOUNTS_NOBODY if it could be made: make one for
 * each image whose bit is in @images.
 * @proc_fd is a /proc of the launcher. Those that cannot be made are left out: their jars are born
 * in the launcher's own. With @want_proc each has an empty /proc, over which jars mount their own.
 */
void bj_roots_init(struct bj_roots *roots, uint32_t images, int proc_fd, bool want_proc);

/* Enter that of @image, and stay: the next child is born in it. False: there is none, and we are in
 * the launcher's own. */
bool bj_roots_enter(struct bj_roots *roots, uint32_t image);
