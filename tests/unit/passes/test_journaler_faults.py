"""The whole pass over a real connection to an endpoint that misbehaves in every way: bounded, told
in the log, never seen by who talks, and the turn is still there."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.llm import endpoint
from holdfast.passes import work
from holdfast.passes.work import work_until_done
from holdfast.settings import save
from holdfast.testing import FixedClock
from tests.unit.llm.protocols import OPENAI
from tests.unit.llm.servers import (
    Behaviour,
    Handler,
    Server,
    break_off,
    hang,
    reply,
    reset,
    serving,
    trickle_body,
)
from tests.unit.passes.conftest import Opener

ENDLESS = reply(OPENAI.calls("memory_search", {"query": "vim"}))
# Fails in ways that another attempt may mend, and in ways that none does.
TRANSIENT: dict[str, Behaviour] = {
    "hangs": hang,
    "trickles": trickle_body,
    "resets": reset,
    "breaks off": break_off,
    "429": reply({"error": {"message": "slow down"}}, status=429),
    "500": reply({"error": {"message": "oops"}}, status=500),
}
BROKEN: dict[str, Behaviour] = {
    "invalid JSON": reply(raw=b'{"choices": [{"mess'),
    "wrong shape": reply({"answer": 42}),
    "shape of another": reply([1, 2, 3]),
    "1 MB": reply(OPENAI.says("x" * 1_000_000)),
    "401": reply({"error": {"message": "no such key"}}, status=401),
}
ODD: dict[str, Behaviour] = {
    "unknown tool": reply(OPENAI.calls("rm", {"path": "/"})),
    "arguments that are none": reply(OPENAI.calls("remember", "{{{")),
    "made up": reply(OPENAI.calls("remember", {"content": "Owns a yacht in Monaco"})),
    "endless calls": ENDLESS,
    "chatter": reply(OPENAI.says("Sure! I have noted that the user owns a yacht.")),
}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "BACKOFF", endpoint.BACKOFF._replace(first_s=0.001))


def opened_hub(
    opened: Opener, server: Server, *, seconds_max: float = 30.0
) -> tuple[Holdfast, HubMemory]:
    model = f"openai:tiny@{server.url}"
    memory = opened(shadowJournal__model=model, llm__seconds_max=seconds_max)
    memory.core.set_has_worker(True)
    return memory, memory.hub("work", create=True)


def attempts(memory: Holdfast, clock: FixedClock) -> None:
    """As often as anybody would try, and once more."""
    for _ in range(4):
        work_until_done(memory.core, memory.home)
        clock.tick(minutes=2)


@pytest.mark.parametrize("name", [*TRANSIENT, *BROKEN])
def test_an_endpoint_that_fails_costs_three_attempts_at_most_and_no_turn(
    opened: Opener, clock: FixedClock, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    behaviour = {**TRANSIENT, **BROKEN}[name]
    with serving(behaviour) as server, caplog.at_level(logging.WARNING):
        # An endpoint that answers is not late on a busy machine.
        seconds_max = 0.3 if name in ("hangs", "trickles") else 30.0
        memory, hub = opened_hub(opened, server, seconds_max=seconds_max)
        assert hub.observe_turn("I use vim for everything.", "A fine choice.").queued
        attempts(memory, clock)
    assert len(hub.turns()) == 2
    assert [one.content for one in hub.list(layer="journal")] in ([], ["Uses vim for everything"])
    if name in ("1 MB",):
        # Much text is no fault; nobody reads it.
        return
    (job,) = hub.jobs()
    assert job.state == "failed"
    assert job.attempts == (3 if name in TRANSIENT else job.attempts) <= 3
    told = [one for one in caplog.records if one.name == "holdfast.journaler"]
    assert len(told) == job.attempts
    if name in ("hangs", "trickles"):
        assert all("within 0.3 s" in one.getMessage() for one in told)
    # The rules have done what they can.
    assert [one.content for one in hub.list(layer="journal")] == ["Uses vim for everything"]


@pytest.mark.parametrize("name", ODD)
def test_a_model_that_talks_nonsense_stores_none_of_it_and_is_asked_twice_at_most(
    opened: Opener, clock: FixedClock, name: str
) -> None:
    with serving(ODD[name]) as server:
        memory, hub = opened_hub(opened, server)
        hub.observe_turn("I use vim for everything.", "A fine choice.")
        attempts(memory, clock)
        assert len(server.heard) <= 2
    kept = ["Uses vim for everything"] if name == "made up" else []
    assert [one.content for one in hub.list(layer="journal")] == kept
    assert hub.jobs() == []
    assert len(hub.turns()) == 2


def test_a_good_model_over_the_same_line_notes_the_turn(opened: Opener, clock: FixedClock) -> None:
    says = [
        ENDLESS,
        reply(OPENAI.calls("remember", {"content": "Uses vim for everything"})),
        reply(OPENAI.says("Done.")),
    ]
    with serving(*says) as server:
        memory, hub = opened_hub(opened, server)
        hub.observe_turn("I use vim for everything.", "A fine choice.")
        attempts(memory, clock)
        offered = server.heard[0].body["tools"]
    assert [tool["function"]["name"] for tool in offered] == ["memory_search", "remember"]
    assert [one.content for one in hub.list(layer="journal")] == ["Uses vim for everything"]


def test_a_model_that_is_named_while_a_program_runs_is_asked_from_the_next_turn(
    opened: Opener, tmp_path: Path
) -> None:
    memory = opened()
    memory.core.set_has_worker(True)
    hub = memory.hub("work", create=True)
    with serving(reply(OPENAI.says("Nothing to keep."))) as server:
        for name, asked in (("none", 0), (f"openai:tiny@{server.url}", 1), ("none", 1)):
            save(str(tmp_path), "shadowJournal.model", name)
            hub.observe_turn("I use vim for everything.", "A fine choice.")
            work_until_done(memory.core, memory.home)
            assert len(server.heard) == asked


def test_an_endpoint_that_hangs_delays_no_reply_and_no_end(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "STOP_S", 0.2)
    begun = threading.Event()

    def hangs(handler: Handler) -> None:
        begun.set()
        hang(handler)

    with serving(hangs) as server:
        memory = opened(shadowJournal__model=f"openai:tiny@{server.url}", llm__seconds_max=60.0)
        hub = memory.hub("work", create=True)
        began = time.monotonic()
        hub.observe_turn("I use vim for everything.", "A fine choice.")
        assert time.monotonic() - began < 1
        assert begun.wait(10)
        began = time.monotonic()
        memory.close()
        assert time.monotonic() - began < 5
        # It was put back without blame, for whoever works next.
        again = opened(model=None)
        again.core.set_has_worker(True)
        (job,) = again.hub("work").jobs()
        assert (job.state, job.attempts) == ("waiting", 0)
        assert len(again.hub("work").turns()) == 2


_PROGRAM = """
import sys, holdfast
from holdfast.llm import endpoint
endpoint.BACKOFF = endpoint.BACKOFF._replace(first_s=0.001)
model = "openai:tiny@http://127.0.0.1:1/v1"
settings = {"embed.model": "none", "shadowJournal.enabled": True, "shadowJournal.model": model}
with holdfast.open(sys.argv[1], settings=settings) as memory:
    memory.hub().observe_turn("I use vim for everything.", "A fine choice.")
    memory.core.wait()
    print(memory.hub().jobs()[0].attempts)
"""


def test_a_program_that_listens_to_no_log_sees_nothing_of_a_failure(tmp_path: Path) -> None:
    words = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("1\n", "")
