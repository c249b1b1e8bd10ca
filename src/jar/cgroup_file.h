/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* The small files of a cgroup: one value a write, a few lines a read. */

int bj_cgfile_write(int dir_fd, const char *file, const char *value, struct bj_err *err);
int bj_cgfile_write_number(int dir_fd, const char *file, uint64_t value, struct bj_err *err);

/* What @file says, NUL-terminated; false when it says nothing. */
bool bj_cgfile_read(int dir_fd, const char *file, char *text, size_t size);

/* The number after @key in a flat file such as memory.events, or the whole file's number when
 * @key is "". 0 when it is not there, or @dir_fd is -1. */
uint64_t bj_cgfile_read_number(int dir_fd, const char *file, const char *key);

/* The same of a file that is open: from its beginning, however often it was read. */
uint64_t bj_cgfile_number_of(int fd, const char *key);

/* Write the CPU time that a cgroup may have: @milli thousandths of one CPU. */
int bj_cgfile_write_quota(int dir_fd, bool v2, uint32_t milli, struct bj_err *err);

/* Whether @list, words with white space between them, has @word. */
bool bj_cgfile_has_word(const char *list, const char *word);
