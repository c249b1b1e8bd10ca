/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Let this process end without waiting for its memory.
 *
 * The kernel gives the memory of a process back before it tells the parent that the process has
 * ended, and for the thousands of pages of this program that takes longer than all else at its end.
 * So a second process that shares the memory, and has nothing else, waits for the end of this one
 * and gives the memory back behind its back. It dies with this one, however that dies.
 *
 * Call it last: what is written to memory afterwards is still seen, what is opened is not. Without
 * it all is the same, later. */
void bj_leave_memory(void);
