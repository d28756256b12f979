"""What a sync still knows of the memories in MEMORY.md is what reading all of them says, whatever
has happened since."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import HoldfastError, HubMemory
from holdfast.files.memory_md import cache
from holdfast.files.memory_md.cache import our_memories, token_of
from holdfast.testing import FixedClock, open_for_tests

ACTS = st.tuples(
    st.sampled_from(
        [
            *("remember", "remember", "ending", "journal", "update", "category", "forget"),
            *("restore", "archive", "purge", "undo", "supersede", "stream", "tick", "look"),
        ]
    ),
    st.integers(0, 20),
)


def act(hub: HubMemory, clock: FixedClock, what: str, number: int, streams: list[Any]) -> None:
    known = [memory.number for memory in hub.list(order="number")]
    one = known[number % len(known)] if known else 0
    text = f"{what} {number} at {clock.now()}"
    if what in ("remember", "journal"):
        hub.remember(text, layer="journal" if what == "journal" else "long_term")
    elif what == "ending":
        hub.remember(text, layer="long_term", ttl=timedelta(minutes=number + 1))
    elif what == "stream":
        # One that goes on while others write.
        if not streams:
            drafts = ({"content": f"{text} {n}", "layer": "long_term"} for n in range(6))
            streams.append(hub.remember_stream(drafts))
        if next(streams[0], None) is None:
            streams.clear()
    elif what == "tick":
        clock.tick(minutes=number)
    elif what == "undo":
        hub.undo()
    elif what == "restore":
        hidden = [*hub.list(forgotten=True), *hub.list(state="archived")]
        if hidden:
            hub.restore(hidden[number % len(hidden)].id)
    elif one and what == "supersede":
        hub.remember(text, supersedes=one, layer="long_term")
    elif one and what in ("update", "category"):
        hub.update(one, **({"content": text} if what == "update" else {"category": "own"}))
    elif one and what != "look":
        getattr(hub, what)(one)


def check(hub: HubMemory) -> None:
    core = hub.core
    with core.store.read() as reader:
        token = token_of(reader, hub.id)
        known = cache.known_memories(core.store, reader, hub.id, token, core.now())
        assert list(known.values()) == our_memories(core, reader, hub.id)
        assert list(known) == [memory.id for memory in known.values()]


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(acts=st.lists(ACTS, max_size=25), often=st.booleans())
def test_what_is_known_is_what_reading_everything_says(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    acts: list[tuple[str, int]],
    often: bool,
) -> None:
    monkeypatch.setattr("holdfast.engine.writing.remember.BATCH_MAX", 2)
    clock = FixedClock()
    with open_for_tests(
        tmp_path_factory.mktemp("home"), clock=clock, settings={"store.url": "memory:"}
    ) as memory:
        hub = memory.create_hub("work")
        streams: list[Any] = []
        for what, number in acts:
            clock.tick()
            try:
                act(hub, clock, what, number, streams)
            except HoldfastError:
                continue  # It could not be done in this state, and nothing was.
            if often or what == "look":
                check(hub)
        check(hub)


def test_what_a_stream_adds_while_others_write_is_known(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.engine.writing.remember.BATCH_MAX", 2)
    with open_for_tests(tmp_path_factory.mktemp("home")) as memory:
        hub = memory.create_hub("work")
        stream = hub.remember_stream({"content": f"{n}.", "layer": "long_term"} for n in range(6))
        for _ in range(3):
            next(stream)
            check(hub)
            hub.remember(f"in between, at {len(hub.list())}", layer="long_term")
            check(hub)
        assert len(list(stream)) == 3
        check(hub)


def test_only_what_has_changed_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_for_tests(tmp_path_factory.mktemp("home")) as memory:
        hub = memory.create_hub("work")
        for number in range(20):
            hub.remember(f"fact {number}", layer="long_term")
        check(hub)
        read: list[int] = []
        monkeypatch.setattr(cache, "_read", lambda *_: read.append(1))
        hub.update(3, content="another fact")
        hub.forget(4)
        hub.remember("a new fact", layer="long_term")
        check(hub)
        assert read == []
