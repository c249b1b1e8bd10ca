// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium, driven by playwright-core, against a service of the tests' own.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { KEY, startService, TOP } from "../harness/service.mjs";

export { KEY };
const SHOTS = join(process.env.BELLJAR_BUILD ?? join(TOP, "build"), "screenshots");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(SHOTS, { recursive: true });

/** A service and a browser for a file of tests. */
export async function openHouse(options) {
	const service = await startService(options);
	// The sandbox of Chromium needs another user than root; the pages are our own.
	const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
	return {
		service,
		browser,
		async close() {
			await browser.close();
			await service.stop();
		},
		/** A fresh browser profile with an empty page. Whatever the page complains about fails the test at its end. */
		async visit({ path = "/", loggedIn = true, ...context } = {}) {
			const profile = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...context });
			const page = await profile.newPage();
			page.complaints = [];
			page.requests = [];
			page.on("console", (m) => ["error", "warning"].includes(m.type()) && !/status of 4\d\d/.test(m.text()) &&
				page.complaints.push(m.text()));
			page.on("pageerror", (e) => page.complaints.push(String(e)));
			page.on("request", (r) => page.requests.push(r.url()));
			page.on("dialog", (d) => page.complaints.push(`dialog: ${d.message()}`));
			if (loggedIn) {
				await page.goto(service.url);
				await logIn(page);
			}
			await page.goto(`${service.url}/#${path}`);
			return page;
		},
	};
}

export async function logIn(page, key = KEY) {
	await page.getByLabel("API key").fill(key);
	await page.getByRole("button", { name: "Log in" }).click();
	await page.getByRole("heading", { name: "Runs" }).waitFor();
}

export const shoot = (page, name) => page.screenshot({ path: join(SHOTS, `${name}.png`) });

/** What axe-core has against the page, one sentence each. */
export async function violations(page) {
	// Through the debugger's door: the page's own policy lets no other script in.
	await page.evaluate(AXE);
	const found = await page.evaluate(() => globalThis.axe.run(document, {
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
	}));
	return found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.target.join(" ")).join("; ")}`);
}

/** The page said nothing bad and asked nobody else. */
export async function closeQuietly(page, assert, url) {
	assert.deepEqual(page.complaints, []);
	for (const asked of page.requests) assert.ok(asked.startsWith(url), `asked ${asked}`);
	await page.context().close();
}
