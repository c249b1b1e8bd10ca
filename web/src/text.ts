// SPDX-License-Identifier: Apache-2.0
// Numbers and times as people read them.

export function bytes(n: number | null | undefined): string {
	if (n === null || n === undefined) return "–";
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	while (n >= 1024 && i < units.length - 1) {
		n /= 1024;
		i++;
	}
	return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

export function milliseconds(ms: number | null | undefined): string {
	if (ms === null || ms === undefined) return "–";
	if (ms < 10) return `${ms.toFixed(1)} ms`;
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
	return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function count(n: number): string {
	return n.toLocaleString("en");
}

export function clock(ms: number): string {
	return new Date(ms).toLocaleTimeString("en-GB");
}

export function moment(ms: number): string {
	return new Date(ms).toISOString().replace("T", " ").slice(0, 19) + " UTC";
}

export function ago(ms: number, now: number): string {
	const s = Math.max(0, Math.round((now - ms) / 1000));
	if (s < 2) return "now";
	if (s < 60) return `${s} s ago`;
	if (s < 3600) return `${Math.floor(s / 60)} min ago`;
	if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
	return `${Math.floor(s / 86400)} d ago`;
}

/** Characters that could lie about what stands there, made visible: controls, and marks that turn text around. */
export function visible(text: string): string {
	return text.replace(
		// eslint-disable-next-line no-control-regex
		/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
		(c) => {
			const code = c.charCodeAt(0);
			if (code < 0x20) return String.fromCharCode(0x2400 + code);
			return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
		},
	);
}
