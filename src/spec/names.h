/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* The public names of the enums, as they stand in JSON, settings and flags. */
const char *bj_language_name(enum bj_language v);
const char *bj_backend_name(enum bj_backend_id v);
const char *bj_severity_name(enum bj_severity v);
const char *bj_risk_name(enum bj_risk v);
const char *bj_policy_name(enum bj_policy v);
const char *bj_require_name(enum bj_require v);
const char *bj_state_name(enum bj_state v);
const char *bj_cause_name(enum bj_cause v);
const char *bj_decision_name(enum bj_decision_kind v);

/* The other way: the value, or -1 when @name is not one of them. NULL is none. */
int bj_language_from_name(const char *name);
int bj_backend_from_name(const char *name); /* "local" is "native" */
int bj_severity_from_name(const char *name);
int bj_risk_from_name(const char *name);
int bj_policy_from_name(const char *name);
int bj_require_from_name(const char *name);
int bj_state_from_name(const char *name);
int bj_cause_from_name(const char *name); /* "none" is no cause */
