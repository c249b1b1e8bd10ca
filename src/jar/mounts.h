/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* The file tree of a jar. The launcher builds a template once, in its own mount namespace, and
 * leaves everything else behind; each jar's namespace is a copy of that, so a jar adds only what
 * is its own: /proc, /tmp, the working directory, /dev/shm and the script. */

/* Paths inside a jar. */
#define BJ_JAR_WORK   "/work"
#define BJ_JAR_OUT    "/work/out"
#define BJ_JAR_SCRIPT "/script"

/* The script's name is the same in every jar, so that warm and cold runs say the same. */
#define BJ_SCRIPT_PYTHON "script.py"
#define BJ_SCRIPT_BASH   "script.sh"

/* Where the templates stand in the launcher's namespace, with the number of the image. */
#define BJ_TEMPLATE "/jar%u"
enum { BJ_TEMPLATE_PATH = 16 };

enum { BJ_JAR_UID = 65534, BJ_JAR_GID = 65534 };

/* How a jar's /proc is mounted. */
enum bj_mounts_proc { BJ_MOUNTS_PROC_PID, BJ_MOUNTS_PROC_COMPAT, BJ_MOUNTS_PROC_NONE };

/* Build @n templates and make them and a fresh /proc all that the calling process sees. Each comes
 * from the tree @images[i], an open directory, or from the host's own system files. Needs
 * CAP_SYS_ADMIN and a mount namespace of its own. */
enum { BJ_MOUNTS_HOST = -1, BJ_MOUNTS_NOTHING = -2 /* this one is left out */ };
int bj_mounts_templates(const int *images, size_t n, bool want_proc, struct bj_err *err);

/* Open /proc and mount up to @n - 1 more that are attached nowhere. Returns how many there are in
 * @ret_fds. Each has a cache of its own: the kernel keeps the files that limit a user namespace
 * (userns.h) in one list for all namespaces, by name, and every jar would walk the list of all. */
enum { BJ_MOUNTS_PROCS = 32 };
size_t bj_mounts_procs(int *ret_fds, size_t n);

/* Mount an empty /proc there: of a pid namespace that nobody is in. The kernel lets a user
 * namespace mount a /proc only where there is one already, whatever it shows. */
#define BJ_MOUNTS_NOBODY "/nobody"
int bj_mounts_nobody(struct bj_err *err);

/* In a mount namespace that is a copy of the launcher's: copy the template of @image, ready to
 * become the root; returns a descriptor of the copy. Then make @root, such a copy, the read-only
 * root, and leave the rest behind. */
int bj_mounts_copy(uint32_t image, struct bj_err *err);
int bj_mounts_make_root(int root, struct bj_err *err);

struct bj_mounts_jar {
	uint32_t image; /* its root is a copy of this template */
	bool has_root;  /* and is there already (roots.h) */
	uint64_t tmp_size;
	enum bj_mounts_proc proc;
	const void *pack; /* inputs are written from it; NULL: there are none */
	size_t pack_size;
};

/* In a jar's fresh namespaces, as root of its user namespace: mount what is the jar's own, write
 * the inputs, pivot into it if it is not the root already. *@ret_layers gets the layers that now
 * hold, *@ret_files a directory through which the launcher can put the script where the jar sees it
 * read-only. */
int bj_mounts_enter(const struct bj_mounts_jar *jar, uint64_t *ret_layers, int *ret_files,
		    struct bj_err *err);
