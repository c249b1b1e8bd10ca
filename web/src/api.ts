// SPDX-License-Identifier: Apache-2.0
// What the page asks the service, and the objects it gets. Fields that a service may not have are optional.

export interface Finding {
	layer: string;
	rule: string;
	severity: "info" | "low" | "medium" | "high" | "critical";
	message: string;
	line: number;
	column: number;
	end_column: number;
	blocks: boolean;
	source: string | null;
}

export interface Decision {
	decision: "approved" | "denied" | "expired";
	by: string | null;
	reason: string | null;
	decided_ms: number;
}

export interface Result {
	id: string;
	state: string;
	cause: string | null;
	success: boolean;
	language: string;
	stdout: string;
	stderr: string;
	exit_code: number | null;
	signal: number | null;
	error: string | null;
	validation_error: string | null;
	findings: Finding[];
	risk: { level: string; effective?: string; reasons: string[] };
	duration_ms: number;
	usage: { cpu_ms: number; peak_memory_bytes: number };
	decision?: Decision | null;
	script_sha256?: string;
	meta: {
		runtime: string;
		policy: string;
		warm: boolean;
		stdout_bytes: number;
		stderr_bytes: number;
		resource_limits: { effective: Record<string, number> };
		isolation: { layers: Record<string, boolean>; cgroup: string; uid: string };
	};
}

export interface Execution {
	id: string;
	state: string;
	cause: string | null;
	language: string;
	success: boolean | null;
	created_ms: number;
	started_ms: number | null;
	ended_ms: number | null;
	exit_code: number | null;
	duration_ms: number | null;
	cpu_ms: number | null;
	peak_memory_bytes: number | null;
	tenant?: string | null;
	actor?: string | null;
	tool?: string | null;
	script?: string | null;
	result?: Result | null;
}

/** All that is kept of a run. */
export interface FullRecord extends Omit<Execution, "result"> {
	actor: string | null;
	tool: string | null;
	name: string | null;
	effective_risk: string;
	result: Result | null;
	script: string | null;
	question: { rule: string | null; asked_ms: number; expires_ms: number; decided_ms: number | null; last_approved?: string | null } | null;
}

/** The service said no. */
export class Refused extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

let onLogOut: () => void = () => undefined;

/** Call @hook whenever the service wants a key. */
export function whenLoggedOut(hook: () => void): void {
	onLogOut = hook;
}

export async function ask<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T> {
	const answer = await fetch(path, {
		method,
		headers: {
			"X-Belljar-Page": "1",
			...(body === undefined ? {} : { "Content-Type": "application/json" }),
			...headers,
		},
		body: body === undefined ? null : JSON.stringify(body),
		credentials: "same-origin",
		cache: "no-store",
	});
	const type = answer.headers.get("Content-Type") ?? "";
	if (!answer.ok) {
		const problem = type.includes("json") ? ((await answer.json()) as { title?: string; detail?: string }) : {};
		if (answer.status === 401 && !headers?.["Authorization"]) onLogOut();
		throw new Refused(answer.status, problem.detail ?? problem.title ?? `status ${answer.status}`);
	}
	return (type.includes("json") ? await answer.json() : await answer.text()) as T;
}

export const get = <T>(path: string): Promise<T> => ask<T>("GET", path);

export function logIn(key: string): Promise<unknown> {
	return ask("POST", "/v1/session", undefined, { Authorization: `Bearer ${key}` });
}

export const logOut = (): Promise<unknown> => ask("DELETE", "/v1/session");

export function listRuns(query: Record<string, string>): Promise<{ executions: Execution[]; next: string | null }> {
	return get(`/v1/executions?${new URLSearchParams(query).toString()}`);
}

export const runPath = (id: string): string => `/v1/executions/${encodeURIComponent(id)}`;

export const getRecord = (id: string): Promise<FullRecord> => get(`/v1/history/${encodeURIComponent(id)}`);

export interface Listener {
	onOutput(stream: "stdout" | "stderr", text: string): void;
	onState(state: string): void;
	onGap(bytes: number): void;
	onStats(sample: Record<string, number>): void;
	onEnd(): void;
}

function decode(data: string): string {
	const value = JSON.parse(data) as { text?: string; base64?: string };
	if (value.base64 === undefined) return value.text ?? "";
	const bytes = Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0));
	return new TextDecoder().decode(bytes);
}

/** Call @hear when something happens to a run, and once the service listens to us. Returns what stops it. */
export function watchList(hear: () => void): () => void {
	const source = new EventSource("/v1/events");
	for (const name of ["ready", "execution", "behind"]) source.addEventListener(name, hear);
	return () => source.close();
}

/** Follow a run from its first event that is kept. Returns what stops it. */
export function watch(id: string, to: Listener): () => void {
	const source = new EventSource(`${runPath(id)}/events`);
	const on = (name: string, hear: (data: string) => void): void =>
		source.addEventListener(name, (event) => hear((event as MessageEvent<string>).data));

	on("stdout", (data) => to.onOutput("stdout", decode(data)));
	on("stderr", (data) => to.onOutput("stderr", decode(data)));
	on("state", (data) => to.onState((JSON.parse(data) as { state: string }).state));
	on("gap", (data) => to.onGap((JSON.parse(data) as { bytes: number }).bytes));
	on("sample", (data) => to.onStats(JSON.parse(data) as Record<string, number>));
	for (const last of ["result", "problem"]) {
		on(last, () => {
			source.close();
			to.onEnd();
		});
	}
	source.onerror = () => {
		if (source.readyState === EventSource.CLOSED) to.onEnd();
	};
	return () => source.close();
}
