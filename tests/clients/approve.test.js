// SPDX-License-Identifier: Apache-2.0
// A run that needs approval: asked at the client where it can ask, pending where it cannot. APPROVE, TOOL.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { BELLJAR, environment, newFolder, openService, runProgram, until } from "./harness.mjs";

const WAYS = {
	stdio: async () => {
		const { folder, remove } = newFolder();
		return {
			folder, transport: () => new StdioClientTransport({ command: BELLJAR, args: ["mcp"], env: environment(folder), stderr: "inherit" }),
			close: remove,
		};
	},
	http: async () => {
		const service = await openService();
		return { folder: service.folder, transport: () => new StreamableHTTPClientTransport(new URL(service.url)), close: () => service.close() };
	},
};

let count = 0;
// Each script is another one: an approval holds for the very same run.
const bash = (text) => ({ name: "execute_script", arguments: { script_content: `${text} # ${++count}`, script_type: "bash" } });

for (const [way, open] of Object.entries(WAYS)) {
	describe(way, () => {
		let place;
		const asked = [];
		before(async () => (place = await open()));
		after(() => place?.close());

		async function connect(answer) {
			const client = new Client({ name: "tester", version: "1" }, { capabilities: answer ? { elicitation: {} } : {} });
			if (answer) client.setRequestHandler(ElicitRequestSchema, (request) => {
				asked.push(request.params);
				return answer(request.params);
			});
			await client.connect(place.transport());
			return client;
		}

		test(`${way}: the person at the client approves, and it runs`, async () => {
			const client = await connect(() => ({ action: "accept", content: { approve: true, reason: "fine" } }));
			const r = await client.callTool(bash("echo approved"));
			assert.equal(r.structuredContent?.stdout, "approved\n", r.content[0].text);
			assert.match(asked.at(-1).message, /bash script through execute_script[^]*echo approved/);
			assert.equal(asked.at(-1).requestedSchema.properties.approve.type, "boolean");
			assert.equal(r.structuredContent.decision.by, "the person at tester");
			await client.close();
		});

		test(`${way}: the person denies with a reason, and the agent reads it`, async () => {
			const client = await connect(() => ({ action: "accept", content: { approve: false, reason: "not today" } }));
			const r = await client.callTool(bash("echo denied"));
			assert.equal(r.isError, true);
			assert.equal(r.structuredContent.cause, "denied");
			assert.match(r.content[0].text, /not today[^]*Hint: a person said no/);
			await client.close();
		});

		test(`${way}: declining denies, dismissing leaves the question to others`, async () => {
			const declining = await connect(() => ({ action: "decline" }));
			assert.equal((await declining.callTool(bash("echo no"))).structuredContent.cause, "denied");
			await declining.close();
			const dismissing = await connect(() => ({ action: "cancel" }));
			assert.equal((await dismissing.callTool(bash("echo later"))).structuredContent.state, "pending");
			await dismissing.close();
		});

		test(`${way}: a client that cannot ask gets a pending answer that says what to do`, async () => {
			const client = await connect(null);
			const r = await client.callTool(bash("echo waits"));
			assert.equal(r.structuredContent.state, "pending");
			assert.equal(r.isError, false);
			assert.match(r.content[0].text, /waits for a person's approval as run ([0-9a-f]{32})/);
			assert.ok(r.content[0].text.includes(`belljar approve ${r.structuredContent.id}`));
			const read = () => client.callTool({ name: "read_result", arguments: { id: r.structuredContent.id } });
			assert.match((await read()).content[0].text, /still waits for a person's approval/);
			const done = await runProgram(BELLJAR, ["approve", "--config", `${place.folder}/config.yaml`, r.structuredContent.id],
				{ env: environment(place.folder) });
			assert.equal(done.status, 0, done.stderr);
			const end = await until(async () => {
				const it = await read();
				return it.structuredContent.state === "finished" && it;
			}, "the approved run");
			assert.equal(end.structuredContent.result.stdout, "waits\n");
			assert.match(end.content[0].text, /stdout:\nwaits\n/);
			await client.close();
		});

		test(`${way}: a refusal of the check is never asked about`, async () => {
			const before = asked.length;
			const client = await connect(() => ({ action: "accept", content: { approve: true } }));
			const r = await client.callTool(bash("rm -rf /"));
			assert.equal(r.structuredContent.cause, "rejected");
			assert.equal(asked.length, before);
			await client.close();
		});
	});
}
