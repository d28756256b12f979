"""With --json every command answers in the shape that REST has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.edges.cli.cli_calls import Run
from tests.edges.client.servers import Served, served


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "served") as running:
        hub = running.memory.hub()
        for text in ("Prefers tabs over spaces", "The boat is called Heron", "Tabs are wide"):
            hub.remember(text)
        hub.update(1, content="Prefers tabs")
        yield running


def _rest(server: Served, path: str, body: Any = None) -> Any:
    sent = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{server.url}/v1{path}", sent, headers), timeout=30) as answer:
        return json.loads(answer.read())


def _shape(value: Any) -> Any:
    """The keys of an answer, down to the fields of its first element."""
    if isinstance(value, dict):
        return {key: _shape(one) for key, one in value.items() if key not in _ONLY_HERE}
    if isinstance(value, list):
        return [_shape(value[0])] if value else []
    return None


# The command line works on several hubs at once, and says of which a memory is; `recall` repeats
# its question. REST lists the changed fields of a revision by name in a field of its own.
_ONLY_HERE = ("hub", "query", "parts", "sequence", "changed", "fields")


@pytest.mark.parametrize(
    ("words", "path", "body"),
    [
        (("recall", "tabs"), "/recall", {"query": "tabs"}),
        (("list", "--limit", "2"), "/memories?limit=2", None),
        (("get", "1", "--no-access"), "/memories/1", None),
        (("history", "1"), "/memories/1/history", None),
    ],
)
def test_a_command_and_its_route_answer_alike(
    run: Run, server: Served, words: tuple[str, ...], path: str, body: Any
) -> None:
    here = run(*words, "--json", "--server", server.url).json
    assert _shape(here) == _shape(_rest(server, path, body))


def test_what_became_of_a_memory_is_beside_it(run: Run) -> None:
    told = run("remember", "Prefers tabs", "--json").json
    assert (told["result"], told["data"]["number"]) == ("stored", 1)
    assert run("remember", "Prefers tabs", "--json").json["result"] == "duplicate"
    assert run("forget", "1", "--json").json["result"] == "forgotten"
    assert run("undo", "--json").json["result"] == "undone"


def test_an_error_is_an_object_too(run: Run) -> None:
    told = json.loads(run("get", "99", "--json").err)
    assert told["error"]["code"] == "not_found"
