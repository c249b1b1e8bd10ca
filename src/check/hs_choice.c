/* SPDX-License-Identifier: Apache-2.0 */

/* Which variant of libhs serves this processor.
 *
 * The static libhs has its matcher once for each kind of processor, and finds the right one by an
 * indirect function for each call of its interface: every one of them asks the processor up to
 * eight times, before main(). In a virtual machine each question goes to the host and takes 7
 * microseconds, 0.2 ms together, at the start of every process. The C library has asked the same
 * already, and tells for nothing. So the calls that we use are made here, by the names that libhs
 * gives its variants, and its own dispatcher is not linked. Another libhs, or another C library, is
 * used as it is (meson.build looks). */

#include <hs/hs_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/platform/x86.h>

/* The order, and what each needs, are those of the dispatcher in libhs. */
enum variant { AVX512VBMI, AVX512, AVX2, COREI7, CORE2, NONE };

static enum variant choose(void)
{
	const bool avx512 = x86_cpu_active(x86_cpu_AVX512F) && x86_cpu_active(x86_cpu_AVX512BW);

	if (avx512 && x86_cpu_active(x86_cpu_AVX512_VBMI))
		return AVX512VBMI;
	if (avx512)
		return AVX512;
	if (x86_cpu_active(x86_cpu_AVX2))
		return AVX2;
	if (x86_cpu_active(x86_cpu_SSE4_2) && x86_cpu_active(x86_cpu_POPCNT))
		return COREI7;
	return x86_cpu_active(x86_cpu_SSSE3) ? CORE2 : NONE;
}

#define DISPATCH(name, params, args)                                                               \
	hs_error_t avx512vbmi_##name params;                                                       \
	hs_error_t avx512_##name params;                                                           \
	hs_error_t avx2_##name params;                                                             \
	hs_error_t corei7_##name params;                                                           \
	hs_error_t core2_##name params;                                                            \
	hs_error_t name params                                                                     \
	{                                                                                          \
		switch (choose()) {                                                                \
		case AVX512VBMI:                                                                   \
			return avx512vbmi_##name args;                                             \
		case AVX512:                                                                       \
			return avx512_##name args;                                                 \
		case AVX2:                                                                         \
			return avx2_##name args;                                                   \
		case COREI7:                                                                       \
			return corei7_##name args;                                                 \
		case CORE2:                                                                        \
			return core2_##name args;                                                  \
		default:                                                                           \
			return HS_ARCH_ERROR;                                                      \
		}                                                                                  \
	}

DISPATCH(hs_scan,
	 (const hs_database_t *db, const char *data, unsigned int size, unsigned int flags,
	  hs_scratch_t *scratch, match_event_handler on_event, void *ctx),
	 (db, data, size, flags, scratch, on_event, ctx))
DISPATCH(hs_database_size, (const hs_database_t *db, size_t *ret_size), (db, ret_size))
DISPATCH(hs_free_database, (hs_database_t * db), (db))
DISPATCH(hs_deserialize_database, (const char *bytes, const size_t size, hs_database_t **ret),
	 (bytes, size, ret))

/* hs_alloc_scratch() asks this for the sake of those who map files: it computes the checksum of the
 * whole database, 0.3 ms for ours. Ours is part of the program, and hs_deserialize_database()
 * checks the sum of every other one. */
hs_error_t dbIsValid(const hs_database_t *db);

hs_error_t dbIsValid(const hs_database_t *db)
{
	size_t size;

	return hs_database_size(db, &size);
}
