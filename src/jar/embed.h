/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Files that travel inside the binary; tools/embed makes them. */

/* What runs a script in Python, as text for `python3 -c`, and the same compiled ahead of time: boot
 * is text for -c, too, and reads the program from a descriptor (see tools/freeze). */
extern const char bj_embed_harness[], bj_embed_boot[];
extern const char bj_embed_program[];
extern const unsigned long bj_embed_program_size;

extern const char bj_embed_init[]; /* the jar's init, a static ELF file */
extern const unsigned long bj_embed_init_size;
