// SPDX-License-Identifier: Apache-2.0
// The official inspector's command line drives belljar over standard streams and HTTP. TOOL.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { BELLJAR, MODULES, NODE22, environment, newFolder, openService, runProgram } from "./harness.mjs";

let service, place;
before(async () => {
	place = newFolder();
	service = await openService();
});
after(async () => {
	await service?.close();
	place?.remove();
});

const inspect = async (target, ...args) => {
	const env = { ...environment(place.folder), PATH: `${path.dirname(NODE22)}:${process.env.PATH}` };
	const done = await runProgram(NODE22, [path.join(MODULES, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli", ...target(), ...args], { env });
	assert.equal(done.status, 0, done.stdout + done.stderr);
	return JSON.parse(done.stdout);
};
const WAYS = {
	stdio: () => [BELLJAR, "mcp"],
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
}
