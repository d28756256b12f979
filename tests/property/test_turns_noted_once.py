"""Whatever happens to turns, models and workers, in any order: each fact is noted once at most,
from a turn that says it; no turn is lost; nothing is tried more than three times, or waits for
ever."""

from __future__ import annotations

import tempfile
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import HubMemory, ModelError
from holdfast.engine import jobs
from holdfast.engine.core import Scope
from holdfast.llm import Answer
from holdfast.passes.work import work_until_done
from holdfast.testing import Asked, FixedClock, ScriptedModel, call, open_for_tests
from holdfast.text.clean import content_hash

FACTS = {
    "I use vim for everything.": "Uses vim for everything",
    "I live in Berlin.": "Lives in Berlin",
    "My dog's name is Rex.": "Dog's name is Rex",
    "I work at Acme as an engineer.": "Works at Acme as an engineer",
}
_OPS = st.one_of(
    st.tuples(st.just("observe"), st.sampled_from(sorted(FACTS))),
    st.tuples(st.just("log"), st.sampled_from(sorted(FACTS))),
    st.tuples(st.just("model"), st.sampled_from(["good", "down", "broken", "mad"])),
    st.sampled_from([("work", ""), ("wait", ""), ("die", ""), ("flush", "")]),
)


class Moody:
    """A model in one of its moods."""

    def __init__(self) -> None:
        self.mood = "good"

    def __call__(self, asked: Asked) -> str | Answer | ModelError:
        if self.mood == "down":
            return ModelError("It is down.", again=True)
        if self.mood == "broken":
            return ModelError("There is no key.")
        if self.mood == "mad":
            return call("remember", {"content": "Owns a yacht in Monaco"})
        said = next(fact for text, fact in FACTS.items() if text in asked.prompt)
        return "" if asked.results else call("remember", {"content": said})


@settings(max_examples=25)
@given(st.lists(_OPS, max_size=14))
def test_each_fact_is_noted_once_and_no_turn_is_lost(ops: list[tuple[str, str]]) -> None:
    clock, moody = FixedClock(), Moody()
    on = {"shadowJournal.enabled": True, "shadowJournal.queueMax": 4}
    model = ScriptedModel([moody], again=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_for_tests(folder, clock=clock, model=model, settings=on) as memory,
    ):
        memory.core.set_has_worker(True)
        hub = memory.create_hub("work")
        logged = 0
        for op, what in ops:
            clock.tick()
            if op == "observe":
                assert hub.observe_turn(what, "I see.").queued
                logged += 2
            elif op == "log":
                hub.log_turn("user", what)
                logged += 1
            elif op == "model":
                moody.mood = what
            elif op == "work":
                work_until_done(memory.core, memory.home)
            elif op == "wait":
                clock.tick(minutes=6)
            elif op == "flush":
                hub.flush()
            elif op == "die":
                # A worker takes a turn and is never heard of again.
                jobs.lease(memory.core, work=jobs.JOURNAL, in_order=True)
            _check(hub)
        for _ in range(40):
            clock.tick(minutes=6)
            work_until_done(memory.core, memory.home)
        assert not list(jobs.jobs(Scope(memory.core, hub.id, hub.name))) or all(
            job.state == "failed" for job in hub.jobs()
        )
        assert len(hub.turns(limit=200)) == logged
        _check(hub)


def _check(hub: HubMemory) -> None:
    found = hub.list(limit=100)
    assert max(Counter((one.content, one.layer) for one in found).values(), default=1) == 1
    said = {turn.id: turn.content for turn in hub.turns(limit=200)}
    for one in found:
        assert one.content in FACTS.values()
        assert one.origin is not None
        assert FACTS[said[one.origin.turn]] == one.content
        assert one.origin.hash == content_hash(said[one.origin.turn])
    every = hub.jobs()
    assert all(job.attempts <= 3 for job in every)
    assert sum(job.state in ("waiting", "running") for job in every) <= 4
