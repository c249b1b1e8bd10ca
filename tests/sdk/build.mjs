// SPDX-License-Identifier: Apache-2.0
// The TypeScript SDK, built from its sources by its own compiler. Several test files may ask at once.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { TOP } from "../harness/service.mjs";

export const SDK = join(TOP, "sdk/typescript");
execFileSync(join(TOP, "tools/fetch-npm"), [SDK], { stdio: ["ignore", "inherit", "inherit"] });
execFileSync("flock", [join(SDK, ".lock"), "node", join(SDK, "node_modules/typescript/bin/tsc"), "-p", SDK],
	{ stdio: ["ignore", "inherit", "inherit"] });
export const sdk = await import(join(SDK, "dist/index.js"));
export const tools = await import(join(SDK, "dist/tools.js"));
