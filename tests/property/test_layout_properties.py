"""MEMORY.md when memories come and go: nothing is left of what is gone, and nothing of a person's
own is touched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.domain.memory import Memory
from holdfast.files.memory_md import fresh, render
from holdfast.files.memory_md.layout import Wanted, lay_out
from holdfast.files.memory_md.parse import parse

TODAY = date(2026, 5, 27)
AT = datetime(2026, 5, 27, tzinfo=UTC)
CATEGORIES = ("fact", "person", "style", "tool")


def memory(number: int) -> Memory:
    return Memory(
        id=f"mem_{number}",
        hub_id="hub",
        number=number,
        content=f"Says {number}",
        content_hash="",
        title="",
        owner="ann",
        created_at=AT,
        updated_at=AT,
        category=CATEGORIES[number % len(CATEGORIES)],
    )


def with_memories(text: str, numbers: Sequence[int]) -> str:
    document = parse(text)
    memories = {f"mem_{number}": memory(number) for number in numbers}
    links = {
        at: item.id for at, item in enumerate(document.items) if item.id and item.id in memories
    }
    made = lay_out(document, Wanted(memories, links, {}, ()), TODAY)
    assert {item.id for item in made.items if item.id} == set(memories)
    return render(made)


NUMBERS = st.lists(st.integers(0, 11), unique=True, max_size=8)
# What a person may put between, each a line of its own; a heading of theirs has no date.
OWN = st.sampled_from(
    ["A note.\n", "\n", "\n\n", "## STYLE\n", "## Mine\n\n", "# Part two\n", "* loose\n", "> x\n\n"]
)


@settings(max_examples=100)
@given(first=NUMBERS, steps=st.lists(NUMBERS, max_size=4))
def test_what_is_gone_leaves_nothing_behind(first: list[int], steps: list[list[int]]) -> None:
    text = with_memories(render(fresh()), first)
    for step in [*steps, first]:
        text = with_memories(text, step)
        assert "\n\n\n" not in text
        # Whatever stands last is a memory, or the title.
        assert not step or (text.endswith("-->\n") and "<!-- mem_" in text.splitlines()[-1])
    assert with_memories(text, []) == render(fresh())


def said_in(text: str) -> list[str]:
    """Its lines, without blank ones and dates."""
    return [line for line in text.splitlines() if line.strip() and "<!-- updated" not in line]


@settings(max_examples=100)
@given(first=NUMBERS, others=NUMBERS, own=st.lists(st.tuples(st.integers(0, 40), OWN), max_size=4))
def test_what_comes_and_goes_changes_nothing_else(
    first: list[int], others: list[int], own: list[tuple[int, str]]
) -> None:
    lines = with_memories(render(fresh()), first).splitlines(keepends=True)
    for at, text in own:
        lines.insert(at % (len(lines) + 1), text)
    # As a sync leaves it, which may keep apart what reads as one.
    before = with_memories("".join(lines), first)
    both = with_memories(before, sorted({*first, *others}))
    after = with_memories(both, first)
    assert said_in(after) == said_in(before)
    again = with_memories(with_memories(after, sorted({*first, *others})), first)
    assert again == after
