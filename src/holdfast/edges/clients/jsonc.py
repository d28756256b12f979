"""Reads JSON with comments and trailing commas into nodes with their position in the text.

It only reads: what to change, and how it should look, is for `json_text`. It is as strict as JSON
but for those two, since a client must be able to read what we leave. What is plain JSON inside the
file is stepped over by the standard library, and only opened where someone looks into it: some
clients keep megabytes beside their settings.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NamedTuple

# Settings of people are a handful of levels deep; the bound keeps hostile files off the stack.
DEPTH_MAX = 200
# No number of settings has as many; Python refuses to read those with thousands.
DIGITS_MAX = 1_000
BOM = "\ufeff"

_COMMENT_TEXT = r"//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/"
_TRIVIA = re.compile(rf"(?:[ \t\r\n]++|{_COMMENT_TEXT})*")
_COMMENT = re.compile(_COMMENT_TEXT)
_STRING = re.compile(
    r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"', re.ASCII
)
_PLAIN = re.compile(r"(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?!\w)", re.A)


def _refuse_constant(name: str) -> None:
    """Refuses NaN and Infinity, which the standard library accepts, but which are not JSON."""
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class Malformed(Exception):
    """The JSON is malformed; `at` is the position, counted from 0."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


class Node(NamedTuple):
    """A JSON value: what it is, and text[start:end] that says it. What is not opened has no
    parts."""

    kind: Literal["object", "array", "plain"]
    start: int
    end: int
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()
    is_open: bool = True


class Member(NamedTuple):
    """A key of a JSON object and its value; `comma` is the position of the comma behind it, or
    -1."""

    key: str
    start: int
    node: Node
    comma: int


class Token(NamedTuple):
    """The end of a JSON value or a comment, and whether it is a comment up to the end of the
    line."""

    end: int
    is_line_comment: bool = False


def scan(text: str) -> Node | None:
    """The value of a JSON text with comments, or None if it holds no more than white space and
    comments."""
    start = _after_trivia(text, 1 if text.startswith(BOM) else 0)
    if start == len(text):
        return None
    root = _value(text, start, 0)
    rest = _after_trivia(text, root.end)
    if rest < len(text):
        raise Malformed(f"{_shown(text, rest)} follows the end", rest)
    return root


def member_of(text: str, node: Node, key: str) -> Member | None:
    """The member of that name, opened. Two of them are refused: clients differ in which counts."""
    found = [member for member in node.members if member.key == key]
    if len(found) > 1:
        raise Malformed(f"the key {json.dumps(key)} stands there twice", found[1].start)
    if not found:
        return None
    inner = found[0].node
    if inner.kind == "object" and not inner.is_open:
        return found[0]._replace(node=_object(text, inner.start, 0))
    return found[0]


def opened(text: str, node: Node) -> Node:
    """A list with its items."""
    return node if node.is_open else _array(text, node.start, 0)


def value_of(text: str, node: Node) -> Any:
    """The value of a JSON node in Python."""
    if not node.is_open:
        return json.loads(text[node.start : node.end])
    if node.kind == "object":
        return {member.key: value_of(text, member.node) for member in node.members}
    if node.kind == "array":
        return [value_of(text, item) for item in node.items]
    return json.loads(text[node.start : node.end])


def last_token(text: str, start: int, end: int) -> Token:
    """The last comment between two places with nothing but white space and comments between them;
    where there is none, what ends at `start`."""
    last = Token(start)
    while found := _COMMENT.search(text, last.end, end):
        last = Token(found.end(), found[0].startswith("//"))
    return last


def line_and_column(text: str, at: int) -> tuple[int, int]:
    """The line and column of a position, counted from 1."""
    before = text[:at].removeprefix(BOM)
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEPTH_MAX:
        raise Malformed(f"it is nested more than {DEPTH_MAX} levels deep", at)
    char = text[at : at + 1]
    if char in ("{", "["):
        if depth and (end := _end_of_plain_json(text, at)):
            return Node("object" if char == "{" else "array", at, end, is_open=False)
        return _object(text, at, depth) if char == "{" else _array(text, at, depth)
    found = (_STRING if char == '"' else _PLAIN).match(text, at)
    if found is None:
        raise Malformed(_wrong(text, at, "a value"), at)
    if char != '"' and found.end() - at > DIGITS_MAX:
        raise Malformed(f"a number has more than {DIGITS_MAX:,} digits", at)
    return Node("plain", at, found.end())


def _end_of_plain_json(text: str, at: int) -> int:
    """The end of an object or a list that is plain JSON; 0 if it is not."""
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return 0


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    at = _after_trivia(text, start + 1)
    while text[at : at + 1] != "}":
        if members and members[-1].comma < 0:
            raise Malformed(_wrong(text, at, "a comma or `}`"), at)
        key = _STRING.match(text, at)
        if key is None:
            raise Malformed(_wrong(text, at, "a key in double quotes or `}`"), at)
        colon = _after_trivia(text, key.end())
        if text[colon : colon + 1] != ":":
            raise Malformed(_wrong(text, colon, "a colon"), colon)
        node = _value(text, _after_trivia(text, colon + 1), depth + 1)
        comma, at = _comma(text, node.end)
        members.append(Member(json.loads(key[0]), key.start(), node, comma))
    return Node("object", start, at + 1, members=tuple(members))


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Node] = []
    comma = start
    at = _after_trivia(text, start + 1)
    while text[at : at + 1] != "]":
        if comma < 0:
            raise Malformed(_wrong(text, at, "a comma or `]`"), at)
        items.append(_value(text, at, depth + 1))
        comma, at = _comma(text, items[-1].end)
    return Node("array", start, at + 1, items=tuple(items))


def _comma(text: str, end: int) -> tuple[int, int]:
    """The position of the comma behind a value, or -1, and where what follows begins."""
    at = _after_trivia(text, end)
    if text[at : at + 1] == ",":
        return at, _after_trivia(text, at + 1)
    return -1, at


def _after_trivia(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return found.end() if found else at


def _wrong(text: str, at: int, wanted: str) -> str:
    if text.startswith("/*", at):
        return "a comment does not end"
    if text.startswith('"', at) and _STRING.match(text, at) is None:
        return "a text in double quotes does not end, or has a bad escape in it"
    return f"{wanted} is missing before {_shown(text, at)}"


def _shown(text: str, at: int) -> str:
    return json.dumps(text[at]) if at < len(text) else "the end of the file"
