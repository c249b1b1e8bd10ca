/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Force-included into every file of ours: calls that have hurt too many programs do not compile. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Under clang a fortified libc has these as macros, which cannot be poisoned. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atoll gets tmpnam mktemp
