// SPDX-License-Identifier: Apache-2.0
// A person decides on the page, and sees use, cost and what was written down. APPROVE, AUDIT, TENANT, DS-MON.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeQuietly, openHouse, shoot, violations } from "./browser.mjs";

let house;
before(async () => (house = await openHouse({ env: { BELLJAR_APPROVAL_RULES: "ask through=api", SANDBOX_STORE_CODE: "always" } })));
after(() => house?.close());

const caseOf = (page, id) => page.getByRole("article", { name: `Run ${id.slice(0, 12)}` });

async function pending(script, language = "python") {
	const answer = await house.service.ask("POST", "/v1/executions", { script, language });
	assert.equal(answer.status, 202);
	return (await answer.json()).id;
}

async function ended(id) {
	for (const end = Date.now() + 20000; Date.now() < end; await new Promise((r) => setTimeout(r, 50))) {
		const run = await (await house.service.ask("GET", `/v1/executions/${id}`)).json();
		if (run.state === "finished") return run;
	}
	return assert.fail("it never ended");
}

test("approve, then see what changed in the next version, and deny it with a reason", async () => {
	const page = await house.visit({ path: "/approvals" });
	const first = await pending("total = 40\nprint(total + 2)\n");
	await caseOf(page, first).getByText("print").first().waitFor();
	await page.getByText("1 waiting").waitFor({ state: "attached" });
	assert.deepEqual(await violations(page), []);
	await caseOf(page, first).getByRole("button", { name: "Approve" }).click();
	assert.equal((await ended(first)).result.stdout, "42\n");
	await page.getByText("Nothing waits for a decision").waitFor();

	const second = await pending("total = 40\nimport os\nprint(total + 3, os.getpid())\n");
	await caseOf(page, second).locator(".diff .added").first().waitFor();
	assert.match(await caseOf(page, second).locator(".diff .removed").innerText(), /total \+ 2/);
	await shoot(page, "approvals");
	await caseOf(page, second).getByRole("button", { name: "Deny…" }).click();
	await page.getByRole("dialog").getByLabel(/^Reason/).fill("leave the machine alone");
	assert.deepEqual(await violations(page), []);
	await shoot(page, "deny");
	await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
	const run = await ended(second);
	assert.equal(run.cause, "denied");
	assert.equal(run.result.decision.reason, "leave the machine alone");
	await closeQuietly(page, assert, house.service.url);
});

test("approve with the keyboard alone, and watch it run with its script and plots", async () => {
	const id = await pending("import time\nx = bytearray(20 << 20)\nfor i in range(14):\n    print('tick', i, flush=True)\n    time.sleep(0.1)\n");
	const page = await house.visit({ path: `/runs/${id}` });
	await page.getByRole("button", { name: "Approve" }).focus();
	await page.keyboard.press("Enter");
	await page.getByRole("log", { name: "Output of the script" }).getByText("tick 13").waitFor();
	await page.getByText("succeeded").waitFor();
	await page.getByRole("img", { name: /^Memory: peak/ }).waitFor();
	await page.locator(".script").getByText("bytearray").waitFor();
	assert.deepEqual(await violations(page), []);
	await shoot(page, "run-with-plots");
	await closeQuietly(page, assert, house.service.url);
});

test("an answer that comes late does not bring an old state back", async () => {
	const id = await pending("import time\nprint('tick', flush=True)\ntime.sleep(0.5)\n");
	const page = await house.visit({ path: `/runs/${id}` });
	let held = 0;
	await page.route(`**/v1/executions/${id}`, async (route) => {
		const answer = await route.fetch();
		const text = await answer.text();
		if (["queued", "running"].includes(JSON.parse(text).state)) {
			held++;
			await page.getByText("succeeded").waitFor();
		}
		await route.fulfill({ response: answer, body: text });
	});
	await page.getByRole("button", { name: "Approve" }).click();
	await page.getByText("succeeded").waitFor();
	await page.unrouteAll({ behavior: "wait" });
	await page.waitForTimeout(300);
	assert.ok(held > 0, "no answer was held back");
	assert.equal(await page.getByText("succeeded").count(), 1);
	await closeQuietly(page, assert, house.service.url);
});

test("usage, cost and the audit log", async () => {
	const page = await house.visit({ path: "/usage" });
	await page.getByRole("columnheader", { name: "cost" }).waitFor();
	assert.deepEqual(await violations(page), []);
	await shoot(page, "usage");
	await page.goto(`${house.service.url}/#/audit`);
	await page.getByRole("cell", { name: /^run\./ }).first().waitFor();
	assert.deepEqual(await violations(page), []);
	await shoot(page, "audit");
	await closeQuietly(page, assert, house.service.url);
});

test("what finds no fault would find one", async () => {
	const page = await house.visit();
	await page.evaluate(() => document.querySelector("main").append(document.createElement("img")));
	assert.ok((await violations(page)).some((v) => v.startsWith("image-alt")));
	await page.context().close();
});
