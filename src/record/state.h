/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <limits.h>

/* The directory of records, as the audit log uses it. Only its owner may enter. */

/* Open the directory, or @below in it, and make what is missing. A directory that others may write
 * to is refused. The descriptor, or negative. */
int bj_state_open(const char *path, const char *below, struct bj_err *err);

/* Open the folder @below of the directory @top, whose path is @path for messages. */
int bj_state_below(int top, const char *path, const char *below, struct bj_err *err);

/* Open or make the file @name in @dir: a plain file that nobody else may read, never through a
 * link. The descriptor, or -errno. */
int bj_state_file(int dir, const char *name, int flags);
