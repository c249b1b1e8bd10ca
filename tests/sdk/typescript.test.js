// SPDX-License-Identifier: Apache-2.0
// The TypeScript SDK against a real service, over the socket and over TCP. TOOL, RESULT, SCRP-01, SCRP-08/09.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startService } from "../harness/service.mjs";
import { SDK, sdk } from "./build.mjs";

const { ApprovalNeeded, Belljar, ConnectionFailed, Problem } = sdk;
const FOREVER = "while :; do sleep 0.05; echo on; done";
let service;
before(async () => (service = await startService()));
after(() => service?.stop());

async function until(check) {
	for (const deadline = Date.now() + 10000; !(await check()); await new Promise((r) => setTimeout(r, 20)))
		assert.ok(Date.now() < deadline, "it never came true");
}

for (const how of ["unix", "tcp"]) {
	describe(`over ${how}`, () => {
		let jar;
		before(() => (jar = how === "unix" ? new Belljar({ url: `unix:${service.socket}` })
			: new Belljar({ url: service.url, apiKey: service.key })));

		test(`${how}: a run and its result`, async () => {
			const result = await jar.run("import sys; print(6 * 7); print('e', file=sys.stderr)", { timeout: 10 });
			assert.equal(result.stdout, "42\n");
			assert.equal(result.stderr, "e\n");
			assert.equal(result.exit_code, 0);
			assert.equal(result.cause, "exited");
			assert.equal(result.meta.resource_limits.effective.timeout_seconds, 10);
		});

		test(`${how}: every option`, async () => {
			const result = await jar.run('cat; cat a.bin b.txt; echo "$1 $NAME"', {
				language: "bash", args: ["one"], stdin: new Uint8Array([105, 110, 255, 10]), env: { NAME: "two" },
				files: { "a.bin": new Uint8Array([254, 10]), "b.txt": "text\n" }, memory: "128MiB", cpus: 0.5, pids: 20,
				timeout: "5s", policy: "strict",
			});
			assert.equal(result.stdout, "in\ufffd\n\ufffd\ntext\none two\n");
			assert.equal(result.meta.policy, "strict");
		});

		test(`${how}: output as it comes`, async () => {
			const seen = [];
			for await (const event of jar.stream("echo first; sleep 1; printf '%s\\xff' $EPOCHREALTIME >&2", { language: "bash" }))
				seen.push([event.kind, event.text, Date.now(), event.data]);
			const [out, err] = seen.filter(([kind]) => kind.startsWith("std"));
			assert.equal(out[1], "first\n");
			assert.equal(err[3].at(-1), 255);
			assert.ok(out[2] < Number.parseFloat(err[1]) * 1000, "the last word was not said yet");
			assert.equal(seen.at(-1)[0], "result");
			const heard = [];
			const result = await jar.run("echo a; echo b >&2", { language: "bash", onOutput: (...got) => heard.push(got) });
			assert.equal(result.success, true);
			assert.deepEqual(heard.sort(), [["stderr", "b\n"], ["stdout", "a\n"]]);
		});

		test(`${how}: leaving the loop and aborting cancel the run`, async () => {
			for await (const event of jar.stream(FOREVER, { language: "bash", timeout: 60 })) if (event.kind === "stdout") break;
			await until(async () => (await jar.list({ state: "running" })).executions.length === 0);
			const stop = new AbortController();
			const waiting = jar.run(FOREVER, { language: "bash", timeout: 60, signal: stop.signal });
			await until(async () => (await jar.list({ state: "running" })).executions.length === 1);
			const [{ id }] = (await jar.list({ limit: 1 })).executions;
			stop.abort();
			await assert.rejects(waiting, { name: "AbortError" });
			await until(async () => (await jar.get(id)).cause === "cancelled");
		});

		test(`${how}: start, watch, cancel`, async () => {
			const { id } = await jar.start(FOREVER, { language: "bash", timeout: 60 });
			for await (const event of jar.events(id)) if (event.kind === "stdout") break;
			assert.equal((await jar.cancel(id)).result.cause, "cancelled");
			assert.equal((await jar.wait(id)).cause, "cancelled");
			await assert.rejects(jar.cancel(id), (e) => e instanceof Problem && e.status === 409 && e.kind === "conflict");
		});

		test(`${how}: check, list, health, idempotency`, async () => {
			assert.equal((await jar.check("def foo(")).findings[0].layer, "syntax");
			assert.deepEqual(await jar.health(), { status: "ok" });
			assert.deepEqual(await jar.ready(), { status: "ready" });
			const idempotencyKey = `key-${how}-${process.hrtime.bigint()}`;
			const [a, b] = [await jar.run("print(1)", { idempotencyKey }), await jar.run("print(1)", { idempotencyKey })];
			assert.equal(a.id, b.id);
			const page = await jar.list({ limit: 1 });
			assert.ok(page.next);
			assert.equal((await jar.list({ limit: 1, before: page.next })).executions.length, 1);
		});

		test(`${how}: problems are errors`, async () => {
			await assert.rejects(jar.run("1", { memory: "900GiB" }), (e) => e instanceof Problem && e.status === 403 && e.kind === "loosens");
			await assert.rejects(jar.get("0".repeat(32)), { status: 404 });
			await assert.rejects(jar.events("0".repeat(32)).next(), { status: 404 });
			await assert.rejects(jar.call("GET", "/nothing"), { status: 404 });
		});
	});
}

