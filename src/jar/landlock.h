/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Landlock: a second opinion on files, from a different part of the kernel than mounts. */

/* What may be done below a directory. */
enum bj_landlock_right {
	BJ_LANDLOCK_READ,  /* and execute */
	BJ_LANDLOCK_USE,   /* write to the files, such as devices, that are there */
	BJ_LANDLOCK_WRITE, /* everything but to execute */
};

struct bj_landlock_rule {
	const char *path; /* a directory */
	enum bj_landlock_right right;
};

/* Restrict the calling process and all its children to what the rules allow. With ABI 6, abstract
 * sockets and signals stay inside. *@ret_abi is the version in force, 0 when this kernel has none.
 */
int bj_landlock_seal(const struct bj_landlock_rule *rules, size_t n, uint32_t *ret_abi,
		     struct bj_err *err);

/* The version that this kernel offers; 0: none. */
uint32_t bj_landlock_abi(void);
