/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Files that travel inside the binary; tools/embed makes them. */

extern const char bj_embed_zygote[]; /* runtime/harness.py and zygote.py, NUL-terminated */
extern const char bj_embed_slot[];   /* the library that a zygote loads */
extern const unsigned long bj_embed_slot_size;
extern const char bj_embed_wait[]; /* the library that makes a Bash wait */
extern const unsigned long bj_embed_wait_size;
