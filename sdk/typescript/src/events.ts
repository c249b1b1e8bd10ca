// SPDX-License-Identifier: Apache-2.0
// A server-sent event stream as events.
import { ConnectionFailed, Problem } from "./errors.js";
import type { Event, Result, State } from "./types.js";

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let rest = "";
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
			rest = parts.pop() ?? "";
			for (const line of parts) yield line.endsWith("\r") ? line.slice(0, -1) : line;
		}
	} finally {
		// Whoever stops reading hangs up, which cancels a run that is his.
		await reader.cancel().catch(() => undefined);
	}
}

function bytesOf(raw: { text?: string; base64?: string }): Uint8Array {
	if (raw.base64 === undefined) return new TextEncoder().encode(raw.text ?? "");
	return Uint8Array.from(atob(raw.base64), (c) => c.charCodeAt(0));
}

function makeEvent(name: string, raw: Record<string, unknown>): Event {
	if (name === "stdout" || name === "stderr") {
		const data = bytesOf(raw);
		return { kind: name, data, text: new TextDecoder().decode(data), raw };
	}
	if (name === "state") return { kind: "state", state: raw["state"] as State, raw };
	if (name === "gap") return { kind: "gap", bytes: raw["bytes"] as number, raw };
	if (name === "result") return { kind: "result", result: raw as unknown as Result, raw };
	if (name === "problem") throw new Problem(Number(raw["status"] ?? 500), raw);
	return { kind: "other", name, raw };
}

/** The events of @body up to the last one of the run. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
	let name = "message", data = "";
	for await (const line of lines(body)) {
		if (line === "") {
			if (data) {
				const event = makeEvent(name, JSON.parse(data) as Record<string, unknown>);
				yield event;
				if (event.kind === "result") return;
			}
			name = "message";
			data = "";
		} else if (line.startsWith("event:")) {
			name = line.slice(6).trimStart();
		} else if (line.startsWith("data:")) {
			data += (data ? "\n" : "") + line.slice(5).trimStart();
		}
	}
	throw new ConnectionFailed("the service hung up before the run had ended");
}
