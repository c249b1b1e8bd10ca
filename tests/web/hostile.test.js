// SPDX-License-Identifier: Apache-2.0
// Scripts that want to break the page: markup, terminal codes, floods. And what the first byte takes. SX-OUT, VALD-03.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeQuietly, openHouse, shoot } from "./browser.mjs";

let house;
before(async () => (house = await openHouse({ config: "limits:\n  output_cap: 64MiB\nserve:\n  keep_output: 1MiB\n" })));
after(() => house?.close());

const output = (page) => page.getByRole("log", { name: "Output of the script" });
const MARKUP = [
	"<script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">",
	"<svg onload=alert(1)>", "</pre></div><iframe src=javascript:alert(1)>", "{{constructor.constructor('alert(1)')()}}",
	"<a href='javascript:alert(1)'>x</a>", "&lt;b&gt;", "<style>*{display:none}</style>",
];

test("markup in output and script is text", async () => {
	const script = `import sys\nfor s in ${JSON.stringify(MARKUP)}:\n    print(s)\n    print(s, file=sys.stderr)\n`;
	const id = await house.service.start(script, "python");
	const page = await house.visit({ path: `/runs/${id}` });
	for (const text of MARKUP) await output(page).getByText(text).first().waitFor();
	assert.notEqual(await page.title(), "owned");
	assert.equal(await page.locator("main script, main iframe, main .terminal img, main style, main a[href^=javascript]").count(), 0);
	await shoot(page, "hostile-markup");
	await closeQuietly(page, assert, house.service.url);
});

test("terminal codes colour text and do nothing else", async () => {
	const script = String.raw`printf '\033[31;1mred\033[0m plain\n\033]0;title\007after\n\033[2J\033[1;1Hmoved\n\033]8;;http://x\033\\link\033]8;;\033\\\n' ; ` +
		String.raw`printf 'bell\a back\b\n10%%\r20%%\rdone\nrtl \xe2\x80\xae evil\n\033[38;5;196mmany\033[m\n\033['`;
	const id = await house.service.start(script, "bash");
	const page = await house.visit({ path: `/runs/${id}` });
	await output(page).getByText("done").waitFor();
	const lines = await output(page).locator(".line").evaluateAll((all) => all.map((l) => l.textContent.replace(/^\d+/, "")));
	assert.deepEqual(lines.slice(0, 8),
		["red plain", "after", "moved", "link", "bell␇ back␈", "done", "rtl ⟨202E⟩ evil", "many"]);
	assert.equal(await output(page).locator(".t-red.t-bold").textContent(), "red");
	await shoot(page, "hostile-ansi");
	await closeQuietly(page, assert, house.service.url);
});

test("ten megabytes leave the page quick: only what is in sight is in the document", async () => {
	const id = await house.service.start("import sys\nfor i in range(140000):\n    print('x' * 66, i)\nsys.stdout.flush()\ninput()", "python",
		{ timeout: 120, stdin: "" });
	const page = await house.visit({ path: `/runs/${id}` });
	await output(page).getByText("139999").waitFor({ timeout: 60000 });
	assert.ok((await output(page).locator(".line").count()) < 120);
	assert.ok((await page.evaluate(() => document.querySelectorAll("*").length)) < 1500);
	const quick = await page.evaluate(async () => {
		const box = document.querySelector(".terminal");
		const start = performance.now();
		box.scrollTop = 0;
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		return performance.now() - start;
	});
	assert.ok(quick < 500, `scrolling took ${quick} ms`);
	await shoot(page, "hostile-flood");
	await closeQuietly(page, assert, house.service.url);
});

test("one line of four megabytes", async () => {
	const id = await house.service.start("print('y' * (4 << 20), end='')", "python", { timeout: 60 });
	const page = await house.visit({ path: `/runs/${id}` });
	await page.getByText("succeeded").waitFor({ timeout: 60000 });
	await output(page).getByText("more characters").waitFor();
	assert.ok((await output(page).evaluate((box) => box.textContent.length)) < 10000);
	await closeQuietly(page, assert, house.service.url);
});

test("the first byte is on the page within 50 ms of being printed", async (t) => {
	const page = await house.visit();
	const took = [];
	for (let i = 0; i < 7; i++) {
		// The script prints the time, as late as it can; the page's clock is the same machine's.
		const id = await house.service.start(
			"import time\ntime.sleep(1.2)\nprint('at', time.time() * 1000, flush=True)\ntime.sleep(0.3)", "python");
		await page.goto(`${house.service.url}/#/runs/${id}`);
		took.push(await page.evaluate(() => new Promise((done) => {
			const look = () => {
				const match = /at (\d+\.\d+)/.exec(document.querySelector(".terminal")?.textContent ?? "");
				if (match) done(Date.now() - Number(match[1]));
				else requestAnimationFrame(look);
			};
			look();
		})));
	}
	took.sort((a, b) => a - b);
	t.diagnostic(`ms from print to page: ${took.map((ms) => ms.toFixed(1)).join(" ")}`);
	assert.ok(took[3] <= 50, `median ${took[3]} ms of ${took}`);
	await closeQuietly(page, assert, house.service.url);
});
