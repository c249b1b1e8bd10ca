// SPDX-License-Identifier: Apache-2.0
// The files of the page, whole and gzipped, and a list of what they were made of for ninja.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const out = process.argv[2];
const result = await build({
	entryPoints: { page: "src/main.tsx", style: "src/page.css" },
	bundle: true,
	minify: true,
	write: false,
	outdir: ".",
	format: "iife",
	target: ["es2021", "chrome100", "firefox100", "safari15"],
	jsx: "automatic",
	jsxImportSource: "preact",
	legalComments: "none",
	charset: "utf8",
	metafile: true,
	logLevel: "warning",
});
const files = {
	"page.js": result.outputFiles.find((f) => f.path.endsWith(".js")).contents,
	"page.css": result.outputFiles.find((f) => f.path.endsWith(".css")).contents,
	"index.html": readFileSync("src/index.html"),
	"icon.svg": readFileSync("src/icon.svg"),
};
for (const [name, data] of Object.entries(files)) {
	writeFileSync(join(out, name), data);
	writeFileSync(join(out, `${name}.gz`), gzipSync(data, { level: 9 }));
}
const inputs = [...Object.keys(result.metafile.inputs), "src/index.html", "src/icon.svg"];
const escaped = inputs.map((path) => resolve(path).replaceAll(" ", "\\ "));
writeFileSync(join(out, "page.d"), `index.html: ${escaped.join(" ")}\n`);
