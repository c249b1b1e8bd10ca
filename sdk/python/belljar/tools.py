# SPDX-License-Identifier: Apache-2.0
"""The service's tools for agent frameworks, without depending on one.

    plain functions:                  belljar.tools.functions()
    LangChain (StructuredTool):       belljar.tools.langchain()
    OpenAI Agents (FunctionTool):     belljar.tools.openai_agents()
    definitions for a model's API:    Client().tools("openai"), "anthropic", "openai-responses"...
    what a model asked for:           belljar.tools.call(name, arguments)

What each tool takes and says comes from the service, so that both always agree. The frameworks are
imported when their function is called.
"""
from __future__ import annotations

import asyncio
import importlib
import json
from typing import Any, Callable, List, Mapping, Optional

from .aio import AsyncClient
from .client import Client
from .errors import Problem


def refusal(problem: Problem) -> str:
    """What a model gets to read when the service says no."""
    return f"The tool could not be used: {problem}"


def call(name: str, arguments: Any, client: Optional[Client] = None) -> str:
    """Do what a model asked for: @arguments as an object, or as the JSON text that it came in. What comes
    back is for the model to read, also when the call or the script failed."""
    try:
        values = json.loads(arguments) if isinstance(arguments, str) else dict(arguments)
    except (ValueError, TypeError) as error:
        return f"The arguments are no JSON object: {error}"
    try:
        return (client or Client()).call_tool(name, values).text
    except Problem as problem:
        return refusal(problem)


async def acall(name: str, arguments: Mapping[str, Any], client: AsyncClient) -> str:
    try:
        return (await client.call_tool(name, arguments)).text
    except Problem as problem:
        return refusal(problem)


def functions(url: Optional[str] = None, api_key: Optional[str] = None) -> List[Callable[..., str]]:
    """Plain functions with types and docstrings, for frameworks that read those."""
    client = Client(url, api_key)

    def run_python_code(code: str, timeout: float = 60) -> str:
        """Run Python code in a sealed sandbox without network and get its output."""
        return call("run_python_code", {"code": code, "timeout": timeout}, client)

    def execute_script(script_content: str, script_type: str, timeout: float = 60) -> str:
        """Run a Python or Bash script in a sealed sandbox without network and get its output."""
        return call("execute_script", {"script_content": script_content, "script_type": script_type,
                                       "timeout": timeout}, client)

    return [run_python_code, execute_script]


def framework(module: str, package: str) -> Any:
    """A framework's module, or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}; install it with: pip install {package}", name=error.name) from None


def langchain(url: Optional[str] = None, api_key: Optional[str] = None) -> List[Any]:
    """LangChain tools (StructuredTool), with a coroutine for agents that await."""
    structured_tool = framework("langchain_core.tools", "langchain").StructuredTool
    client, aclient = Client(url, api_key), AsyncClient(url, api_key)

    def make(tool: Mapping[str, Any]) -> Any:
        def func(**arguments: Any) -> str:
            return call(tool["name"], arguments, client)

        async def coroutine(**arguments: Any) -> str:
            return await acall(tool["name"], arguments, aclient)

        return structured_tool(name=tool["name"], description=tool["description"],
                               args_schema=tool["parameters"], func=func, coroutine=coroutine)

    return [make(tool) for tool in client.tools()]


def openai_agents(url: Optional[str] = None, api_key: Optional[str] = None) -> List[Any]:
    """Tools of the OpenAI Agents SDK (FunctionTool)."""
    function_tool = framework("agents", "openai-agents").FunctionTool
    client = Client(url, api_key)

    def make(tool: Mapping[str, Any]) -> Any:
        async def invoke(context: Any, arguments: str) -> str:
            return await asyncio.to_thread(call, tool["name"], arguments, client)

        return function_tool(name=tool["name"], description=tool["description"],
                             params_json_schema=tool["parameters"], on_invoke_tool=invoke,
                             strict_json_schema=False)

    return [make(tool) for tool in client.tools()]
