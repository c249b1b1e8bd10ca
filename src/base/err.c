/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef bj_err_set
#undef bj_err_wrap

/* A message quotes names, which may hold a newline or drive a terminal: a sentence has one line. */
static void keep_plain(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++) {
		const bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;

		if (c1 || *c < ' ' || *c == 0x7f)
			*c = '?';
		if (c1)
			*++c = '?';
	}
}

/* Put @reason behind what failed, and before @advice on what to do, which ends the message. */
static void add_reason(char *msg, const char *advice, const char *reason)
{
	char end[sizeof(((struct bj_err *)0)->msg)] = "";
	char *at = advice ? strstr(msg, "; ") : NULL;

	if (at)
		memcpy(end, at, strlen(at) + 1);
	else
		at = msg + strlen(msg);
	snprintf(at, sizeof(end) - (size_t)(at - msg), ": %s%s", reason, end);
}

int bj_err_set(struct bj_err *err, enum bj_code code, int errnum, const char *fmt, ...)
{
	if (!err)
		return -(int)code;

	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	/* What "Too many references" are is in no other message of ours. */
	if (errnum && errnum != ETOOMANYREFS && n >= 0)
		add_reason(err->msg, strstr(fmt, "; "), strerror(errnum));
	keep_plain(err->msg);
	err->code = (int)code;
	err->errnum = errnum;
	return -(int)code;
}

int bj_err_received(struct bj_err *err)
{
	err->msg[sizeof(err->msg) - 1] = '\0';
	keep_plain(err->msg);
	if (err->code < BJ_E_SYSTEM || err->code > BJ_E_CANCELLED)
		err->code = BJ_E_SYSTEM;
	if (!err->msg[0])
		snprintf(err->msg, sizeof(err->msg), "it failed and does not say why");
	return -err->code;
}

int bj_err_wrap(struct bj_err *err, const char *fmt, ...)
{
	if (!err)
		return -(int)BJ_E_SYSTEM;

	char inner[sizeof(err->msg)];
	va_list ap;

	memcpy(inner, err->msg, sizeof(inner));
	va_start(ap, fmt);
	const int n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->msg))
		snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, ": %s", inner);
	keep_plain(err->msg);
	return -err->code;
}

bool bj_err_lacks_fds(const struct bj_err *err)
{
	return err->errnum == EMFILE || err->errnum == ENFILE || err->errnum == ETOOMANYREFS;
}
