// SPDX-License-Identifier: Apache-2.0
// The same as ports.py, for the tests in JavaScript.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const [LOWEST, HIGHEST] = [10000, 65535];

/** A port on which nobody listens, out of those that the kernel gives to no connection by itself: it stays free until the
 * server that is told of it has started. */
export async function freePort() {
	const [low, high] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s+/).map(Number);
	const all = low <= LOWEST && high >= HIGHEST;
	for (;;) {
		const port = randomInt(LOWEST, HIGHEST + 1);
		if (!all && port >= low && port <= high) continue;
		const server = createServer().listen(port, "127.0.0.1");
		try {
			await once(server, "listening");
		} catch {
			continue;
		}
		server.close();
		await once(server, "close");
		return port;
	}
}
