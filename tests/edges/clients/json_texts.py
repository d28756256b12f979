"""Texts of JSON with comments for property tests: any value, laid out in any allowed way."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

_BLANK = st.sampled_from(["", "", "", " ", "\n", "\r\n", "\n\t", "  \n  "])
_COMMENT = st.sampled_from(
    [
        "// a note\n",
        "// {\r\n",
        "/* a block */",
        '/* "x": 1, */',
        "/* two\nlines */",
        "//\n",
        "/**/",
    ]
)
_TRIVIA = st.one_of(_BLANK, _BLANK, st.tuples(_BLANK, _COMMENT, _BLANK).map("".join))

KEYS = st.sampled_from(["a", "b", "mcpServers", "holdfast", "mcp", "//", "é\U0001f41f", '"', ""])
_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-99, 99),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "/* no comment */", "// nor this", "\\", 'say "hi"', "é", "\ud83d\ude00"]),
)
VALUES = st.recursive(
    _PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=3)


@st.composite
def texts(draw: st.DrawFn, values: st.SearchStrategy[Any] = OBJECTS) -> str:
    """A text that says one of these values."""
    bom = draw(st.sampled_from(["", "", "", "\ufeff"]))
    return bom + draw(_TRIVIA) + _laid_out(draw, draw(values)) + draw(_TRIVIA)


@st.composite
def neat_texts(draw: st.DrawFn, values: st.SearchStrategy[Any] = OBJECTS) -> str:
    """A text as programs write it: one line or many, with some unit of indentation."""
    indent = draw(st.sampled_from([None, 2, 4, "\t"]))
    text = json.dumps(draw(values), indent=indent, ensure_ascii=draw(st.booleans()))
    end = draw(st.sampled_from(["", "\n"]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return (text + end).replace("\n", newline)


def _laid_out(draw: st.DrawFn, value: Any) -> str:
    if isinstance(value, dict):
        parts = [
            json.dumps(key, ensure_ascii=draw(st.booleans()))
            + draw(_TRIVIA)
            + ":"
            + draw(_TRIVIA)
            + _laid_out(draw, inner)
            for key, inner in value.items()
        ]
        return "{" + _joined(draw, parts) + "}"
    if isinstance(value, list):
        return "[" + _joined(draw, [_laid_out(draw, inner) for inner in value]) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()) or _is_broken(value))


def _is_broken(value: Any) -> bool:
    """A half of a pair cannot be written as it is."""
    return isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value)


def _joined(draw: st.DrawFn, parts: list[str]) -> str:
    out = draw(_TRIVIA)
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        comma = "," if not last or draw(st.booleans()) else ""
        out += part + draw(_TRIVIA) + comma + draw(_TRIVIA)
    return out