test("the key decides over TCP", async () => {
	for (const apiKey of ["wrong", undefined])
		await assert.rejects(new Belljar({ url: service.url, apiKey }).list(), { name: "Problem", status: 401 });
});

test("nobody there, nonsense there", async () => {
	for (const url of ["unix:/nowhere/x.sock", "http://127.0.0.1:9"])
		await assert.rejects(new Belljar({ url }).health(), (e) => e instanceof ConnectionFailed && /belljar serve/.test(e.message));
	for (const url of ["ftp://x", "nonsense", "http://h/path"]) assert.throws(() => new Belljar({ url }), TypeError);
	const server = createServer((req, res) => {
		res.writeHead(req.url === "/healthz" ? 200 : 502, { "Retry-After": "3" });
		res.end(req.url === "/healthz" ? "<html>" : "oops");
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	const jar = new Belljar({ url: `http://127.0.0.1:${server.address().port}` });
	await assert.rejects(jar.health(), { name: "ConnectionFailed" });
	await assert.rejects(jar.list(), { name: "Problem", status: 502, detail: "oops", retryAfter: 3 });
	server.close();
});

test("a stream that breaks off is an error", async () => {
	const server = createServer((req, res) => {
		res.writeHead(200, { "Content-Type": "text/event-stream" });
		res.write(': hi\n\nevent: news\ndata: {"a":\ndata: 1}\n\nevent: gap\r\ndata: {"bytes":3}\r\n\r\n');
		res.end();
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	const seen = [];
	await assert.rejects(async () => {
		for await (const e of new Belljar({ url: `http://127.0.0.1:${server.address().port}` }).events("x")) seen.push(e.kind);
	}, { name: "ConnectionFailed" });
	assert.deepEqual(seen, ["other", "gap"]);
	server.close();
});

// APPROVE: who waits is told so, with and without live output, and hears the end once somebody has decided.
test("a run that a person must approve", async () => {
	const asking = await startService({ env: { BELLJAR_APPROVAL_RULES: "ask through=api" } });
	const jar = new Belljar({ url: asking.url, apiKey: asking.key });
	try {
		for (const more of [{}, { onOutput: () => assert.fail("nothing ran") }]) {
			const error = await jar.run(`print(40 + 2) # ${Object.keys(more)}`, more).then(() => assert.fail("it ran"), (e) => e);
			assert.ok(error instanceof ApprovalNeeded, String(error));
			assert.match(error.message, new RegExp(`belljar approve ${error.runId}`));
			assert.equal((await jar.get(error.runId)).state, "pending");
			await jar.approve(error.runId);
			assert.equal((await jar.wait(error.runId)).stdout, "42\n");
			await assert.rejects(jar.approve(error.runId), (e) => e instanceof Problem && e.status === 409);
		}
		const denied = await jar.run("print('never')").then(() => assert.fail("it ran"), (e) => e);
		await jar.deny(denied.runId, "not today");
		const end = await jar.get(denied.runId);
		assert.equal(end.cause, "denied");
		assert.equal(end.result.decision.reason, "not today");
		await assert.rejects(jar.approve("0".repeat(32)), (e) => e instanceof Problem && e.kind === "not-found");
	} finally {
		await asking.stop();
	}
});

test("packed and installed elsewhere it works, with its types", () => {
	const folder = mkdtempSync(join(tmpdir(), "bj-ts-"));
	const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
	try {
		const name = JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], SDK));
		const file = (Array.isArray(name) ? name[0] : Object.values(name)[0]).filename;
		writeFileSync(join(folder, "package.json"), '{"private": true, "type": "module"}');
		run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", join(folder, file)], folder);
		writeFileSync(join(folder, "user.ts"), `import { Belljar, type Result } from "belljar";
			const result: Result = await new Belljar({ url: ${JSON.stringify(`unix:${service.socket}`)} }).run("print(42)");
			const code: number | null = result.exit_code;
			// @ts-expect-error: there is no such option
			void new Belljar().run("x", { trust: true });
			console.log(result.stdout, code);`);
		writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
			compilerOptions: { strict: true, module: "nodenext", target: "es2022", lib: ["es2022", "dom"], types: [], noEmit: true },
			files: ["user.ts"],
		}));
		run("node", [join(SDK, "node_modules/typescript/bin/tsc"), "-p", folder], folder);
		assert.match(run("node", ["--input-type=module", "-e", `import { Belljar } from "belljar";
			console.log((await new Belljar({ url: "unix:${service.socket}" }).run("print(42)")).stdout)`], folder), /^42/);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});
