/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What Python's functions and encodings make of constant text. Only ASCII matters to a rule: any
 * other character is given as one that no name has. */

/* Write what @s, @n bytes, becomes to @out, which has room for @n; returns how many there are. */
typedef size_t bj_py_decoder(const char *s, size_t n, char *out);

/* By the function's dotted name; NULL where it is none that is followed. *@takes_codec: it may be
 * told an encoding, as str(b, "cp500") is. */
bj_py_decoder *bj_py_decoder_of_call(const char *name, bool *takes_codec);

/* By an encoding's name, spelled as Python lets it be; NULL: it may turn letters into others. */
bj_py_decoder *bj_py_decoder_of_codec(const char *name, size_t len);
