# SPDX-License-Identifier: Apache-2.0
"""The asyncio client, and the shapes of earlier executors: TOOL, RESULT, SCRP-01, SCRP-07, VALD-06."""
import asyncio
import time

import pytest

import belljar
from harness.ports import free_port
from serving import Service


FOREVER = "while :; do sleep 0.05; echo on; done"


def test_everything_with_await(where):
    async def main():
        async with belljar.AsyncClient(*where) as jar:
            assert (await jar.health())["status"] == "ok" and (await jar.ready())["status"] == "ready"
            result = await jar.run("print(input())", stdin="42\n")
            assert result.stdout == "42\n"
            assert (await jar.check("def foo(")).validation_failed
            out = []
            result = await jar.run("echo a; echo b >&2", "bash", on_stdout=out.append)
            assert out == ["a\n"] and result.stderr == "b\n"
            started = await jar.start(FOREVER, "bash", timeout=60)
            async for event in jar.events(started.id):
                if event.kind == "stdout":
                    break
            assert (await jar.cancel(started.id)).cause == "cancelled"
            assert (await jar.wait(started.id)).cause == "cancelled"
            assert (await jar.get(started.id)).ended
            assert (await jar.list(limit=1)).executions
            with pytest.raises(belljar.Problem):
                await jar.run("print(1)", memory="900GiB")
            with pytest.raises(belljar.Problem):
                async for _ in jar.events("0" * 32):
                    pass
    asyncio.run(main())


def test_twenty_at_once(where):
    """DS-PAR: runs of one loop do not wait for each other."""
    async def main():
        jar = belljar.AsyncClient(*where)
        results = await asyncio.gather(*(jar.run(f"print({n})") for n in range(20)))
        assert [r.stdout for r in results] == [f"{n}\n" for n in range(20)]
    asyncio.run(main())


def test_a_cancelled_task_cancels_its_run(where):
    """SCRP-06: a task that goes away takes its run along."""
    async def main():
        jar = belljar.AsyncClient(*where)
        task = asyncio.create_task(jar.run("sleep 60", "bash", timeout=60))
        while not (found := (await jar.list(state="running", limit=1)).executions):
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not (run := await jar.get(found[0].id)).ended:
            await asyncio.sleep(0.02)
        assert run.cause == "cancelled"
    asyncio.run(asyncio.wait_for(main(), 30))


def test_close_hangs_up(where):
    async def main():
        jar = belljar.AsyncClient(*where)
        stream = jar.stream(FOREVER, "bash", timeout=60)
        async for event in stream:
            if event.kind == "stdout":
                break
        await jar.close()
        with pytest.raises(belljar.ConnectionFailed):
            async for _ in stream:
                pass
    asyncio.run(asyncio.wait_for(main(), 30))


