/* SPDX-License-Identifier: Apache-2.0 */

/* The init of a jar that the launcher bears itself: a static program without a C library. It reads
 * nothing and knows nothing, so there is nothing in it to attack; when the launcher kills it, the
 * kernel kills everything else in the jar. */

#include "jar/hold.h"

__attribute__((noreturn)) void _start(void);

void _start(void)
{
	bj_hold();
}
