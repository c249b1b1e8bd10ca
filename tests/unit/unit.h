/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmocka wants these before itself. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
