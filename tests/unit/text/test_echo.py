"""The shapes of what we hand out, bare words, and cutting spans out of a text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine.context.styles import STYLES
from holdfast.engine.echo.shapes import Claim, Frame, begun, is_fixed_reply, marks
from holdfast.engine.echo.signs import may_be_ours
from holdfast.engine.log import turns
from holdfast.text.analysis.spans import blank, line_start, marked_out, merged, without
from holdfast.text.facts.sameness import bare, common
from tests.growth import assert_time_grows

# Bare words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Prefers tabs", "Prefers\n  tabs"),
        ("Prefers tabs", "> Prefers\r\n> tabs"),
        ('a <b> & "c"', "a &lt;b&gt; &amp; &quot;c&quot;"),
        ("a &lt; b", "a &amp;lt; b"),
        ("# Title", "\\# Title"),
        ("> quoted\n> twice", "quoted\n\\> twice"),
        ("naïve", "nai\u0308ve"),
        ("bell\x07", "bell"),
        ("東京に 住む", "東京に住む"),
        ("- one", "&#45; one"),
    ],
)
def test_renderings_of_the_same_words_are_bare_alike(one: str, other: str) -> None:
    assert bare(one).text == bare(other).text


@pytest.mark.parametrize(
    ("one", "other"),
    [("tabs", "tab"), ("Tabs", "tabs"), ("a > b", "a b"), ("a \\ b", "a b"), ("no!", "no")],
)
def test_other_words_are_not(one: str, other: str) -> None:
    assert bare(one).text != bare(other).text


@given(st.text(max_size=60), st.data())
def test_places_of_plain_words_lead_back_to_the_text(text: str, data: st.DataObject) -> None:
    found = bare(text)
    assert len(found.places) == len(found.starts) == len(found.ends)
    for number, place in enumerate(found.places):
        assert found.place_of(found.starts[number]) == place
    assert found.offset_of(len(found.text)) <= len(text)
    start = data.draw(st.integers(0, len(found.text)))
    assert found.offset_of(start) <= len(text)


@given(st.text(alphabet="ab", max_size=300), st.text(alphabet="ab", max_size=300))
def test_what_two_texts_have_in_common(one: str, other: str) -> None:
    length = common(one, 0, other)
    assert one[:length] == other[:length]
    assert one[length : length + 1] != other[length : length + 1] or length in (
        len(one),
        len(other),
    )


# Shapes


@pytest.mark.parametrize(
    ("text", "number", "payload"),
    [
        ("- [#12] Prefers tabs", 12, "Prefers tabs"),
        ("- [#12, 2026-05-27, preference] Prefers tabs", 12, "Prefers tabs"),
        ("[#12] Prefers tabs", 12, "Prefers tabs"),
        ("• #12 [fact] Prefers tabs (user, 2026-05-27)", 12, "Prefers tabs (user, 2026-05-27)"),
        ('<item number="12" category="fact">Prefers tabs</item>', 12, "Prefers tabs</item>"),
        ('Remembered (#12, fact): "Prefers tabs"', 12, 'Prefers tabs"'),
        ("#12 · 2026-05-27 · fact · from cli\n> Prefers tabs", 12, "Prefers tabs"),
        ("#12 · 2026-05-27 · fact · from cli\nid: mem_1\ntitle: T\n\n> Prefers", 12, "Prefers"),
        ("Updated #12 (fact, id mem_1).\n> Prefers tabs", 12, "Prefers tabs"),
    ],
)
def test_a_reply_claims_a_memory_by_its_number(text: str, number: int, payload: str) -> None:
    (claim,) = [mark for mark in marks(text) if isinstance(mark, Claim)]
    assert claim.number == number
    assert text[claim.payload :].lstrip("\n> ") == payload


def test_what_a_superseded_memory_said_is_claimed_by_its_own_number() -> None:
    text = (
        "Remembered #12 (fact, id mem_2). It supersedes #7.\n> Lives in Lisbon\n"
        "That one said:\n> Lives in Berlin"
    )
    claims = [mark for mark in marks(text) if isinstance(mark, Claim)]
    assert [claim.number for claim in claims] == [12, 7]


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_the_opening_of_every_style_is_known(style: object) -> None:
    opening = STYLES[style.name].opening("work")  # type: ignore[attr-defined]
    text = opening + "- something\n"
    assert may_be_ours(text)
    first = marks(text)[0]
    assert isinstance(first, Frame)
    assert first.kind == "opening"
    assert (first.start, text[first.end :].strip()) == (0, "- something")


@pytest.mark.parametrize(
    ("text", "maybe"),
    [
        ("# 2026-05-27\n\n- 10:00 Likes tea", True),
        ("## Long-Term\n> Memory", True),
        ("- #12 [fact] Likes tea (user, 2026-05-27T10:00:00Z)", True),
        ("### 2. Plan for the long-term\n\nThink long-term. # 2 more", False),
    ],
)
def test_a_heading_and_common_words_are_no_sign(text: str, maybe: bool) -> None:
    assert may_be_ours(text) is maybe


def test_the_recovery_prompt_is_known() -> None:
    text = f"{turns.RECOVERY_OPENING}\n\nUser: hi\n\n{turns.RECOVERY_CLOSING}"
    kinds = [mark.kind for mark in marks(text) if isinstance(mark, Frame)]
    assert kinds == ["opening", "closing"]


@pytest.mark.parametrize(
    "text",
    ["Remembered.", "> No matching memories found.", '{"success": true}', "Memory #3 forgotten."],
)
def test_a_reply_without_a_memory_is_known_as_a_whole(text: str) -> None:
    assert is_fixed_reply(text)
    assert not is_fixed_reply(f"{text} And more.")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("- [#1", ""),
        ("- [#12, pref", ""),
        ("</sect", ""),
        ("## Prefe", "Prefe"),
        ("**per", "per"),
        ("and so on", None),
        ("- [ ] a task", None),
    ],
)
def test_decoration_that_was_cut_off(text: str, name: str | None) -> None:
    assert begun(text, 0) == name


# Spans


def test_a_line_begins_behind_indentation_and_quotation_marks() -> None:
    text = "a\n > - b"
    assert line_start(text, text.index("-")) == 2
    assert line_start(text, text.index("b")) is None
    assert line_start("  x", 2) == 0
    assert line_start("x" * 1_000, 500) is None


def test_spans_with_nothing_between_them_are_one() -> None:
    text = "aa > \n bb cc"
    assert merged(text, [(7, 9), (0, 2)]) == [(0, 9)]
    assert merged(text, [(0, 2), (10, 12)]) == [(0, 2), (10, 12)]
    assert blank(text, 2, 7)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("XX", ""),
        ("XX\n\nmine", "mine"),
        ("mine\n\nXX\n", "mine"),
        ("mine\n\nXX\n\nalso mine\n", "mine\n\nalso mine\n"),
        ("mine\nXX\n  indented", "mine\n  indented"),
        ("one XX two", "one two"),
        ("one\r\nXX\r\ntwo", "one\r\ntwo"),
        ("```\nXX\n```", ""),
        (" mine XX", " mine"),
    ],
)
def test_cutting_out_leaves_words_to_the_letter_and_apart(text: str, left: str) -> None:
    at = text.index("XX")
    assert without(text, [(at, at + 2)]) == left


def test_without_spans_a_text_is_itself() -> None:
    assert without(" \n a \r\n", []) == " \n a \r\n"


def test_a_note_stands_where_something_was() -> None:
    text = "Look:\n- [#1] a\n- [#2] b\nbye"
    assert marked_out(text, [(6, 14), (15, 23)]) == "Look:\n[memory block of 2 lines left out]\nbye"
    assert marked_out("ab", [(0, 2)]) == "[memory block of 1 line left out]"


# Cost

HOSTILE: dict[str, Callable[[int], str]] = {
    "openings": lambda n: '<memory hub="a">' * n,
    "openings on lines": lambda n: '<memory hub="a">\n' * n,
    "half bullets": lambda n: "- [#1" * n,
    "bullets": lambda n: "- " * n + "[#",
    "white space": lambda n: "- [#1]" + " \n" * n,
    "quotes": lambda n: "[#1] " + "> " * n,
    "references": lambda n: "[#1] &" + "amp;" * n,
    "heads": lambda n: "#1 · 2026-01-01 · " * n,
    "facts": lambda n: "#1 · 2026-01-01 · x\n" + "id: x\n" * n,
    "items": lambda n: '<item number="1"' * n,
    "headings": lambda n: "[#1] " + "## a " * n,
    "bold": lambda n: "[#1] " + "**a" * n,
    "hashes": lambda n: "[#1] " + "#" * n,
    "rules": lambda n: "you have kept from earlier" + "---\n" * n,
    "sentence begun": lambda n: "## Long-Term Memory These " * n,
    "remembered": lambda n: 'Remembered (#1, a): "' * n,
    "outcomes": lambda n: "Updated #1 (a, id mem_x)\nIt said before:\n" * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_looking_for_shapes_costs_in_proportion_to_the_text(name: str) -> None:
    def act(text: str) -> None:
        marks(text)
        bare(text)

    short, long = (HOSTILE[name](count) for count in (2_000, 16_000))
    # Eight times the text: 8 where all is well, 64 where time grows with the square.
    assert_time_grows(act, short, long, allowed_s=lambda short_s: 30 * short_s + 0.02)
