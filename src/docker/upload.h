/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "belljar.h"

/* Make the archive that is unpacked at /script: the helper, the script from the sealed file
 * @script_fd, and its inputs and the rest of the spec from the pack in the sealed file @spec_fd. */
int bj_upload_make(int script_fd, enum bj_language language, int spec_fd, struct bj_buf *ret_tar,
		   struct bj_err *err);
