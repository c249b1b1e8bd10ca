/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Landlock: a second opinion on files, from a different part of the kernel than mounts. */

/* One place and whether it may be written; the rest of the tree is read and execute only. */
struct bj_landlock_rule {
	const char *path;
	bool write;
};

/* Restrict the calling process and all its children. Everything may be read and executed; files
 * may be written and made only below the rules with @write. With ABI 6, abstract sockets and
 * signals stay inside. *@ret_abi is the version in force, 0 when this kernel has none. */
int bj_landlock_seal(const struct bj_landlock_rule *rules, size_t n, uint32_t *ret_abi,
		     struct bj_err *err);

/* The version that this kernel offers; 0: none. */
uint32_t bj_landlock_abi(void);
