// SPDX-License-Identifier: Apache-2.0
// A service of the tests' own: started on a random socket and port, ended by its pid.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "./ports.mjs";

export const TOP = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const BELLJAR = process.env.BELLJAR ?? join(TOP, "build/src/belljar");
export const KEY = "a-key-that-is-long-enough";

function answers(port) {
	return new Promise((done) => {
		const socket = connect(port, "127.0.0.1", () => {
			socket.end();
			done(true);
		});
		socket.on("error", () => done(false));
	});
}

/** `belljar serve`, listening. Its url, socket and key; stop() ends it. */
export async function startService({ config = "", env = {}, args = [] } = {}) {
	const folder = mkdtempSync(join(tmpdir(), "bj-node-"));
	const socket = join(folder, "service.sock");
	const port = await freePort();
	const log = join(folder, "log");
	writeFileSync(join(folder, "config.yaml"), `log_level: info\nstate_dir: ${folder}/state\n${config}`);
	const out = openSync(log, "w");
	const child = spawn(BELLJAR, ["serve", "--socket", socket, "--listen", `127.0.0.1:${port}`,
		"--config", join(folder, "config.yaml"), ...args], {
		env: { PATH: "/usr/bin:/bin", HOME: "/nowhere", BELLJAR_SERVE_API_KEY: KEY,
			// Nobody is asked, unless a test is about that.
			BELLJAR_APPROVAL_RULES: "allow through=api,allow through=tool", ...env },
		stdio: ["ignore", out, out],
	});
	const ended = once(child, "exit");
	// The port comes last: then the socket is there, too.
	for (const deadline = Date.now() + 20000; !(await answers(port)); await pause(20))
		if (Date.now() > deadline || child.exitCode !== null) throw new Error(`not ready: ${readFileSync(log, "utf8")}`);
	const url = `http://127.0.0.1:${port}`;
	return {
		url, socket, port, folder, key: KEY, process: child,
		said: () => readFileSync(log, "utf8"),
		/** Ask over TCP with the key. */
		async ask(method, path, body, headers = {}) {
			return fetch(url + path, {
				method,
				headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json", ...headers },
				body: body === undefined ? undefined : JSON.stringify(body),
			});
		},
		/** Begin a run; its id. */
		async start(script, language = "bash", more = {}) {
			const answer = await this.ask("POST", "/v1/executions", { script, language, ...more }, { Prefer: "respond-async" });
			if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
			return (await answer.json()).id;
		},
		async stop() {
			child.kill("SIGTERM");
			await ended;
			rmSync(folder, { recursive: true, force: true });
		},
	};
}
