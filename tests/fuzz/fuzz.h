/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What every fuzz target defines: libFuzzer and replay.c call it with foreign bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
