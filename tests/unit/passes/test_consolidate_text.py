"""The plan of a consolidation as text: what is written is read back, and what cannot be read is
named by its line."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import InvalidInput
from holdfast.passes.consolidation import (
    Plan,
    Refused,
    Source,
    Step,
    from_plain,
    parse,
    plain_text,
    render,
    to_plain,
)

T0 = datetime(2026, 1, 14, 12, tzinfo=UTC)
HEAD = "# Consolidation of hub work, 2026-01-14T12:00:00Z, by rules\n\n## Steps\n\n"

TEXTS = st.text(min_size=1, max_size=60).map(plain_text).filter(bool)
NUMBERS = st.integers(1, 10**9)
LISTS = st.lists(NUMBERS, min_size=1, max_size=4, unique=True).map(tuple)
CATEGORIES = st.sampled_from(["fact", "preference", "a label", 'with "quotes"', "12:30 notes"])
STEPS = st.one_of(
    st.tuples(LISTS, TEXTS, CATEGORIES, st.none() | NUMBERS).map(lambda one: Step("promote", *one)),
    st.tuples(LISTS, TEXTS, CATEGORIES).map(lambda one: Step("merge", *one)),
    st.tuples(LISTS, TEXTS, st.none() | NUMBERS).map(
        lambda one: Step("retire", one[0], one[1], replaced_by=one[2])
    ),
)
REASONS = st.sampled_from(["", "said on 2 days", "a > sign: and # more"])
PLANS = st.builds(
    Plan,
    st.sampled_from(["default", "a-hub"]),
    st.just(T0),
    st.sampled_from(["rules", "openai:some/model, v2"]),
    st.lists(
        st.tuples(STEPS, REASONS).map(lambda one: one[0]._replace(reason=one[1])), max_size=4
    ).map(tuple),
    st.lists(STEPS.map(lambda step: Refused(step, "it is pinned")), max_size=2).map(tuple),
    st.lists(
        st.builds(Source, NUMBERS, st.just("0123abcd"), st.just("2026-01-14"), TEXTS), max_size=3
    ).map(tuple),
    st.lists(st.just("A note."), max_size=1).map(tuple),
)


@given(PLANS)
@settings(max_examples=100, deadline=None)
def test_a_plan_that_is_written_down_is_read_back(plan: Plan) -> None:
    read = parse(render(plan))
    assert [step._replace(line=0) for step in read.steps] == list(plan.steps)
    assert [one.step._replace(line=0, reason="") for one in read.refused] == [
        one.step for one in plan.refused
    ]
    assert [(one.number, one.hash, one.day) for one in read.sources] == [
        (one.number, one.hash, one.day) for one in plan.sources
    ]
    assert (read.hub, read.made_at, read.by) == (plan.hub, plan.made_at, plan.by)
    # Once more, it is the same to the letter, but for the comments on top.
    assert render(read._replace(notes=plan.notes)) == render(plan)


@given(PLANS)
@settings(max_examples=50, deadline=None)
def test_a_plan_goes_through_json(plan: Plan) -> None:
    assert from_plain(json.loads(json.dumps(to_plain(plan)))) == plan
    assert parse(json.dumps(to_plain(plan))) == plan


@given(st.text(alphabet="-# promoteasfct:1\n>", max_size=80))
@settings(max_examples=70, deadline=None)
def test_whatever_is_written_there_is_read_or_refused(text: str) -> None:
    try:
        parse(HEAD + text)
    except InvalidInput as error:
        assert "line" in str(error)


def test_a_person_may_write_it_loosely() -> None:
    text = (
        "\ufeff" + HEAD + "- promote #4, #5 as Fact:   Lives in Lisbon\r\n"
        "    and in Porto\r\n"
        "\r\n"
        "> a remark of mine\r\n"
        "- retire #7\r\n"
    )
    first, second = parse(text).steps
    assert (first.sources, first.category, first.text) == (
        (4, 5),
        "fact",
        "Lives in Lisbon\nand in Porto",
    )
    assert (second.kind, second.sources, second.line) == ("retire", (7,), 9)


@pytest.mark.parametrize(
    "line",
    [
        "promote #1 as fact: no dash",
        "- promote 1 as fact: no sign",
        "- promote #1: no category",
        "- promote #1 as a/b: no such category",
        "- merge #1 #2 as fact, in place of #3: not for merges",
        "- delete #1: no such step",
        "- promote as fact: no source",
        "  - promote #1 as fact: moved to the right",
        "Please also delete everything.",
        "## Stepz",
    ],
)
def test_a_line_that_cannot_be_read_is_named_by_its_number(line: str) -> None:
    with pytest.raises(InvalidInput, match="line 6, `") as found:
        parse(HEAD + "- retire #7: fine\n" + line + "\n- retire #8: fine\n")
    assert "Nothing was done" in found.value.hint


def test_a_file_that_is_no_plan_is_refused() -> None:
    with pytest.raises(InvalidInput, match="This is no plan"):
        parse("Dear diary\n")
    with pytest.raises(InvalidInput, match="no JSON"):
        parse("{ not JSON")
    with pytest.raises(InvalidInput, match="and 15 more"):
        parse(HEAD + "?\n" * 20)


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"hub": "a"},
        {"hub": "a", "made_at": "soon"},
        {"hub": "a", "made_at": "2026-01-14", "steps": [{"kind": "delete"}]},
        {"hub": "a", "made_at": "2026-01-14", "steps": [{"kind": "retire", "sources": ["1"]}]},
        {"hub": "a", "made_at": "2026-01-14", "steps": {}},
        {"hub": "a", "made_at": "2026-01-14", "steps": [{"kind": "retire", "sources": [-1]}]},
        {"hub": "a", "made_at": "2026-01-14", "sources": [{"number": 1}]},
        {"hub": "a", "made_at": "2026-01-14", "steps": [{}] * 1_000},
    ],
)
def test_json_of_another_shape_is_refused_in_a_sentence(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"\.$"):
        from_plain(value)
