/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/names.h"

#include "base/cleanup.h"

#include <string.h>

static const char *const LANGUAGES[] = { "python", "bash" };
static const char *const BACKENDS[] = { "native", "docker", "direct" };
static const char *const SEVERITIES[] = { "info", "low", "medium", "high", "critical" };
static const char *const RISKS[] = { "low", "medium", "high", "critical" };
static const char *const POLICIES[] = { "default", "strict", "off" };
static const char *const REQUIRES[] = { "full", "basic" };
static const char *const STATES[] = { "pending", "queued", "running", "finished", "interrupted" };
static const char *const CAUSES[] = { "none",    "exited", "signal",   "timeout",       "oom",
				      "pids",    "output", "seccomp",  "cancelled",     "denied",
				      "expired", "quota",  "rejected", "infrastructure" };

static const char *const DECISIONS[] = { "none", "approved", "denied", "expired" };

static int index_of(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

#define NAME_OF(fn, type, table)                                                                   \
	const char *fn(type v)                                                                     \
	{                                                                                          \
		return (size_t)v < BJ_ARRAY_SIZE(table) ? (table)[v] : "unknown";                  \
	}
#define VALUE_OF(fn, table)                                                                        \
	int fn(const char *name)                                                                   \
	{                                                                                          \
		return index_of(table, BJ_ARRAY_SIZE(table), name);                                \
	}

NAME_OF(bj_language_name, enum bj_language, LANGUAGES)
NAME_OF(bj_backend_name, enum bj_backend_id, BACKENDS)
NAME_OF(bj_severity_name, enum bj_severity, SEVERITIES)
NAME_OF(bj_risk_name, enum bj_risk, RISKS)
NAME_OF(bj_policy_name, enum bj_policy, POLICIES)
NAME_OF(bj_require_name, enum bj_require, REQUIRES)
NAME_OF(bj_state_name, enum bj_state, STATES)
NAME_OF(bj_cause_name, enum bj_cause, CAUSES)
NAME_OF(bj_decision_name, enum bj_decision_kind, DECISIONS)

VALUE_OF(bj_language_from_name, LANGUAGES)
VALUE_OF(bj_severity_from_name, SEVERITIES)
VALUE_OF(bj_risk_from_name, RISKS)
VALUE_OF(bj_policy_from_name, POLICIES)
VALUE_OF(bj_require_from_name, REQUIRES)
VALUE_OF(bj_state_from_name, STATES)
VALUE_OF(bj_cause_from_name, CAUSES)

int bj_backend_from_name(const char *name)
{
	if (name && strcmp(name, "local") == 0)
		return BJ_BACKEND_NATIVE;
	return index_of(BACKENDS, BJ_ARRAY_SIZE(BACKENDS), name);
}
