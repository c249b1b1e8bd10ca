/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef bj_err_set
#undef bj_err_wrap

int bj_err_set(struct bj_err *err, enum bj_code code, int errnum, const char *fmt, ...)
{
	if (!err)
		return -(int)code;

	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (errnum && n >= 0 && (size_t)n < sizeof(err->msg))
		snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, ": %s", strerror(errnum));
	err->code = (int)code;
	err->errnum = errnum;
	return -(int)code;
}

int bj_err_received(struct bj_err *err)
{
	err->msg[sizeof(err->msg) - 1] = '\0';
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
	return -err->code;
}
