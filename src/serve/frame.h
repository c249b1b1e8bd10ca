/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/mhd.h"

/* Why a proxy before us could read the headers of this request otherwise than we do, and take other
 * bytes for its end: one sentence, or NULL when there is only one way. @version: as in its first
 * line. Who gets such a request answers and closes: what follows may be somebody else's. */
const char *bj_frame_fault(const struct bj_mhd *mhd, struct MHD_Connection *connection,
			   const char *version);
