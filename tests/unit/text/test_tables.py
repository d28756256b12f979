"""The rules and word lists in text files: how a file is read, and each row by its own example."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

import holdfast.text
from holdfast.text import guard, tables
from holdfast.text.analysis import variants
from holdfast.text.analysis.spans import fold_in_place
from holdfast.text.analysis.terms import fold, terms
from holdfast.text.analysis.word_forms import base_form
from holdfast.text.capture import answers, capture, statements
from holdfast.text.capture.between_people import is_between_people, is_lasting
from holdfast.text.classify import classifier
from holdfast.text.dates import other_languages
from holdfast.text.facts import about_oneself
from holdfast.text.facts.statements import read, without_helpers
from holdfast.text.grounding.clauses import clauses_of
from holdfast.text.slots import corrections
from holdfast.text.slots import values as slots
from holdfast.text.slots.compare import (
    _synonym_rows,
    compare,
    search_terms_of,
    terms_of_replaced,
)
from holdfast.text.slots.endings import endings, kind_of
from holdfast.text.tables import pieces, read_table, read_words

TEXT = Path(holdfast.text.__file__).parent
AT = datetime(2026, 11, 16, 12, tzinfo=UTC)
AROUND = "all"
FOLDERS = ("analysis", "capture", "classify", "dates", "facts", "grounding", "slots")


def test_a_row_has_cells_lines_that_go_on_and_named_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_FOLDER", str(tmp_path))
    table = (
        "# a comment\nPET = (?:cat\n    |dog)\n\none\ttwo\n    > {PET}s?\n    |bird\n    # here\n"
    )
    (tmp_path / "x.txt").write_text(table + "\nlast\t{1,2}\n", encoding="utf-8")
    assert read_table("x.txt") == [["one", "two", "(?:cat|dog)s?|bird"], ["last", "{1,2}"]]
    (tmp_path / "y.txt").write_text("pets\tcat\n    dog\nnone\t\n", encoding="utf-8")
    assert read_words("y.txt") == {"pets": {"cat", "dog"}, "none": frozenset()}
    (tmp_path / "z.txt").write_text("READ x.txt\nfrom\t{PET}\n", encoding="utf-8")
    assert read_table("z.txt") == [["from", "(?:cat|dog)"]]
    assert pieces("a;b ;") == ("a", "b ")
    assert pieces("-") == ()


def test_every_table_is_read_by_a_test_of_its_rows() -> None:
    found = {path.relative_to(TEXT).as_posix() for path in TEXT.rglob("*.txt")}
    lists = {name for name in found if name.endswith(("words.txt", "patterns.txt"))}
    tested = {
        *("facts/about_oneself.txt", "facts/signs.txt", "guard/rules.txt"),
        *("slots/rules.txt", "slots/places.txt", "slots/synonyms.txt", "grounding/supposed.txt"),
        *("analysis/word_forms.txt", "secrets/bip39_english.txt"),
        *("classify/rules.txt", "classify/first_lines.txt"),
        "secrets/rules.txt",  # test_secret_rates.py and test_secrets.py
        *("capture/rules.txt", "capture/questions.txt", "capture/parts.txt"),
        *("capture/unclear.txt", "capture/signs.txt", "capture/lasting.txt"),
        *("slots/endings.txt", "slots/kinds.txt", "slots/corrections.txt"),
        "dates/other_languages.txt",
    }
    assert found - lists == tested


@pytest.mark.parametrize("name", [f"{folder}/words.txt" for folder in FOLDERS])
def test_no_list_of_words_is_empty(name: str) -> None:
    assert all(read_words(name).values())


PATTERNS = [
    (path.parent.name, *row)
    for path in sorted(TEXT.rglob("patterns.txt"))
    for row in read_table(path.relative_to(TEXT).as_posix())
]


@pytest.mark.parametrize(("folder", "name", "example", "pattern"), PATTERNS)
def test_a_pattern_is_found_in_its_example(
    folder: str, name: str, example: str, pattern: str
) -> None:
    assert re.search(pattern, example)
    assert tables.Patterns(f"{folder}/patterns.txt")[name].pattern == pattern


@pytest.mark.parametrize(
    "row",
    [row for row in about_oneself.rows() if row.language != AROUND],
    ids=lambda row: f"{row.language}-{row.slot}-{row.example}",
)
def test_a_row_keeps_its_example_as_it_was_said(row: about_oneself.Row) -> None:
    found = about_oneself.stated(fold_in_place(row.example), row.example)
    assert found is not None
    assert found.slot == row.slot
    (fact,) = capture(row.example, at=AT)
    assert fact.text.split(" (said on")[0] == row.example.rstrip(".。")
    assert (fact.rule, fact.category, fact.verbatim) == (*about_oneself.RULE_OF[row.slot], True)


@pytest.mark.parametrize("language", ["de", "fr", "es", "it", "pt", "nl"])
def test_the_first_words_of_a_language_are_those_of_its_rows(language: str) -> None:
    words = [row.words.split() for row in about_oneself.rows() if row.language == language]
    assert {word for some in words for word in some} == (
        read_words("facts/words.txt")[f"first {language}"]
    )


@pytest.mark.parametrize("slot", ["no statement", "passing", "this time"])
def test_words_around_a_statement_keep_it_from_being_one(slot: str) -> None:
    (row,) = (row for row in about_oneself.rows() if row[:2] == (AROUND, slot))
    assert about_oneself.stated(fold_in_place(row.example), row.example) is None


@pytest.mark.parametrize(("slot", "start", "relative"), [("opening", 10, 0), ("relative", 0, 1)])
def test_words_around_a_statement_leave_it_one(slot: str, start: int, relative: int) -> None:
    (row,) = (row for row in about_oneself.rows() if row[:2] == (AROUND, slot))
    found = about_oneself.stated(fold_in_place(row.example), row.example)
    assert found is not None
    assert (found.start, found.relative) == (start, relative)


@pytest.mark.parametrize(("name", "example"), [row[:2] for row in read_table("facts/signs.txt")])
def test_a_statement_shows_what_its_row_says(name: str, example: str) -> None:
    assert getattr(read(example), name) is True
    assert getattr(read("Lives in Oslo."), name) is False


@pytest.mark.parametrize("rule", slots.rules(), ids=lambda rule: rule.kind)
def test_an_example_fills_the_slot_of_its_rule(rule: slots.SlotRule) -> None:
    assert rule.kind in [one.kind for one in slots.filled(read(rule.example))]


@pytest.mark.parametrize(
    ("table", "rule"),
    [(table, rule) for table, rows in classifier.rules().items() for rule in rows],
)
def test_a_rule_of_filing_is_the_first_that_matches_its_example(
    table: str, rule: classifier.ClassifyRule
) -> None:
    folded = fold(rule.example)
    words = frozenset(re.findall(r"[^\W\d_]+", folded))
    assert classifier.matching(table, folded, words) == rule


@pytest.mark.parametrize("row", classifier.first_lines(), ids=lambda row: row.language)
def test_a_first_line_tells_its_language(row: classifier.FirstLine) -> None:
    assert classifier.language_of(f"{row.example}\n    rest();\n") == row.language


@pytest.mark.parametrize("rule", statements.rules(), ids=lambda rule: rule.example)
def test_a_rule_of_capture_is_the_first_that_matches_its_example(rule: statements.Rule) -> None:
    assert next(statements.matching(fold_in_place(rule.example), rule.example)) == rule
    (fact,) = capture(rule.example, at=AT)
    assert (fact.rule, fact.category) == (rule.name, rule.category)


@pytest.mark.parametrize(("rules", "example", "pattern"), read_table("capture/unclear.txt"))
def test_what_is_unclear_is_found_in_its_example(rules: str, example: str, pattern: str) -> None:
    assert re.search(pattern, example)
    known = {rule.name for rule in statements.rules()} | read_words("capture/words.txt")["standing"]
    assert known.issuperset(pieces(rules))


@pytest.mark.parametrize(("newer", "older"), [row[:2] for row in read_table("slots/endings.txt")])
def test_what_ends_a_state_ends_its_example(newer: str, older: str) -> None:
    assert compare(newer, older).relation == "replaces"
    assert compare(older, newer).relation != "replaces"
    assert terms_of_replaced(newer)


@pytest.mark.parametrize("row", other_languages.rows(), ids=lambda row: row.example)
def test_a_time_in_another_language_is_found_in_its_example(row: other_languages.Row) -> None:
    found = other_languages.time_in(row.example, at=AT)
    assert (found is not None) is (row.kind not in ("open", "repeated"))
    assert re.search(row.pattern, row.example) or row.kind == "open"


@pytest.mark.parametrize("row", corrections.rows(), ids=lambda row: row.example)
def test_a_correction_in_another_language_is_read_as_its_row_says(row: corrections.Row) -> None:
    found = corrections.read(row.example)
    assert found is not None
    assert (found.language, found.manner) == (row.language, row.manner)


def test_each_tool_is_of_one_kind() -> None:
    names = [
        name for _, row in read_table("slots/kinds.txt", joiner=" ") for name in row.split(", ")
    ]
    assert len(names) == len(set(names))
    assert all(name == name.lower() and kind_of(name) for name in names)
    assert kind_of("firefox") == kind_of("chrome") == "browser"


@pytest.mark.parametrize("row", answers.questions(), ids=lambda row: row.statement)
def test_an_answer_makes_the_statement_of_its_question(row: answers.Question) -> None:
    expected = answers.Answer(row.statement.format(row.answer), row.category)
    assert answers.answer_to(row.example, row.answer) == expected


def test_every_part_of_the_rules_of_capture_is_used() -> None:
    files = [TEXT / "capture" / f"{name}.txt" for name in ("parts", "rules", "patterns")]
    read = "".join(file.read_text(encoding="utf-8") for file in files)
    parts = re.findall(r"(?m)^([A-Z_]+) = ", read)
    assert [part for part in parts if f"{{{part}}}" not in read] == []


@pytest.mark.parametrize("rule", guard.rules(), ids=lambda rule: rule.reason)
def test_each_rule_holds_its_own_example(rule: guard.GuardRule) -> None:
    assert guard.instruction_shaped(rule.example) == rule.reason
    in_conversation = guard.instruction_shaped(rule.example, in_conversation=True)
    assert in_conversation == (rule.reason if rule.kind == "takeover" else None)


@pytest.mark.parametrize(("kind", "said"), [r[:2] for r in read_table("grounding/supposed.txt")])
def test_an_example_is_no_fact(kind: str, said: str) -> None:
    assert kind in clauses_of(said)[0].supposed
    assert not clauses_of("I live in Oslo")[0].supposed


@pytest.mark.parametrize(("kind", "word", "others"), read_table("analysis/word_forms.txt"))
def test_forms_of_a_word_are_compared_as_one(kind: str, word: str, others: str) -> None:
    assert {base_form(other) for other in others.split()} <= {base_form(word)}


def test_a_word_finds_the_others_of_its_kind() -> None:
    for words, *_ in read_table("slots/synonyms.txt", joiner=" "):
        assert set(terms(words)) <= set(search_terms_of(words.split()[0]).kind)


def test_the_terms_in_the_table_of_synonyms_are_those_of_its_words() -> None:
    rows = [words for words, *_ in read_table("slots/synonyms.txt", joiner=" ")]
    assert _synonym_rows() == tuple(frozenset(terms(words)) for words in rows)


def test_a_city_is_in_its_country_whatever_that_is_called() -> None:
    assert slots.city_and_country("Lisbon") == ("lisbon", "portugal")
    assert slots.city_and_country("Leiden, Holland") == ("leiden", "netherlands")
    assert slots.city_and_country("Singapore") == ("", "singapore")
    assert slots.city_and_country("Springfield") is None


def test_every_variant_has_a_question_and_a_memory() -> None:
    assert all(row.question and row.memory and len(row.variants) > 1 for row in variants.rows())


@pytest.mark.parametrize(("sign", "side", "example", "pattern"), read_table("capture/signs.txt"))
def test_a_sign_of_who_speaks_is_found_in_its_example(
    sign: str, side: str, example: str, pattern: str
) -> None:
    assert re.search(pattern, example.lower())
    own, others = ([example], []) if side == "own" else ([], [example])
    # Two casual words are as much as one thing that only a person says.
    times = 2 if sign == "spoken" else 1
    assert is_between_people(own * times, others * times) is (sign != "assistant")


@pytest.mark.parametrize(("rules", "example", "pattern"), read_table("capture/lasting.txt"))
def test_what_lasts_between_people_is_found_in_its_example(
    rules: str, example: str, pattern: str
) -> None:
    assert re.search(pattern, example)
    assert any(is_lasting(rule, example) for rule in pieces(rules))
    assert set(pieces(rules)) <= read_words("capture/words.txt")["standing"]


# Texts of which some begin with a word of a rule, and some only hold one.
SAID = [
    text
    for path in sorted((Path(__file__).parents[2] / "data").glob("*held_out*.txt"))
    for line in path.read_text(encoding="utf-8").splitlines()
    for text in line.split("\t")
]


def bodies() -> list[str]:
    examples = [rule.example for rule in slots.rules()]
    examples += [one for row in read_table("slots/endings.txt") for one in row[:2]]
    found = [read(text).body for text in (*SAID, *examples)]
    return [*found, *(without_helpers(body) for body in found)]


@pytest.mark.parametrize(
    "rule", [rule for rule in slots.rules() if rule.first], ids=lambda r: r.kind
)
def test_what_a_rule_of_slots_matches_begins_with_one_of_its_words(rule: slots.SlotRule) -> None:
    matched = {body.split(" ")[0].lower() for body in bodies() if slots.compiled(rule).match(body)}
    assert matched
    assert matched <= rule.first


def test_what_an_ending_matches_begins_with_one_of_its_words() -> None:
    for one in endings():
        matched = {body.split()[0].lower() for body in bodies() if one.newer.match(body)}
        assert matched
        assert matched <= (one.first or matched)
