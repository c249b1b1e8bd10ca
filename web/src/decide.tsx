// SPDX-License-Identifier: Apache-2.0
// A person decides: approve, or deny with a reason that the agent gets to read.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { ask, runPath } from "./api";
import { Failure } from "./marks";

export function Decide({ id, onDone }: { id: string; onDone: () => void }): JSX.Element {
	const [error, setError] = useState<string>();
	const [busy, setBusy] = useState(false);
	const [reason, setReason] = useState("");
	const dialog = useRef<HTMLDialogElement>(null);
	const send = (what: "approve" | "deny", body: object): void => {
		setBusy(true);
		ask("POST", `${runPath(id)}/${what}`, body).then(onDone, (e: Error) => setError(e.message))
			.finally(() => setBusy(false));
		dialog.current?.close();
	};
	return (
		<div class="decide">
			<Failure text={error} />
			<button type="button" class="primary" disabled={busy} onClick={() => send("approve", {})}>Approve</button>
			<button type="button" class="danger" disabled={busy} onClick={() => dialog.current?.showModal()}>Deny…</button>
			<dialog ref={dialog} aria-labelledby={`deny-${id}`}>
				<form method="dialog" onSubmit={(e) => {
					e.preventDefault();
					send("deny", { reason });
				}}>
					<h2 id={`deny-${id}`}>Deny this run</h2>
					<label>Reason, which the agent gets to read
						<textarea required maxLength={500} rows={3} value={reason} onInput={(e) => setReason(e.currentTarget.value)} />
					</label>
					<div class="bar">
						<button type="submit" class="danger">Deny</button>
						<button type="button" onClick={() => dialog.current?.close()}>Back</button>
					</div>
				</form>
			</dialog>
		</div>
	);
}
