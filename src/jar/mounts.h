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

/* Where the template stands in the launcher's namespace. */
#define BJ_TEMPLATE "/jar"

enum { BJ_JAR_UID = 65534, BJ_JAR_GID = 65534 };

/* How a jar's /proc is mounted. */
enum bj_mounts_proc { BJ_MOUNTS_PROC_PID, BJ_MOUNTS_PROC_COMPAT, BJ_MOUNTS_PROC_NONE };

/* Build the template and make it and a fresh /proc all that the calling process sees. It comes from
 * the host's own system files, or from the tree @image (an open directory; -1: the host's). Needs
 * CAP_SYS_ADMIN and a mount namespace of its own. */
int bj_mounts_template(int image, bool want_proc, struct bj_err *err);

struct bj_mounts_jar {
	uint64_t tmp_size;
	enum bj_mounts_proc proc;
	const void *pack; /* inputs are written from it; NULL: there are none */
	size_t pack_size;
};

/* In a jar's fresh namespaces, as root of its user namespace: mount what is the jar's own, write
 * the inputs, pivot into it. *@ret_layers gets the layers that now hold, *@ret_files a directory
 * through which the launcher can put the script where the jar sees it read-only. */
int bj_mounts_enter(const struct bj_mounts_jar *jar, uint64_t *ret_layers, int *ret_files,
		    struct bj_err *err);
