// SPDX-License-Identifier: Apache-2.0
// The list of runs, live.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Execution, listRuns } from "./api";
import { useLive, useNow } from "./hooks";
import { Empty, Failure, State } from "./marks";
import { ago, bytes, milliseconds, moment } from "./text";

const SHOWN = [
	["", "All"],
	["running", "Running"],
	["queued", "Queued"],
	["pending", "Waiting"],
	["finished", "Ended"],
];

/** j and k, or the arrows, go from run to run. */
function walk(e: KeyboardEvent): void {
	const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[e.key];
	if (!step || e.ctrlKey || e.metaKey || e.altKey) return;
	const links = [...(e.currentTarget as HTMLElement).querySelectorAll<HTMLAnchorElement>("a.row-link")];
	const at = links.indexOf(document.activeElement as HTMLAnchorElement);
	links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
	e.preventDefault();
}

function Row({ run, now }: { run: Execution; now: number }): JSX.Element {
	const live = run.state === "running" && run.started_ms;
	return (
		<tr>
			<td><a class="row-link" href={`#/runs/${run.id}`}><State run={run} /></a></td>
			<td><code>{run.id.slice(0, 12)}</code></td>
			<td>{run.language}</td>
			<td class="wide">{run.tenant ?? "local"}</td>
			<td title={moment(run.created_ms)}>{ago(run.created_ms, now)}</td>
			<td class="num">{live ? milliseconds(Math.max(0, now - (run.started_ms ?? now))) : milliseconds(run.duration_ms)}</td>
			<td class="num wide">{milliseconds(run.cpu_ms)}</td>
			<td class="num wide">{bytes(run.peak_memory_bytes)}</td>
		</tr>
	);
}

export function Runs(): JSX.Element {
	const [state, setState] = useState("");
	const now = useNow();
	const query: Record<string, string> = { limit: "100", ...(state ? { state } : {}) };
	const { value, error } = useLive(() => listRuns(query), 15000, state);
	const runs = value?.executions;
	return (
		<>
			<div class="bar">
				<h1>Runs</h1>
				<div class="choices" role="group" aria-label="Which runs">
					{SHOWN.map(([name, label]) => (
						<button type="button" aria-pressed={state === name} onClick={() => setState(name ?? "")}>{label}</button>
					))}
				</div>
				<span class="grow" />
				<a class="button" href="#/new">New run</a>
			</div>
			<Failure text={error} />
			{runs && runs.length === 0 && <Empty>No runs here. Start one with “New run”, or from a program.</Empty>}
			{runs && runs.length > 0 && (
				<div class="panel scroll" onKeyDown={walk}>
					<table class="list">
						<thead>
							<tr>
								<th scope="col">State</th><th scope="col">Run</th><th scope="col">Language</th>
								<th scope="col" class="wide">Tenant</th><th scope="col">Started</th><th scope="col" class="num">Time</th>
								<th scope="col" class="num wide">CPU</th><th scope="col" class="num wide">Memory</th>
							</tr>
						</thead>
						<tbody>{runs.map((run) => <Row key={run.id} run={run} now={now} />)}</tbody>
					</table>
				</div>
			)}
		</>
	);
}
