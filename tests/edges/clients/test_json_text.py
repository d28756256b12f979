"""A member goes in and comes out of a JSON file, and every other character stays."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.edges.clients.json_text import parse, render, with_fields, with_value, without
from holdfast.edges.clients.jsonc import Malformed, Member, member_of, scan
from tests.edges.clients.json_texts import neat_texts, texts

ENTRY = {"command": "/usr/bin/holdfast", "args": ["mcp", "--hub", "é\\n"]}
PATH = ("mcpServers", "new")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)


def is_insertion(old: str, new: str) -> bool:
    """Whether the new text is the old one with something put in at one place."""
    same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
    return new.endswith(old[same:])


def is_insertion_and_comma(old: str, new: str) -> bool:
    commas = [at for at, char in enumerate(new) if char == ","]
    return is_insertion(old, new) or any(
        is_insertion(old, new[:at] + new[at + 1 :]) for at in commas
    )


def comments(text: str) -> list[str]:
    """The comments of a text, or of a piece of one, in order."""
    found, at = [], 0
    decoder = json.JSONDecoder()
    while at < len(text):
        if text[at] == '"':
            at = decoder.raw_decode(text, at)[1]
        elif match := _COMMENT.match(text, at):
            found.append(match[0])
            at = match.end()
        else:
            at += 1
    return found


def can_hold(text: str, path: tuple[str, ...] = PATH) -> bool:
    """Whether there is room at the path: objects on the way, nothing at its end."""
    value: Any = parse(text)
    for key in path[:-1]:
        value = value.get(key, {})
        if not isinstance(value, dict):
            return False
    return path[-1] not in value


def plus(value: dict[str, Any], path: tuple[str, ...], entry: Any) -> dict[str, Any]:
    value = copy.deepcopy(value)
    holder = value
    for key in path[:-1]:
        holder = holder.setdefault(key, {})
    holder[path[-1]] = entry
    return value


@given(st.one_of(texts(), neat_texts()))
def test_a_new_entry_changes_nothing_else(text: str) -> None:
    assume(can_hold(text))
    new = with_value(text, PATH, ENTRY)
    assert parse(new) == plus(parse(text), PATH, ENTRY)
    assert is_insertion_and_comma(text, new)
    assert comments(new) == comments(text)


@given(st.one_of(texts(), neat_texts()))
def test_what_goes_in_comes_out_again(text: str) -> None:
    assume(can_hold(text))
    had_holder = "mcpServers" in parse(text)
    back = without(with_value(text, PATH, ENTRY), PATH)
    if not had_holder:
        assert parse(back) == plus(parse(text), ("mcpServers",), {})
        back = without(back, ("mcpServers",))
    assert parse(back) == parse(text)
    assert comments(back) == comments(text)
    if not _has_blank_object(text):
        assert back == text


def _has_blank_object(text: str) -> bool:
    """Whether an object on the path is empty but for white space and comments: how much of that
    there was cannot be seen once it has a member."""
    node = scan(text)
    assert node is not None
    holder = member_of(text, node, "mcpServers")
    ones = [node] if holder is None else [holder.node]
    return any(not one.members and text[one.start : one.end] != "{}" for one in ones)


def drawn_member(text: str, data: st.DataObject) -> tuple[dict[str, Any], str, Member]:
    """The value of a text, one of its keys, and the member with that key."""
    value = parse(text)
    assume(value)
    key = data.draw(st.sampled_from(sorted(value)))
    node = scan(text)
    assert node is not None
    member = member_of(text, node, key)
    assert member is not None
    return value, key, member


@given(st.one_of(texts(), neat_texts()), st.data())
def test_any_member_can_be_taken_out_without_its_neighbours(text: str, data: st.DataObject) -> None:
    value, key, member = drawn_member(text, data)
    inside = comments(text[member.start : member.node.end])
    back = without(text, (key,))
    assert parse(back) == {name: one for name, one in value.items() if name != key}
    left = comments(text)
    for comment in inside:
        left.remove(comment)
    assert sorted(one.rstrip() for one in comments(back)) == sorted(map(str.rstrip, left))


@given(st.one_of(texts(), neat_texts()), st.data())
def test_a_value_is_replaced_in_its_place(text: str, data: st.DataObject) -> None:
    value, key, member = drawn_member(text, data)
    new = with_value(text, (key,), ENTRY)
    assert parse(new) == value | {key: ENTRY}
    assert new.startswith(text[: member.node.start])
    assert new.endswith(text[member.node.end :])


@given(st.one_of(texts(), neat_texts()))
def test_fields_that_are_right_are_left_as_they_are_written(text: str) -> None:
    value = parse(text)
    assert with_fields(text, (), value) == text


LAYOUTS = [
    ("nothing", "", '{\n  "mcpServers": {\n    "new": {\n      "command": "x"\n    }\n  }\n}\n'),
    (
        "an empty object",
        "{}",
        '{\n  "mcpServers": {\n    "new": {\n      "command": "x"\n    }\n  }\n}',
    ),
    (
        "two spaces",
        '{\n  "a": 1\n}\n',
        '{\n  "a": 1,\n  "mcpServers": {\n    "new": {\n      "command": "x"\n    }\n  }\n}\n',
    ),
    (
        "four spaces and an empty holder",
        '{\n    "mcpServers": {}\n}',
        '{\n    "mcpServers": {\n        "new": {\n            "command": "x"\n        }\n    }\n}',
    ),
    (
        "tabs and a trailing comma",
        '{\n\t"mcpServers": {\n\t\t"o": {},\n\t},\n}',
        '{\n\t"mcpServers": {\n\t\t"o": {},\n\t\t"new": {\n\t\t\t"command": "x"\n\t\t},\n\t},\n}',
    ),
    (
        "Windows",
        '{\r\n  "a": 1\r\n}\r\n',
        '{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "new": {\r\n      "command": "x"\r\n    }\r\n'
        "  }\r\n}\r\n",
    ),
    ("one line", '{"a": 1}', '{"a": 1, "mcpServers": {"new": {"command": "x"}}}'),
    ("no spaces", '{"a":1,"mcpServers":{}}', '{"a":1,"mcpServers":{"new":{"command":"x"}}}'),
    (
        "a comment behind the last member",
        '{\n  "a": 1 // one\n  // "b": 2\n}',
        '{\n  "a": 1, // one\n  // "b": 2\n  "mcpServers": {\n    "new": {\n      "command": "x"\n'
        "    }\n  }\n}",
    ),
    (
        "only comments",
        "// mine",
        '// mine\n{\n  "mcpServers": {\n    "new": {\n      "command": "x"\n    }\n  }\n}\n',
    ),
]


@pytest.mark.parametrize(
    ("text", "expected"), [row[1:] for row in LAYOUTS], ids=[r[0] for r in LAYOUTS]
)
def test_a_new_entry_is_laid_out_as_the_file_is(text: str, expected: str) -> None:
    assert with_value(text, PATH, {"command": "x"}) == expected


def test_a_comment_above_the_entry_stays_and_never_swallows_what_follows() -> None:
    text = '{\n  "a": 1, // one\n  "new": 2, "b": 3}'
    assert without(text, ("new",)) == '{\n  "a": 1, // one\n   "b": 3}'
    text = '{ // c\n"new": 2}'
    assert parse(without(text, ("new",))) == {}
    assert comments(without(text, ("new",))) == ["// c"]


def test_only_the_fields_that_differ_are_written_and_the_rest_of_an_entry_stays() -> None:
    text = '{"s": {"n": {"env": {"A": "b"}, /* own */ "command": "x", "args": ["y"]}}}'
    new = with_fields(text, ("s", "n"), {"command": "x", "args": ["z"], "type": "stdio"})
    assert new == text.replace('["y"]', '["z"], "type": "stdio"')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"mcpServers": []}', 'a list at "mcpServers" stands where an object is needed'),
        ('{"mcpServers": null}', '`null` at "mcpServers"'),
        ('{"mcpServers": "x"}', 'a text at "mcpServers"'),
        ('{"mcpServers": {}, "mcpServers": {}}', "stands there twice"),
    ],
)
def test_an_object_that_is_none_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Malformed) as caught:
        with_value(text, PATH, ENTRY)
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("text", "kind"), [("null", "`null`"), ("[]", "a list"), ("1", "a number")]
)
def test_a_file_that_is_no_object_is_refused(text: str, kind: str) -> None:
    with pytest.raises(Malformed, match=f"{kind} stands where an object is needed"):
        parse(text)


def test_an_entry_on_its_own_is_a_whole_file() -> None:
    assert parse(render(PATH, ENTRY)) == {"mcpServers": {"new": ENTRY}}
