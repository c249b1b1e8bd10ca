// SPDX-License-Identifier: Apache-2.0
// The five-minute starts do what they say: every fenced block of docs/start is run, in order, in a folder of its own.
//
// A comment before a block says what it is: `file NAME` is saved, `service` is started and waited for, `shows` must
// be in the output of the block before, `mcp` names a server that the official client starts and uses. Every other
// sh block is run. Model calls go to a stand-in on the loopback.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startModel } from "../harness/model.mjs";
import { freePort } from "../harness/ports.mjs";
import { BELLJAR, TOP } from "../harness/service.mjs";

const START = join(TOP, "docs/start");
const BUILD = process.env.BELLJAR_BUILD ?? join(TOP, "build");
const BLOCK = /(?:^<!-- (.+?) -->\n)?^```(\w*)\n([^]*?)^```$/gm;
const run = promisify(execFile);

// npm as the documents use it, from the packages that package-lock.json pins.
const NPM = `#!/bin/bash
set -eu
if [ "$1" = --prefix ]; then
	if [ "$3" = ci ]; then exec "$TOP/tools/fetch-npm" "$(realpath "$2")"; fi
	cd "$2"; exec flock .lock node node_modules/typescript/bin/tsc -p .
fi
[ "$1" = install ]; shift
mkdir -p node_modules
for name; do
	if [ "\${name#/}" != "$name" ]; then ln -sfn "$(realpath "$name")" "node_modules/$(node -p "require('$name/package.json').name")"
	else test -d "$TOP/tests/sdk/node_modules/$name"; mkdir -p "node_modules/$(dirname "$name")"; ln -sfn "$TOP/tests/sdk/node_modules/$name" "node_modules/$name"; fi
done
`;

// claude as the documents use it: what it is told to add goes to .mcp.json, in the form of its own.
const CLAUDE = `#!/usr/bin/env node
const args = process.argv.slice(2);
if (args.splice(0, 2).join(" ") !== "mcp add") process.exit(1);
const option = (name) => { const at = args.indexOf(name); return at < 0 ? undefined : args.splice(at, 2)[1]; };
const transport = option("--transport"), header = option("--header");
const [name, ...rest] = args;
const [key, value] = header ? header.split(": ") : [];
const server = transport === "http" ? { url: rest[0], headers: { [key]: value } } : { command: rest[1], args: rest.slice(2) };
if (transport !== "http" && rest[0] !== "--") process.exit(1);
require("fs").writeFileSync(".mcp.json", JSON.stringify({ mcpServers: { [name]: server } }));
`;

// The Python frameworks are not here: stand-ins with the shapes that they document.
const AGENTS = `import asyncio, dataclasses
from typing import Any
@dataclasses.dataclass
class FunctionTool:
    name: str
    description: str
    params_json_schema: dict
    on_invoke_tool: Any
    strict_json_schema: bool = True
@dataclasses.dataclass
class Agent:
    name: str
    instructions: str
    tools: list
@dataclasses.dataclass
class Result:
    final_output: str
class Runner:
    @staticmethod
    def run_sync(agent, prompt):
        tool = next(t for t in agent.tools if t.name == "run_python_code")
        return Result(asyncio.run(tool.on_invoke_tool(None, '{"code": "print(6 * 7)"}')))
`;
const LANGCHAIN = `class StructuredTool:
    def __init__(self, *, name, description, args_schema, func, coroutine):
        self.name, self.func = name, func
`;

let model;
before(async () => (model = await startModel()));
after(() => model?.stop());

/** A folder as a newcomer has it: belljar in the path, the SDKs beside, nothing else. */
class Desk {
	constructor(port) {
		this.folder = mkdtempSync(join(tmpdir(), "bj-start-"));
		this.port = port;
		this.socket = join(this.folder, "service.sock");
		this.children = [];
		const bin = join(this.folder, "bin");
		mkdirSync(bin);
		symlinkSync(BELLJAR, join(bin, "belljar"));
		mkdirSync(join(this.folder, "belljar"));
		symlinkSync(join(TOP, "sdk"), join(this.folder, "belljar/sdk"));
		for (const [name, text] of [["npm", NPM], ["claude", CLAUDE]]) {
			writeFileSync(join(bin, name), text);
			chmodSync(join(bin, name), 0o755);
		}
		mkdirSync(join(this.folder, "python/langchain_core"), { recursive: true });
		writeFileSync(join(this.folder, "python/agents.py"), AGENTS);
		writeFileSync(join(this.folder, "python/langchain_core/__init__.py"), "");
		writeFileSync(join(this.folder, "python/langchain_core/tools.py"), LANGCHAIN);
		writeFileSync(join(bin, "belljar.pc"),
			`Name: belljar\nDescription: belljar\nVersion: 0\nCflags: -I${TOP}/include\nLibs: -L${BUILD}/src -Wl,-rpath,${BUILD}/src -lbelljar\n`);
		writeFileSync(join(this.folder, "config.yaml"), `state_dir: ${this.folder}/state\n`);
		this.env = {
			PATH: `${bin}:/usr/bin:/bin:/usr/sbin:/sbin`, HOME: this.folder, TOP, PKG_CONFIG_PATH: bin, PYTHONPATH: join(this.folder, "python"),
			PYTHONDONTWRITEBYTECODE: "1", PIP_NO_INDEX: "1", BELLJAR_CONFIG: join(this.folder, "config.yaml"),
			BELLJAR_SERVE_SOCKET: this.socket, OPENAI_API_KEY: "none", OPENAI_BASE_URL: model.url, OPENAI_AGENTS_DISABLE_TRACING: "1",
			NODE_NO_WARNINGS: "1",
		};
	}

