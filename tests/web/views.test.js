// SPDX-License-Identifier: Apache-2.0
// The page as different people use it: with the keyboard alone, in light and dark, on a phone. TOOL, DS-MON.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeQuietly, openHouse, shoot, violations } from "./browser.mjs";

let house;
before(async () => (house = await openHouse()));
after(() => house?.close());

const output = (page) => page.getByRole("log", { name: "Output of the script" });

test("everything works with the keyboard alone", async () => {
	const page = await house.visit();
	const press = async (...keys) => {
		for (const key of keys) await page.keyboard.press(key);
	};
	const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
	const tabTo = async (name) => {
		for (let i = 0; i < 40 && (await focused()) !== name; i++) await press("Tab");
		assert.equal(await focused(), name);
	};
	await tabTo("New run");
	await press("Enter");
	await page.getByRole("heading", { name: "New run" }).waitFor();
	await page.locator("main:focus").waitFor();
	await press("Tab");
	await page.keyboard.type("print('typed')");
	await press("Tab", "Tab");
	await tabTo("Run");
	await press("Enter");
	await output(page).getByText("typed").waitFor();
	await tabTo("Skip to the content");
	await page.goto(`${house.service.url}/#/`);
	await page.locator("a.row-link").first().focus();
	await press("j", "k", "Enter");
	await page.getByRole("heading", { name: /^Run / }).waitFor();
	await page.locator("main:focus").waitFor();
	const theme = page.getByRole("button", { name: /^Theme/ });
	await theme.focus();
	await press("Enter");
	assert.match(await theme.textContent(), /light/);
	await closeQuietly(page, assert, house.service.url);
});

for (const scheme of ["light", "dark"]) {
	test(`${scheme} by the system's wish, the other by the switch`, async () => {
		const page = await house.visit({ colorScheme: scheme });
		const dark = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
		assert.equal(await dark(), scheme);
		assert.deepEqual(await violations(page), []);
		await shoot(page, `runs-${scheme}`);
		const other = scheme === "dark" ? "light" : "dark";
		while (!(await page.getByRole("button", { name: `Theme: ${other}` }).count()))
			await page.getByRole("button", { name: /^Theme/ }).click();
		assert.equal(await dark(), other);
		await page.reload();
		assert.equal(await dark(), other);
		await closeQuietly(page, assert, house.service.url);
	});
}

test("a phone shows all of it without sideways scrolling", async () => {
	const page = await house.visit({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
	const id = await house.service.start("for i in 1 2 3; do echo line $i; done", "bash");
	for (const path of ["/", "/approvals", "/usage", "/health", "/audit", "/new", `/runs/${id}`]) {
		await page.goto(`${house.service.url}/#${path}`);
		await page.locator("h1").waitFor();
		await page.waitForLoadState("networkidle").catch(() => undefined);
		const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
		await shoot(page, `phone${path.replace(/\/runs\/.*/, "-run").replaceAll("/", "-")}`);
	}
	assert.deepEqual(await violations(page), []);
	await closeQuietly(page, assert, house.service.url);
});
