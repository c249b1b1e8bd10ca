// SPDX-License-Identifier: Apache-2.0
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { logIn } from "./api";
import { Failure } from "./marks";

export function LogIn({ onDone }: { onDone: () => void }): JSX.Element {
	const [key, setKey] = useState("");
	const [error, setError] = useState<string>();
	return (
		<main class="login">
			<form class="panel pad" onSubmit={(e) => {
				e.preventDefault();
				logIn(key.trim()).then(onDone, () => setError("The service does not know this key."));
			}}>
				<h1><img src="/icon.svg" alt="" width="28" height="28" /> belljar</h1>
				<label>API key
					<input type="password" required autocomplete="current-password" value={key} onInput={(e) => setKey(e.currentTarget.value)} />
				</label>
				<Failure text={error} />
				<button type="submit" class="primary">Log in</button>
				<p class="muted">The key stays with the service: the browser gets a cookie that scripts cannot read.</p>
			</form>
		</main>
	);
}