	/** The text of a block with the places of this test in it. */
	own(text) {
		return text.replaceAll("127.0.0.1:8080", `127.0.0.1:${this.port}`).replaceAll("/run/belljar/belljar.sock", this.socket);
	}

	async sh(text) {
		try {
			const { stdout, stderr } = await run("bash", ["-euo", "pipefail", "-c", this.own(text)],
				{ cwd: this.folder, env: this.env, maxBuffer: 16 << 20, timeout: 100_000 });
			return stdout + stderr;
		} catch (error) {
			throw new Error(`${text}\n${error.stdout}\n${error.stderr}\n${error.message}`);
		}
	}

	/** Start a service and wait for it. One that runs already goes first. */
	async service(text) {
		await this.stop();
		const child = spawn("bash", ["-euc", this.own(text).replace(/^belljar serve/m, "exec belljar serve")],
			{ cwd: this.folder, env: this.env, stdio: ["ignore", "inherit", "inherit"] });
		child.gone = once(child, "exit");
		this.children.push(child);
		await this.sh(`for i in $(seq 500); do curl -sf --unix-socket "$BELLJAR_SERVE_SOCKET" http://localhost/readyz && exit; sleep 0.02; done; exit 1`);
	}

	async stop() {
		for (const child of this.children.splice(0)) {
			child.kill("SIGTERM");
			await child.gone;
		}
	}

	/** Start what a configuration says with the official client, and have it run a script. */
	async mcp(config) {
		const key = () => readFileSync(join(this.folder, "belljar.key"), "utf8").trim();
		for (const server of Object.values(config.mcpServers)) {
			const headers = Object.fromEntries(Object.entries(server.headers ?? {}).map(([name, value]) =>
				[name, value.replace("${env:BELLJAR_API_KEY}", () => key())]));
			const transport = server.url ? new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } })
				: new StdioClientTransport({ command: server.command, args: server.args, env: this.env, cwd: this.folder });
			const client = new Client({ name: "start", version: "1" });
			await client.connect(transport);
			const answer = await client.callTool({ name: "run_python_code", arguments: { code: "print(6 * 7)" } });
			assert.match(answer.content[0].text, /42/);
			await client.close();
		}
	}

	async remove() {
		await this.stop();
		rmSync(this.folder, { recursive: true, force: true });
	}
}

async function follow(desk, document) {
	let output = "", ran = 0;
	for (const [, note, language, text] of document.matchAll(BLOCK)) {
		const [what, name] = (note ?? "").split(" ");
		if (what === "file") writeFileSync(join(desk.folder, name), text);
		else if (what === "service") await desk.service(text);
		else if (what === "shows") for (const line of text.trim().split("\n")) assert.ok(output.includes(line), `no ${line} in ${output}`);
		else if (what === "mcp" && language === "json") await desk.mcp(JSON.parse(desk.own(text)));
		else if (what === "mcp") {
			await desk.sh(text);
			await desk.mcp(JSON.parse(readFileSync(join(desk.folder, ".mcp.json"), "utf8")));
		} else {
			assert.equal(language, "sh", `a block that nobody runs: ${text}`);
			output = await desk.sh(text);
		}
		ran++;
	}
	assert.ok(ran >= 3, "blocks were found");
}

/** All that there are. */
export const DOCUMENTS = readdirSync(START).filter((name) => name.endsWith(".md")).sort();

/** A test for each of these. */
export function testDocuments(names) {
	for (const name of names) {
		test(`docs/start/${name}`, async () => {
			const desk = new Desk(await freePort());
			try {
				await follow(desk, readFileSync(join(START, name), "utf8"));
			} finally {
				await desk.remove();
			}
		});
	}
}
