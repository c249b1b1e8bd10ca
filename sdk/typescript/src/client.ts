// SPDX-License-Identifier: Apache-2.0
import { ApprovalNeeded, ConnectionFailed, Problem } from "./errors.js";
import { readEvents } from "./events.js";
import { type Fetch, unixFetch } from "./socket.js";
import type { Event, Execution, ExecutionPage, ListOptions, Result, RunOptions } from "./types.js";

export interface ClientOptions {
	/** unix:/path, a path, or http://host:port. By default BELLJAR_URL, BELLJAR_SERVE_SOCKET, or the usual socket. */
	url?: string;
	/** Needed over TCP. By default BELLJAR_API_KEY. */
	apiKey?: string;
	/** Another fetch, for proxies and tests. */
	fetch?: Fetch;
}

interface Call {
	method?: string;
	body?: unknown;
	headers?: Record<string, string>;
	signal?: AbortSignal | undefined;
}

const environment = (): Record<string, string | undefined> => (typeof process === "undefined" ? {} : process.env);

function usualPlace(env: Record<string, string | undefined>): string {
	const own = env["XDG_RUNTIME_DIR"];
	return env["BELLJAR_URL"] ?? env["BELLJAR_SERVE_SOCKET"] ?? (own && env["USER"] !== "root"
		? `unix:${own}/belljar/belljar.sock` : "unix:/run/belljar/belljar.sock");
}

function base64(data: Uint8Array): string {
	let text = "";
	for (const byte of data) text += String.fromCharCode(byte);
	return btoa(text);
}

const field = (value: string | Uint8Array): object => (typeof value === "string" ? { text: value } : { base64: base64(value) });

function order(script: string, options: RunOptions): object {
	const { signal: _, stdin, files, ...plain } = options;
	return {
		language: "python",
		...plain,
		script,
		...(stdin === undefined ? {} : { stdin: field(stdin) }),
		...(files ? { files: Object.entries(files).map(([name, data]) => ({ name, ...field(data) })) } : {}),
	};
}

async function problemOf(answer: Response): Promise<Problem> {
	const text = await answer.text().catch(() => "");
	const wait = Number(answer.headers.get("Retry-After") ?? Number.NaN);
	let body: Record<string, unknown> = { detail: text.slice(0, 200) };
	try {
		body = JSON.parse(text) as Record<string, unknown>;
	} catch {
		// Not ours: the status and the text must do.
	}
	return new Problem(answer.status, body, Number.isFinite(wait) ? wait : undefined);
}

/** A service of belljar. A run lasts as long as its limits allow, so calls have no timeout of their own; aborting
 * `signal` hangs up, and the service cancels the run. */
export class Belljar {
	readonly #base: string;
	readonly #place: string;
	readonly #key: string | undefined;
	readonly #fetch: Fetch;

	constructor(options: ClientOptions = {}) {
		const env = environment();
		const url = options.url ?? usualPlace(env);
		const path = url.startsWith("/") ? url : url.startsWith("unix:/") ? url.slice("unix:".length) : undefined;
		if (path === undefined && !/^https?:\/\/[^/]+\/?$/.test(url))
			throw new TypeError(`${url} names no service: use unix:/path/to.sock or http://host:port`);
		this.#place = url;
		this.#base = path === undefined ? url.replace(/\/$/, "") : "http://localhost";
		this.#key = options.apiKey ?? env["BELLJAR_API_KEY"];
		this.#fetch = options.fetch ?? (path === undefined ? (input, init) => fetch(input, init) : unixFetch(path));
	}

