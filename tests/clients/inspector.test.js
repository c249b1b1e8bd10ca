// SPDX-License-Identifier: Apache-2.0
// The official inspector's command line drives belljar over standard streams and HTTP. TOOL, APPROVE.
// It makes one request and prints its result. It shows no notifications, so progress and live output are the SDK's to test
// (sdk.test.js); it declares no elicitation, so a run that needs a person is approved at another door, as the answer says
// (approve.test.js has the question at the client); it has no command to cancel, but ending it is one.
import assert from "node:assert/strict";
import path from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { BELLJAR, MODULES, NODE22, environment, newFolder, openService, runProgram, until } from "./harness.mjs";

let service, place;
before(async () => {
	place = newFolder();
	service = await openService();
});
after(async () => {
	await service?.close();
	place?.remove();
});

const LAUNCHER = path.join(MODULES, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const nearby = () => ({ ...environment(place.folder), PATH: `${path.dirname(NODE22)}:${process.env.PATH}` });
const inspect = async (target, ...args) => {
	const done = await runProgram(NODE22, [LAUNCHER, "--cli", ...target(), ...args], { env: nearby() });
	assert.ok(done.stdout.startsWith("{"), done.stdout + done.stderr);
	const answer = JSON.parse(done.stdout);
	// A tool that failed has a status of its own.
	assert.equal(done.status, answer.isError ? done.status || 1 : 0, done.stdout + done.stderr);
	return answer;
};
const call = (target, name, ...args) => inspect(target, "--method", "tools/call", "--tool-name", name, ...args);
// The command line of belljar itself, beside the server that is looked at.
const belljar = async (way, ...args) => {
	const folder = way === "stdio" ? place.folder : service.folder;
	const done = await runProgram(BELLJAR, args, { env: environment(folder) });
	assert.equal(done.status, 0, done.stdout + done.stderr);
	return done.stdout;
};
const WAYS = {
	// The client hands few variables on: the settings of this place must be named.
	stdio: () => ["-e", `BELLJAR_CONFIG=${path.join(place.folder, "config.yaml")}`, BELLJAR, "mcp"],
	http: () => [service.url, "--transport", "http"],
};

for (const [way, target] of Object.entries(WAYS)) {
	test(`inspector over ${way}: the tools' schemas are portable`, async () => {
		const { tools } = await inspect(target, "--method", "tools/list", "--strict");
		assert.ok(tools.some((t) => t.name === "execute_script"));
	});

	for (const era of ["legacy", "auto", "modern"]) {
		test(`inspector over ${way}: a tool runs, era ${era}`, async () => {
			const r = await inspect(target, "--protocol-era", era, "--method", "tools/call", "--tool-name", "run_python_code",
				"--tool-arg", "code=print(6*7)");
			assert.match(r.content[0].text, /stdout:\n42/);
		});
	}

	test(`inspector over ${way}: prompts and resources are listed`, async () => {
		assert.ok((await inspect(target, "--method", "prompts/list")).prompts.length >= 3);
		assert.ok(Array.isArray((await inspect(target, "--method", "resources/list")).resources));
	});

	test(`inspector over ${way}: a run and what it left are resources`, async () => {
		const run = (await call(target, "run_python_code", "--tool-arg", "code=raise SystemExit(3)")).structuredContent.id;
		const { contents } = await inspect(target, "--method", "resources/read", "--uri", `belljar://executions/${run}`);
		assert.match(contents[0].text, /"exit_code":3/);
		const kept = await inspect(target, "--method", "resources/read", "--uri", `belljar://executions/${run}/artifacts/script`);
		assert.equal(kept.contents[0].text, "raise SystemExit(3)");
		const { resourceTemplates } = await inspect(target, "--method", "resources/templates/list");
		assert.equal(resourceTemplates.length, 3);
	});

	test(`inspector over ${way}: a run that needs a person is approved elsewhere, and its result is read`, async () => {
		const pending = await call(target, "execute_script", "--tool-arg", `script_content=echo approved ${way}`, "--tool-arg", "script_type=bash");
		assert.equal(pending.structuredContent.state, "pending");
		const { id } = pending.structuredContent;
		assert.match(pending.content[0].text, new RegExp(`belljar approve ${id}`));
		await belljar(way, "approve", id);
		const done = await until(async () => {
			const it = await call(target, "read_result", "--tool-arg", `id=${id}`);
			return it.structuredContent.state === "finished" && it;
		}, "the end of the run");
		assert.equal(done.structuredContent.result.stdout, `approved ${way}\n`);
	});

	test(`inspector over ${way}: a long run is a task or waits, and ends either way in era modern`, async () => {
		const r = await call(target, "run_python_code", "--protocol-era", "modern", "--tool-arg", "code=import time; time.sleep(2); print('late')");
		assert.match(JSON.stringify(r), /late/);
	});
}

test("inspector over stdio: ending it kills the script", async () => {
	const child = spawn(NODE22, [LAUNCHER, "--cli", ...WAYS.stdio(), "--method", "tools/call", "--tool-name", "run_python_code",
		"--tool-arg", "code=while True: pass"], { env: nearby(), stdio: "ignore", detached: true });
	const ended = once(child, "exit");
	const latest = async () => JSON.parse((await belljar("stdio", "history", "--json", "--limit", "1")).trim() || "{}");
	const run = await until(async () => {
		const it = await latest();
		return it.state === "running" && it;
	}, "the script runs");
	process.kill(-child.pid, "SIGTERM");
	await ended;
	await until(async () => (await latest()).state !== "running", "the script is gone");
	assert.equal((await latest()).id, run.id);
});
