/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Files that travel inside the binary; tools/embed makes them. */

/* What runs a script in Python, as text for `python3 -c`, and the same compiled ahead of time: boot
 * is text for -c, too, and reads the program from a descriptor (see tools/freeze). */
extern const char bj_embed_harness[], bj_embed_boot[];
extern const char bj_embed_program[];
extern const unsigned long bj_embed_program_size;

/* The jar's init, and what bears the inits of a service: static ELF files. */
extern const char bj_embed_init[], bj_embed_nursery[];
extern const unsigned long bj_embed_init_size, bj_embed_nursery_size;
