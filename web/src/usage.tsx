// SPDX-License-Identifier: Apache-2.0
// What each tenant used, and what it cost.
import type { JSX } from "preact";
import { get } from "./api";
import { usePoll } from "./hooks";
import { Empty, Failure } from "./marks";
import { bytes, count, visible } from "./text";

type Row = Record<string, unknown>;

/** The rows of an answer, whatever it calls them. */
export function rowsOf(value: unknown): Row[] {
	if (Array.isArray(value)) return value as Row[];
	const list = Object.values((value ?? {}) as object).find((v) => Array.isArray(v));
	return (list ?? []) as Row[];
}

export function show(name: string, value: unknown): string {
	if (value === null || value === undefined) return "–";
	if (typeof value === "number") {
		if (name.includes("bytes")) return bytes(value);
		if (name.includes("cost")) return value.toFixed(4);
		return Number.isInteger(value) ? count(value) : value.toFixed(2);
	}
	return visible(typeof value === "string" ? value : JSON.stringify(value));
}

export function Table({ rows, caption }: { rows: Row[]; caption: string }): JSX.Element {
	const names = [...new Set(rows.flatMap((r) => Object.keys(r)))];
	return (
		<div class="panel scroll" tabIndex={0} role="group" aria-label={caption}>
			<table class="list">
				<thead><tr>{names.map((n) => <th scope="col" class={typeof rows[0]?.[n] === "number" ? "num" : ""}>{n.replaceAll("_", " ")}</th>)}</tr></thead>
				<tbody>
					{rows.map((r) => <tr>{names.map((n) => <td class={typeof r[n] === "number" ? "num" : ""}>{show(n, r[n])}</td>)}</tr>)}
				</tbody>
			</table>
		</div>
	);
}

export function Usage(): JSX.Element {
	const { value, error } = usePoll(() => get<unknown>("/v1/usage"), 5000, "usage");
	const rows = rowsOf(value);
	return (
		<>
			<div class="bar"><h1>Usage</h1></div>
			<Failure text={error} />
			{value !== undefined && rows.length === 0 && <Empty>Nothing was used yet.</Empty>}
			{rows.length > 0 && <Table rows={rows} caption="Usage by tenant" />}
		</>
	);
}
