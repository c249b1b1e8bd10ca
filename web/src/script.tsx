// SPDX-License-Identifier: Apache-2.0
// A script as it stands, with what the check found beside its lines; and what changed in it.
import type { JSX } from "preact";
import type { Finding } from "./api";
import { diffLines } from "./diff";
import { highlight } from "./highlight";
import { visible } from "./text";

export function Findings({ list }: { list: Finding[] }): JSX.Element {
	return (
		<ul class="findings">
			{list.map((f) => (
				<li class={f.severity}>
					<b>{f.severity}</b>{f.blocks && " · blocks"} · {visible(f.message)} <code>{f.rule}</code>
				</li>
			))}
		</ul>
	);
}

export function Script({ text, language, findings }: { text: string; language: string; findings: Finding[] }): JSX.Element {
	const byLine = new Map<number, Finding[]>();
	for (const f of findings) byLine.set(f.line, [...(byLine.get(f.line) ?? []), f]);
	return (
		<section class="panel script">
			<header><h2>Script</h2><span class="muted">{language}</span></header>
			{byLine.has(0) && <Findings list={byLine.get(0) ?? []} />}
			<div class="code" tabIndex={0} role="group" aria-label="Text of the script">
				{highlight(text.replace(/\n$/, ""), language).map((tokens, i) => {
					const found = byLine.get(i + 1);
					return (
						<div class={found ? "row found" : "row"}>
							<span class="number" aria-hidden="true">{i + 1}</span>
							<code>{tokens.map((t) => (t.kind ? <span class={`h-${t.kind}`}>{visible(t.text)}</span> : visible(t.text)))}</code>
							{found && <Findings list={found} />}
						</div>
					);
				})}
			</div>
		</section>
	);
}

const SIGN = { same: " ", added: "+", removed: "−" };
const CONTEXT = 3;

export function Changes({ before, after }: { before: string; after: string }): JSX.Element {
	const all = diffLines(before, after);
	const near = all.map((_, i) => all.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some((c) => c.kind !== "same"));
	if (!near.includes(true)) return <p class="empty">It is the same text as the version approved last.</p>;
	return (
		<div class="code diff" tabIndex={0} role="group" aria-label="Changes since the version approved last">
			{all.map((c, i) =>
				near[i] ? (
					<div class={`row ${c.kind}`}>
						<span class="number">{SIGN[c.kind]}<span class="unseen">{c.kind === "same" ? "" : c.kind}</span></span>
						<code>{visible(c.text)}</code>
					</div>
				) : near[i - 1] ? <div class="row skip" aria-hidden="true">⋯</div> : null)}
		</div>
	);
}
