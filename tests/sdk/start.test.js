// SPDX-License-Identifier: Apache-2.0
// The five-minute starts; those with a framework have files of their own. DOCS, TOOL.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { DOCUMENTS, testDocuments } from "./start.mjs";

const HERE = ["c.md", "claude-code.md", "cursor.md", "http.md"];

test("every five-minute start is followed somewhere", () => {
	for (const name of DOCUMENTS)
		assert.ok(HERE.includes(name) || existsSync(new URL(`start-${name.replace(".md", "")}.test.js`, import.meta.url)), name);
});
testDocuments(HERE);
