"""A consolidation with a model that is bad at its work: no text is lost, nothing is made up, and
one undo takes all of it back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from holdfast.testing import START, FixedClock, open_for_tests

DAYS = (
    ("Prefers tabs over spaces", "Met Ana for lunch"),
    ("Prefers tabs over spaces", "The project is called Harbour"),
    ("Prefers tabs over spaces", "Decided to use Postgres for Harbour"),
)
KNOWN = "Lives in Lisbon"


def test_a_bad_model_loses_and_makes_up_nothing(tmp_path: Path, address: str) -> None:
    clock = FixedClock()
    settings = {
        "llm.model": f"openai:smollm2@{address}/v1",
        "llm.tokens_out_max": 80,
        "llm.seconds_max": 120.0,
    }
    with open_for_tests(tmp_path, clock=clock, settings=settings) as memory:
        hub = memory.hub()
        hub.remember(KNOWN, layer="long_term")
        for ago, lines in zip((3, 2, 1), DAYS, strict=True):
            for line in lines:
                hub.journal_add(line, at=START - timedelta(days=ago))
        before = {one.id: one.content for one in hub.scan()}

        done = hub.consolidate()
        after = list(hub.scan())
        # Every text is still there, in the place it had.
        assert before.items() <= {one.id: one.content for one in after}.items()
        # What is new says what its sources say, which the rules could have said as well.
        said = {text for lines in DAYS for text in lines} | {KNOWN}
        for one in after:
            assert one.id in before or any(
                one.content in text or text in one.content for text in said
            )
        (row,) = hub.usage()
        assert (row.work, row.requests > 0) == ("consolidate", True)
        print(done.plan.steps, done.plan.refused, done.plan.notes, row)

        if done.change is not None:
            hub.undo()
        assert {one.id: one.content for one in hub.scan()} == before
