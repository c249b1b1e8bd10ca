// SPDX-License-Identifier: Apache-2.0
// One run: how it stands, its script, its output as it comes, what it used.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Case } from "./approvals";
import { ask, type Execution, type FullRecord, get, getRecord, type Result, runPath, watch } from "./api";
import { Decide } from "./decide";
import { useNow } from "./hooks";
import { Fact, Failure, Risk, State } from "./marks";
import { Lines, Output } from "./output";
import { Plot, type Sample } from "./plot";
import { Script } from "./script";
import { bytes, count, milliseconds, moment } from "./text";

const ENDED = ["finished", "interrupted"];

interface Samples {
	cpu: Sample[];
	memory: Sample[];
}

/** CPU as a share of one core between two samples; memory as it is. */
function addSample(to: Samples, raw: Record<string, number>): Samples {
	const t = raw["elapsed_ms"] ?? 0;
	const cpu = raw["cpu_ms"] ?? 0;
	const memory = raw["memory_bytes"] ?? 0;
	const last = to.cpu[to.cpu.length - 1] as (Sample & { total?: number }) | undefined;
	const share = last ? (cpu - (last.total ?? 0)) / Math.max(t - last.t, 1) : t > 0 ? cpu / t : 0;
	return {
		cpu: [...to.cpu, { t, v: Math.max(0, share), total: cpu } as Sample],
		memory: [...to.memory, { t, v: memory }],
	};
}

function Facts({ run, now }: { run: Execution; now: number }): JSX.Element {
	const r = run.result;
	const limits = r?.meta.resource_limits.effective;
	const layers = Object.entries(r?.meta.isolation.layers ?? {});
	const held = layers.filter(([, on]) => on).length;
	return (
		<dl class="facts">
			<Fact name="Started">{moment(run.started_ms ?? run.created_ms)}</Fact>
			<Fact name="Time">{run.state === "running" && run.started_ms ? milliseconds(Math.max(0, now - run.started_ms))
				: milliseconds(run.duration_ms)}{limits && <span class="muted"> of {limits["timeout_seconds"]} s</span>}</Fact>
			<Fact name="CPU">{milliseconds(run.cpu_ms)}</Fact>
			<Fact name="Peak memory">{bytes(run.peak_memory_bytes)}{limits && <span class="muted"> of {bytes(limits["memory_bytes"])}</span>}</Fact>
			{r && <Fact name="Risk"><Risk level={r.risk.effective ?? r.risk.level} /></Fact>}
			{r && <Fact name="Jar">{r.meta.runtime}{r.meta.warm ? ", warm" : ""}
				{layers.length > 0 && <span class="muted"> · {held} of {layers.length} layers</span>}</Fact>}
			{run.tool && <Fact name="Tool">{run.tool}</Fact>}
			{run.tenant && <Fact name="Tenant">{run.tenant}</Fact>}
			{run.actor && <Fact name="Asked by">{run.actor}</Fact>}
			{r?.decision && <Fact name="Decision">{r.decision.decision} by {r.decision.by ?? "nobody"}
				{r.decision.reason && <span class="muted"> · {r.decision.reason}</span>}</Fact>}
		</dl>
	);
}

function Isolation({ result }: { result: Result }): JSX.Element {
	return (
		<details class="panel">
			<summary>Isolation and limits</summary>
			<dl class="facts">
				{Object.entries(result.meta.isolation.layers).map(([name, on]) => (
					<Fact name={name}><span class={on ? "yes" : "no"}>{on ? "enforced" : "not enforced"}</span></Fact>
				))}
				{Object.entries(result.meta.resource_limits.effective).map(([name, value]) => (
					<Fact name={name.replaceAll("_", " ")}>{name.endsWith("bytes") ? bytes(value) : count(value)}</Fact>
				))}
				<Fact name="cgroup">{result.meta.isolation.cgroup}</Fact>
				<Fact name="kernel uid">{result.meta.isolation.uid}</Fact>
				{result.script_sha256 && <Fact name="SHA-256 of the script"><code>{result.script_sha256}</code></Fact>}
			</dl>
		</details>
	);
}

