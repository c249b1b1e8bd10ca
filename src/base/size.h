/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Numbers as people write them. Every parser takes the whole text or nothing: no sign, no blanks,
 * no exponent, no rest. 0, -BJ_E_INVALID when the text is no such number, -BJ_E_LIMIT when it
 * does not fit; *@ret is untouched then. */

/* 100 */
int bj_u64_parse(const char *text, uint64_t *ret);

/* 4096, 512k, 512M, 512MiB, 512mb, 0.5GiB. Units are powers of 1024, as in Docker, and their case
 * does not matter. Less than a byte is cut off. */
int bj_size_parse(const char *text, uint64_t *ret);

/* 60, 60s, 1.5s, 500ms, 2m, 1h; a plain number counts seconds. Zero is invalid: a run without
 * time makes no sense. */
int bj_duration_parse_ms(const char *text, uint64_t *ret);

/* 1, 0.5, 1.25 CPUs, in thousandths. Zero is invalid. */
int bj_cpus_parse_milli(const char *text, uint32_t *ret);

/* The other way, in the largest unit that keeps the value exact. */
enum { BJ_SIZE_TEXT = 32 };
void bj_size_format(uint64_t bytes, char text[BJ_SIZE_TEXT]);
void bj_duration_format(uint64_t ms, char text[BJ_SIZE_TEXT]);
void bj_cpus_format(uint32_t milli, char text[BJ_SIZE_TEXT]);
