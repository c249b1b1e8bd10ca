# SPDX-License-Identifier: Apache-2.0
"""Tools for agent frameworks from Python: TOOL.

LangChain and OpenAI Agents for Python cannot be installed here, so their adapters are held against the
shapes that those packages document: the stand-ins below take the same arguments and nothing else.
"""
import asyncio
import inspect
import sys
import types

import pytest
from jsonschema import Draft202012Validator

import belljar
from belljar import tools


class StructuredTool:
    """langchain_core.tools.StructuredTool: a schema as a dict is allowed."""

    def __init__(self, *, name, description, args_schema, func, coroutine):
        self.name, self.description, self.args_schema = name, description, args_schema
        self.func, self.coroutine = func, coroutine


class FunctionTool:
    """agents.FunctionTool: on_invoke_tool(context, json) is awaited."""

    def __init__(self, *, name, description, params_json_schema, on_invoke_tool, strict_json_schema):
        self.name, self.params_json_schema = name, params_json_schema
        self.on_invoke_tool = on_invoke_tool


@pytest.fixture
def frameworks(monkeypatch):
    chain = types.ModuleType("langchain_core.tools")
    chain.StructuredTool = StructuredTool
    monkeypatch.setitem(sys.modules, "langchain_core", types.ModuleType("langchain_core"))
    monkeypatch.setitem(sys.modules, "langchain_core.tools", chain)
    agents = types.ModuleType("agents")
    agents.FunctionTool = FunctionTool
    monkeypatch.setitem(sys.modules, "agents", agents)


def test_langchain(where, frameworks):
    python, script = tools.langchain(*where)
    assert python.func(code="print(6 * 7)").endswith("stdout:\n42\n")
    text = asyncio.run(script.coroutine(script_content="echo hi; exit 3", script_type="bash"))
    assert "failed (exited)" in text and "Exit code: 3" in text and "hi" in text


def test_openai_agents(where, frameworks):
    python, _ = tools.openai_agents(*where)
    assert "42" in asyncio.run(python.on_invoke_tool(None, '{"code": "print(42)"}'))
    assert "no JSON" in asyncio.run(python.on_invoke_tool(None, "{"))
    assert "Missing arguments: code" in asyncio.run(python.on_invoke_tool(None, "{}"))


def test_plain_functions_have_types_and_words(where):
    for function in tools.functions(*where):
        assert function.__doc__ and "return" in inspect.get_annotations(function)
    python, script = tools.functions(*where)
    assert "42" in python("print(42)") and "hi" in script("echo hi", "bash")


def test_definitions_are_sound():
    for tool in tools.openai():
        assert tool["type"] == "function"
        Draft202012Validator.check_schema(tool["function"]["parameters"])
    for tool in tools.anthropic():
        Draft202012Validator.check_schema(tool["input_schema"])
    assert tools.call("nothing", {}) == "There is no tool nothing."


def test_a_model_learns_what_to_change(where):
    """Refusals, timeouts and long output come with what to do next."""
    client = belljar.Client(*where)
    refused = tools.call("run_python_code", {"code": "x = 1\neval('1')"}, client)
    assert "rejected" in refused and "line 2:" in refused and "Change what the findings name" in refused
    late = tools.call("execute_script", {"script_content": "sleep 9", "script_type": "bash",
                                         "timeout": 0.3}, client)
    assert "timeout" in late and "longer timeout" in late
    long = tools.call("run_python_code", {"code": "print('x' * 15000)"}, client)
    assert "characters left out" in long and len(long) < 9000
    wrong = tools.call("execute_script", {"script_content": "1", "script_type": "perl"}, client)
    assert wrong.startswith("The script did not run: ") and "Must be 'python' or 'bash'" in wrong
