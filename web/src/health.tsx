// SPDX-License-Identifier: Apache-2.0
// How the service is: queue, slots, zygotes, runs by cause.
import type { JSX } from "preact";
import { get } from "./api";
import { usePoll } from "./hooks";
import { Fact, Failure } from "./marks";
import { type Metric, parseMetrics, sum } from "./metrics";
import { bytes, count, milliseconds } from "./text";

interface Health {
	ready: string;
	metrics: Metric[];
}

async function look(): Promise<Health> {
	const ready = await get<{ status: string }>("/readyz").then((r) => r.status, (e: Error) => e.message);
	return { ready, metrics: parseMetrics(await get<string>("/metrics")) };
}

/** The metrics whose names hold @word, as rows. */
function Rows({ metrics, word }: { metrics: Metric[]; word: RegExp }): JSX.Element | null {
	const rows = metrics.filter((m) => word.test(m.name) && !m.name.endsWith("_bucket") && !m.name.endsWith("_created"));
	if (!rows.length) return null;
	return (
		<dl class="facts">
			{rows.map((m) => {
				const labels = Object.entries(m.labels).map(([k, v]) => `${k} ${v}`).join(", ");
				const name = m.name.replace(/^belljar_/, "").replace(/_total$/, "").replaceAll("_", " ");
				return <Fact name={labels ? `${name}: ${labels}` : name}>{m.name.includes("bytes") ? bytes(m.value) : count(m.value)}</Fact>;
			})}
		</dl>
	);
}

function Causes({ metrics }: { metrics: Metric[] }): JSX.Element | null {
	const runs = metrics.filter((m) => m.name === "belljar_runs_total" && m.value > 0);
	const all = runs.reduce((n, m) => n + m.value, 0);
	const by = new Map<string, number>();
	for (const m of runs) by.set(m.labels["cause"] ?? "?", (by.get(m.labels["cause"] ?? "?") ?? 0) + m.value);
	if (!all) return null;
	return (
		<section class="panel">
			<header><h2>Runs by cause</h2><span class="muted">{count(all)} since the start</span></header>
			<ul class="bars">
				{[...by].sort((a, b) => b[1] - a[1]).map(([cause, n]) => (
					<li><span>{cause}</span><meter min={0} max={all} value={n} aria-label={cause} /><span class="num">{count(n)}</span></li>
				))}
			</ul>
		</section>
	);
}

export function HealthPage(): JSX.Element {
	const { value, error } = usePoll(look, 2000, "health");
	const m = value?.metrics ?? [];
	const started = sum(m, "belljar_start_time_seconds");
	return (
		<>
			<div class="bar">
				<h1>Health</h1>
				{value && <span class={`state ${value.ready === "ready" ? "good" : "bad"}`}><span class="dot" aria-hidden="true" />{value.ready}</span>}
			</div>
			<Failure text={error} />
			{value && (
				<>
					<dl class="facts">
						<Fact name="Running">{count(sum(m, "belljar_running") ?? sum(m, "belljar_runs_running") ?? 0)}</Fact>
						<Fact name="Waiting in line">{count(sum(m, "belljar_waiting") ?? sum(m, "belljar_runs_waiting") ?? 0)}</Fact>
						<Fact name="Connections">{count(sum(m, "belljar_connections") ?? 0)}</Fact>
						{started !== undefined && <Fact name="Up for">{milliseconds(Date.now() - started * 1000)}</Fact>}
					</dl>
					<section class="panel">
						<header><h2>Slots and zygotes</h2></header>
						<Rows metrics={m} word={/slot|zygote|warm|engine|launcher/} />
					</section>
					<Causes metrics={m} />
				</>
			)}
		</>
	);
}
