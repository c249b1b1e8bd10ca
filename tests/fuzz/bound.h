/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

/* The bound that every layer of the check keeps, whatever it is given: 50 ms of the processor for
 * each started 10 KB. It is the thread's processor time, so a loaded machine does not change it.
 *
 * Exact in every build that is not instrumented. Sanitizers look at each access to memory, which
 * takes up to ten times as long; so does counting lines. */
#if defined(__SANITIZE_ADDRESS__) || defined(BJ_COVERAGE)
#define BJ_BOUND_FACTOR 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BJ_BOUND_FACTOR 10
#endif
#endif
#ifndef BJ_BOUND_FACTOR
#define BJ_BOUND_FACTOR 1
#endif

#define BJ_BOUND_NS   (UINT64_C(50000000) * BJ_BOUND_FACTOR)
#define BJ_BOUND_STEP (10u << 10)

/* What the layers may take for @size bytes, in nanoseconds. */
static inline uint64_t bj_bound(size_t size)
{
	return BJ_BOUND_NS * (size / BJ_BOUND_STEP + (size % BJ_BOUND_STEP || !size));
}

/* Abort if more than that has passed since @start, which is bj_clock_cpu(). */
static inline void bj_bound_check(uint64_t start, size_t size)
{
	const uint64_t took = bj_clock_cpu() - start;

	if (took <= bj_bound(size))
		return;
	fprintf(stderr, "%zu bytes took %llu us, and may take %llu us\n", size,
		(unsigned long long)took / 1000, (unsigned long long)bj_bound(size) / 1000);
	abort();
}
