"""Conditions as people write them: both forms mean the same, and mistakes are sentences."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.query import Comparison, Group, holds
from holdfast.errors import InvalidInput
from holdfast.testing.conformance.base import make_memory
from holdfast.text.where import DEPTH_MAX, TESTS_MAX, VALUES_MAX, from_text, read_where

MEMORY = make_memory(
    7,
    tags=("work",),
    category="fact",
    metadata={
        "team": "core",
        "priority": 3,
        "done": False,
        "labels": ["red", 5],
        "due": "2026-11-30",
        "address": {"city": "Oslo", "first.line": "Quay 1"},
        "and": "x",
        "empty": None,
    },
)


@pytest.mark.parametrize(
    ("condition", "text", "met"),
    [
        ({"team": "core"}, "team = core", True),
        ({"team": {"$eq": "core"}}, "team == 'core'", True),
        ({"team": {"ne": "core"}}, "team != core", False),
        ({"nothing": {"$ne": "core"}}, "nothing != core", True),
        ({"priority": {"$gt": 2, "lte": 3}}, "priority > 2 and priority <= 3", True),
        ({"priority": {"$lt": 3}}, "priority < 3", False),
        ({"priority": {"gte": "3"}}, "priority >= '3'", False),
        ({"due": {"lt": "2026-12-01"}}, "due < 2026-12-01", True),
        ({"team": {"in": ["web", "core"]}}, "team in (web, core)", True),
        ({"team": {"$nin": ["web", "core"]}}, "team not in (web, core)", False),
        ({"labels": {"contains": "red"}}, "labels contains red", True),
        ({"labels": {"contains": 5}}, "labels contains 5", True),
        ({"labels": {"contains": "re"}}, "labels contains re", False),
        ({"team": {"contains": "or"}}, "team contains or", True),
        ({"team": {"icontains": "COR"}}, "team icontains COR", True),
        ({"done": False}, "done = false", True),
        ({"done": 0}, "done = 0", False),
        ({"team": {"exists": True}}, "team exists", True),
        ({"empty": {"exists": False}}, "empty missing", True),
        ({"empty": None}, "empty = null", True),
        ({"address.city": "Oslo"}, "address.city = Oslo", True),
        (
            {"address.first\\.line": {"contains": "Quay"}},
            r"address.first\.line contains Quay",
            True,
        ),
        ({"metadata.and": "x"}, "metadata.and = x", True),
        ({"category": "fact", "number": {"lt": 8}}, "category = fact and number < 8", True),
        ({"tags": {"contains": "Work"}}, "tags contains Work", True),
        ({"tags": {"in": ["home", "Work"]}}, "tags in (home, Work)", True),
        ({"tags": {"in": ["home"]}}, "tags in (home)", False),
        ({"tags": {"nin": ["home", "work"]}}, "tags not in (home, work)", False),
        ({"tags": {"in": []}}, "tags exists and tags missing", False),
        ({"pinned": True}, "pinned = true", False),
        ({"created_at": {"gte": "2020-01-01"}}, "created_at >= 2020-01-01", True),
        (
            {"OR": [{"team": "web"}, {"NOT": {"done": True}}]},
            "team = web or not done = true",
            True,
        ),
        (
            {"$and": [{"team": "core"}, {"$or": [{"priority": 1}, {"priority": 2}]}]},
            "team = core and (priority = 1 or priority = 2)",
            False,
        ),
        (
            {"NOT": [{"team": "web"}, {"team": "core"}]},
            "not (team = web or team = core)",
            False,
        ),
        ({"priority": {"$not": {"$gt": 5}}}, "not priority > 5", True),
    ],
)
def test_both_forms_mean_the_same(condition: dict[str, Any], text: str, met: bool) -> None:
    for form in (condition, text):
        found = read_where(form)
        assert found is not None
        assert holds(found, MEMORY) is met, form


def test_a_json_object_in_text_is_read_as_such() -> None:
    assert read_where('{"team": {"in": ["core"]}}') == Comparison("", ("team",), "in", ("core",))


def test_nothing_is_no_condition() -> None:
    assert read_where(None) is read_where({}) is read_where("  ") is None


def test_times_are_parsed_on_fields_and_stay_text_in_metadata() -> None:
    moment = datetime(2026, 5, 1, tzinfo=UTC)
    assert read_where({"updated_at": {"gt": "2026-05-01"}}) == Comparison(
        "updated_at", (), "gt", moment
    )
    assert read_where({"due": {"gt": moment}}) == Comparison(
        "", ("due",), "gt", "2026-05-01T00:00:00+00:00"
    )


def test_a_day_of_python_is_a_day_in_text() -> None:
    day = date(2026, 5, 1)
    assert read_where({"updated_at": {"gt": day}}) == read_where("updated_at > 2026-05-01")
    assert read_where({"due": {"gt": day}}) == read_where("due > 2026-05-01")


def _deep(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {"a": 1}
    for _ in range(levels):
        found = {"NOT": [found]}
    return found


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"a": {"$regex": "x"}}, "'\\$regex' is not an operator"),
        ({"a": {"b": 1}}, "'b' is not an operator"),
        ({"a": ["x"]}, "A list stands beside 'a'"),
        ({"a": {"in": "x"}}, "`in` of 'a' needs a list"),
        ({"a": {"exists": 1}}, "`exists` of 'a' is true or false"),
        ({"a": {"gt": True}}, "true and false have no order"),
        ({"a": {"gt": None}}, "'a' is compared with null"),
        ({"a": {}}, "There is no operator for 'a'"),
        ({"OR": []}, "OR needs a list"),
        ({"AND": {"a": 1}}, "AND needs a list"),
        ({"OR": [{}]}, "There is an empty object"),
        ({"OR": ["a"]}, "'a' stands where an object is expected"),
        ([], "A list stands where an object is expected"),
        (0, "0 stands where an object is expected"),
        (False, "False stands where an object is expected"),
        ({"created_at": {"gt": "2026-13-45"}}, "'created_at' is compared with '2026-13-45'"),
        ({"created_at": {"gt": "yesterday"}}, "'created_at' is compared with 'yesterday'"),
        ({"created_at": {"gt": "2026-05-01T10:00"}}, "a time without its zone"),
        ("a in [1, 2]", r"like: priority in \(1, 3\)"),
        ({"$where": "1"}, "'\\$where' is not known"),
        ({"a..b": 1}, "is not the name of a field"),
        ({"a": float("nan")}, "not a number in JSON"),
        ({"a": 2**70}, "more than 64 bits"),
        ({"a": "x\0"}, "not text"),
        ({"a\0": "x"}, "not text"),
        ({"tags": "work"}, "'tags' is a list"),
        ({"pinned": "yes"}, "'pinned' is true or false"),
        ({"number": "7"}, "'number' is a number"),
        ({"created_at": {"contains": "2026"}}, "'created_at' is a time"),
        ({"created_at": {"gt": 5}}, "'created_at' is a time"),
        ({"a": {"in": list(range(VALUES_MAX + 1))}}, f"at most {VALUES_MAX} are allowed"),
        ({"OR": [{"a": {"gt": 1, "lt": 3}}] * TESTS_MAX}, f"at most {TESTS_MAX} are allowed"),
        (_deep(DEPTH_MAX), f"more than {DEPTH_MAX} deep"),
        ("a =", "It ends where a value"),
        ("a", "It ends where an operator"),
        ("= 3", "'=' stands where a name"),
        ("a ~ 3", "'~' is not an operator"),
        ("(a = 3", r"'\)' is expected"),
        ("a = 3 b = 4", "'b' is not expected"),
        ("a in 3", r"'\(' is expected"),
        ('a = "x', "It cannot be read from"),
        ("not " * 50 + "a = 1", f"more than {DEPTH_MAX} deep"),
        ("(" * 50 + "a = 1", f"more than {DEPTH_MAX} deep"),
        ('{"a": ', "begins like a JSON object"),
        ("{" * 100_000, "at most"),
    ],
)
def test_a_mistake_is_a_sentence(wrong: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        read_where(wrong)


@given(st.text(max_size=60))
def test_any_text_is_a_condition_or_a_sentence(text: str) -> None:
    try:
        found = read_where(text)
    except InvalidInput:
        return
    assert found is None or isinstance(found, Comparison | Group)


@given(st.sampled_from(["'", '"']), st.text(alphabet="ab'\"\\ ()=<>,", max_size=20))
def test_quoted_text_is_a_value_to_the_letter(quote: str, text: str) -> None:
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    assert from_text(f"name = {quote}{escaped}{quote}") == {"name": {"eq": text}}
