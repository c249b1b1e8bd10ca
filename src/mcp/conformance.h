/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* conformance.json, embedded in test builds. */
extern const char bj_conformance[];
extern const unsigned long bj_conformance_size;
