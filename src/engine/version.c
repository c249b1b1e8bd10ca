/* SPDX-License-Identifier: Apache-2.0 */
#include "belljar.h"

const char *bj_version(void)
{
	return BJ_VERSION;
}
