// SPDX-License-Identifier: Apache-2.0
// The service's tools for agent frameworks, without depending on one: each adapter takes the framework's own functions.
//
//	import { tool } from "@langchain/core/tools";   const tools = await langchain(jar, tool);
//	import { tool } from "@openai/agents";          const tools = await openaiAgents(jar, tool);
//	import { tool, jsonSchema } from "ai";          const tools = await vercel(jar, { tool, jsonSchema });
//
// What each tool takes and says comes from the service, so that both always agree.
import type { Belljar } from "./client.js";
import { Problem } from "./errors.js";

/** A tool as the service describes it. `parameters` is a JSON Schema. */
export interface ToolDefinition {
	name: string;
	title: string;
	description: string;
	parameters: { type: "object"; properties: Record<string, unknown>; required: string[]; additionalProperties: false };
}

/** What came of a call: `text` for a model, `result` the same for a program. */
export interface ToolAnswer {
	failed: boolean;
	text: string;
	result: Record<string, unknown>;
}

export type ToolFormat = "mcp" | "openai" | "openai-responses" | "anthropic" | "json-schema";

/** The tools, described as @format wants it. */
export async function definitions<T = ToolDefinition>(jar: Belljar, format: ToolFormat = "json-schema"): Promise<T[]> {
	return (await jar.call<{ tools: T[] }>("GET", `/v1/tools?format=${format}`)).tools;
}

/** Call a tool. Wrong arguments are an answer too: its text says what to change. */
export function callTool(jar: Belljar, name: string, args: unknown, signal?: AbortSignal): Promise<ToolAnswer> {
	return jar.call("POST", `/v1/tools/${encodeURIComponent(name)}`, args, signal);
}

/** The same, as a model reads it, also when the service says no. */
export async function callText(jar: Belljar, name: string, args: unknown, signal?: AbortSignal): Promise<string> {
	try {
		return (await callTool(jar, name, args ?? {}, signal)).text;
	} catch (error) {
		if (error instanceof Problem) return `The tool could not be used: ${error.message}`;
		throw error;
	}
}

type Schema = ToolDefinition["parameters"];

/** LangChain: @tool is that of @langchain/core/tools. */
export async function langchain<T>(
	jar: Belljar,
	tool: (run: (args: any, config?: any) => Promise<string>, fields: { name: string; description: string; schema: any }) => T,
): Promise<T[]> {
	return (await definitions(jar)).map((d) => tool(
		(args: unknown, config?: { signal?: AbortSignal }) => callText(jar, d.name, args, config?.signal),
		{ name: d.name, description: d.description, schema: d.parameters }));
}

/** OpenAI Agents: @tool is that of @openai/agents. The schema has optional parameters, so it is not a strict one. */
export async function openaiAgents<T>(
	jar: Belljar,
	tool: (options: {
		name: string; description: string; parameters: any; strict: false;
		execute: (args: any, context?: any, details?: any) => Promise<string>;
	}) => T,
): Promise<T[]> {
	return (await definitions(jar)).map((d) => tool({
		name: d.name,
		description: d.description,
		parameters: { ...d.parameters, additionalProperties: true },
		strict: false,
		execute: (args: unknown, _context: unknown, details?: { signal?: AbortSignal }) => callText(jar, d.name, args, details?.signal),
	}));
}

/** Vercel AI SDK: @tool and @jsonSchema are those of ai. The tools by name, as generateText wants them. */
export async function vercel<S, T>(
	jar: Belljar,
	ai: {
		jsonSchema: (schema: any) => S;
		tool: (options: any) => T;
	},
): Promise<Record<string, T>> {
	const made = (await definitions(jar)).map((d): [string, T] => [d.name, ai.tool({
		description: d.description,
		inputSchema: ai.jsonSchema(d.parameters as Schema),
		execute: (args: unknown, options?: { abortSignal?: AbortSignal }) => callText(jar, d.name, args, options?.abortSignal),
	})]);
	return Object.fromEntries(made);
}
