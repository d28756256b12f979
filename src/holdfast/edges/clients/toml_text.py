"""Puts tables into the text of a TOML file and takes them out; every other character stays.

A new table is written behind the end of the file, where it disturbs nothing. To change what is
there, the file is cut into its sections, and only the one in question is handed to tomlkit: of a
whole file it may put tables in another order. It knows nothing of clients.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tomlkit
from tomlkit.exceptions import ParseError, TOMLKitError

from holdfast.edges.clients.jsonc import BOM, Malformed

# What a bracket or a line end may hide in, and these themselves. The text is known to be TOML.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?""""{0,2}'
    r"|'''.*?''''{0,2}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}\n]",
    re.DOTALL,
)


class Section(NamedTuple):
    """A header of a TOML file and what follows it up to the next one; what comes first has no
    header."""

    path: tuple[str, ...]
    text: str


def parse(text: str) -> dict[str, Any]:
    """The value of the text, as the standard library parses it."""
    bare = text.removeprefix(BOM)
    try:
        return tomllib.loads(bare)
    except tomllib.TOMLDecodeError as error:
        raise Malformed(_reason(error), _place(text, bare)) from None


def render(path: Sequence[str], value: Mapping[str, Any]) -> str:
    """A TOML file with this table at that path, and nothing else."""
    return with_value("", path, value)


def with_value(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with this table at the path, which is not there yet."""
    holder: Any = parse(text)
    for key in path[:-1]:
        holder = holder.get(key, {})
        if not isinstance(holder, dict):
            raise Malformed(f"`{key}` is no table", 0)
    header = ".".join(tomlkit.key(key).as_string() for key in path)
    lines = [f"[{header}]", *(_line(key, item) for key, item in value.items())]
    newline = "\r\n" if "\r\n" in text else "\n"
    bare = text.removeprefix(BOM)
    gap = newline if bare and not bare.endswith("\n") else ""
    if bare and not bare.endswith(("\n\n", "\n\r\n")):
        gap += newline
    new = text + gap + newline.join(lines) + newline
    try:
        parse(new)
    except Malformed:
        # The servers are written on one line, which no header can add to.
        return _edited(text, path[:-1], lambda table: table.update({path[-1]: _inline(value)}))
    return new


def with_fields(text: str, path: Sequence[str], fields: Mapping[str, Any]) -> str:
    """The text with these fields in the table at the path; those that are right stay as they
    are, and so do fields that are not named."""

    def change(table: Any) -> None:
        for key, value in fields.items():
            if table.get(key) != value:
                table[key] = value

    return _edited(text, path, change)


def without(text: str, path: Sequence[str]) -> str:
    """The text without the table at the path, and those inside it."""
    kept = []
    at = tuple(path)
    for section in sections(text):
        if section.path[: len(at)] == at:
            kept.append(_comments_at_end(section.text))
        elif _at(tomllib.loads(section.text), at) is not None:
            document = _document(section.text)
            del _at(document, at[:-1])[at[-1]]
            kept.append(tomlkit.dumps(document))
        else:
            kept.append(section.text)
    bom = BOM if text.startswith(BOM) else ""
    new = bom + "".join(kept)
    if text.startswith(new) and new.endswith(("\n\n", "\n\r\n")):
        # The empty line that went in with the table.
        new = new.removesuffix("\n").removesuffix("\r")
    return new


def sections(text: str) -> list[Section]:
    """The sections of a file; together they are its text, without a byte order mark."""
    bare = text.removeprefix(BOM)
    starts: list[int] = [0]
    paths: list[tuple[str, ...]] = [()]
    line = at = depth = 0
    while found := _TOKEN.search(bare, at):
        at = found.end()
        token = found[0]
        if token == "\n":
            line = at
        elif token == "[" and depth == 0 and not bare[line : found.start()].strip():
            end = bare.find("\n", at)
            at = end if end >= 0 else len(bare)
            starts.append(line)
            paths.append(_header(bare[line:at]))
        elif token in ("[", "{"):
            depth += 1
        elif token in ("]", "}"):
            depth -= 1
    ends = [*starts[1:], len(bare)]
    return [
        Section(path, bare[start:end]) for path, start, end in zip(paths, starts, ends, strict=True)
    ]


def _header(line: str) -> tuple[str, ...]:
    """The path that a header names."""
    value: Any = tomllib.loads(line.rstrip("\r"))
    path = []
    while isinstance(value, dict) and value:
        [(key, value)] = value.items()
        path.append(key)
        if isinstance(value, list):
            value = value[0]
    return tuple(path)


def _edited(text: str, path: Sequence[str], change: Callable[[Any], None]) -> str:
    """The text with the table at the path changed, in the section that has it."""
    done = []
    for section in sections(text):
        new = section.text
        # A section inside the table has it too, and is not it.
        if len(section.path) <= len(path) and _at(tomllib.loads(new), path) is not None:
            document = _document(new)
            change(_at(document, path))
            new = tomlkit.dumps(document)
        done.append(new)
    return (BOM if text.startswith(BOM) else "") + "".join(done)


def _document(text: str) -> tomlkit.TOMLDocument:
    """A section as tomlkit has it, which may refuse what the standard library takes."""
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise Malformed(_reason(error), 0) from None


def _comments_at_end(segment: str) -> str:
    """The comments below the last line of a table: people write them above what follows."""
    lines = segment.splitlines(keepends=True)
    at = len(lines)
    while at and (not lines[at - 1].strip() or lines[at - 1].lstrip().startswith("#")):
        at -= 1
    kept = "".join(lines[at:])
    return kept if kept.strip() else ""


def _line(key: str, value: Any) -> str:
    return f"{tomlkit.key(key).as_string()} = {tomlkit.item(value).as_string()}"


def _inline(value: Mapping[str, Any]) -> Any:
    table = tomlkit.inline_table()
    table.update(value)
    return table


def _at(table: Any, path: Sequence[str]) -> Any:
    """The table at a path, or None if there is none."""
    for key in path:
        if not isinstance(table, dict) or key not in table:
            return None
        table = table[key]
    return table


def _place(text: str, bare: str) -> int:
    """The position of the first error. tomllib says so only in words before Python 3.14, tomlkit in
    numbers; where tomlkit has nothing against the file, it is the beginning."""
    try:
        tomlkit.parse(bare)
    except ParseError as error:
        lines = text.splitlines(keepends=True)
        return min(len(text), sum(map(len, lines[: error.line - 1])) + error.col)
    except TOMLKitError:
        return 0
    return 0


def _reason(error: Exception) -> str:
    """The reader's words, without its own way to name the place."""
    words = str(error).partition(" (at ")[0].rstrip(".")
    return words[:1].lower() + words[1:]