export function Run({ id }: { id: string }): JSX.Element {
	const [run, setRun] = useState<Execution>();
	const [record, setRecord] = useState<FullRecord>();
	const [error, setError] = useState<string>();
	const [samples, setSamples] = useState<Samples>({ cpu: [], memory: [] });
	const [round, setRound] = useState(0);
	const lines = useMemo(() => new Lines(), [id, round]);
	const now = useNow();
	const looks = useRef({ asked: 0, shown: 0 });

	const load = (): Promise<void> => {
		const look = ++looks.current.asked;
		// A service that keeps no records has no more than the run.
		getRecord(id).then(setRecord, () => undefined);
		return get<Execution>(runPath(id)).then((x) => {
			// Answers may overtake each other: an old one must not bring an old state back.
			if (look < looks.current.shown) return;
			looks.current.shown = look;
			setRun(x);
			setError(undefined);
		}, (e: Error) => setError(e.message));
	};

	useEffect(() => {
		void load();
		setSamples({ cpu: [], memory: [] });
		return watch(id, {
			onOutput: (stream, text) => lines.add(stream, text),
			onGap: (n) => lines.gap(n),
			onState: () => void load(),
			onStats: (raw) => setSamples((s) => addSample(s, raw)),
			onEnd: () => void load(),
		});
	}, [id, round]);

	if (!run) return <><h1>Run</h1><Failure text={error} /></>;
	const live = !ENDED.includes(run.state);
	const result = run.result ?? record?.result;
	const script = record?.script;
	const shown = { ...run, tool: record?.tool ?? null, actor: record?.actor ?? null, result: result ?? null };
	const limits = result?.meta.resource_limits.effective;
	return (
		<>
			<div class="bar">
				<h1>Run <code>{id.slice(0, 12)}</code></h1>
				<State run={run} />
				<span class="grow" />
				{live && run.state !== "pending" && (
					<button type="button" class="danger" onClick={() => void ask("DELETE", runPath(id)).then(load, (e: Error) => setError(e.message))}>
						Cancel the run
					</button>
				)}
			</div>
			<Failure text={error} />
			<Facts run={shown} now={now} />
			{run.state === "pending" && <Decide id={id} onDone={() => setRound(round + 1)} />}
			{run.state === "pending" && record && <Case run={record} />}
			{result?.error && <p class="verdict">{result.error}</p>}
			<div class="columns">
				<div>
					{run.state !== "pending" && <Output lines={lines} live={live} />}
					{samples.memory.length > 1 && (
						<section class="panel">
							<header><h2>Use of resources</h2></header>
							<Plot name="CPU" samples={samples.cpu} show={(v) => `${Math.round(v * 100)} %`} ceiling={limits?.["cpus"]} />
							<Plot name="Memory" samples={samples.memory} show={bytes} ceiling={limits?.["memory_bytes"]} />
						</section>
					)}
				</div>
				<div>
					{run.state === "pending" ? null : script ? <Script text={script} language={run.language} findings={result?.findings ?? []} />
						: <NoScript result={result} />}
					{result && <Isolation result={result} />}
				</div>
			</div>
		</>
	);
}

function NoScript({ result }: { result: Result | null | undefined }): JSX.Element | null {
	if (!result) return null;
	return (
		<section class="panel script">
			<header><h2>Findings</h2></header>
			<p class="muted pad">The text of this script is not kept (<code>store_code</code>).</p>
			{result.findings.map((f) => (
				<div class="code"><div class="row found"><span class="number">{f.line}</span><code>{f.source ?? ""}</code></div>
					<p class="pad"><b>{f.severity}</b> · {f.message} <code>{f.rule}</code></p></div>
			))}
		</section>
	);
}
