/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Files that travel inside the binary for containers; tools/embed makes them. */

extern const char bj_embed_inside[]; /* the helper, a static ELF file */
extern const unsigned long bj_embed_inside_size;
extern const char bj_embed_profile[]; /* profiles/default.json, NUL-terminated */
extern const char bj_embed_floor[];   /* profiles/floor.json, NUL-terminated */
