/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/audit.h"

/* The end of the audit log, for somebody who watches it. Nothing is verified here: that is what
 * `belljar audit verify` is for. */

/* The last lines, the newest first, at most @max of them: [{"seq", "time", "kind", "data"}...].
 * Only the end of the log is read, so long logs cost nothing; where lines are many or long it may
 * be fewer than there are. NULL @audit gives an empty list. The caller unrefs *@ret. */
int bj_audit_tail(const struct bj_audit *audit, size_t max, json_t **ret, struct bj_err *err);
