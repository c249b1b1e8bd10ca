// SPDX-License-Identifier: Apache-2.0
// A small highlighter for Python and Bash: enough to read by, never markup.

export interface Token {
	text: string;
	kind: string;
}

type Rule = [kind: string, pattern: RegExp];

const PYTHON_WORDS =
	"and as assert async await break case class continue def del elif else except finally for from global if import in is " +
	"lambda match nonlocal not or pass raise return try while with yield True False None";
const BASH_WORDS =
	"if then elif else fi for in do done while until case esac function select time return exit break continue local " +
	"export readonly declare set unset shift trap eval exec source";

const words = (list: string): RegExp => new RegExp(`\\b(?:${list.replaceAll(" ", "|")})\\b`, "y");

const PYTHON: Rule[] = [
	["comment", /#[^\n]*/y],
	["string", /[rRbBfFuU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$))/y],
	["string", /[rRbBfFuU]{0,2}(?:"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?)/y],
	["number", /\b(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?j?)/y],
	["decorator", /@[\w.]+/y],
	["keyword", words(PYTHON_WORDS)],
	["name", /[\p{L}_][\p{L}\p{N}_]*(?=\s*\()/uy],
	["", /[\p{L}_][\p{L}\p{N}_]*/uy],
];

const BASH: Rule[] = [
	["comment", /(?<=^|[\s;&|(])#[^\n]*/my],
	["string", /'[^']*'?/y],
	["string", /\$?"(?:\\[^]|[^"\\])*"?/y],
	["variable", /\$(?:\{[^}\n]*\}?|[\w]+|[#?@*!$-])/y],
	["keyword", words(BASH_WORDS)],
	["number", /\b\d+\b/y],
	["", /[\w./-]+/y],
];

const RULES: Record<string, Rule[]> = { python: PYTHON, bash: BASH };

function next(text: string, at: number, rules: Rule[]): Token {
	for (const [kind, pattern] of rules) {
		pattern.lastIndex = at;
		const match = pattern.exec(text);
		if (match && match[0]) return { text: match[0], kind };
	}
	return { text: text[at] ?? "", kind: "" };
}

/** The script as lines of tokens. */
export function highlight(script: string, language: string): Token[][] {
	const rules = RULES[language] ?? [];
	const lines: Token[][] = [[]];
	for (let at = 0; at < script.length; ) {
		const token = next(script, at, rules);
		at += token.text.length;
		token.text.split("\n").forEach((text, i) => {
			if (i > 0) lines.push([]);
			const line = lines[lines.length - 1];
			const last = line?.[line.length - 1];
			if (last && last.kind === token.kind) last.text += text;
			else if (text) line?.push({ text, kind: token.kind });
		});
	}
	return lines;
}
