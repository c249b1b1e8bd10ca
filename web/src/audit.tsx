// SPDX-License-Identifier: Apache-2.0
// The audit log, the newest line first.
import type { JSX } from "preact";
import { get } from "./api";
import { usePoll } from "./hooks";
import { Empty, Failure } from "./marks";
import { rowsOf, Table } from "./usage";

export function Audit(): JSX.Element {
	const { value, error } = usePoll(() => get<unknown>("/v1/audit"), 5000, "audit");
	const rows = rowsOf(value).map(({ seq, time, kind, data }) => ({
		seq, time, kind,
		what: Object.entries((data ?? {}) as object).map(([k, v]) => `${k} ${typeof v === "object" ? JSON.stringify(v) : String(v)}`).join(" · "),
	}));
	return (
		<>
			<div class="bar"><h1>Audit</h1></div>
			<Failure text={error} />
			{value !== undefined && rows.length === 0 && <Empty>Nothing is recorded yet.</Empty>}
			{rows.length > 0 && <Table rows={rows} caption="Audit log" />}
		</>
	);
}
