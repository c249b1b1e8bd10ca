/* SPDX-License-Identifier: Apache-2.0 */
#include "record/schema.h"

#include "base/cleanup.h"

/* Numbers of state, cause, language and the like are those of include/belljar.h, which are stable.
 * Most runs exit, come through no tool and belong to the local user: the partial indices leave
 * those out, since a list finds them at once anyway. */
const char *const bj_schema[] = {
	"CREATE TABLE executions ("
	" seq INTEGER PRIMARY KEY,"
	" id TEXT NOT NULL UNIQUE,"
	" name TEXT, tenant TEXT, actor TEXT, tool TEXT,"
	" through INTEGER NOT NULL, language INTEGER NOT NULL, backend INTEGER NOT NULL,"
	" policy INTEGER NOT NULL, trusted INTEGER NOT NULL,"
	" script_sha256 TEXT NOT NULL, inputs_sha256 TEXT, binding TEXT, limits TEXT,"
	" risk INTEGER NOT NULL, effective_risk INTEGER NOT NULL,"
	" state INTEGER NOT NULL, cause INTEGER NOT NULL DEFAULT 0,"
	" exit_code INTEGER, signal INTEGER,"
	" started_ms INTEGER, ended_ms INTEGER, duration_us INTEGER, cpu_us INTEGER,"
	" peak_memory INTEGER,"
	" owner INTEGER, approval INTEGER NOT NULL DEFAULT 0, approver TEXT, artifact TEXT);"
	"CREATE INDEX executions_open ON executions (state, seq) WHERE state <> 3;"
	"CREATE INDEX executions_cause ON executions (cause, seq) WHERE cause > 1;"
	"CREATE INDEX executions_tool ON executions (tool, seq) WHERE tool IS NOT NULL;"
	"CREATE INDEX executions_tenant ON executions (tenant, seq) WHERE tenant IS NOT NULL;"
	"CREATE INDEX executions_language ON executions (language, seq);"
	"CREATE TABLE details (seq INTEGER PRIMARY KEY, result TEXT, script BLOB);",

	/* Questions to a person: one for each run that waits, and what came of it. held is the
	 * order, sealed, until it is decided or begun. */
	"CREATE TABLE approvals ("
	" id TEXT PRIMARY KEY,"
	" binding TEXT NOT NULL, tenant TEXT, tool TEXT, name TEXT, rule TEXT,"
	" state INTEGER NOT NULL, asked_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,"
	" decided_ms INTEGER, decider TEXT, reason TEXT, held BLOB);"
	"CREATE INDEX approvals_open ON approvals (expires_ms) WHERE state = 0;"
	"CREATE INDEX approvals_binding ON approvals (binding, decided_ms) WHERE state = 1;"
	"CREATE INDEX approvals_name ON approvals (name, decided_ms) WHERE state = 1;",

	/* Tenants, their keys and quotas (0: no limit), what they used by day, what runs under way
	 * may still use, and when the runs of the last minute began. */
	"CREATE TABLE tenants ("
	" name TEXT PRIMARY KEY, created_ms INTEGER NOT NULL, enabled INTEGER NOT NULL,"
	" runs_per_minute INTEGER NOT NULL, concurrency INTEGER NOT NULL,"
	" cpu_seconds INTEGER NOT NULL, gb_seconds INTEGER NOT NULL,"
	" output_bytes INTEGER NOT NULL, artifact_bytes INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE keys ("
	" prefix TEXT PRIMARY KEY, tenant TEXT, name TEXT, salt BLOB NOT NULL, hash BLOB NOT NULL,"
	" roles INTEGER NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,"
	" revoked_ms INTEGER NOT NULL, used_ms INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE usage ("
	" tenant TEXT NOT NULL, day INTEGER NOT NULL, runs INTEGER NOT NULL,"
	" cpu_us INTEGER NOT NULL, memory_mib_ms INTEGER NOT NULL, output_bytes INTEGER NOT NULL,"
	" artifact_bytes INTEGER NOT NULL, cost_micros INTEGER NOT NULL,"
	" PRIMARY KEY (tenant, day)) WITHOUT ROWID;"
	"CREATE TABLE reservations ("
	" id TEXT PRIMARY KEY, tenant TEXT NOT NULL, owner INTEGER NOT NULL,"
	" cpu_us INTEGER NOT NULL, memory_mib_ms INTEGER NOT NULL, output_bytes INTEGER NOT NULL,"
	" artifact_bytes INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE INDEX reservations_tenant ON reservations (tenant);"
	"CREATE TABLE starts (tenant TEXT NOT NULL, at_ms INTEGER NOT NULL);"
	"CREATE INDEX starts_tenant ON starts (tenant, at_ms);",

	/* How much there is beside the database, for retention by size. */
	"ALTER TABLE executions ADD COLUMN artifact_bytes INTEGER;"
	"CREATE INDEX executions_artifact ON executions (artifact_bytes) WHERE artifact IS NOT"
	" NULL;",

	/* The request that a question came from, as two hashes: who asked under which key, and
	 * for what. Sent again, it finds the run that waits. */
	"ALTER TABLE approvals ADD COLUMN request_key BLOB;"
	"ALTER TABLE approvals ADD COLUMN request_body BLOB;"
	"CREATE INDEX approvals_request ON approvals (request_key) WHERE request_key IS NOT NULL;",

	/* How far the journal is in here. */
	"CREATE TABLE journal ("
	" one INTEGER PRIMARY KEY CHECK (one = 1), mark TEXT NOT NULL,"
	" place INTEGER NOT NULL);",
};
const size_t bj_schema_steps = BJ_ARRAY_SIZE(bj_schema);
