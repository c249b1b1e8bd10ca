// SPDX-License-Identifier: Apache-2.0
// The page as a person uses it: log in, run, watch, cancel. TOOL, DS-MON, RESULT.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeQuietly, logIn, openHouse, shoot, violations } from "./browser.mjs";

let house;
before(async () => (house = await openHouse()));
after(() => house?.close());

const output = (page) => page.getByRole("log", { name: "Output of the script" });

test("a wrong key is refused, a right one opens a session that scripts cannot read", async () => {
	const page = await house.visit({ loggedIn: false });
	await page.getByLabel("API key").fill("wrong");
	await page.getByRole("button", { name: "Log in" }).click();
	await page.getByRole("alert").getByText("does not know this key").waitFor();
	assert.deepEqual(await violations(page), []);
	await shoot(page, "login");
	await logIn(page);
	assert.equal(await page.evaluate(() => document.cookie), "");
	const [cookie] = await page.context().cookies();
	assert.equal(cookie.httpOnly && cookie.sameSite, "Strict");
	assert.ok(!JSON.stringify(await page.context().storageState()).includes(house.service.key), "the key stays nowhere");
	await page.reload();
	await page.getByRole("heading", { name: "Runs" }).waitFor();
	await page.getByRole("button", { name: "Log out" }).click();
	await page.getByLabel("API key").waitFor();
	await page.reload();
	await page.getByLabel("API key").waitFor();
	await closeQuietly(page, assert, house.service.url);
});

test("run a script, see its output and its place in the list", async () => {
	const page = await house.visit();
	await page.getByRole("link", { name: "New run" }).click();
	await page.getByLabel("Script").fill("for i in range(3):\n    print('line', i)\n");
	await page.getByRole("button", { name: "Run", exact: true }).click();
	await page.getByText("succeeded").waitFor();
	await output(page).getByText("line 2").waitFor();
	assert.deepEqual(await violations(page), []);
	await shoot(page, "run");
	await page.getByRole("link", { name: "Runs" }).click();
	await page.getByRole("row").getByText("succeeded").first().waitFor();
	assert.deepEqual(await violations(page), []);
	await shoot(page, "runs");
	await closeQuietly(page, assert, house.service.url);
});

test("a change of place right after the log-in is heard", async () => {
	const page = await house.visit({ loggedIn: false });
	await page.evaluate(() => new MutationObserver((_, self) => {
		if (document.querySelector("h1")?.textContent !== "Runs") return;
		self.disconnect();
		location.hash = "#/health";
	}).observe(document.body, { childList: true, subtree: true }));
	await page.getByLabel("API key").fill(house.service.key);
	await page.getByRole("button", { name: "Log in" }).click();
	await page.getByRole("heading", { name: "Health" }).waitFor({ timeout: 5000 });
	await closeQuietly(page, assert, house.service.url);
});

test("the check names what it found beside the line", async () => {
	const page = await house.visit({ path: "/new" });
	await page.getByLabel("Script").fill("x = 1\neval('1')\n");
	await page.getByRole("button", { name: "Check" }).click();
	await page.locator(".row.found").getByText("blocks").waitFor();
	assert.equal(await page.locator(".row.found .number").textContent(), "2");
	assert.deepEqual(await violations(page), []);
	await shoot(page, "check");
	await closeQuietly(page, assert, house.service.url);
});

test("output comes while the script runs, and the list is live", async () => {
	const list = await house.visit();
	const id = await house.service.start("echo begun; read -r -t 30 < <(sleep 30); echo never", "bash", { timeout: 60 });
	await list.locator(`a[href="#/runs/${id}"]`).getByText("running").waitFor();
	const page = await house.visit({ path: `/runs/${id}` });
	await output(page).getByText("begun").waitFor();
	await page.getByRole("button", { name: "Cancel the run" }).click();
	await page.getByText("cancelled").first().waitFor();
	await list.locator(`a[href="#/runs/${id}"]`).getByText("cancelled").waitFor();
	await closeQuietly(page, assert, house.service.url);
	await closeQuietly(list, assert, house.service.url);
});

test("the list is told, not asked for: no look at it while nothing happens, and a run shows at once", async () => {
	const page = await house.visit();
	const looks = () => page.requests.filter((url) => url.includes("/v1/executions?")).length;
	const first = await house.service.start("echo first", "bash");
	await page.locator(`a[href="#/runs/${first}"]`).getByText("succeeded").waitFor();
	assert.ok(page.requests.some((url) => url.endsWith("/v1/events")));
	// Until what was told has been looked at; nothing must happen from there on, and there is no event to wait for.
	let before = -1;
	for (let i = 0; i < 20 && before !== looks(); i++) {
		before = looks();
		await page.waitForTimeout(1000);
	}
	await page.waitForTimeout(2500);
	assert.equal(looks(), before, "it polls");
	const began = Date.now();
	const id = await house.service.start("echo second", "bash");
	await page.locator(`a[href="#/runs/${id}"]`).waitFor({ timeout: 5000 });
	assert.ok(Date.now() - began < 5000);
	await closeQuietly(page, assert, house.service.url);
});

test("a run that waits shows up among the approvals at once", async () => {
	const other = await openHouse({ env: { BELLJAR_APPROVAL_RULES: "ask through=api" } });
	const page = await other.visit({ path: "/approvals" });
	await page.getByText("Nothing waits for a decision.").waitFor();
	await other.service.start("echo wait", "bash").catch(() => undefined);
	await page.getByText("echo wait").first().waitFor({ timeout: 4000 });
	await closeQuietly(page, assert, other.service.url);
	await other.close();
});

test("health shows queue and causes", async () => {
	const page = await house.visit({ path: "/health" });
	await page.getByText("ready", { exact: true }).waitFor();
	await page.getByText("Runs by cause").waitFor();
	assert.deepEqual(await violations(page), []);
	await shoot(page, "health");
	await closeQuietly(page, assert, house.service.url);
});
