// SPDX-License-Identifier: Apache-2.0
// The text that Prometheus reads, as values.

export interface Metric {
	name: string;
	labels: Record<string, string>;
	value: number;
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): Metric[] {
	const out: Metric[] = [];
	for (const line of text.split("\n")) {
		const match = LINE.exec(line);
		if (!match) continue;
		const labels = Object.fromEntries([...(match[2] ?? "").matchAll(LABEL)].map((m) => [m[1] ?? "", m[2] ?? ""]));
		out.push({ name: match[1] ?? "", labels, value: Number(match[3]) });
	}
	return out;
}

/** The sum of a metric over all its labels, or undefined where there is none. */
export function sum(list: Metric[], name: string): number | undefined {
	const found = list.filter((m) => m.name === name);
	return found.length ? found.reduce((all, m) => all + m.value, 0) : undefined;
}
