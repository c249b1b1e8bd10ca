// SPDX-License-Identifier: Apache-2.0
// What changed between two scripts, line by line.

export interface Change {
	kind: "same" | "added" | "removed";
	text: string;
}

/** The longest common subsequence by dynamic programming, between what is equal at both ends. Scripts are short; what is
 * longer than @limit is shown as taken out and put in whole. */
export function diffLines(before: string, after: string, limit = 2000): Change[] {
	const a = before.split("\n");
	const b = after.split("\n");
	let head = 0;
	while (head < a.length && head < b.length && a[head] === b[head]) head++;
	let tail = 0;
	while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
	const same = (lines: string[]): Change[] => lines.map((text) => ({ kind: "same", text }));
	return [
		...same(a.slice(0, head)),
		...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail), limit),
		...same(tail ? a.slice(-tail) : []),
	];
}

function middle(a: string[], b: string[], limit: number): Change[] {
	const removed = a.map((text): Change => ({ kind: "removed", text }));
	const added = b.map((text): Change => ({ kind: "added", text }));
	if (!a.length || !b.length || a.length > limit || b.length > limit) return [...removed, ...added];
	const width = b.length + 1;
	const common = new Uint16Array((a.length + 1) * width);
	for (let i = a.length - 1; i >= 0; i--)
		for (let j = b.length - 1; j >= 0; j--)
			common[i * width + j] = a[i] === b[j] ? at(common, (i + 1) * width + j + 1) + 1
				: Math.max(at(common, (i + 1) * width + j), at(common, i * width + j + 1));
	const out: Change[] = [];
	let i = 0, j = 0;
	while (i < a.length || j < b.length) {
		if (i < a.length && j < b.length && a[i] === b[j]) {
			out.push({ kind: "same", text: a[i++] ?? "" });
			j++;
		} else if (j >= b.length || (i < a.length && at(common, (i + 1) * width + j) >= at(common, i * width + j + 1))) {
			out.push({ kind: "removed", text: a[i++] ?? "" });
		} else {
			out.push({ kind: "added", text: b[j++] ?? "" });
		}
	}
	return out;
}

const at = (table: Uint16Array, index: number): number => table[index] ?? 0;