	/** Check a script, run it, and wait for its end. With @onOutput the output comes as it is printed. */
	async run(script: string, options: RunOptions & {
		idempotencyKey?: string;
		onOutput?: (stream: "stdout" | "stderr", text: string) => void;
	} = {}): Promise<Result> {
		const { idempotencyKey, onOutput, ...rest } = options;
		if (!onOutput) {
			const result = await this.#json<Result>("/v1/executions", {
				method: "POST", body: order(script, rest), signal: rest.signal,
				headers: idempotencyKey ? { "Idempotency-Key": idempotencyKey } : {},
			});
			if (result.state === "pending") throw new ApprovalNeeded(result.id);
			return result;
		}
		for await (const event of this.stream(script, rest)) {
			if (event.kind === "stdout" || event.kind === "stderr") onOutput(event.kind, event.text);
			if (event.kind === "result" && event.result.state === "pending") throw new ApprovalNeeded(event.result.id);
			if (event.kind === "result") return event.result;
		}
		throw new ConnectionFailed("the service hung up before the run had ended");
	}

	/** Run a script and get its events, every byte of output among them. Leaving the loop before the end cancels the run. */
	async *stream(script: string, options: RunOptions = {}): AsyncGenerator<Event> {
		yield* this.#events("/v1/executions", {
			method: "POST", body: order(script, options), headers: { Accept: "text/event-stream" }, signal: options.signal,
		});
	}

	/** Begin a run and return at once. It goes on without this client. */
	start(script: string, options: RunOptions & { idempotencyKey?: string } = {}): Promise<Execution> {
		const { idempotencyKey, ...rest } = options;
		return this.#json("/v1/executions", {
			method: "POST", body: order(script, rest),
			headers: { Prefer: "respond-async", ...(idempotencyKey ? { "Idempotency-Key": idempotencyKey } : {}) },
		});
	}

	/** Only the check: findings, risk, and whether the script would be refused. */
	check(script: string, options: RunOptions = {}): Promise<Result> {
		return this.#json("/v1/check", { method: "POST", body: order(script, options), signal: options.signal });
	}

	/** What happens in a run that was started, from the first event that is kept. */
	async *events(id: string, signal?: AbortSignal): AsyncGenerator<Event> {
		yield* this.#events(`${this.#path(id)}/events`, { signal });
	}

	/** The result of a run that was started, once it has ended. */
	async wait(id: string, signal?: AbortSignal): Promise<Result> {
		for await (const event of this.events(id, signal)) if (event.kind === "result") return event.result;
		throw new ConnectionFailed("the service hung up before the run had ended");
	}

	get(id: string): Promise<Execution> {
		return this.#json(this.#path(id));
	}

	/** Cancel a run and wait for its end. */
	cancel(id: string): Promise<Execution> {
		return this.#json(this.#path(id), { method: "DELETE" });
	}

	list(options: ListOptions = {}): Promise<ExecutionPage> {
		const query = new URLSearchParams(Object.entries(options).map(([name, value]) => [name, String(value)]));
		return this.#json(`/v1/executions${query.size ? `?${query.toString()}` : ""}`);
	}

	/** Let a run go on that waits for a person. */
	approve(id: string): Promise<unknown> {
		return this.#json(`${this.#path(id)}/approve`, { method: "POST", body: {} });
	}

	/** Refuse a run that waits for a person; the reason reaches whoever asked for it. */
	deny(id: string, reason: string): Promise<unknown> {
		return this.#json(`${this.#path(id)}/deny`, { method: "POST", body: { reason } });
	}

	health(): Promise<{ status: string }> {
		return this.#json("/healthz");
	}

	ready(): Promise<{ status: string }> {
		return this.#json("/readyz");
	}

	/** Any other path of the service, as JSON. */
	call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
		return this.#json(path, { method, body, signal });
	}

	#path(id: string): string {
		return `/v1/executions/${encodeURIComponent(id)}`;
	}

	async #send(path: string, call: Call): Promise<Response> {
		const init: RequestInit = {
			method: call.method ?? "GET",
			headers: {
				...(this.#key ? { Authorization: `Bearer ${this.#key}` } : {}),
				...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
				...call.headers,
			},
			...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
			...(call.signal ? { signal: call.signal } : {}),
		};
		let answer: Response;
		try {
			answer = await this.#fetch(this.#base + path, init);
		} catch (error) {
			if (call.signal?.aborted) throw error;
			throw new ConnectionFailed(`no service at ${this.#place}; start one with: belljar serve`, { cause: error });
		}
		if (!answer.ok) throw await problemOf(answer);
		return answer;
	}

	async #json<T>(path: string, call: Call = {}): Promise<T> {
		const answer = await this.#send(path, call);
		try {
			return (await answer.json()) as T;
		} catch (error) {
			if (call.signal?.aborted) throw error;
			throw new ConnectionFailed(`the answer to ${path} is not one of belljar`, { cause: error });
		}
	}

	async *#events(path: string, call: Call): AsyncGenerator<Event> {
		const answer = await this.#send(path, call);
		if (!answer.body) throw new ConnectionFailed(`the answer to ${path} is empty`);
		try {
			yield* readEvents(answer.body);
		} catch (error) {
			if (call.signal?.aborted || error instanceof Problem || error instanceof ConnectionFailed) throw error;
			throw new ConnectionFailed("the service hung up before the run had ended", { cause: error });
		}
	}
}
