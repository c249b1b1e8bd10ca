/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* share/openapi.json, embedded when belljar is built. */
extern const char bj_openapi[];
extern const unsigned long bj_openapi_size;
