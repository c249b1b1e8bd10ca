// SPDX-License-Identifier: Apache-2.0
// Ready tools for LangChain, OpenAI Agents and the Vercel AI SDK: the real packages, a real service, and a stand-in
// for the model. TOOL.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { tool as langchainTool } from "@langchain/core/tools";
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as agentsTool } from "@openai/agents";
import { generateText, jsonSchema, stepCountIs, tool as vercelTool } from "ai";
import { startModel } from "../harness/model.mjs";
import { startService } from "../harness/service.mjs";
import { sdk, tools } from "./build.mjs";

let service, model, jar;
before(async () => {
	[service, model] = [await startService(), await startModel()];
	jar = new sdk.Belljar({ url: `unix:${service.socket}` });
});
after(async () => {
	await model?.stop();
	await service?.stop();
});

test("LangChain: invoke by a tool call", async () => {
	const made = await tools.langchain(jar, langchainTool);
	const python = made.find((t) => t.name === "run_python_code");
	assert.match(python.description, /Python/);
	assert.match(await python.invoke({ code: "print(6 * 7)" }), /42/);
	const message = await python.invoke({ type: "tool_call", id: "1", name: "run_python_code", args: { code: "eval('1')" } });
	assert.equal(message.tool_call_id, "1");
	assert.match(message.content, /eval/);
	await assert.rejects(python.invoke({ cod: "x" }), /schema/i);
});

test("LangChain: a call that is aborted stops its run", async () => {
	const [python] = (await tools.langchain(jar, langchainTool)).filter((t) => t.name === "run_python_code");
	const stop = new AbortController();
	const call = python.invoke({ code: "import time; time.sleep(50)" }, { signal: stop.signal });
	while ((await jar.list({ state: "running" })).executions.length === 0) await new Promise((r) => setTimeout(r, 20));
	stop.abort();
	await assert.rejects(call);
	for (const end = Date.now() + 10000; (await jar.list({ state: "running" })).executions.length; )
		assert.ok(Date.now() < end, "it runs on");
});

for (const useResponses of [true, false]) {
	test(`OpenAI Agents: an agent runs code, over ${useResponses ? "responses" : "chat completions"}`, async () => {
		setTracingDisabled(true);
		const agent = new Agent({ name: "calculator", instructions: "Use the tool.", tools: await tools.openaiAgents(jar, agentsTool) });
		const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey: "none", baseURL: model.url, useResponses }) });
		const result = await runner.run(agent, "What is 6 times 7?");
		assert.match(result.finalOutput, /The tool said: [^]*42/);
		const asked = model.seen.at(-2).body.tools;
		assert.ok(asked.some((t) => (t.name ?? t.function.name) === "execute_script"));
	});
}

test("Vercel AI SDK: generateText runs code", async () => {
	const provider = createOpenAICompatible({ name: "stand-in", baseURL: model.url });
	const { text, steps } = await generateText({
		model: provider("any"), prompt: "What is 6 times 7?", stopWhen: stepCountIs(3),
		tools: await tools.vercel(jar, { tool: vercelTool, jsonSchema }),
	});
	assert.match(text, /The tool said: [^]*42/);
	assert.equal(steps[0].toolCalls[0].toolName, "run_python_code");
});

test("definitions for models that are called without a framework", async () => {
	for (const [format, name] of [["openai", (t) => t.function.name], ["openai-responses", (t) => t.name],
		["anthropic", (t) => t.name], ["mcp", (t) => t.name], ["json-schema", (t) => t.name]])
		assert.ok((await tools.definitions(jar, format)).map(name).includes("run_python_code"), format);
	const answer = await tools.callTool(jar, "run_python_code", { code: "print(1)" });
	assert.equal(answer.failed, false);
	assert.equal(answer.result.stdout, "1\n");
	assert.match(await tools.callText(jar, "nothing", {}), /^The tool could not be used/);
});
