// SPDX-License-Identifier: Apache-2.0
// The runs that wait for a person, each with all that is needed to decide.
import type { JSX } from "preact";
import { type FullRecord, get, getRecord } from "./api";
import { Decide } from "./decide";
import { useLive, useNow } from "./hooks";
import { Empty, Fact, Failure, Risk } from "./marks";
import { Changes, Script } from "./script";
import { ago, moment } from "./text";

const SHOWN = 20;

async function waiting(): Promise<FullRecord[]> {
	const page = await get<{ executions: { id: string }[] }>(`/v1/history?state=pending&limit=${SHOWN}`);
	return Promise.all(page.executions.map((x) => getRecord(x.id)));
}

/** What a person needs to know before deciding: who asks, why it waits, what changed, the script. */
export function Case({ run }: { run: FullRecord }): JSX.Element {
	const findings = run.result?.findings ?? [];
	const reasons = run.result?.risk.reasons ?? [];
	return (
		<>
			<dl class="facts">
				{run.actor && <Fact name="Asked by">{run.actor}</Fact>}
				{run.tenant && <Fact name="Tenant">{run.tenant}</Fact>}
				{run.tool && <Fact name="Tool">{run.tool}</Fact>}
				{run.question?.rule && <Fact name="Rule"><code>{run.question.rule}</code></Fact>}
				{run.question && <Fact name="Expires">{moment(run.question.expires_ms)}</Fact>}
				{reasons.length > 0 && <Fact name="Why">{reasons.join("; ")}</Fact>}
			</dl>
			{run.question?.last_approved && run.script && (
				<section class="panel">
					<header><h2>Since the version approved last</h2></header>
					<Changes before={run.question.last_approved} after={run.script} />
				</section>
			)}
			{run.script && <Script text={run.script} language={run.language} findings={findings} />}
		</>
	);
}

export function Approvals(): JSX.Element {
	const now = useNow();
	const { value, error, again } = useLive(waiting, 5000, "approvals");
	return (
		<>
			<div class="bar"><h1>Approvals</h1></div>
			<Failure text={error} />
			{value && value.length === 0 && <Empty>Nothing waits for a decision.</Empty>}
			{value?.map((run) => (
				<article class="case" key={run.id} aria-label={`Run ${run.id.slice(0, 12)}`}>
					<div class="bar">
						<h2><a href={`#/runs/${run.id}`}>{run.tool ?? run.language} <code>{run.id.slice(0, 12)}</code></a></h2>
						<Risk level={run.effective_risk} />
						<span class="muted">{ago(run.created_ms, now)}</span>
						<span class="grow" />
						<Decide id={run.id} onDone={again} />
					</div>
					<Case run={run} />
				</article>
			))}
		</>
	);
}
