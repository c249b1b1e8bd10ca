/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Every signal at its default and none blocked, as a program expects them at its start: the two
 * that the C library keeps for itself as well, which a caller may have ignored all the same. */
void bj_signals_reset(void);
