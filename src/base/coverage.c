/* SPDX-License-Identifier: Apache-2.0 */
#include "base/coverage.h"

#include <stdint.h>
#include <sys/mman.h>

/* From tools/coverage.ld: whole pages that hold the counters and nothing else. */
extern char bj_coverage_start[], bj_coverage_end[];

void __gcov_dump(void);

/* The counters are still zero here, so a fresh mapping replaces them without a copy. */
__attribute__((constructor(101))) static void share_counters(void)
{
	const size_t size = (uintptr_t)bj_coverage_end - (uintptr_t)bj_coverage_start;

	if (size > 0 && mmap(bj_coverage_start, size, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		abort();
}

void bj_coverage_flush(void)
{
	__gcov_dump();
}
