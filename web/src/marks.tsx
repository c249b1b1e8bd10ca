// SPDX-License-Identifier: Apache-2.0
// Small signs that stand in many places.
import type { ComponentChildren, JSX } from "preact";
import type { Execution } from "./api";

/** How a run stands: a word, and a colour that only repeats it. */
export function stateOf(run: Pick<Execution, "state" | "cause" | "success" | "exit_code">): { word: string; tone: string } {
	if (run.state === "pending") return { word: "waits for approval", tone: "ask" };
	if (run.state === "queued") return { word: "queued", tone: "idle" };
	if (run.state === "running") return { word: "running", tone: "live" };
	if (run.state === "interrupted") return { word: "interrupted", tone: "bad" };
	if (run.success) return { word: "succeeded", tone: "good" };
	if (run.cause === "exited") return { word: `exit ${run.exit_code ?? "?"}`, tone: "bad" };
	if (run.cause === "cancelled") return { word: "cancelled", tone: "idle" };
	return { word: run.cause ?? "ended", tone: run.cause === "denied" || run.cause === "rejected" ? "warn" : "bad" };
}

export function State({ run }: { run: Pick<Execution, "state" | "cause" | "success" | "exit_code"> }): JSX.Element {
	const { word, tone } = stateOf(run);
	return <span class={`state ${tone}`}><span class="dot" aria-hidden="true" />{word}</span>;
}

export function Risk({ level }: { level: string }): JSX.Element {
	return <span class={`risk ${level}`}>{level} risk</span>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
	return <div class="fact"><dt>{name}</dt><dd>{children}</dd></div>;
}

export function Failure({ text }: { text: string | undefined }): JSX.Element | null {
	return text ? <p class="failure" role="alert">{text}</p> : null;
}

export function Empty({ children }: { children: ComponentChildren }): JSX.Element {
	return <p class="empty">{children}</p>;
}
