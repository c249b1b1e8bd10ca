# SPDX-License-Identifier: Apache-2.0
"""Tasks of the stateless MCP (the extension io.modelcontextprotocol/tasks) with the product's own tools. TOOL, APPROVE."""
import concurrent.futures
import http.client
import json
import subprocess
import time

import pytest

from harness.ports import free_port
from serving import BELLJAR, Answer
from test_mcp import BOTH, META, MODERN, code, events, request

TASKS = "io.modelcontextprotocol/tasks"
WITH_TASKS = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}}}
WITH_BOTH = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}, "elicitation": {}}}
SLEEP = "import time\nprint('on', flush=True)\ntime.sleep({})\nprint('done')"


def say(service, method, params=None, meta=None, headers=None):
    params = {**(params or {}), "_meta": WITH_TASKS if meta is None else meta}
    name = params.get("taskId") or params.get("name")
    head = {**BOTH, "MCP-Protocol-Version": MODERN, "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}
    return service.ask("POST", "/mcp", request(method, params), {**head, **(headers or {})})


def last(answer):
    return answer.json if answer.headers["Content-Type"] == "application/json" else events(answer)[-1]


def python(service, text, **kwargs):
    return last(say(service, "tools/call", {"name": "run_python_code", "arguments": {"code": text}}, **kwargs))["result"]


def get(service, task, **kwargs):
    return last(say(service, "tasks/get", {"taskId": task}, **kwargs))["result"]


def ended(service, task, status="working"):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = get(service, task)
        if found["status"] != status:
            return found
        time.sleep(0.02)
    return pytest.fail(f"{task} stays {status}")


def running(service):
    """The newest run that is under way, once there is one: what was only accepted has not begun."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for run in service.ask("GET", "/v1/executions?state=running").json["executions"]:
            return run["id"]
        time.sleep(0.01)
    return pytest.fail("nothing runs")


def test_a_long_call_becomes_a_task(service):
    began = time.monotonic()
    made = python(service, SLEEP.format(4))
    assert 0.9 < time.monotonic() - began < 3.9
    assert made["resultType"] == "task" and made["status"] == "working"
    assert isinstance(made["ttlMs"], int) and isinstance(made["pollIntervalMs"], int) and "content" not in made
    assert get(service, made["taskId"])["status"] == "working"
    done = ended(service, made["taskId"])
    assert done["status"] == "completed" and done["resultType"] == "complete"
    assert done["result"]["structuredContent"]["stdout"] == "on\ndone\n" and done["result"]["isError"] is False
    assert get(service, made["taskId"]) == done  # it can be asked again


def test_what_ends_soon_needs_no_task(service):
    result = python(service, "print(3)")
    assert result["resultType"] == "complete" and result["structuredContent"]["stdout"] == "3\n"
    failed = python(service, "raise SystemExit(3)")
    assert failed["isError"] is True and failed["structuredContent"]["exit_code"] == 3


def test_a_failed_script_is_a_completed_task(service):
    made = python(service, "import time\ntime.sleep(2.5)\nraise SystemExit(4)")
    done = ended(service, made["taskId"])
    assert done["status"] == "completed" and done["result"]["isError"] is True
    assert done["result"]["structuredContent"]["exit_code"] == 4


@pytest.mark.parametrize("meta", [META, {**WITH_TASKS, "progressToken": 7},
                                  {**WITH_TASKS, "io.modelcontextprotocol/logLevel": "info"}])
def test_who_knows_no_tasks_or_listens_waits(service, meta):
    """Without the extension there is no task; and live output goes to who asked for it."""
    answer = say(service, "tools/call", {"name": "run_python_code", "arguments": {"code": SLEEP.format(2.5)}}, meta)
    messages = events(answer)
    assert messages[-1]["result"]["structuredContent"]["stdout"] == "on\ndone\n"
    assert (len(messages) > 1) == (meta is not META)


def test_cancelling_kills(service):
    made = python(service, SLEEP.format(60))
    run = running(service)
    acked = last(say(service, "tasks/cancel", {"taskId": made["taskId"]}))["result"]
    assert set(acked) == {"resultType", "_meta"} and acked["resultType"] == "complete"
    assert ended(service, made["taskId"])["status"] == "cancelled"
    list(service.events(f"/v1/executions/{run}/events"))
    assert service.ask("GET", f"/v1/executions/{run}").json["cause"] == "cancelled"
    assert last(say(service, "tasks/cancel", {"taskId": made["taskId"]}))["result"]["resultType"] == "complete"


def test_hanging_up_before_the_task_is_known_kills(service):
    params = {"name": "run_python_code", "arguments": {"code": SLEEP.format(60)}, "_meta": WITH_TASKS}
    for _ in range(20):
        conn = service.connect()
        sent = time.monotonic()
        conn.request("POST", "/mcp", json.dumps(request("tools/call", params)), {
            **BOTH, "Content-Type": "application/json", "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call",
            "Mcp-Name": "run_python_code"})
        run = running(service)
        conn.close()
        if time.monotonic() - sent < 0.5:  # later than that it may be a task already
            break
        service.ask("DELETE", f"/v1/executions/{run}")
    else:
        pytest.fail("this machine is too slow to hang up in time")
    assert service.ended(run)["cause"] == "cancelled"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_methods_are_for_those_who_know_them(service, method):
    params = {"taskId": "0" * 32, "inputResponses": {}}
    assert code(say(service, method, params)) == -32602
    refused = say(service, method, params, META)
    assert refused.status == 400 and code(refused) == -32021
    assert refused.json["error"]["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    assert code(say(service, method, params, headers={"Mcp-Name": "other"})) == -32020
    assert code(say(service, method, {"taskId": 7, "inputResponses": {}}, headers={"Mcp-Name": "7"})) == -32602


def test_methods_of_the_older_revision_are_gone(service):
    for method in ("tasks/result", "tasks/list"):
        assert code(say(service, method, {"taskId": "x"})) == -32601
    found = last(say(service, "server/discover"))["result"]["capabilities"]
    assert found["extensions"] == {TASKS: {}} and "tasks" not in found
    assert code(say(service, "tasks/update", {"taskId": "0" * 32, "inputResponses": []})) == -32602


def test_listeners_hear_of_the_end(service):
    made = python(service, SLEEP.format(4))
    conn = service.connect()
    params = {"notifications": {"taskIds": [made["taskId"], "0" * 32, 3]}, "_meta": WITH_TASKS}
    conn.request("POST", "/mcp", json.dumps(request("subscriptions/listen", params)), {
        **BOTH, "Content-Type": "application/json", "MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen"})
    heard = []
    for line in conn.getresponse():
        if line.startswith(b"data: {"):
            heard.append(json.loads(line[6:]))
        if heard and heard[-1]["method"] == "notifications/tasks":
            break
    conn.close()
    assert heard[0]["params"]["notifications"]["taskIds"] == [made["taskId"]]
    told = heard[-1]["params"]
    assert told["status"] == "completed" and told["result"]["structuredContent"]["stdout"] == "on\ndone\n"
    assert told["_meta"] == {"io.modelcontextprotocol/subscriptionId": 1}
    refused = say(service, "subscriptions/listen", {"notifications": {"taskIds": []}}, META)
    assert code(refused) == -32021


def busy_service(serve, tmp_path):
    """One that has a run under way and takes no second one: what comes now is asked about late."""
    service = serve(config=f"state_dir: {tmp_path}\nserve: {{concurrency: 1}}\napproval: {{rules: ['ask tool=execute_script']}}\n").ready()
    run = service.start("sleep 60")
    service.wait_state(run, "running")  # one that is only accepted may not have taken its turn yet
    return service, run


def make_room(service, run):
    assert service.ask("DELETE", f"/v1/executions/{run}").status == 200


def ask_later(service, script, meta=WITH_BOTH):
    call = {"name": "execute_script", "arguments": {"script_content": script, "script_type": "python"}}
    return last(say(service, "tools/call", call, meta))["result"]


def test_a_question_before_the_task_is_an_answer(serve, tmp_path):
    """What is asked at once is asked as ever, and the answer brings a task when the run is long."""
    service = serve(config=f"state_dir: {tmp_path}\napproval: {{rules: ['ask tool=execute_script']}}\n").ready()
    asked = ask_later(service, SLEEP.format(2.5))
    assert asked["resultType"] == "input_required" and "taskId" not in asked
    call = {"name": "execute_script", "arguments": {"script_content": SLEEP.format(2.5), "script_type": "python"},
            "requestState": asked["requestState"], "inputResponses": {"approval": {"action": "accept", "content": {"approve": True}}}}
    made = last(say(service, "tools/call", call, WITH_BOTH))["result"]
    assert made["resultType"] == "task" and "requestState" not in made
    done = ended(service, made["taskId"])
    assert done["result"]["structuredContent"]["result"]["stdout"] == "on\ndone\n"


@pytest.mark.parametrize("approve", [True, False])
def test_a_question_within_a_task_waits_in_it(serve, tmp_path, approve):
    service, run = busy_service(serve, tmp_path)
    made = ask_later(service, "print('ran')")
    assert made["resultType"] == "task"
    make_room(service, run)
    waits = ended(service, made["taskId"])
    assert waits["status"] == "input_required" and "requestState" not in waits
    assert "print('ran')" in waits["inputRequests"]["approval"]["params"]["message"]
    for wrong in ({}, {"other": {"action": "accept"}}, {"approval": 3}):
        assert last(say(service, "tasks/update", {"taskId": made["taskId"], "inputResponses": wrong}))["result"]["resultType"] == "complete"
        assert get(service, made["taskId"])["status"] == "input_required"
    answer = {"approval": {"action": "accept", "content": {"approve": approve, "reason": "seen"}}}
    assert last(say(service, "tasks/update", {"taskId": made["taskId"], "inputResponses": answer}))["result"]["resultType"] == "complete"
    done = ended(service, made["taskId"])
    assert done["status"] == "completed"
    text = done["result"]["content"][0]["text"]
    assert ("ran" in text) == approve and (approve or "denied" in text.lower())
    assert done["result"]["isError"] is not approve


def test_a_task_that_waits_can_be_cancelled(serve, tmp_path):
    service, run = busy_service(serve, tmp_path)
    made = ask_later(service, "print('never')")
    make_room(service, run)
    assert ended(service, made["taskId"])["status"] == "input_required"
    say(service, "tasks/cancel", {"taskId": made["taskId"]})
    assert get(service, made["taskId"])["status"] == "cancelled"
    answer = {"approval": {"action": "accept", "content": {"approve": True}}}
    say(service, "tasks/update", {"taskId": made["taskId"], "inputResponses": answer})
    assert get(service, made["taskId"])["status"] == "cancelled"


def test_tasks_are_their_owners(serve, tmp_path):
    """TENANT: the id alone opens nothing."""
    port = free_port()
    service = serve(config=f"state_dir: {tmp_path}\nserve: {{listen: '127.0.0.1:{port}', api_key: a-master-key-of-the-tests}}\n").ready()
    keys = {}
    for name in ("red", "blue", "red/2"):
        tenant, second = name.split("/")[0], "/" in name
        if not second:
            subprocess.run([BELLJAR, "tenant", "add", tenant, "-c", service.config], check=True, capture_output=True)
        keys[name] = subprocess.run([BELLJAR, "key", "add", "--tenant", tenant, "--role", "run", "-c", service.config],
                                    check=True, capture_output=True, text=True).stdout.strip()

    def ask(name, method, params):
        conn = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        conn.request("POST", "/mcp", json.dumps(request(method, {**params, "_meta": WITH_TASKS})), {
            **BOTH, "Content-Type": "application/json", "Authorization": f"Bearer {keys[name]}", "MCP-Protocol-Version": MODERN,
            "Mcp-Method": method, "Mcp-Name": params.get("taskId") or params["name"]})
        return last(Answer(conn.getresponse()))

    task = ask("red", "tools/call", {"name": "run_python_code", "arguments": {"code": SLEEP.format(60)}})["result"]["taskId"]
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        for other in ("blue", "red/2"):  # another tenant, and another key of the same one: neither has a name
            assert ask(other, method, {"taskId": task, "inputResponses": {}})["error"]["code"] == -32602, (other, method)
    assert ask("red", "tasks/get", {"taskId": task})["result"]["status"] == "working"
    assert ask("red", "tasks/cancel", {"taskId": task})["result"]["resultType"] == "complete"


def test_there_is_an_end_to_them(serve, tmp_path):
    """64 tasks of one client; who wants more waits for the answer itself."""
    service = serve(config=f"state_dir: {tmp_path}\nserve: {{concurrency: 80, queue: 200}}\nlimits: {{memory: 64MiB}}\n").ready()
    with concurrent.futures.ThreadPoolExecutor(70) as pool:
        made = list(pool.map(lambda _: python(service, "import time\ntime.sleep(6)"), range(70)))
    tasks = [m for m in made if m["resultType"] == "task"]
    assert len(tasks) == 64 and all(m["isError"] is False for m in made if m["resultType"] == "complete")


def test_what_they_hold_is_bounded(serve, tmp_path):
    """A task keeps its request until it has ended: 64 MiB of those of one client. Who wants more waits."""
    service = serve(config=f"state_dir: {tmp_path}\n").ready()
    large = {**WITH_TASKS, "example.org/pad": "x" * (28 << 20)}
    made = [python(service, SLEEP.format(60), meta=large) for _ in range(2)]
    assert [m["resultType"] for m in made] == ["task", "task"]
    assert python(service, SLEEP.format(2.5), meta=large)["structuredContent"]["stdout"] == "on\ndone\n"
    assert python(service, SLEEP.format(2.5))["resultType"] == "task"  # a small one has room
    for task in made:
        say(service, "tasks/cancel", {"taskId": task["taskId"]})
        assert ended(service, task["taskId"])["status"] == "cancelled"
    # It is cancelled when that is asked for, and lets go a little later, when its run has ended.
    assert any(python(service, SLEEP.format(2.5), meta=large)["resultType"] == "task" for _ in range(5))


@pytest.mark.timeout(300)
def test_what_all_of_them_hold_is_bounded(serve, tmp_path):
    """512 MiB of requests and results of all clients together, none of which has its 64 MiB in use."""
    service = serve(config=f"state_dir: {tmp_path}\nserve: {{concurrency: 30}}\n"
                           "limits: {memory: 64MiB, timeout: 300s}\n").ready()
    heads = []
    for _ in range(10):
        key = subprocess.run([BELLJAR, "key", "add", "--role", "run", "-c", service.config], check=True,
                             capture_output=True, text=True).stdout.strip()
        heads.append({"Authorization": f"Bearer {key}"})
    large = {**WITH_TASKS, "example.org/pad": "x" * (28 << 20)}

    def begin(head):
        return python(service, SLEEP.format(290), meta=large, headers=head)["taskId"]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        tasks = list(pool.map(begin, [head for head in heads[:9] for _ in range(2)]))  # 504 MiB
    assert len(set(tasks)) == 18
    late = python(service, SLEEP.format(2.5), meta=large, headers=heads[9])
    assert late["resultType"] == "complete" and late["structuredContent"]["stdout"] == "on\ndone\n"
    assert python(service, SLEEP.format(2.5), headers=heads[9])["resultType"] == "task"  # a small one has room
    say(service, "tasks/cancel", {"taskId": tasks[0]}, headers=heads[0])
    # It lets go when its run has ended.
    assert any(python(service, SLEEP.format(2.5), meta=large, headers=heads[9])["resultType"] == "task" for _ in range(5))
    for i, task in enumerate(tasks[1:], 1):
        say(service, "tasks/cancel", {"taskId": task}, headers=heads[i // 2])


def test_answers_have_a_bound(serve, tmp_path):
    service, run = busy_service(serve, tmp_path)
    made = ask_later(service, "print('never')")
    make_room(service, run)
    assert ended(service, made["taskId"])["status"] == "input_required"
    answer = {"approval": {"action": "accept", "content": {"approve": True, "reason": "x" * (2 << 20)}}}
    refused = last(say(service, "tasks/update", {"taskId": made["taskId"], "inputResponses": answer}))
    assert refused["error"]["code"] == -32602 and "too long" in refused["error"]["message"]
    assert get(service, made["taskId"])["status"] == "input_required"
