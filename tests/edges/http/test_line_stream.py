"""Long answers come in pieces, and give way to other callers."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request

from holdfast.edges.http import client_identity
from holdfast.edges.http.client_identity import CLIENT, Client, in_pieces, stream_lines
from holdfast.edges.http.concurrency import Places

EVE = Client("key:eve", "person:eve", known=True)
ADA = Client("key:ada", "person:ada", known=True)


def test_lines_are_joined_to_pieces_and_none_is_lost() -> None:
    lines = [f"{number:01000d}" for number in range(200)]
    pieces = list(in_pieces(lines))
    assert "".join(pieces) == "".join(line + "\n" for line in lines)
    assert len(pieces) == 4
    assert list(in_pieces([])) == []


class Pauses:
    """The pauses of streams that were asked for, in seconds of each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.streams_at_once: list[int] = []
        monkeypatch.setattr(client_identity, "_pause", self._pause)

    async def _pause(self, seconds: float, state: Any, client: Client) -> None:
        assert 0 < seconds <= client_identity._PAUSE_S_MAX
        self.streams_at_once.append(state.line_streams[client.share])


async def read(state: Any, *streams: Client) -> list[str]:
    """Reads a long answer of each of them, a piece of each at a time."""
    app = SimpleNamespace(state=state)
    answers = [
        stream_lines(Request({"type": "http", "app": app, CLIENT: client}), ["x" * 70_000] * 3)
        for client in streams
    ]
    iterators = [aiter(answer.body_iterator) for answer in answers]
    texts = [""] * len(answers)
    for _ in range(4):
        for number, iterator in enumerate(iterators):
            texts[number] += str(await anext(iterator, ""))
    return texts


@pytest.mark.parametrize(
    ("asking", "pauses"),
    [([EVE], []), ([EVE, ADA], [1, 1, 1])],
    ids=["alone", "another asks"],
)
def test_a_long_answer_pauses_while_others_ask(
    monkeypatch: pytest.MonkeyPatch, asking: list[Client], pauses: list[int]
) -> None:
    seen = Pauses(monkeypatch)

    async def scene() -> None:
        places = Places(total=10, each=10)
        state = SimpleNamespace(places=places, line_streams=Counter[str]())
        for client in asking:
            async with places.place(client):
                pass
        assert await read(state, EVE) == [("x" * 70_000 + "\n") * 3]
        assert not state.line_streams

    asyncio.run(scene())
    assert seen.streams_at_once == pauses


def test_several_long_answers_of_a_key_share_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Pauses(monkeypatch)

    async def scene() -> None:
        places = Places(total=10, each=10)
        state = SimpleNamespace(places=places, line_streams=Counter[str]())
        for client in (EVE, ADA):
            async with places.place(client):
                pass
        await read(state, EVE, EVE)

    asyncio.run(scene())
    assert max(seen.streams_at_once) == 2
