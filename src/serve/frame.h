/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/mhd.h"

/* Why a proxy before us could read the headers of this request otherwise than we do, and take other
 * bytes for its end: one sentence, or NULL when there is only one way. @version: as in its first
 * line. Who gets such a request answers and closes: what follows may be somebody else's. */
const char *bj_frame_fault(const struct bj_mhd *mhd, struct MHD_Connection *connection,
			   const char *version);

/* Decode each %HH of a path or an argument in its place, for the library: its length is returned.
 * %00 stays as it is, so that no address is taken for its own beginning. */
size_t bj_frame_unescape(void *cls, struct MHD_Connection *connection, char *text);
