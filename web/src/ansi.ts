// SPDX-License-Identifier: Apache-2.0
// Terminal output as pieces of text with classes. Colours are kept; every other sequence is dropped, so that
// nothing moves a cursor, renames a window or makes a link.
import { visible } from "./text";

export interface Piece {
	text: string;
	style: string;
}

// CSI; OSC, DCS, APC, PM, SOS with their strings; two-character escapes. An unfinished one at the end goes too.
// eslint-disable-next-line no-control-regex
const SEQUENCE = /\u001b(?:\[([0-9;:]*)([@-~])|\[[^@-~]*[@-~]?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[ -/]*[0-~]?)/g;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

class Pen {
	private colour = "";
	private bold = false;
	private dim = false;
	private italic = false;
	private underline = false;

	apply(codes: string): void {
		const list = codes.split(/[;:]/).map((c) => Number(c || "0"));
		for (let i = 0; i < list.length; i++) {
			const code = list[i] ?? 0;
			if (code === 38 || code === 48) {
				// 256 colours and true colours would need inline styles: the text stays, plain.
				i += list[i + 1] === 5 ? 2 : 4;
			} else {
				this.set(code);
			}
		}
	}

	private set(code: number): void {
		if (code === 0) this.colour = "";
		if (code === 0 || code === 22) this.bold = this.dim = false;
		if (code === 0 || code === 23) this.italic = false;
		if (code === 0 || code === 24) this.underline = false;
		if (code === 1) this.bold = true;
		if (code === 2) this.dim = true;
		if (code === 3) this.italic = true;
		if (code === 4) this.underline = true;
		if (code >= 30 && code <= 37) this.colour = COLOURS[code - 30] ?? "";
		if (code >= 90 && code <= 97) this.colour = COLOURS[code - 90] ?? "";
		if (code === 39) this.colour = "";
	}

	get style(): string {
		const on = [this.colour && `t-${this.colour}`, this.bold && "t-bold", this.dim && "t-dim", this.italic && "t-italic",
			this.underline && "t-underline"];
		return on.filter(Boolean).join(" ");
	}
}

/** One line as it would stand on a terminal: what a carriage return leaves, colours as classes. */
export function pieces(line: string): Piece[] {
	const shown = line.endsWith("\r") ? line.slice(0, -1) : line;
	const rest = shown.slice(shown.lastIndexOf("\r") + 1);
	const pen = new Pen();
	const out: Piece[] = [];
	let at = 0;
	const add = (text: string): void => {
		if (text) out.push({ text: visible(text), style: pen.style });
	};

	for (const match of rest.matchAll(SEQUENCE)) {
		add(rest.slice(at, match.index));
		at = match.index + match[0].length;
		if (match[2] === "m") pen.apply(match[1] ?? "");
	}
	add(rest.slice(at));
	return out;
}
