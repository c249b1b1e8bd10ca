// SPDX-License-Identifier: Apache-2.0
// The official conformance suites, against a test build with their fixtures. TOOL.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { MODULES, NODE22, openService, runProgram } from "./harness.mjs";

let service;
before(async () => (service = await openService({ args: ["--conformance"] })));
after(() => service?.close());

// The extension for tasks is not part of what a revision requires; the suite runs it and does not score it. We do.
function checksBelow(folder) {
	return readdirSync(folder, { recursive: true })
		.filter((name) => path.basename(name) === "checks.json")
		.flatMap((name) => JSON.parse(readFileSync(path.join(folder, name), "utf8")));
}

async function runSuite(suite, args, least) {
	const out = path.join(service.folder, args.join("").replace(/\W+/g, "-"));
	mkdirSync(out);
	const done = await runProgram(NODE22, [path.join(MODULES, suite, "dist/index.js"), "server", "--url", service.url, ...args, "-o", out],
		{ env: { ...process.env, NO_COLOR: "1" } });
	const checks = checksBelow(out);
	const bad = checks.filter((c) => c.status === "FAILURE" || c.status === "WARNING")
		.map((c) => `${c.status} ${c.id}: ${c.errorMessage}`);
	assert.deepEqual(bad, []);
	assert.equal(done.status, 0, done.stdout.slice(-2000) + done.stderr.slice(-2000));
	const passed = checks.filter((c) => c.status === "SUCCESS").length;
	assert.ok(passed >= least, `only ${passed} checks passed`);
}

test("conformance 0.1.16, every scenario: nothing fails, nothing warns", { timeout: 120000 }, () =>
	runSuite("@modelcontextprotocol/conformance", ["--suite", "all"], 40));

test("conformance 0.2.0-alpha.12, what 2025-11-25 requires", { timeout: 120000 }, () =>
	runSuite("conformance-next", ["--requirements", "2025-11-25"], 75));

test("conformance 0.2.0-alpha.12, what 2026-07-28 requires", { timeout: 120000 }, () =>
	runSuite("conformance-next", ["--requirements", "2026-07-28"], 75));
