/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tell the service manager ($NOTIFY_SOCKET) how things stand: "READY=1" and the like, lines as
 * sd_notify(3) describes them. Without a manager this does nothing. */
void bj_notify(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
