/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The number of the system call @name on this architecture, or a negative number when it has
 * none here or no one knows it. Knows calls that are newer than libseccomp. */
int bj_syscall_number(const char *name);
