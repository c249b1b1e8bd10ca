// SPDX-License-Identifier: Apache-2.0
// Output of a script: as much as memory allows, of which only the lines in sight are in the document.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { pieces } from "./ansi";
import { bytes, count } from "./text";

const LINE_PX = 19;
const MARGIN = 12;
/** Characters of one line that are shown. */
const WIDTH_MAX = 2000;
/** Characters kept in all; the oldest lines go first. */
export const KEEP_MAX = 32 << 20;

interface Line {
	stream: "stdout" | "stderr" | "gap";
	text: string;
}

/** The lines of one run. Not part of the drawing: a flood of output must not draw for each piece. */
export class Lines {
	readonly lines: Line[] = [];
	total = 0;
	dropped = 0;
	private kept = 0;
	private open: Record<string, number> = {};
	onChange: () => void = () => undefined;
	private planned = false;

	add(stream: "stdout" | "stderr", text: string): void {
		this.total += text.length;
		const parts = text.split("\n");
		const unfinished = this.open[stream];
		let first = 0;
		if (unfinished !== undefined) {
			const line = this.lines[unfinished - this.dropped];
			if (line) {
				line.text += parts[0];
				first = 1;
			}
		}
		for (let i = first; i < parts.length; i++) {
			if (i === parts.length - 1 && parts[i] === "") break;
			this.lines.push({ stream, text: parts[i] ?? "" });
		}
		if (parts[parts.length - 1] === "") delete this.open[stream];
		else if (!(first === 1 && parts.length === 1)) this.open[stream] = this.dropped + this.lines.length - 1;
		this.kept += text.length;
		this.trim();
		this.plan();
	}

	gap(n: number): void {
		this.lines.push({ stream: "gap", text: `${bytes(n)} of events are not kept any more` });
		this.plan();
	}

	private trim(): void {
		let n = 0;
		while (this.kept > KEEP_MAX && n < this.lines.length - 1) this.kept -= (this.lines[n++]?.text.length ?? 0) + 1;
		this.lines.splice(0, n);
		this.dropped += n;
	}

	private plan(): void {
		if (this.planned) return;
		this.planned = true;
		requestAnimationFrame(() => {
			this.planned = false;
			this.onChange();
		});
	}

	get text(): string {
		return this.lines.map((line) => line.text).join("\n");
	}
}

function Row({ line, top, number }: { line: Line; top: number; number: number }): JSX.Element {
	const cut = line.text.length > WIDTH_MAX;
	const shown = cut ? line.text.slice(0, WIDTH_MAX) : line.text;
	const row = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		if (row.current) row.current.style.top = `${top}px`;
	}, [top]);
	return (
		<div class={`line ${line.stream}`} ref={row}>
			<span class="number" aria-hidden="true">{number}</span>
			{line.stream === "gap" ? <em>{line.text}</em>
				: pieces(shown).map((p) => (p.style ? <span class={p.style}>{p.text}</span> : p.text))}
			{cut && <em class="cut"> … {count(line.text.length - WIDTH_MAX)} more characters</em>}
		</div>
	);
}

export function Output({ lines, live }: { lines: Lines; live: boolean }): JSX.Element {
	const box = useRef<HTMLDivElement>(null);
	const sheet = useRef<HTMLDivElement>(null);
	const follow = useRef(true);
	const [view, setView] = useState({ top: 0, height: 700 });
	const [, draw] = useState(0);

	useEffect(() => {
		lines.onChange = () => draw((n) => n + 1);
		return () => {
			lines.onChange = () => undefined;
		};
	}, [lines]);
	useLayoutEffect(() => {
		if (sheet.current) sheet.current.style.height = `${lines.lines.length * LINE_PX}px`;
		if (follow.current && box.current) box.current.scrollTop = box.current.scrollHeight;
	});
	const look = (): void => {
		const el = box.current;
		if (!el) return;
		follow.current = el.scrollTop + el.clientHeight >= el.scrollHeight - LINE_PX;
		setView({ top: el.scrollTop, height: el.clientHeight });
	};
	useLayoutEffect(() => {
		const el = box.current;
		if (!el) return undefined;
		const watcher = new ResizeObserver(look);
		watcher.observe(el);
		return () => watcher.disconnect();
	}, []);

	const n = lines.lines.length;
	const from = Math.max(0, Math.floor((follow.current ? n * LINE_PX - view.height : view.top) / LINE_PX) - MARGIN);
	const to = Math.min(n, from + Math.ceil(view.height / LINE_PX) + 2 * MARGIN);
	const rows = [];
	for (let i = from; i < to; i++) {
		const line = lines.lines[i];
		if (line) rows.push(<Row key={lines.dropped + i} line={line} top={i * LINE_PX} number={lines.dropped + i + 1} />);
	}
	return (
		<section class="panel output">
			<header>
				<h2>Output</h2>
				<span class="muted">{count(lines.dropped + n)} {lines.dropped + n === 1 ? "line" : "lines"}, {bytes(lines.total)}
					{lines.dropped > 0 && `; the first ${count(lines.dropped)} lines are left out`}</span>
				<span class="grow" />
				{live && <span class="state live"><span class="dot" aria-hidden="true" />live</span>}
				<button type="button" onClick={() => void navigator.clipboard?.writeText(lines.text)} disabled={n === 0}>Copy</button>
			</header>
			<div class="terminal" ref={box} onScroll={look} tabIndex={0} role="log" aria-label="Output of the script" aria-live="off">
				<div class="sheet" ref={sheet}>{rows}</div>
				{n === 0 && <p class="empty">{live ? "Nothing yet." : "It printed nothing."}</p>}
			</div>
		</section>
	);
}
