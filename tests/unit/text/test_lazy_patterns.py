"""A pattern that is compiled at its first use does what a compiled one does."""

import re

import pytest

from holdfast.text.facts import about_oneself
from holdfast.text.facts.statements import read
from holdfast.text.slots import values
from holdfast.text.tables import LazyPattern, lazy


def test_it_is_compiled_once_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    compiled = re.compile

    def note(pattern: str, flags: int = 0) -> re.Pattern[str]:
        made.append(pattern)
        return compiled(pattern, flags)

    monkeypatch.setattr(re, "compile", note)
    pattern = lazy(r"(\w+)-(\w+)", re.IGNORECASE)
    assert made == []
    assert pattern.search("see A-b")
    assert pattern.sub(r"\2-\1", "a-b") == "b-a"
    assert made == [r"(\w+)-(\w+)"]


def test_it_has_what_a_compiled_pattern_has() -> None:
    mine, plain = lazy("(?P<first>a)b*", re.IGNORECASE), re.compile("(?P<first>a)b*", re.IGNORECASE)
    assert isinstance(mine, LazyPattern)
    assert (mine.pattern, mine.flags, mine.groups) == (plain.pattern, plain.flags, plain.groups)
    text = "Abb ab x a"
    for method in ("findall", "split"):
        assert getattr(mine, method)(text) == getattr(plain, method)(text)
    assert [m.group() for m in mine.finditer(text)] == [m.group() for m in plain.finditer(text)]
    assert mine.match(" a") is None
    assert mine.fullmatch("aBB")
    assert mine.subn("-", text) == plain.subn("-", text)


def test_a_statement_that_begins_otherwise_compiles_no_rule_of_slots() -> None:
    values.filled.cache_clear()
    values.compiled.cache_clear()
    assert (
        values.filled(read("Seeing how much it changed, the work to use it made birthdays live"))
        == ()
    )
    assert values.compiled.cache_info().currsize == 0
    assert values.filled(read("Uses pytest for tests"))
    assert values.compiled.cache_info().currsize == 1


def test_a_sentence_compiles_only_the_rows_that_may_begin_like_it() -> None:
    about_oneself._compiled.cache_clear()
    assert about_oneself.stated("in spring we rest", "In spring we rest") is None
    found = about_oneself._compiled.cache_info().currsize
    assert found == sum("in" in row.words.split() for row in about_oneself.rows()) < 8
