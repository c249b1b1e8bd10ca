/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the well-formed UTF-8 character at @text (of @size bytes), 0 when there is none.
 * Overlong forms, surrogates and values past U+10FFFF are not well-formed. */
size_t bj_utf8_step(const char *text, size_t size);

bool bj_utf8_valid(const char *text, size_t size);

/* A copy of @text in which every byte that is not part of a well-formed character becomes
 * U+FFFD. *@ret_size gets its length; the copy is NUL-terminated and the caller frees it.
 * NULL: no memory. */
char *bj_utf8_repair(const char *text, size_t size, size_t *ret_size);

/* Move @start back and @end on to where characters begin, in a @text of @size bytes: at most three
 * bytes each. */
void bj_utf8_widen(const char *text, size_t size, size_t *start, size_t *end);

/* Write a question mark over every byte of @text that is not part of a well-formed character: what
 * was cut to fit can be half of one. */
void bj_utf8_mend(char *text);
