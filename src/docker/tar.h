/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"

/* A tar archive in memory, as the engine takes it: every entry belongs to root. */

/* Append a directory, or a file, with @mode. */
void bj_tar_dir(struct bj_buf *tar, const char *name, unsigned int mode);
void bj_tar_file(struct bj_buf *tar, const char *name, unsigned int mode, const void *data,
		 size_t size);

/* The two empty blocks at the end. */
void bj_tar_end(struct bj_buf *tar);
