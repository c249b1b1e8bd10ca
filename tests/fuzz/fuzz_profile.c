/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "seccomp/profile.h"

/* The compiler itself runs in a child with limits; what must hold here is our reading. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bj_err err = { 0 };

	bj_profile_check((const char *)data, size, &err);
	return 0;
}
