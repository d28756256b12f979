"""The journaler with a model that is bad at its work: nothing is stored that nobody said, and
nothing that was said is lost."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.engine import jobs
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock, open_for_tests
from holdfast.text.clean import content_hash
from holdfast.text.grounding import Unsupported, ground

TURNS = (
    ("I moved to Lisbon in March.", "How nice! Do you like it there?"),
    ("Good morning! What is the weather like?", "I cannot look that up."),
    ("My daughter Ines starts school on Monday.", "Exciting. I wish her a good start."),
    ("I prefer tabs over spaces.", "Noted."),
)
FACTS = {"I moved to Lisbon in March.", "I prefer tabs over spaces."}


# The model is the same for both, so that one turn is enough for the second.
@pytest.mark.parametrize(("protocol", "turns"), [("openai", TURNS), ("anthropic", TURNS[:1])])
def test_what_a_bad_model_makes_up_is_not_stored_and_nothing_is_lost(
    tmp_path: Path, address: str, protocol: str, turns: tuple[tuple[str, str], ...]
) -> None:
    clock = FixedClock()
    path = "/v1" if protocol == "openai" else ""
    settings = {
        "shadowJournal.enabled": True,
        "llm.model": f"{protocol}:smollm2@{address}{path}",
        # It says little of use, and this much in bearable time.
        "llm.tokens_out_max": 60,
        "llm.seconds_max": 60.0,
    }
    with open_for_tests(tmp_path, clock=clock, settings=settings) as memory:
        memory.core.set_has_worker(True)
        hub = memory.hub()
        for user, assistant in turns:
            assert hub.observe_turn(user, assistant).queued
            clock.tick(minutes=1)
        for _ in range(jobs.ATTEMPTS_MAX * len(turns)):
            work_until_done(memory.core, memory.home)
            if not jobs.is_due(memory.core, (jobs.JOURNAL,), within=timedelta(days=1)):
                break
            # A model that was too slow is asked again later; those behind wait for their turn.
            clock.tick(minutes=10)
        assert not jobs.is_due(memory.core, (jobs.JOURNAL,), within=timedelta(days=1))

        # Nothing is lost: both sides of each turn are in the log, and each turn was looked at.
        said = {turn.id: turn.content for turn in hub.turns(limit=100)}
        assert sorted(said.values()) == sorted(text for turn in turns for text in turn)
        counts = Counter[str]()
        for day in hub.captured():
            counts.update(day.outcomes)
        assert counts.pop("queued") == len(turns)
        assert counts.total() >= len(turns)

        # Nothing is made up: each memory says where it was said, and it was said there.
        for one in hub.scan():
            assert one.origin is not None
            whole = said[one.origin.turn]
            assert one.origin.hash == content_hash(whole)
            assert not isinstance(ground(one.content, whole, at=one.created_at), Unsupported)

        # What the rules know to be a fact is there, whatever the model made of it.
        kept = {said[one.origin.turn] for one in hub.scan() if one.origin is not None}
        assert FACTS & {user for user, _ in turns} <= kept

        (row,) = hub.usage()
        assert row.requests >= len(turns)
        assert row.tokens_out > 0
        print(protocol, dict(counts), [one.content for one in hub.scan()], row)
