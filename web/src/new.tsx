// SPDX-License-Identifier: Apache-2.0
// Run a script by hand, or only check it.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ask, type Execution, type Result } from "./api";
import { Failure, Risk } from "./marks";
import { Script } from "./script";

export function New(): JSX.Element {
	const [script, setScript] = useState("");
	const [language, setLanguage] = useState("python");
	const [timeout, setTimeout] = useState("60");
	const [checked, setChecked] = useState<{ script: string; result: Result }>();
	const [error, setError] = useState<string>();
	const body = { script, language, timeout: Number(timeout) };
	const fail = (e: Error): void => setError(e.message);
	const check = (): void => {
		setError(undefined);
		ask<Result>("POST", "/v1/check", body).then((result) => setChecked({ script, result }), fail);
	};
	const run = (): void => {
		setError(undefined);
		ask<Execution>("POST", "/v1/executions", body, { Prefer: "respond-async" })
			.then((x) => (location.hash = `#/runs/${x.id}`), fail);
	};
	return (
		<>
			<div class="bar"><h1>New run</h1></div>
			<form class="panel pad" onSubmit={(e) => {
				e.preventDefault();
				run();
			}}>
				<label>Script
					<textarea class="mono" rows={12} required spellcheck={false} value={script} onInput={(e) => setScript(e.currentTarget.value)} />
				</label>
				<div class="bar">
					<label>Language
						<select value={language} onInput={(e) => setLanguage(e.currentTarget.value)}>
							<option value="python">Python</option>
							<option value="bash">Bash</option>
						</select>
					</label>
					<label>Seconds at most
						<input type="number" min="0.1" step="any" required value={timeout} onInput={(e) => setTimeout(e.currentTarget.value)} />
					</label>
					<span class="grow" />
					<button type="button" onClick={check} disabled={!script}>Check</button>
					<button type="submit" class="primary" disabled={!script}>Run</button>
				</div>
			</form>
			<Failure text={error} />
			{checked && (
				<>
					<p class="verdict" role="status">
						{checked.result.validation_error ?? "The check has no objection."} <Risk level={checked.result.risk.level} />
					</p>
					<Script text={checked.script} language={checked.result.language} findings={checked.result.findings} />
				</>
			)}
		</>
	);
}
