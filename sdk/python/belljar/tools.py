# SPDX-License-Identifier: Apache-2.0
"""A ready tool for agent frameworks, without depending on one.

    run_python(code) and execute_script(script_content, script_type, timeout) as plain functions:
        tools = belljar.tools.functions()

    LangChain (langchain_core.tools.StructuredTool):
        tools = belljar.tools.langchain()

    OpenAI Agents (agents.FunctionTool):
        tools = belljar.tools.openai_agents()

The frameworks are imported when their function is called.
"""
from __future__ import annotations

import asyncio
import importlib
import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional

from .aio import AsyncClient
from .client import Client
from .errors import Problem
from .types import Result

OUTPUT_MAX = 8000
"""Characters of output that a model gets to read, for each stream."""


def cut(text: str, limit: int = OUTPUT_MAX) -> str:
    """@text with its middle left out when it is long; says how much."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"


HINTS = {
    "timeout": "Do less work, or ask for a longer timeout.",
    "oom": "Use less memory: read the data in pieces.",
    "pids": "Start fewer processes and threads.",
    "output": "Print less.",
    "rejected": "Change what the findings name and try again.",
    "denied": "A person refused this script. Do not send it again as it is.",
}


def describe(result: Result) -> str:
    """A result as a model reads it best: what happened, the output, the findings, what to change."""
    how = "succeeded" if result.success else f"failed ({result.cause})"
    lines = [f"The script {how} in {result.duration_ms:.0f} ms."]
    if result.exit_code:
        lines.append(f"Exit code: {result.exit_code}")
    if result.error:
        lines.append(f"Error: {cut(result.error)}")
    if result.stdout:
        lines.append(f"stdout:\n{cut(result.stdout)}")
    if result.stderr and result.stderr.strip() != (result.error or "").strip():
        lines.append(f"stderr:\n{cut(result.stderr)}")
    lines += [f"line {f.line}: {f.message}" for f in result.findings if f.blocks]
    if result.cause in HINTS:
        lines.append(HINTS[result.cause])
    return "\n".join(lines)


@dataclass(frozen=True)
class Tool:
    """One tool: what a model is told of it, and what runs it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    order: Callable[[Mapping[str, Any]], Dict[str, Any]]

    def call(self, client: Client, arguments: Mapping[str, Any]) -> str:
        try:
            return describe(client.run(**self.order(arguments)))
        except Problem as problem:
            return f"The script did not run: {problem}"

    async def acall(self, client: AsyncClient, arguments: Mapping[str, Any]) -> str:
        try:
            return describe(await client.run(**self.order(arguments)))
        except Problem as problem:
            return f"The script did not run: {problem}"


TIMEOUT = {"type": "number", "exclusiveMinimum": 0,
           "description": "Seconds after which the script is killed. 60 when left out."}

TOOLS = (
    Tool("run_python_code",
         "Run Python code in a sealed sandbox without network and get its output. Nothing is kept "
         "between two calls: print what you need.",
         {"type": "object", "additionalProperties": False, "required": ["code"],
          "properties": {"code": {"type": "string", "description": "The Python code."},
                         "timeout": TIMEOUT}},
         lambda a: {"script": a["code"], "language": "python", "timeout": a.get("timeout")}),
    Tool("execute_script",
         "Run a Python or Bash script in a sealed sandbox without network and get its output.",
         {"type": "object", "additionalProperties": False,
          "required": ["script_content", "script_type"],
          "properties": {"script_content": {"type": "string", "description": "The script."},
                         "script_type": {"type": "string", "enum": ["python", "bash"]},
                         "timeout": TIMEOUT}},
         lambda a: {"script": a["script_content"], "language": a["script_type"],
                    "timeout": a.get("timeout")}),
)


def openai() -> List[Dict[str, Any]]:
    """The tools as the `tools` of OpenAI's chat completions."""
    return [{"type": "function", "function": {"name": t.name, "description": t.description,
                                              "parameters": t.parameters}} for t in TOOLS]


def anthropic() -> List[Dict[str, Any]]:
    """The tools as the `tools` of Anthropic's messages."""
    return [{"name": t.name, "description": t.description, "input_schema": t.parameters}
            for t in TOOLS]


def call(name: str, arguments: Any, client: Optional[Client] = None) -> str:
    """Do what a model asked for: @arguments as an object, or as the JSON text that it came in."""
    tool = next((t for t in TOOLS if t.name == name), None)
    if tool is None:
        return f"There is no tool {name}."
    try:
        values = json.loads(arguments) if isinstance(arguments, str) else dict(arguments)
        missing = [p for p in tool.parameters["required"] if p not in values]
    except (ValueError, TypeError) as error:
        return f"The arguments are no JSON object: {error}"
    if missing:
        return f"Missing arguments: {', '.join(missing)}"
    return tool.call(client or Client(), values)


def functions(url: Optional[str] = None, api_key: Optional[str] = None) -> List[Callable[..., str]]:
    """Plain functions with types and docstrings, for frameworks that read those."""
    client = Client(url, api_key)

    def run_python_code(code: str, timeout: float = 60) -> str:
        """Run Python code in a sealed sandbox without network and get its output."""
        return TOOLS[0].call(client, {"code": code, "timeout": timeout})

    def execute_script(script_content: str, script_type: str, timeout: float = 60) -> str:
        """Run a Python or Bash script in a sealed sandbox without network and get its output."""
        return TOOLS[1].call(client, {"script_content": script_content, "script_type": script_type,
                                      "timeout": timeout})

    return [run_python_code, execute_script]


def langchain(url: Optional[str] = None, api_key: Optional[str] = None) -> List[Any]:
    """LangChain tools (StructuredTool), with a coroutine for agents that await."""
    structured_tool = importlib.import_module("langchain_core.tools").StructuredTool
    client, aclient = Client(url, api_key), AsyncClient(url, api_key)

    def make(tool: Tool) -> Any:
        def func(**arguments: Any) -> str:
            return tool.call(client, arguments)

        async def coroutine(**arguments: Any) -> str:
            return await tool.acall(aclient, arguments)

        return structured_tool(name=tool.name, description=tool.description,
                               args_schema=dict(tool.parameters), func=func, coroutine=coroutine)

    return [make(tool) for tool in TOOLS]


def openai_agents(url: Optional[str] = None, api_key: Optional[str] = None) -> List[Any]:
    """Tools of the OpenAI Agents SDK (FunctionTool)."""
    function_tool = importlib.import_module("agents").FunctionTool
    client = Client(url, api_key)

    def make(tool: Tool) -> Any:
        async def invoke(context: Any, arguments: str) -> str:
            return await asyncio.to_thread(call, tool.name, arguments, client)

        return function_tool(name=tool.name, description=tool.description,
                             params_json_schema=dict(tool.parameters), on_invoke_tool=invoke,
                             strict_json_schema=False)

    return [make(tool) for tool in TOOLS]


