/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Files that travel inside the binary; tools/embed makes them. */

extern const char bj_embed_harness[]; /* runtime/harness.py, NUL-terminated */
extern const char bj_embed_init[];    /* the jar's init, a static ELF file */
extern const unsigned long bj_embed_init_size;
