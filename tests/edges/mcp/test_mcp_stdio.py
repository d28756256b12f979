"""The server as clients start it: a process, over standard input and output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client

import holdfast
from tests.edges.mcp.sessions import MODES, PATIENCE_S, command, talk, text_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@contextmanager
def opened(home: Path) -> Iterator[holdfast.Holdfast]:
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        yield memory


class Raw:
    """The process with its pipes, for what no honest client sends."""

    def __init__(self, home: Path, *words: str) -> None:
        start = command(home, *words)
        self.process = subprocess.Popen(
            [start.command, *start.args],
            cwd=start.cwd,
            env={**os.environ, **(start.env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._watch = threading.Timer(PATIENCE_S, self.process.kill)
        self._watch.start()

    def send(self, *messages: Any) -> None:
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end(self) -> tuple[int, list[Any], str]:
        """Closes the input; the exit code, every message that was left, and what was said."""
        out, said = self.process.communicate()
        self._watch.cancel()
        return (
            self.process.returncode,
            [json.loads(line) for line in out.splitlines()],
            said.decode(),
        )


HELLO = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


def calling(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


# A whole session


@pytest.mark.parametrize("mode", MODES)
def test_a_whole_session_over_stdio(home: Path, mode: str) -> None:
    async def session(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["remember", "recall", "forget", "memory_get", "memory_context"]
        answers = {
            "remember": {"content": "Prefers tabs over spaces", "key": "indent"},
            "recall": {"query": "tabs or spaces?"},
            "memory_get": {"key": "indent"},
            "memory_context": {},
            "forget": {"key": "indent"},
        }
        for name, arguments in answers.items():
            answer = await client.call_tool(name, arguments)
            assert not answer.is_error, text_of(answer)
            assert "tabs" in text_of(answer)
        assert (await client.call_tool("recall", {"colour": 1})).is_error
        assert (await client.call_tool("no_such_tool", {})).is_error
        for row in (await client.list_resources()).resources:
            assert (await client.read_resource(row.uri)).contents
        assert len((await client.list_resource_templates()).resource_templates) == 3
        for row in (await client.list_prompts()).prompts:
            given = {argument.name: "tabs" for argument in row.arguments or []}
            assert (await client.get_prompt(row.name, given)).messages
        reference = types.ResourceTemplateReference(uri="memory://{hub}/{id}")
        completed = await client.complete(reference, {"name": "hub", "value": "a"})
        assert completed.completion.values == ["ada"]

    talk(command(home, "--hub", "ada"), mode, session)
    with opened(home) as memory:
        assert [hub.name for hub in memory.hubs()] == ["ada"]
        assert memory.hub("ada").statistics().forgotten == 1


def test_two_clients_at_once_share_one_hub(home: Path) -> None:
    async def main() -> None:
        async with (
            Client(command(home), mode="legacy", cache=None) as one,
            Client(command(home), mode="auto", cache=None) as two,
        ):

            async def fill(client: Client, who: str) -> None:
                for number in range(20):
                    content = f"Fact {number} that {who} found"
                    answer = await client.call_tool("remember", {"content": content})
                    assert not answer.is_error, text_of(answer)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fill, one, "Ada")
                tasks.start_soon(fill, two, "Grace")
            # Each sees what the other wrote.
            assert "Grace" in text_of(await one.call_tool("recall", {"query": "Grace found"}))
            assert "Ada" in text_of(await two.call_tool("recall", {"query": "Ada found"}))

    with anyio.from_thread.start_blocking_portal() as portal:
        portal.start_task_soon(main).result(timeout=PATIENCE_S)
    with opened(home) as memory:
        kept = memory.hub().list()
        assert len(kept) == 40
        assert len({one.number for one in kept}) == 40
        assert not list(memory.core.store.check())


def test_the_hub_is_that_of_the_repository_and_is_said_on_stderr(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_PROJECTS_HUBS", "true")
    (tmp_path / "web" / ".git").mkdir(parents=True)
    (tmp_path / "web" / "src").mkdir()
    start = command(home, folder=tmp_path / "web" / "src", env={"HOME": str(tmp_path / "person")})
    ran = subprocess.run(
        [start.command, *start.args],
        cwd=start.cwd,
        env={**os.environ, **(start.env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert ran.stdout == ""
    assert ran.stderr == "holdfast mcp: hub web (of the repository web)\n"
    # A client that merely looks which servers there are makes no hub.
    with holdfast.open(home) as memory:
        assert memory.hubs() == []


# What goes wrong


def test_garbage_is_passed_over_and_what_follows_is_answered(home: Path) -> None:
    raw = Raw(home)
    raw.send(
        b"garbage",
        b"",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"jsonrpc": "2.0"}',
        *HELLO,
        b"null",
        b'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": []}',
        b'{"jsonrpc": "2.0", "id": [1], "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "method": "notifications/no/such"}',
        b'{"jsonrpc": "2.0", "id": 404, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "recall",'
        b' "arguments": {"query": "\\ud83d cut, \\\\ud83d whole \\ud83d\\ude00"}}}',
        {"jsonrpc": "2.0", "id": 3, "method": "no/such/method"},
        calling(4, "remember", content="Prefers tabs"),
    )
    code, messages, said = raw.end()
    assert code == 0
    answers = {message["id"]: message for message in messages}
    assert answers[1]["result"]["serverInfo"]["name"] == "holdfast"
    assert answers[2]["result"]["isError"] is False
    assert "\\ud83d whole \U0001f600" in answers[2]["result"]["content"][0]["text"]
    assert answers[3]["error"]["message"] == "Method not found"
    assert "Remembered #1" in answers[4]["result"]["content"][0]["text"]
    assert "Traceback" not in said
    with opened(home) as memory:
        assert memory.hub().get(1).source_agent == "raw"


def test_stdout_is_the_protocols_alone_and_a_fault_does_not_end_the_server(home: Path) -> None:
    raw = Raw(home, "--odd")
    raw.send(*HELLO, calling(2, "print"), calling(3, "break"))
    code, messages, said = raw.end()
    assert code == 0
    answers = {message["id"]: message["result"] for message in messages}
    assert sorted(answers) == [1, 2, 3]
    assert answers[2]["content"][0]["text"] == "printed"
    assert answers[3]["isError"] is True
    assert "Traceback" not in answers[3]["content"][0]["text"]
    assert "a library prints to stdout" in said


def test_a_signal_ends_it_cleanly_while_it_waits(home: Path) -> None:
    with opened(home) as memory:
        memory.hub().remember("Prefers tabs")
    raw = Raw(home)
    raw.send(*HELLO, calling(2, "recall", query="tabs"))
    assert {raw.read()["id"], raw.read()["id"]} == {1, 2}
    raw.process.send_signal(signal.SIGTERM)
    assert raw.process.wait() == 0
    assert raw.end()[2].count("\n") == 1
    # Counters that had gathered were written on the way out.
    with opened(home) as memory:
        assert memory.hub().get(1).shown_count == 1


@pytest.mark.parametrize("how", ["end of input", "signal"])
def test_a_client_that_leaves_in_mid_call_leaves_whole_writes(home: Path, how: str) -> None:
    raw = Raw(home, "--odd")
    asked = calling(2, "count", steps=100_000, store=True)
    asked["params"]["_meta"] = {"progressToken": "p"}
    raw.send(*HELLO, asked)
    while raw.read().get("method") != "notifications/progress":
        pass
    if how == "signal":
        raw.process.send_signal(signal.SIGINT)
    code, _, said = raw.end()
    assert code == 0
    assert "Traceback" not in said
    with opened(home) as memory:
        kept = memory.hub().statistics()
        assert 0 < kept.memories < 100_000
        assert kept.revisions == kept.memories
        assert not list(memory.core.store.check())


def test_what_was_acknowledged_survives_a_kill(home: Path) -> None:
    raw = Raw(home)
    raw.send(*HELLO, *(calling(2 + n, "remember", content=f"Fact {n}") for n in range(20)))
    acknowledged = set()
    while len(acknowledged) < 5:
        message = raw.read()
        if message["id"] >= 2:
            acknowledged.add(f"Fact {message['id'] - 2}")
    raw.process.kill()
    raw.end()
    with opened(home) as memory:
        assert acknowledged <= {one.content for one in memory.hub().list()}
        assert not list(memory.core.store.check())


def test_a_client_that_no_longer_reads_ends_it_after_the_write(home: Path) -> None:
    raw = Raw(home)
    raw.send(*HELLO)
    raw.read()
    process = raw.process
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdout.close()
    raw.send(calling(2, "remember", content="Prefers tabs"))
    assert process.wait() == 0
    raw._watch.cancel()
    with process.stderr as stderr:
        assert stderr.read().count(b"\n") == 1
    process.stdin.close()
    with opened(home) as memory:
        assert memory.hub().get(1).content == "Prefers tabs"


def test_without_the_extra_it_says_what_to_install(home: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    (blocked / "mcp").mkdir(parents=True)
    (blocked / "mcp" / "__init__.py").write_text("raise ModuleNotFoundError('no', name='mcp')")
    path = [str(blocked), *sys.path]
    ran = subprocess.run(
        [sys.executable, "-m", "holdfast.edges.cli", "mcp"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "HOLDFAST_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert ran.returncode == 2 and ran.stdout == ""
    assert "needs the Python package mcp" in ran.stderr
    assert "pip install holdfast-memory" in ran.stderr
    assert not home.exists()
