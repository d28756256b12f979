"""Compaction: of memories that say the same one stays, and nothing is lost by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.testing import FixedClock, open_for_tests


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with open_for_tests(tmp_path, settings={"store.url": "memory:"}) as memory:
        yield memory


@pytest.fixture
def hub(memory: Holdfast) -> HubMemory:
    return memory.hub()


def tell(hub: HubMemory, content: str, **fields: Any) -> None:
    # Each in a session of its own: otherwise the same words would be a duplicate at once.
    session = f"session {hub.statistics().memories}"
    hub.remember(content, **{"layer": "long_term", "session": session, **fields})


def merges(hub: HubMemory) -> list[tuple[int, list[int]]]:
    done = hub.compact()
    return [(one.survivor.number, [m.number for m in one.sources]) for one in done.merged]


def test_the_first_told_stays_and_stands_for_the_others(hub: HubMemory) -> None:
    for text in ("Ann likes tea.", "Bob is tall.", "ann likes tea", "**Ann** likes the tea!"):
        tell(hub, text, category="fact")
    assert merges(hub) == [(1, [3, 4])]
    assert [m.number for m in hub.list(order="number")] == [1, 2]
    gone = hub.get(3)
    assert (gone.state, gone.superseded_by) == ("archived", hub.get(1).id)
    assert gone.state_reason == "compacted: it says the same as #1"
    assert hub.get(1).supersedes == gone.id
    assert hub.get(1).metadata["compacted_from"] == [gone.id, hub.get(4).id]
    assert [hit.memory.number for hit in hub.recall("tea")] == [1]


def test_one_undo_brings_everything_back(hub: HubMemory) -> None:
    for text in ("Ann likes tea.", "ann likes tea", "Bob is tall.", "Bob is tall!"):
        tell(hub, text, tags=[text[0].lower()])
    before = hub.list(order="number")
    done = hub.compact()
    assert len(done.merged) == 2
    assert hub.get(1).tags == ("a",)
    hub.undo(done.change)
    after = hub.list(order="number")
    assert [m._replace(version=0) for m in after] == [m._replace(version=0) for m in before]


def test_a_dry_run_changes_nothing(hub: HubMemory) -> None:
    tell(hub, "Ann likes tea.")
    tell(hub, "ann likes tea")
    before = hub.changes()
    done = hub.compact(dry_run=True)
    assert [(one.survivor.number, len(one.sources)) for one in done.merged] == [(1, 1)]
    assert (done.change, hub.changes()) == (None, before)


def test_where_nothing_says_the_same_there_is_no_change_set(hub: HubMemory) -> None:
    tell(hub, "Ann likes tea.")
    before = hub.changes()
    assert (hub.compact().change, hub.changes()) == (None, before)
    tell(hub, "ann likes tea")
    hub.compact()
    assert hub.compact().merged == ()


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        ({}, {"pinned": True}, 2),
        ({}, {"key": "tea"}, 2),
        ({"trust": "agent"}, {"trust": "user"}, 2),
        ({"trust": "import"}, {"trust": "agent"}, 2),
        ({"category": "fact"}, {"category": "preference"}, 1),
    ],
)
def test_which_one_stays(
    hub: HubMemory, first: dict[str, Any], second: dict[str, Any], stays: int
) -> None:
    tell(hub, "Ann likes tea.", **first)
    tell(hub, "ann likes tea", **second)
    assert merges(hub) == [(stays, [3 - stays])]


def test_of_two_the_one_that_was_used_stays(hub: HubMemory) -> None:
    tell(hub, "Ann likes tea.")
    tell(hub, "ann likes tea")
    hub.access(2)
    assert merges(hub) == [(2, [1])]


@pytest.mark.parametrize(
    "fields",
    [
        {"speaker": "Bob"},
        {"occurred_at": "2026-01-02T00:00:00Z"},
        {"valid_until": "2026-06-01T00:00:00Z"},
        {"expires_at": "2026-06-01T00:00:00Z"},
        {"boundary": "private"},
        {"layer": "library"},
        {"layer": "journal"},
    ],
)
def test_what_holds_elsewhere_or_for_others_is_not_the_same(
    hub: HubMemory, fields: dict[str, Any]
) -> None:
    tell(hub, "Ann likes tea.")
    tell(hub, "ann likes tea", **fields)
    assert merges(hub) == []


def test_what_somebody_may_ask_for_by_its_key_stays(hub: HubMemory) -> None:
    tell(hub, "Ann likes tea.", key="one")
    tell(hub, "ann likes tea", key="two")
    tell(hub, "Ann likes tea!")
    assert merges(hub) == [(1, [3])]


def test_sections_of_one_category_become_one_and_the_file_follows(hub: HubMemory) -> None:
    tell(hub, "Ann likes tea.", category="fact")
    hub.sync()
    file = Path(hub.memory_md)
    file.write_text(
        file.read_text()
        + "\n## Person\n- Bob\n\n## Fact\n\nMine.\n\n- It rains.\n- ann likes tea\n"
    )
    hub.sync()
    hub.core.clock.tick()  # type: ignore[attr-defined]
    assert "would be put in order" in hub.compact(dry_run=True).notes[0]
    done = hub.compact()
    assert "were put in order" in done.notes[0]
    assert hub.read_memory_md() == (
        "# Long-term Memory\n\n## Fact\n\n- Ann likes tea.\n\nMine.\n\n- It rains.\n"
        "\n## Person\n\n- Bob\n"
    )
    assert hub.compact(dry_run=True).notes == ()
    assert hub.compact().notes == ()


def test_what_others_keep_private_is_not_touched_nor_told(memory: Holdfast, hub: HubMemory) -> None:
    tell(hub, "Ann likes tea.", boundary="private")
    tell(hub, "ann likes tea", boundary="private")
    bob = HubMemory(hub.core.acting("bob"), hub.info, hub.home)
    assert bob.compact(dry_run=True).merged == ()
    assert bob.compact().merged == ()
    assert merges(hub) == [(1, [2])]


TEXTS = st.sampled_from(
    [
        "Ann likes tea.",
        "ann likes tea",
        "Ann likes the tea!",
        "Ann likes tea?",
        "Bob",
        "bob.",
        "1",
        "-1",
    ]
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "pinned": st.booleans(),
        "category": st.sampled_from(["fact", "person"]),
        "trust": st.sampled_from(["user", "agent"]),
        "tags": st.lists(st.sampled_from(["a", "b"]), unique=True),
        "speaker": st.sampled_from(["Ann", "Bob"]),
        "boundary": st.sampled_from(["hub", "private"]),
    },
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(TEXTS, FIELDS), max_size=10), st.booleans())
def test_every_source_can_be_reached_after_any_compaction(
    told: list[tuple[str, dict[str, Any]]], again: bool
) -> None:
    held = {"store.url": "memory:"}
    with (
        TemporaryDirectory() as home,
        open_for_tests(home, clock=FixedClock(), settings=held) as memory,
    ):
        hub = memory.hub()
        for text, fields in told:
            tell(hub, text, **fields)
        before = {m.id: m for m in hub.list()}
        done = hub.compact()
        if again:
            hub.compact()
        for old in before.values():
            now = hub.get(old.id)
            assert now.content == old.content
            while now.state == "archived":
                assert now.superseded_by is not None
                now = hub.get(now.superseded_by)
            # Whoever looks for it finds one that is there and says the same.
            assert now.speaker == old.speaker
            assert (now.boundary, now.current(hub.core.now())) == (old.boundary, True)
        assert {m.id for m in hub.list()} <= before.keys()
        if done.change is not None and not again:
            hub.undo(done.change)
            assert {m.id: m.content for m in hub.list()} == {
                m.id: m.content for m in before.values()
            }
