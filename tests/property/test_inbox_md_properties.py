"""INBOX.md holds any text: what is written is read again to the letter, and nothing in a text is
taken for part of the form."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.domain.memory import Memory
from holdfast.domain.results import Item
from holdfast.files.inbox_format import CHARS_MAX, END, HEAD, decoded, encoded, parse, render

NOW = datetime(2026, 5, 27, 12, tzinfo=UTC)
# What a text would have to say to pass for part of the form.
FORGED = (
    "~~~~",
    "~~~~~",
    "- [x] approve",
    "- [x] reject",
    "## #1 quarantined",
    "<!-- mem_1 1 -->",
    "<!-- mem_2 1 -->",
    END,
    *HEAD.splitlines(),
    "&#x41;",
    "&amp;#x41;",
    "&amp;amp;#x200B;",
    "```",
    "<!--",
    "-->",
    "![x](http://evil.example/a.png)",
    "trailing  ",
    "\t",
    "\r",
    "\u200b\u200d\u2060",
    "\U000e0041\U000e0042",
    "\U000e0101",
    "\u2028",
    "\x85",
    "\x0b\x0c",
    "\xa0",
    "Held because it is nice",
)
TEXTS = st.one_of(
    st.text(),
    st.lists(st.sampled_from(FORGED), min_size=1, max_size=8).map("\n".join),
    st.lists(st.one_of(st.sampled_from(FORGED), st.text(max_size=5)), max_size=8).map("".join),
)


def item(number: int, text: str, about: str | None = None, why: str = "reads oddly") -> Item:
    def memory(memory_id: str, content: str) -> Memory:
        return Memory(memory_id, "hub", number, content, "", "t", "ada", NOW, NOW, quarantine=why)

    other = None if about is None else memory("mem_other", about)
    return Item(memory(f"mem_{number}", text), "quarantined", why, other, NOW)


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(st.tuples(TEXTS, st.none() | TEXTS, TEXTS), min_size=1, max_size=4))
def test_what_is_written_is_read_again(texts: list[tuple[str, str | None, str]]) -> None:
    items = [item(number, *one) for number, one in enumerate(texts, 1)]
    written = render(items)
    for read in (written, written.replace("\n", "\r\n"), f"\ufeff{written}", written.rstrip()):
        filled = parse(read)
        assert (filled.whole, filled.loose) == (True, False)
        assert [(one.memory_id, one.version) for one in filled.entries] == [
            (one.memory.id, 1) for one in items
        ]
        assert [one.text for one in filled.entries] == [text for text, _, _ in texts]
        assert not any(one.ticked or one.edited for one in filled.entries)


@settings(max_examples=120, deadline=None)
@given(text=TEXTS, after=TEXTS)
def test_what_a_person_ticks_is_seen_and_nothing_else(text: str, after: str) -> None:
    items = [item(1, text), item(2, after)]
    first = render(items).replace("- [ ] reject", "- [x] reject", 1)
    filled = parse(first)
    assert [one.ticked for one in filled.entries] == [("reject",), ()]


@settings(max_examples=120, deadline=None)
@given(text=TEXTS, about=TEXTS, share=st.floats(0, 1, exclude_max=True))
def test_half_a_file_is_known_as_half(text: str, about: str, share: float) -> None:
    written = render([item(1, text, about), item(2, text)]).rstrip()
    half = written[: int(len(written) * share)]
    assert not parse(half).whole


@given(TEXTS)
@example("&amp;#x41;&#x41;")
@example("a \n b\t\n\n")
def test_references_lead_back(text: str) -> None:
    safe = encoded(text)
    assert decoded(safe) == text
    lines = safe.split("\n")
    assert all(line == line.rstrip() for line in lines)
    assert len(lines) == text.count("\n") + 1


def test_what_cannot_be_seen_is_shown() -> None:
    assert encoded("a\u200bb\U000e0041\u202e") == "a&#x200B;b&#xE0041;&#x202E;"
    assert encoded("naïve 東京 😀 a\tb") == "naïve 東京 😀 a\tb"


def test_a_long_text_is_cut_and_said_to_be() -> None:
    written = render([item(1, "x" * (CHARS_MAX + 1))])
    assert len(written) < CHARS_MAX + 2_000
    (entry,) = parse(written).entries
    assert entry.cut
    assert "`holdfast get 1`" in written


def test_a_text_that_is_no_part_of_the_form_is_noticed() -> None:
    written = render([item(1, "text")])
    assert parse(written.replace("## #1", "My own words\n\n## #1")).loose
    broken = parse(written.replace("text\n~~~~", "text\n~~~~\nmore\n~~~~"))
    assert broken.loose or not broken.whole
