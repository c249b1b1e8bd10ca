/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Fill @err (NULL is fine) and return -@code, so that a failure is one statement:
 *	return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %s", path);
 * The text of @errnum, when not 0, follows what failed: it stands before the first "; " of @fmt,
 * behind which is what to do, else at the end. Control characters of what is quoted become
 * question marks. Async-signal-safe enough for use after fork. */
int bj_err_set(struct bj_err *err, enum bj_code code, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Put "context: " before what @err says already; returns -@err->code. */
int bj_err_wrap(struct bj_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Make what another process sent as an error one that can be shown and passed on: its text ends,
 * says something, and its code is one of ours. Returns -@err->code. */
int bj_err_received(struct bj_err *err);

/* Whether it is a want of descriptors: the same may work a moment later. */
bool bj_err_lacks_fds(const struct bj_err *err);

/* Analyzers do not see into err.c: tell them that a failure is negative, or they believe that
 * outputs which stay untouched on failure are used. */
#if defined(__clang_analyzer__) || defined(BJ_ANALYZER)
#define bj_err_set(err, code, ...) (bj_err_set(err, code, __VA_ARGS__), -(int)(code))
#define bj_err_wrap(err, ...)      (bj_err_wrap(err, __VA_ARGS__), -1)
#endif