def serve_once(answer):
    """What the client says to a server that is not belljar."""
    async def main():
        async def talk(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            writer.close()
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            return await belljar.AsyncClient(f"http://127.0.0.1:{port}").health()
    return asyncio.run(asyncio.wait_for(main(), 10))


@pytest.mark.parametrize("answer", [
    b"", b"SSH-2.0\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}", b"HTTP/1.1 200 OK\r\n\r\nnot json",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]x"])
def test_strange_servers_are_errors_of_the_connection(answer):
    if answer.endswith(b"[]x"):
        assert serve_once(answer) == {}
        return
    with pytest.raises(belljar.ConnectionFailed):
        serve_once(answer)


def test_chunks_and_an_interim_answer():
    assert serve_once(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                      b"3;x=y\r\n{\"a\r\n5\r\n\": 1}\r\n0\r\n\r\n") == {"a": 1}


def test_a_foreign_refusal_is_a_problem():
    with pytest.raises(belljar.Problem) as caught:
        serve_once(b"HTTP/1.1 502 Bad\r\nContent-Length: 4\r\nRetry-After: 3\r\n\r\noops")
    assert caught.value.status == 502 and caught.value.detail == "oops" and caught.value.retry_after == 3


def test_no_header_can_be_smuggled(service):
    async def main():
        jar = belljar.AsyncClient(service.url, "a\r\nX-Evil: 1")
        with pytest.raises(ValueError):
            await jar.health()
    asyncio.run(main())
    with pytest.raises(ValueError):
        belljar.Client(service.url, "a\r\nX-Evil: 1").health()


# --- the shapes people know ---------------------------------------------------------------------


def test_script_executor(where):
    result = asyncio.run(belljar.ScriptExecutor(*where).execute("print(1)", "python", 10))
    assert isinstance(result, belljar.ExecutionResult)
    assert (result.success, result.stdout, result.exit_code, result.runtime) == (True, "1\n", 0, "local")
    assert result.meta["runtime"] == "local" and result.to_dict()["stdout"] == "1\n"


def test_script_executor_timeout_is_minus_one(where):
    """SCRP-07: the old shape has -1 after a timeout."""
    start = time.monotonic()
    result = asyncio.run(belljar.ScriptExecutor(*where).execute("echo so far; sleep 60", "bash", 0.5))
    assert time.monotonic() - start < 10
    assert (result.success, result.timeout, result.exit_code) == (False, True, -1)
    assert result.stdout == "so far\n" and "timed out" in result.error


def test_script_executor_refusals(where):
    """VALD-06: the error says which layer and why."""
    executor = belljar.ScriptExecutor(*where)
    result = asyncio.run(executor.execute("api_key = 'secret123'", "python"))
    assert result.validation_failed and result.validation_error and result.exit_code is None
    result = asyncio.run(executor.execute("1", "javascript"))
    assert result.validation_error == "Invalid script_type: javascript. Must be 'python' or 'bash'"


def test_script_validator(where):
    validator = belljar.ScriptValidator(*where)

    def validate(*args):
        return asyncio.run(validator.validate(*args))

    assert validate("print(1)", "python") == belljar.ValidationResult(True, None, None, validate("print(1)").findings)
    for script, language, layer in (("def foo(", "python", "syntax"), ("if [ true", "bash", "syntax"),
                                    ("api_key = 'secret123'", "python", "secrets"),
                                    ("eval('malicious')", "python", "dangers"),
                                    ("x = 1\n" * 5000, "python", "length")):
        verdict = validate(script, language)
        assert not verdict.valid and verdict.error and verdict.layer == layer, verdict
    assert validate("x", "javascript").layer == "language"


def test_get_sandbox(where):
    with belljar.get_sandbox(url=where[0], api_key=where[1], timeout=10) as sandbox:
        result = sandbox.execute("print(1)")
        assert result.success and result.runtime == "local" and result.stdout == "1\n"
        assert sandbox.execute("1", language="perl").validation_failed


def test_docker_executor_insists_on_docker(where):
    """A service that is set to native does not pretend to be Docker."""
    with belljar.DockerExecutor(url=where[0], api_key=where[1]) as docker:
        with pytest.raises(belljar.Problem) as caught:
            docker.execute("print(1)")
    assert caught.value.status == 403


def test_a_run_that_waits_for_a_person(tmp_path):
    """APPROVE: who waits is told so, and hears the end once somebody has decided."""
    port = free_port()
    service = Service("--listen", f"127.0.0.1:{port}", env={"BELLJAR_STATE_DIR": str(tmp_path / "state"),
                                                            "BELLJAR_SERVE_API_KEY": "a-key-that-is-long-enough"}).ready()
    where = (f"http://127.0.0.1:{port}", "a-key-that-is-long-enough")
    try:
        jar = belljar.Client(*where)
        with pytest.raises(belljar.ApprovalNeeded) as caught:
            jar.run("print(42)")
        jar.approve(caught.value.run_id)
        assert jar.wait(caught.value.run_id).stdout == "42\n"
        with pytest.raises(belljar.ApprovalNeeded) as caught:
            asyncio.run(belljar.AsyncClient(*where).run("print(43)"))
        jar.deny(caught.value.run_id, "not today")
        ended = jar.get(caught.value.run_id)
        assert ended.cause == "denied" and ended.result.decision.reason == "not today"
    finally:
        service.stop()
