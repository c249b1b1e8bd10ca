/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Line coverage of a program that forks, seals itself and dies by SIGKILL.
 *
 * In a coverage build (-Dcoverage=true) the counters of all lines are one shared mapping, made
 * before main(): what a child counts, the process it was forked from has counted too, however
 * the child ends and whatever it can still reach. The counts go to disk when the first process
 * ends by exit(). In every other build there is nothing here. */

#ifdef BJ_COVERAGE
/* Write the counts now: for a process that ends by _exit() and has no parent of ours. */
void bj_coverage_flush(void);
#else
static inline void bj_coverage_flush(void)
{
}
#endif
