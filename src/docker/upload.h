/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "docker/share.h"

/* The files of one run: the script from the sealed file @script_fd, its inputs and the rest of the
 * spec from the pack in the sealed file @spec_fd. Names are paths below /script. */
struct bj_upload {
	int script_fd, spec_fd;
	enum bj_language language;
};

/* As an archive that is unpacked at /script, the helper included. */
int bj_upload_make(const struct bj_upload *upload, struct bj_buf *ret_tar, struct bj_err *err);

/* As files of the directory that the container @name sees; the helper is there already. */
int bj_upload_share(const struct bj_upload *upload, const struct bj_share *share, const char *name,
		    struct bj_err *err);
