"""Tables on terminals of different widths: the short columns stay whole, and all of them stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.edges.cli.output import GAP, fitted
from holdfast.settings import SETTINGS
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
