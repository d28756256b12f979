"""Cut source code at its definitions, and structured data at its top-level entries.

Python is read by its own parser. Every other language by its layout: a line without indentation
that follows a blank line begins something. A definition too long for one passage is cut at the
definitions inside it, then at lines; `headings` then holds the first line of the enclosing
definition. No grammar is needed, so no language is unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from holdfast.text.chunking import (
    LINE,
    TOKENS_MIN,
    Chunk,
    Span,
    count_tokens,
    pack,
    split_lines,
    trimmed,
    whole,
)
from holdfast.text.chunking.markdown import TITLE_CHARS_MAX

if TYPE_CHECKING:
    import ast


_PYTHON = ("python", "py", "python3", "pyi")
_PYTHON_SIGN = re.compile(
    r"^(?:async def|def|class) \w.*:[ \t]*(?:#.*)?$|^from [\w.]++ import ", re.M
)
# A line that closes or carries on what is above, and so begins nothing.
_CLOSING = re.compile(r"[)\]}>;]|(?:end|else|elif|except|finally|catch|then|done|fi|esac)\b")
_COMMENT = re.compile(r"[ \t]*(?:#|//|/\*|\*|--|;;|@|%)")
# Code nested deeper than a method of a class of a module is cut at lines.
_DEPTH_MAX = 3
# A file of this share of the target is one passage: its few definitions explain each other.
_SHORT_SHARE = 4


class _Unit(NamedTuple):
    start: int
    end: int
    headings: tuple[str, ...] = ()


def chunk_code(text: str, *, language: str, tokens_max: int, data: bool = False) -> list[Chunk]:
    """The definitions of a source text as passages; with `data`, entries packed to the target."""
    if len(text) <= tokens_max and count_tokens(text) <= tokens_max // _SHORT_SHARE:
        return whole(text)
    cuts: list[int] = []
    known = language.lower()
    if not data and (known in _PYTHON or (not known and _PYTHON_SIGN.search(text))):
        cuts = _python_cuts(text)
    return [
        Chunk(*span, unit.headings)
        for unit in _cut(text, _Unit(0, len(text)), cuts, 0, tokens_max, data)
        if (span := trimmed(text, unit.start, unit.end))
    ]


def _cut(
    text: str, unit: _Unit, known: list[int], depth: int, tokens_max: int, data: bool
) -> list[_Unit]:
    """Cut a unit at the known places inside it, or by its layout; its parts again if too long.

    `unit.headings` ends with the unit's own first line, which its first part shows itself.
    """
    inside = known[bisect_right(known, unit.start) : bisect_left(known, unit.end)]
    cuts = _outermost(text, inside, top=depth == 0)
    if not inside:
        cuts = _layout_cuts(text, unit, inner=depth > 0)
    spans = list(pairwise([unit.start, *cuts, unit.end]))
    if data:
        spans = pack(text, spans, tokens_max=tokens_max)
    else:
        spans = _merge_small(text, spans, tokens_max)
    found: list[_Unit] = []
    for at, (start, end) in enumerate(spans):
        headings = unit.headings if at else unit.headings[:-1]
        if count_tokens(text[start:end]) <= tokens_max:
            found.append(_Unit(start, end, headings))
            continue
        part = _Unit(start, end, (*headings, _first_line(text, start, end)))
        if depth + 1 < _DEPTH_MAX:
            found.extend(_cut(text, part, known, depth + 1, tokens_max, data))
        else:
            lines = split_lines(text, start, end, tokens_max=tokens_max)
            found.extend(
                _Unit(*span, part.headings if n else headings) for n, span in enumerate(lines)
            )
    return found


def _merge_small(text: str, spans: list[Span], tokens_max: int) -> list[Span]:
    """A part of fewer than TOKENS_MIN tokens joins the next one."""
    merged: list[Span] = []
    for start, end in spans:
        if merged:
            last = merged[-1]
            small = last[1] - last[0] < TOKENS_MIN * 4 and (
                count_tokens(text[last[0] : last[1]]) < TOKENS_MIN
            )
            if small and count_tokens(text[last[0] : end]) <= tokens_max:
                merged[-1] = (last[0], end)
                continue
        merged.append((start, end))
    return merged


def _first_line(text: str, start: int, end: int) -> str:
    """The line that names a unit: the first that is no comment and no decorator."""
    first = ""
    for line in LINE.finditer(text, start, end):
        words = line.group().strip()
        if words and not _COMMENT.match(words):
            return words[:TITLE_CHARS_MAX]
        first = first or words
    return first[:TITLE_CHARS_MAX]


# ── layout ───────────────────────────────────────────────────────────────────────────────────


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _layout_cuts(text: str, unit: _Unit, *, inner: bool) -> list[int]:
    """The lines of the least indentation after a blank line; inside a unit, of the next one.

    Comments and decorators right above such a line are the start of a block themselves, since
    the blank line is above them.
    """
    lines = [(m.start(), m.group()) for m in LINE.finditer(text, unit.start, unit.end)]
    indents = [_indent(line) for _, line in lines if line.strip()]
    if not indents:
        return []
    base = min(indents)
    if inner:
        deeper = [indent for indent in indents if indent > base]
        if not deeper:
            return []
        base = min(deeper)
    cuts: list[int] = []
    blank = False
    for start, line in lines:
        if not line.strip():
            blank = True
            continue
        opens = _indent(line) <= base and not _CLOSING.match(line.lstrip(" \t"))
        if blank and opens and start > unit.start:
            cuts.append(start)
        blank = False
    return cuts


def _outermost(text: str, cuts: list[int], *, top: bool) -> list[int]:
    """Of the parser's places those of one level: the module's, or the highest inside a unit."""
    # 200 characters hold the indentation of any code that a person wrote.
    indents = [_indent(text[cut : cut + 200]) for cut in cuts]
    least = 0 if top else min(indents, default=0)
    return [cut for cut, indent in zip(cuts, indents, strict=True) if indent == least]


# ── Python ───────────────────────────────────────────────────────────────────────────────────


def _python_cuts(text: str) -> list[int]:
    """The first lines of functions, classes and methods, and of the code after one."""
    import ast
    import warnings

    with warnings.catch_warnings():
        # An invalid escape in somebody's source is none of our business.
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []
    starts = [0] + [line.end() for line in LINE.finditer(text)]
    lines: set[int] = set()
    _collect(text, starts, tree.body, 0, lines)
    return sorted(starts[line - 1] for line in lines)


def _collect(
    text: str, starts: list[int], body: Iterable[ast.stmt], floor: int, lines: set[int]
) -> None:
    """Add the first lines of the definitions in a body; `floor` is the line before the body."""
    import ast

    after_definition = False
    for node in body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        defines = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if (defines or after_definition) and first > floor + 1:
            # Comments right above belong to what follows them.
            while first - 1 > floor and _COMMENT.match(text, starts[first - 2]):
                first -= 1
            lines.add(first)
        if isinstance(node, ast.ClassDef):
            _collect(text, starts, node.body, node.lineno, lines)
        after_definition = defines
        floor = node.end_lineno or node.lineno
