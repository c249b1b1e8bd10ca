// SPDX-License-Identifier: Apache-2.0
// The objects of the service, as they come.

export type Language = "python" | "bash";
export type State = "pending" | "queued" | "running" | "finished" | "interrupted";
export type Level = "low" | "medium" | "high" | "critical";
export type Cause =
	| "exited" | "signal" | "timeout" | "oom" | "pids" | "output" | "seccomp" | "cancelled" | "denied" | "expired"
	| "quota" | "rejected" | "infrastructure";

/** Something the check found in a script. Lines and columns count from 1; 0: the whole script. */
export interface Finding {
	layer: string;
	rule: string;
	severity: "info" | Level;
	message: string;
	line: number;
	column: number;
	end_column: number;
	blocks: boolean;
	source: string | null;
}

export interface Limits {
	memory_bytes: number;
	cpus: number;
	pids: number;
	timeout_seconds: number;
	tmp_bytes: number;
	max_output_bytes: number;
	output_cap_bytes: number;
}

/** What a person decided about a run that needed approval. */
export interface Decision {
	decision: "approved" | "denied" | "expired";
	by: string | null;
	reason: string | null;
	decided_ms: number;
}

/** What happened. `success` is true only for a script that ran and exited with 0; `cause` says how it ended, and is
 * null while the run waits for approval. */
export interface Result {
	id: string;
	state: State;
	cause: Cause | null;
	success: boolean;
	language: Language;
	stdout: string;
	stderr: string;
	exit_code: number | null;
	signal: number | null;
	timeout: boolean;
	validation_failed: boolean;
	validation_error: string | null;
	error: string | null;
	findings: Finding[];
	risk: { level: Level; effective: Level; reasons: string[] };
	decision: Decision | null;
	script_sha256: string;
	started_ms: number;
	duration_ms: number;
	usage: { cpu_ms: number; peak_memory_bytes: number };
	meta: {
		runtime: "native" | "docker" | "direct";
		policy: "default" | "strict" | "off";
		warm: boolean;
		trusted: boolean;
		blocked_imports: string[];
		truncated: { stdout: boolean; stderr: boolean };
		stdout_bytes: number;
		stderr_bytes: number;
		resource_limits: { asked: Limits; effective: Limits };
		cleanup_success: boolean;
		isolation: { layers: Record<string, boolean>; cgroup: "none" | "v1" | "v2"; uid: "own" | "shared"; landlock_abi: number };
	};
}

/** A run as the service lists it; `result` is there once it has ended and was asked for. */
export interface Execution {
	id: string;
	state: State;
	cause: Cause | null;
	language: Language;
	async: boolean;
	success: boolean | null;
	created_ms: number;
	started_ms: number | null;
	ended_ms: number | null;
	exit_code: number | null;
	duration_ms: number | null;
	cpu_ms: number | null;
	peak_memory_bytes: number | null;
	result?: Result | null;
}

/** One page of the list, the newest first. */
export interface ExecutionPage {
	executions: Execution[];
	next: string | null;
}

/** One event of a run. A newer service may send other kinds: `raw` has them as they came. */
export type Event =
	| { kind: "state"; state: State; raw: unknown }
	| { kind: "stdout" | "stderr"; text: string; data: Uint8Array; raw: unknown }
	| { kind: "gap"; bytes: number; raw: unknown }
	| { kind: "result"; result: Result; raw: unknown }
	| { kind: "other"; name: string; raw: unknown };

/** What may be said about a run besides its script. What is left out is up to the service. */
export interface RunOptions {
	language?: Language;
	args?: string[];
	/** Seconds, or a text such as "1.5s". */
	timeout?: number | string;
	/** Bytes, or a text such as "256MiB". */
	memory?: number | string;
	cpus?: number;
	pids?: number;
	stdin?: string | Uint8Array;
	env?: Record<string, string>;
	/** Read-only files in the working directory, by name. */
	files?: Record<string, string | Uint8Array>;
	profile?: string;
	policy?: "default" | "strict";
	backend?: string;
	/** Aborting it cancels the run. */
	signal?: AbortSignal;
}

export interface ListOptions {
	state?: State;
	cause?: Cause;
	language?: Language;
	limit?: number;
	/** The `next` of the page before. */
	before?: string;
}
