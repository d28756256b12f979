"""Tables on terminals of different widths: the short columns stay whole, and all of them stay."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import HubMemory
from holdfast.agents.wording import records_text
from holdfast.edges.cli.output import GAP, Out, fitted
from holdfast.passes.work import work_until_done
from holdfast.settings import SETTINGS
from holdfast.testing import FixedClock, open_for_tests
from tests.edges.cli.cli_calls import Run

LONG = "The staging server was moved from the cellar to the attic because of the water " * 2


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_list_with_long_titles_keeps_every_other_column_whole(
    run: Run, screen: Run, width: int
) -> None:
    run("remember", LONG, "--category", "decision", "--key", "staging")
    run("remember", "日本語のとても長いタイトル" * 10)
    lines = screen("list", width=width).out.splitlines()
    assert lines[0].split() == ["#", "when", "category", "state", "key", "title"]
    assert lines[2].startswith("#1  ")
    fields = lines[2].split()
    assert fields[3:6] == ["decision", "active", "staging"]
    assert len(fields[1] + fields[2]) == len("2026-01-0112:00")
    assert lines[2].endswith("…")
    assert lines[1].endswith("…")
    assert all(len(line) <= width for line in lines)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_settings_show_value_and_origin_at_every_width(
    run: Run, screen: Run, width: int
) -> None:
    run("config", "set", "recall.limit", "7")
    lines = screen("config", "list", width=width).out.splitlines()
    assert lines[0].split()[:4] == ["setting", "value", "from", "what"]
    names = [line.split()[0] for line in lines[1:]]
    assert names == [setting.name for setting in SETTINGS]
    limit = next(line for line in lines if line.startswith("recall.limit"))
    assert limit.split()[1:3] == ["7", "holdfast.toml"]


WIDTHS = st.lists(st.integers(min_value=1, max_value=300), min_size=1, max_size=8)


@given(WIDTHS, st.integers(min_value=20, max_value=300))
def test_columns_only_shrink_and_none_goes(widths: list[int], room: int) -> None:
    out = fitted(widths, room)
    assert len(out) == len(widths)
    assert all(1 <= new <= old for new, old in zip(out, widths, strict=True))
    if len(out) > 1:
        assert out[0] == widths[0]
    # What is cut was needed, and no more of it.
    if out != widths:
        assert sum(out) + GAP * (len(out) - 1) >= room
    for new, old in zip(out[:-1], widths[:-1], strict=True):
        assert new == old or old > 24


@pytest.mark.parametrize(
    ("widths", "room", "wanted"),
    [
        ((3, 16, 10, 5), 80, [3, 16, 10, 5]),
        ((3, 16, 10, 200), 80, [3, 16, 10, 45]),
        ((3, 16, 40, 200), 80, [3, 16, 35, 20]),
        ((3, 16, 40, 200), 50, [3, 16, 12, 13]),
        ((30, 24, 24, 100), 60, [30, 24, 24, 6]),
    ],
)
def test_the_last_column_gives_way_first_then_long_ones(widths, room, wanted) -> None:
    assert fitted(widths, room) == wanted


class Topic(NamedTuple):
    its_name: str
    last: datetime | None = None
    about: tuple[Any, ...] = ()
    by_kind: Mapping[str, int] = {}


_AT = datetime(2026, 5, 27, 8, tzinfo=UTC)


def _printed(capsys: pytest.CaptureFixture[str], found: Any, **shown: str) -> list[list[str]]:
    out = Out(json=False, color=False, quiet=False)
    out.zone = UTC
    out.records(found, **shown)
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def test_records_are_printed_by_their_fields(
    hub: HubMemory, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = hub.remember("Tea at four").memory
    tea = Topic("tea", _AT, (memory, "four"), {"fact": 2, "event": 1})
    listed = ["tea", "2026-05-27T08:00:00+00:00", "#1 Tea at four, four"]
    assert [row[:3] for row in _printed(capsys, [tea, Topic("cake")])] == [listed, ["cake", "", ""]]
    assert _printed(capsys, tea, its_name="name") == [
        ["name", "tea"],
        ["last", listed[1]],
        ["about", listed[2]],
        ["kind event", "1"],
        ["kind fact", "2"],
    ]


def test_what_is_no_record_is_printed_as_it_is(
    hub: HubMemory, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = hub.remember("Tea at four").memory
    assert _printed(capsys, ["a", "b"]) == [["a"], ["b"]]
    assert _printed(capsys, 3) == [["3"]]
    assert _printed(capsys, [memory]) == _printed(capsys, memory) == [["#1 Tea at four"]]


def test_a_model_reads_records_as_quoted_lines_without_the_text_of_memories(hub: HubMemory) -> None:
    memory = hub.remember("Tea at four").memory
    said = records_text([Topic("tea\ncake", _AT, (memory, "four"))])
    assert said.splitlines() == [
        "> its_name: tea cake · last: 2026-05-27 08:00 · about: #1, four · by_kind: {}"
    ]
    assert (records_text([]), records_text(["a", "b"])) == ("There is nothing.", "> a\n> b")


@pytest.fixture
def noticed(run: Run, home: Path) -> Run:
    """What a conversation said: two memories, each also a line of the journal."""
    settings = {"shadowJournal.enabled": True, "actor": "ada"}
    # Of now, or upkeep would archive the lines of the journal meanwhile.
    now = FixedClock(datetime.now(UTC))
    with open_for_tests(home, clock=now, settings=settings) as memory:
        memory.core.set_has_worker(True)
        hub = memory.hub("default", create=True)
        hub.observe_turn("I live in Lisbon. I am allergic to peanuts.", "", session="s")
        work_until_done(memory.core, memory.home)
    return run


def test_what_a_conversation_said_is_shown_once(noticed: Run, screen: Run) -> None:
    for command in ("list", "history"):
        shown = screen(command).out
        assert shown.count("Lisbon") == 1, shown
    for width in (80, 100):
        assert "#2 and 1 more: " in screen("history", width=width).out
    assert "2 memories" not in screen("history").out
    # A program gets every row.
    assert noticed("list").out.count("Lisbon") == 2


def test_a_list_has_no_column_without_a_value(run: Run, screen: Run) -> None:
    run("remember", "Prefers tabs over spaces")
    assert screen("list").out.splitlines()[0].split() == ["#", "when", "category", "state", "title"]
    narrow = screen("list", width=48).out.splitlines()
    assert narrow[0].split() == ["#", "when", "category", "title"]
    assert "Prefers tabs" in narrow[1]
    run("archive", "1")
    assert "state" in screen("list", "--state", "all", width=48).out
