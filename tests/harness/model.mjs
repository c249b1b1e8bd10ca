// SPDX-License-Identifier: Apache-2.0
// A stand-in for a model's API on the loopback: it asks for a tool once, and then answers with what the tool said.
import { once } from "node:events";
import { createServer } from "node:http";

/** What the model does: call run_python_code with @code, then repeat the tool's text. */
export async function startModel(code = "print(6 * 7)") {
	const seen = [];
	const server = createServer(async (req, res) => {
		let text = "";
		for await (const chunk of req) text += chunk;
		const body = JSON.parse(text || "{}");
		seen.push({ path: req.url, body });
		const make = { "/v1/chat/completions": chat, "/v1/responses": responses }[req.url];
		res.writeHead(make ? 200 : 404, { "Content-Type": "application/json" });
		res.end(JSON.stringify(make ? make(body, code) : { error: { message: `no ${req.url}` } }));
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		url: `http://127.0.0.1:${server.address().port}/v1`,
		seen,
		async stop() {
			server.closeAllConnections();
			server.close();
			await once(server, "close");
		},
	};
}

const ARGUMENTS = (code) => JSON.stringify({ code });

function chat(body, code) {
	const tool = body.messages.findLast((m) => m.role === "tool");
	const said = tool && (typeof tool.content === "string" ? tool.content : tool.content.map((c) => c.text).join(""));
	const message = tool
		? { role: "assistant", content: `The tool said: ${said}` }
		: { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: "run_python_code", arguments: ARGUMENTS(code) } }] };
	return {
		id: "chat_1", object: "chat.completion", created: 1, model: body.model,
		choices: [{ index: 0, message, finish_reason: tool ? "stop" : "tool_calls", logprobs: null }],
		usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
	};
}

function responses(body, code) {
	const done = Array.isArray(body.input) && body.input.find((i) => i.type === "function_call_output");
	const said = done && (typeof done.output === "string" ? done.output : JSON.stringify(done.output));
	const output = done
		? [{ id: "msg_1", type: "message", role: "assistant", status: "completed",
			content: [{ type: "output_text", text: `The tool said: ${said}`, annotations: [] }] }]
		: [{ id: "fc_1", type: "function_call", call_id: "call_1", name: "run_python_code", arguments: ARGUMENTS(code), status: "completed" }];
	return {
		id: "resp_1", object: "response", created_at: 1, status: "completed", model: body.model, output, tools: [], parallel_tool_calls: false,
		tool_choice: "auto", usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
	};
}
