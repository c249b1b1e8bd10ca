// SPDX-License-Identifier: Apache-2.0
// fetch over a Unix socket. Node's own fetch cannot, so node:http carries it; nothing of Node is loaded before it is used.

export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

export function unixFetch(path: string): Fetch {
	return async (input, init = {}) => {
		const { request } = await import("node:http");
		const { Readable } = await import("node:stream");
		const url = new URL(input);
		return new Promise<Response>((resolve, reject) => {
			const req = request({
				socketPath: path,
				method: init.method ?? "GET",
				path: url.pathname + url.search,
				headers: Object.fromEntries(new Headers(init.headers)),
				...(init.signal ? { signal: init.signal } : {}),
				// One connection for each call: hanging up is how a run is cancelled.
				agent: false,
			});
			req.on("error", reject);
			req.on("response", (message) => {
				const headers = Object.entries(message.headers).flatMap(([name, value]): [string, string][] =>
					value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]]);
				resolve(new Response(Readable.toWeb(message) as ReadableStream<Uint8Array>,
					{ status: message.statusCode ?? 500, headers }));
			});
			req.end((init.body as string | null | undefined) ?? undefined);
		});
	};
}
