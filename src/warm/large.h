/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Put the memory of this process on large pages: what it has written, and the text and constants of
 * the programs that it runs. Addresses, contents and protection stay. The kernel then copies, maps
 * and unmaps many neighbours in one step, and a child finds the text mapped: this is for a process
 * that forks often. It must have one thread.
 *
 * @proc_fd is its own directory in /proc. Where the kernel has no large pages to give, all stays as
 * it is. Returns how many bytes moved. */
size_t bj_large_settle(int proc_fd);
