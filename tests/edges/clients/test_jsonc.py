"""JSON with comments is read as clients read it, and what is wrong is told with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from holdfast.edges.clients.json_text import parse
from holdfast.edges.clients.jsonc import (
    DEPTH_MAX,
    Malformed,
    line_and_column,
    member_of,
    scan,
    value_of,
)
from tests.edges.clients.json_texts import VALUES, neat_texts, texts


def read(text: str) -> object:
    node = scan(text)
    assert node is not None
    return value_of(text, node)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ('{"a": 1,}', {"a": 1}),
        ('[1, [2, 3,], {"b": null},]', [1, [2, 3], {"b": None}]),
        ('// one\n{ /* two */ "a" /* x */ : /* y */ 1 /* z */ , // three\n}\n/* end */', {"a": 1}),
        ('{"url": "http://x/*y*/"}', {"url": "http://x/*y*/"}),
        ('\ufeff{"a": "\\u00e9\\n\\"\\/"}', {"a": 'é\n"/'}),
        ("-0.5e+3", -500.0),
        ("true", True),
    ],
)
def test_json_with_comments_and_trailing_commas_is_read(text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize("text", ["", " \r\n", "// only this", "/* a */ // b\n", "\ufeff"])
def test_a_text_without_a_value_has_none(text: str) -> None:
    assert scan(text) is None
    assert parse(text) == {}


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ('{"a" 1}', 1, 6, 'a colon is missing before "1"'),
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma or `}`"),
        ("[1 2]", 1, 4, "a comma or `]`"),
        ("{", 1, 2, "before the end of the file"),
        ('{"a": }', 1, 7, "a value is missing"),
        ('{"a": tru}', 1, 7, "a value"),
        ('{"a": 01}', 1, 7, "a value"),
        ('{"a": 1.}', 1, 8, "a comma or `}` is missing before "),
        ('{"a": "x\ny"}', 1, 7, "does not end"),
        ('{"a": "\\x"}', 1, 7, "bad escape"),
        ("{'a': 1}", 1, 2, "a key in double quotes"),
        ("{a: 1}", 1, 2, "a key in double quotes"),
        ("{,}", 1, 2, "a key in double quotes"),
        ("[,]", 1, 2, "a value"),
        ('{"a": 1,,}', 1, 9, "a key in double quotes"),
        ("{} x", 1, 4, '"x" follows the end'),
        ("/* never", 1, 1, "a comment does not end"),
        ('{"a": 1 /* never }', 1, 9, "a comment does not end"),
        ("# a\n{}", 1, 1, "a value"),
        ("{\r\n  \x0b}", 2, 3, "a key"),
        ("\ufeff{]", 1, 2, "a key"),
        ("NaN", 1, 1, "a value"),
        ('{"a": [NaN]}', 1, 8, "a value"),
        ('{"a": [1] "b": 2}', 1, 11, "a comma or `}`"),
        ("[" + "9" * 5_000 + "]", 1, 2, "more than 1,000 digits"),
        ('{"a": [' + "9" * 5_000 + "]}", 1, 8, "more than 1,000 digits"),
    ],
)
def test_what_is_wrong_is_reported_with_its_place(
    text: str, line: int, column: int, reason: str
) -> None:
    with pytest.raises(Malformed) as caught:
        scan(text)
    assert line_and_column(text, caught.value.at) == (line, column)
    assert reason in caught.value.reason


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_hostile_depth_is_refused_before_it_fills_the_stack(opening: str) -> None:
    with pytest.raises(Malformed, match=f"more than {DEPTH_MAX} levels"):
        scan(opening * 100_000)
    assert read("[" * DEPTH_MAX + "]" * DEPTH_MAX)


def test_a_part_that_is_plain_json_is_opened_only_when_looked_into() -> None:
    text = '{"big": {"a": [1, 2]}, "commented": {"a": 1 /* one */}}'
    node = scan(text)
    assert node is not None
    assert [member.node.is_open for member in node.members] == [False, True]
    opened = member_of(text, node, "big")
    assert opened is not None
    assert [member.key for member in opened.node.members] == ["a"]
    assert value_of(text, node) == {"big": {"a": [1, 2]}, "commented": {"a": 1}}


@given(neat_texts(VALUES))
def test_what_json_reads_is_read_the_same(text: str) -> None:
    assert read(text) == json.loads(text)


@given(texts())
def test_each_node_stands_where_it_says(text: str) -> None:
    node = scan(text)
    assert node is not None
    assert (text[node.start], text[node.end - 1]) == ("{", "}")
    for member in node.members:
        assert json.JSONDecoder().raw_decode(text, member.start)[0] == member.key
        again = scan(text[member.node.start : member.node.end])
        assert again is not None
        inner = text[member.node.start : member.node.end]
        assert value_of(inner, again) == value_of(text, member.node)
        assert member.comma < 0 or text[member.comma] == ","
