// SPDX-License-Identifier: Apache-2.0
// What can go wrong between a program and the service. A script that fails is no error: it is a result.

export class BelljarError extends Error {
	override name = "BelljarError";
}

/** The service cannot be reached, or it went away before it had answered. */
export class ConnectionFailed extends BelljarError {
	override name = "ConnectionFailed";
}

/** A person has to decide about this run first; `wait(runId)` waits for the decision and the end. */
export class ApprovalNeeded extends BelljarError {
	override name = "ApprovalNeeded";

	constructor(readonly runId: string) {
		super(`run ${runId} waits for approval; decide with: belljar approve ${runId}`);
	}
}

/** The service answered with problem details (RFC 9457). */
export class Problem extends BelljarError {
	override name = "Problem";
	readonly type: string;
	readonly title: string;
	readonly detail: string;

	constructor(
		readonly status: number,
		readonly body: Record<string, unknown>,
		/** Seconds to wait before the same request may work. */
		readonly retryAfter?: number,
	) {
		const text = (name: string): string => (typeof body[name] === "string" ? body[name] : "");
		super(text("title") ? `${text("title")}: ${text("detail")}` : `status ${status}: ${text("detail")}`);
		this.type = text("type");
		this.title = text("title");
		this.detail = text("detail");
	}

	/** The last part of the type: queue-full, loosens, not-found... */
	get kind(): string {
		return this.type.slice(this.type.lastIndexOf(":") + 1);
	}
}
