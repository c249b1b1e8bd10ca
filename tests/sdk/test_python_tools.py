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


def by_name(tools_list):
    return {tool.name: tool for tool in tools_list}


def test_langchain(where, frameworks):
    found = by_name(tools.langchain(*where))
    assert "42" in found["run_python_code"].func(code="print(6 * 7)")
    text = asyncio.run(found["check_script"].coroutine(script_content="eval('1')", script_type="python"))
    assert "py-eval" in text or "eval" in text
    assert found["run_python_code"].args_schema["required"] == ["code"]


@pytest.mark.parametrize("make, package", [(tools.langchain, "langchain"), (tools.openai_agents, "openai-agents")])
def test_a_framework_that_is_missing_is_named(monkeypatch, make, package):
    for name in ("langchain_core", "langchain_core.tools", "agents"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match=f"pip install {package}$"):
        make("unix:/nowhere")


def test_openai_agents(where, frameworks):
    python = by_name(tools.openai_agents(*where))["run_python_code"]
    assert "42" in asyncio.run(python.on_invoke_tool(None, '{"code": "print(42)"}'))
    assert "no JSON" in asyncio.run(python.on_invoke_tool(None, "{"))
    assert "code" in asyncio.run(python.on_invoke_tool(None, "{}"))


def test_plain_functions_have_types_and_words(where):
    for function in tools.functions(*where):
        assert function.__doc__ and "return" in inspect.get_annotations(function)
    python, _ = tools.functions(*where)
    assert "42" in python("print(42)")


def test_definitions_are_the_services_own(where):
    client = belljar.Client(*where)
    for tool in client.tools("openai"):
        assert tool["type"] == "function"
        Draft202012Validator.check_schema(tool["function"]["parameters"])
    names = [tool["name"] for tool in client.tools("anthropic")]
    assert {"run_python_code", "execute_script", "check_script"} <= set(names)
    assert asyncio.run(belljar.AsyncClient(*where).tools("anthropic")) == client.tools("anthropic")


def test_a_model_reads_what_went_wrong(where):
    """Refusals and wrong calls are answers, with what to change in them."""
    client = belljar.Client(*where)
    answer = client.call_tool("run_python_code", {"code": "x = 1\neval('1')"})
    assert answer.failed and "line 2" in answer.text and answer.result["validation_failed"]
    assert "code" in tools.call("run_python_code", {"cod": "1"}, client)
    assert tools.call("nothing", {}, client).startswith("The tool could not be used: ")
    assert asyncio.run(tools.acall("nothing", {}, belljar.AsyncClient(*where))).startswith("The tool could not")
