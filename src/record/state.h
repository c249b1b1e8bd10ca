/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <limits.h>

/* The directory of records. Only its owner may enter; what is made in it belongs to its owner,
 * also when root made it. */

/* Where it is: @set, or /var/lib/belljar for root, else $XDG_STATE_HOME/belljar or
 * ~/.local/state/belljar. -BJ_E_NOT_FOUND: there is no such place. */
int bj_state_path(const char *set, char path[PATH_MAX], struct bj_err *err);

/* Open the directory, or @below in it, and make what is missing. A directory that others may write
 * to is refused. The descriptor, or negative. */
int bj_state_open(const char *path, const char *below, struct bj_err *err);

/* Open or make the file @name in @dir: a plain file that nobody else may read, never through a
 * link. The descriptor, or -errno. */
int bj_state_file(int dir, const char *name, int flags);
