/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Remove the directory @name below @at with all that a script left in it, whatever its shape:
 * directories without any right, or nested deeper than a path can say. Nobody else may be in it.
 * 0 or -errno. */
int bj_leavings_remove(int at, const char *name);
