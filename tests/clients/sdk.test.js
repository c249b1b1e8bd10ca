// SPDX-License-Identifier: Apache-2.0
// The official TypeScript SDK drives belljar's own tools over standard streams and over HTTP. TOOL.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { BELLJAR, environment, newFolder, openService, until } from "./harness.mjs";

// Both ways to the same server.
const WAYS = {
	stdio: async () => {
		const { folder, remove } = newFolder();
		return {
			transport: () => new StdioClientTransport({ command: BELLJAR, args: ["mcp"], env: environment(folder), stderr: "inherit" }),
			close: remove,
		};
	},
	http: async () => {
		const service = await openService();
		return { transport: () => new StreamableHTTPClientTransport(new URL(service.url)), close: () => service.close() };
	},
};

const python = (code, timeout) => ({ name: "run_python_code", arguments: timeout ? { code, timeout } : { code } });

for (const [way, open] of Object.entries(WAYS)) {
	describe(way, () => {
		let place, client;
		const logs = [];
		before(async () => {
			place = await open();
			client = new Client({ name: "test", version: "1" }, { capabilities: {} });
			client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => logs.push({ ...n.params, at: performance.now() }));
			await client.connect(place.transport());
		});
		after(async () => {
			await client?.close();
			await place?.close();
		});

		test(`${way}: the server says what it can and how to use it`, () => {
			assert.equal(client.getServerVersion().name, "belljar");
			const can = client.getServerCapabilities();
			for (const name of ["tools", "resources", "prompts", "completions", "logging", "tasks"]) assert.ok(can[name], name);
			assert.match(client.getInstructions(), /run_python_code/);
		});

		test(`${way}: tools are listed with parameters, output schema and annotations`, async () => {
			const { tools } = await client.listTools();
			const execute = tools.find((t) => t.name === "execute_script");
			assert.deepEqual(execute.inputSchema.required, ["script_content", "script_type"]);
			assert.deepEqual(Object.keys(execute.inputSchema.properties), ["script_content", "script_type", "timeout"]);
			assert.deepEqual(execute.inputSchema.properties.script_type.enum, ["python", "bash"]);
			assert.equal(execute.inputSchema.additionalProperties, false);
			assert.equal(execute.annotations.readOnlyHint, false);
			assert.ok(execute.outputSchema.required.includes("exit_code"));
			assert.equal(tools.find((t) => t.name === "check_script").annotations.readOnlyHint, true);
		});

		test(`${way}: a script runs, and its result fits the output schema`, async () => {
			await client.listTools(); // from here on the client checks structured content
			const r = await client.callTool(python("import sys; print(6 * 7); print('e', file=sys.stderr)"));
			assert.equal(r.isError, false);
			assert.match(r.content[0].text, /^The script succeeded: exit code 0/);
			assert.match(r.content[0].text, /stdout:\n42\n/);
			assert.equal(r.structuredContent.stdout, "42\n");
			assert.equal(r.structuredContent.stderr, "e\n");
			assert.equal(r.structuredContent.exit_code, 0);
		});

		test(`${way}: a failing script is an error of the tool, not of the protocol`, async () => {
			const r = await client.callTool(python("raise SystemExit(3)"));
			assert.equal(r.isError, true);
			assert.equal(r.structuredContent.exit_code, 3);
		});

		test(`${way}: wrong arguments are named in the answer`, async () => {
			const bad = await client.callTool({ name: "execute_script", arguments: { script_content: "x", script_type: "javascript" } });
			assert.equal(bad.isError, true);
			assert.equal(bad.content[0].text, "Invalid script_type: javascript. Must be 'python' or 'bash'");
			for (const extra of ["trust", "policy", "backend"]) {
				const more = await client.callTool({ name: "run_python_code", arguments: { code: "1", [extra]: "off" } });
				assert.equal(more.isError, true);
				assert.match(more.content[0].text, new RegExp(`has no parameter ${extra}`));
			}
			await assert.rejects(client.callTool({ name: "nothing", arguments: {} }), /-32602/);
		});

		test(`${way}: what a script prints comes while it runs`, async () => {
			logs.length = 0;
			const progress = [];
			let done = false;
			const call = client.callTool(python(
				"import time, sys\nfor i in range(3):\n    print('tick', i, time.time(), flush=True)\n    time.sleep(0.3)"), undefined,
				{ onprogress: (p) => progress.push({ ...p, early: !done }) }).then((r) => { done = true; return r; });
			await call;
			const ticks = logs.filter((l) => l.logger === "stdout");
			assert.ok(ticks.length >= 3, `got ${ticks.length} messages`);
			assert.ok(progress.length >= 2 && progress[0].early, "progress came before the end");
			assert.ok(progress.every((p, i) => i === 0 || p.progress > progress[i - 1].progress));
		});

		test(`${way}: cancelling kills the script`, async () => {
			const stop = new AbortController();
			const began = new Promise((resolve) => client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => {
				logs.push(n.params);
				if (n.params.data.text?.includes("begin")) resolve(n.params.data.execution);
			}));
			const call = client.callTool(python("print('begin', flush=True)\nwhile True: pass"), undefined, { signal: stop.signal });
			const id = await began;
			stop.abort("enough");
			await assert.rejects(call);
			const run = await until(async () => {
				const { contents } = await client.readResource({ uri: `belljar://executions/${id}` });
				const it = JSON.parse(contents[0].text);
				return it.cause === "cancelled" && it;
			}, "the cancelled run");
			assert.equal(run.cause, "cancelled");
		});

		test(`${way}: runs are resources that can be listed, read and watched`, async () => {
			const r = await client.callTool(python("print('seen')"));
			const uri = `belljar://executions/${r.structuredContent.id}`;
			const { resources } = await client.listResources();
			assert.ok(resources.some((it) => it.uri === uri));
			const { contents } = await client.readResource({ uri });
			assert.match(contents[0].text, /seen/);
			const { resourceTemplates } = await client.listResourceTemplates();
			assert.equal(resourceTemplates[0].uriTemplate, "belljar://executions/{id}");
			await client.subscribeResource({ uri });
			await client.unsubscribeResource({ uri });
			await assert.rejects(client.readResource({ uri: "belljar://executions/none" }), /-32002/);
		});

		test(`${way}: prompts teach, and completion helps`, async () => {
			const { prompts } = await client.listPrompts();
			assert.deepEqual(prompts.map((p) => p.name), ["write_script", "fix_script", "calculate"]);
			const p = await client.getPrompt({ name: "write_script", arguments: { task: "count words", language: "bash" } });
			assert.match(p.messages[0].content.text, /count words[^]*execute_script/);
			await assert.rejects(client.getPrompt({ name: "write_script", arguments: {} }), /-32602/);
			const { completion } = await client.complete({ ref: { type: "ref/prompt", name: "write_script" }, argument: { name: "language", value: "p" } });
			assert.deepEqual(completion.values, ["python"]);
		});

		test(`${way}: log levels are heeded`, async () => {
			await client.setLoggingLevel("error");
			logs.length = 0;
			await client.callTool(python("print('quiet')"));
			assert.equal(logs.length, 0);
			await client.setLoggingLevel("info");
		});

		test(`${way}: a long run can be a task`, async () => {
			const seen = [];
			for await (const message of client.experimental.tasks.callToolStream(
				python("import time; time.sleep(0.5); print('late')"), undefined, { task: { ttl: 60000 } })) seen.push(message);
			assert.equal(seen[0].type, "taskCreated");
			const last = seen.at(-1);
			assert.equal(last.type, "result");
			assert.equal(last.result.structuredContent.stdout, "late\n");
		});

		test(`${way}: a task that is cancelled stops`, async () => {
			const stream = client.experimental.tasks.callToolStream(python("while True: pass"), undefined, { task: { ttl: 60000 } });
			const { value } = await stream.next();
			const id = value.task.taskId;
			const cancelled = await client.experimental.tasks.cancelTask(id);
			assert.equal(cancelled.status, "cancelled");
			await assert.rejects(client.experimental.tasks.cancelTask(id), /-32602/);
			const result = await client.experimental.tasks.getTaskResult(id, CallToolResultSchema);
			assert.equal(result.structuredContent.cause, "cancelled");
		});

		test(`${way}: many calls at once keep their answers apart`, async () => {
			const all = await Promise.all(Array.from({ length: 12 }, (_, i) => client.callTool(python(`print(${i})`))));
			assert.deepEqual(all.map((r) => r.structuredContent.stdout), Array.from({ length: 12 }, (_, i) => `${i}\n`));
		});
	});
}
