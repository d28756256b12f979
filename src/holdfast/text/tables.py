"""Reads the rule tables and word lists that are kept as text files beside the code, and compiles
patterns when they are first used.

A row is a line of cells, separated by tabs. A line indented by four spaces continues the last cell
of the row above it, and one that begins with `> ` is its next cell. `NAME = …` defines a part that
later cells use as `{NAME}`, and `READ file` takes the parts of another file. Lines that begin with
`#` are comments. Tables are read when they are first needed.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any, cast


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern as `re.compile` gives it, compiled at its first use."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))


class LazyPattern:
    """Has the methods of a compiled pattern once it was asked for one of them."""

    _METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")
    # In slots a method is found as quickly as that of a compiled pattern, and not in a dictionary.
    __slots__ = ("given_flags", "pattern", *_METHODS)

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.given_flags = flags

    def __getattr__(self, name: str) -> Any:
        # Only for a slot that is still empty, and for other attributes.
        compiled = re.compile(self.pattern, self.given_flags)
        for method in self._METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


_PART = re.compile(r"([A-Z_]+) =(?: |$)")
_USED = re.compile(r"\{([A-Z_]+)\}")
_FOLDER = os.path.dirname(__file__)


def read_table(name: str, *, joiner: str = "") -> list[list[str]]:
    """The rows of a table's file, by its path below `text/`; `joiner` comes between the lines of a
    cell."""
    return _read(name, joiner)[0]


def _read(name: str, joiner: str) -> tuple[list[list[str]], dict[str, str]]:
    """The rows of a file, and its parts."""
    # `importlib.resources` would take 8 ms of the start of a command.
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        text = file.read()
    parts: dict[str, str] = {}
    rows: list[list[str]] = []
    for line in text.split("\n"):
        said = line.strip()
        if not said or said == "#" or said.startswith("# "):
            continue
        if line.startswith("READ "):
            parts |= _read(line[5:], joiner)[1]
        elif not line.startswith("    "):
            _fill_parts(rows, parts)
            rows.append(line.split("\t"))
        elif said.startswith("> "):
            rows[-1].append(said[2:])
        else:
            # Behind the four spaces of a line that goes on, a space is part of the cell.
            rows[-1][-1] += joiner + line[4:].rstrip()
    _fill_parts(rows, parts)
    return rows, parts


def _fill_parts(rows: list[list[str]], parts: dict[str, str]) -> None:
    """Fills the parts into the last row; a definition is not a row, and becomes a part."""
    if not rows:
        return
    rows[-1] = [
        _USED.sub(lambda used: parts[used[1]], cell) if "{" in cell else cell for cell in rows[-1]
    ]
    first = rows[-1][0]
    if " =" in first and (found := _PART.match(first)):
        parts[found[1]] = rows.pop()[0][found.end() :]


@cache
def read_words(name: str) -> dict[str, frozenset[str]]:
    """The lists of words of a table's file, by their names."""
    rows = read_table(name, joiner=" ")
    return {cells[0]: frozenset(" ".join(cells[1:]).split()) for cells in rows}


def pieces(cell: str) -> tuple[str, ...]:
    """The parts of a cell, separated by `;`. Spaces count; a cell that ends with one has a `;` at
    its end, and `-` is an empty one."""
    return () if cell == "-" else tuple(piece for piece in cell.split(";") if piece)


class Patterns(dict[str, re.Pattern[str]]):
    """The patterns of a file by their names. A row has the name, an example that the pattern is
    found in, and the pattern. The file is read when one of them is first used."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.file = name

    def __missing__(self, name: str) -> re.Pattern[str]:
        self[name] = found = _patterns(self.file)[name]
        return found


@cache
def _patterns(file: str) -> dict[str, re.Pattern[str]]:
    return {name: lazy(pattern) for name, _, pattern in read_table(file)}
