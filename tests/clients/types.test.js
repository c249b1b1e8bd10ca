// SPDX-License-Identifier: Apache-2.0
// The tool definitions are what OpenAI's and Anthropic's own types ask for. TOOL.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { BELLJAR, MODULES, runProgram } from "./harness.mjs";

const TYPES = {
	openai: ["import type OpenAI from \"openai\";", "OpenAI.Chat.Completions.ChatCompletionTool[]"],
	"openai-responses": ["import type OpenAI from \"openai\";", "OpenAI.Responses.FunctionTool[]"],
	anthropic: ["import type Anthropic from \"@anthropic-ai/sdk\";", "Anthropic.Messages.Tool[]"],
	mcp: ["import type { Tool } from \"@modelcontextprotocol/sdk/types.js\";", "Tool[]"],
};

async function compile(sources) {
	const folder = mkdtempSync(path.join(tmpdir(), "belljar-types-"));
	try {
		symlinkSync(MODULES.replace(/\/$/, ""), path.join(folder, "node_modules"));
		writeFileSync(path.join(folder, "package.json"), "{\"type\":\"module\"}");
		for (const [name, text] of Object.entries(sources)) writeFileSync(path.join(folder, `${name}.ts`), text);
		return await runProgram(process.execPath, [path.join(MODULES, "typescript/bin/tsc"), "--noEmit", "--strict", "--target", "es2022",
			"--module", "nodenext", "--moduleResolution", "nodenext", "--skipLibCheck",
			...Object.keys(sources).map((name) => `${name}.ts`)], { cwd: folder });
	} finally {
		rmSync(folder, { recursive: true });
	}
}

test("definitions have the types of the SDKs", { timeout: 120000 }, async () => {
	const sources = {};
	for (const [format, [imports, type]] of Object.entries(TYPES)) {
		const { stdout } = await runProgram(BELLJAR, ["tools", "--format", format]);
		sources[format] = `${imports}\nexport const tools: ${type} = ${stdout};\n`;
	}
	const done = await compile(sources);
	assert.equal(done.status, 0, done.stdout);
});

test("the compiler would notice", { timeout: 120000 }, async () => {
	const done = await compile({ wrong: `${TYPES.anthropic[0]}\nexport const tools: ${TYPES.anthropic[1]} = [{ nam: "x" }];\n` });
	assert.notEqual(done.status, 0);
});
