// SPDX-License-Identifier: Apache-2.0
// The runs that wait for a person, each with all that is needed to decide.
import type { JSX } from "preact";
import { type Execution, get, listRuns, runPath } from "./api";
import { Decide } from "./decide";
import { useNow, usePoll } from "./hooks";
import { Empty, Fact, Failure, Risk } from "./marks";
import { Changes, Script } from "./script";
import { ago } from "./text";

const SHOWN = 20;

async function waiting(): Promise<Execution[]> {
	const page = await listRuns({ state: "pending", limit: String(SHOWN) });
	return Promise.all(page.executions.map((x) => get<Execution>(runPath(x.id))));
}

function Case({ run, now, onDone }: { run: Execution; now: number; onDone: () => void }): JSX.Element {
	const approval = run.approval;
	const result = run.result;
	return (
		<article class="case">
			<div class="bar">
				<h2><a href={`#/runs/${run.id}`}>{run.tool ?? run.language} <code>{run.id.slice(0, 12)}</code></a></h2>
				{result && <Risk level={result.risk.effective ?? result.risk.level} />}
				<span class="muted">{ago(run.created_ms, now)}</span>
				<span class="grow" />
				<Decide run={run} onDone={onDone} />
			</div>
			<dl class="facts">
				{run.actor && <Fact name="Asked by">{run.actor}</Fact>}
				{run.tenant && <Fact name="Tenant">{run.tenant}</Fact>}
				{approval?.rule && <Fact name="Rule">{approval.rule}</Fact>}
				{result && result.risk.reasons.length > 0 && <Fact name="Why">{result.risk.reasons.join("; ")}</Fact>}
			</dl>
			{approval?.last_approved && run.script && (
				<section class="panel">
					<header><h3>Since the version approved last</h3></header>
					<Changes before={approval.last_approved} after={run.script} />
				</section>
			)}
			{run.script && <Script text={run.script} language={run.language} findings={result?.findings ?? []} />}
		</article>
	);
}

export function Approvals(): JSX.Element {
	const now = useNow();
	const { value, error, again } = usePoll(waiting, 1000, "approvals");
	return (
		<>
			<div class="bar"><h1>Approvals</h1></div>
			<Failure text={error} />
			{value && value.length === 0 && <Empty>Nothing waits for a decision.</Empty>}
			{value?.map((run) => <Case key={run.id} run={run} now={now} onDone={again} />)}
		</>
	);
}
