/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check/layer.h"

/* How risky a script is by what the other layers found, from rules/risk.yaml. The same findings
 * give the same answer, always. */

/* Fill report->risk and its reasons. 0 or -BJ_E_SYSTEM when there is no memory. */
int bj_risk_rate(const struct bj_check_request *request, const struct bj_findings *findings,
		 struct bj_report *report, struct bj_err *err);
