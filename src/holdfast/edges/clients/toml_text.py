"""Puts tables into the text of a TOML file and takes them out; every other character stays.

tomlkit reads the file, renders values and edits in place. A new table is written behind the end of
the file, where it can disturb nothing. It knows nothing of clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.edges.clients.jsonc import BOM, Malformed


def parse(text: str) -> dict[str, Any]:
    """What the text says, as the standard library understands it."""
    import tomllib

    _document(text)
    return tomllib.loads(text.removeprefix(BOM))


def render(path: Sequence[str], value: Mapping[str, Any]) -> str:
    """A file with this table at that path, and nothing else."""
    return with_value("", path, value)


def with_value(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with this table at the path, which is not there yet."""
    import tomlkit
    from tomlkit.items import InlineTable

    document = _document(text)
    parent = _table(document, path[:-1])
    if isinstance(parent, InlineTable):
        inline = tomlkit.inline_table()
        inline.update(value)
        parent[path[-1]] = inline
        return _bom(text) + tomlkit.dumps(document)
    newline = "\r\n" if "\r\n" in text else "\n"
    header = ".".join(tomlkit.key(key).as_string() for key in path)
    lines = [f"[{header}]", *(_line(key, item) for key, item in value.items())]
    bare = text.removeprefix(BOM)
    gap = ""
    if bare and not bare.endswith("\n"):
        gap = newline
    if bare and not bare.endswith("\n\n") and not bare.endswith("\n\r\n"):
        gap += newline
    return text + gap + newline.join(lines) + newline


def with_fields(text: str, path: Sequence[str], fields: Mapping[str, Any]) -> str:
    """The text with these fields in the table at the path; those that are right stay as they
    are, and so do fields that are not named."""
    import tomlkit

    document = _document(text)
    table = _table(document, path)
    assert table is not None
    for key, value in fields.items():
        if table.get(key) != value:
            table[key] = value
    return _bom(text) + tomlkit.dumps(document)


def without(text: str, path: Sequence[str]) -> str:
    """The text without the table at the path. Comments below its last line stay: tomlkit counts
    them to the table, people to what follows."""
    import tomlkit

    document = _document(text)
    parent = _table(document, path[:-1])
    assert parent is not None
    del parent[path[-1]]
    after = _bom(text) + tomlkit.dumps(document)
    # A table begins a line; more than its line's beginning may be as in what follows.
    start = text.rfind("\n", 0, _same_beginning(text, after)) + 1
    end = start + len(text) - len(after)
    if text[end:] != after[start:]:
        # Not one piece: an inline table, or a table in several places.
        return after
    before, rest = text[:start], _comments_at_end(text[start:end]) + text[end:]
    if not rest and before.endswith(("\n\n", "\n\r\n")):
        # The empty line that went in with the table.
        before = before.removesuffix("\n").removesuffix("\r")
    return before + rest


def _comments_at_end(segment: str) -> str:
    """The lines at the end of what was cut that are comments, and the empty ones between them."""
    lines = segment.splitlines(keepends=True)
    at = len(lines)
    while at and (not lines[at - 1].strip() or lines[at - 1].lstrip().startswith("#")):
        at -= 1
    kept = "".join(lines[at:])
    return kept if kept.strip() else ""


def _line(key: str, value: Any) -> str:
    import tomlkit

    return f"{tomlkit.key(key).as_string()} = {tomlkit.item(value).as_string()}"


def _document(text: str) -> Any:
    """The file as tomlkit has it; both readers must agree that it is TOML."""
    import tomllib

    import tomlkit
    from tomlkit.exceptions import ParseError, TOMLKitError

    bare = text.removeprefix(BOM)
    try:
        tomllib.loads(bare)
        return tomlkit.parse(bare)
    except ParseError as error:
        raise Malformed(_reason(error), _offset(text, error.line, error.col)) from None
    except tomllib.TOMLDecodeError as error:
        raise Malformed(_reason(error), _place(text, bare)) from None
    except TOMLKitError as error:
        raise Malformed(_reason(error), 0) from None


def _place(text: str, bare: str) -> int:
    """Where the file goes wrong. tomllib says it only in words before Python 3.14, tomlkit in
    numbers; where tomlkit has nothing against the file, it is the beginning."""
    import tomlkit
    from tomlkit.exceptions import ParseError, TOMLKitError

    try:
        tomlkit.parse(bare)
    except ParseError as error:
        return _offset(text, error.line, error.col)
    except TOMLKitError:
        return 0
    return 0


def _reason(error: Exception) -> str:
    """The reader's words, without its own way to name the place."""
    words = str(error).partition(" at line ")[0].partition(" (at ")[0].rstrip(".")
    return words[:1].lower() + words[1:]


def _offset(text: str, line: int, column: int) -> int:
    lines = text.splitlines(keepends=True)
    return min(len(text), sum(map(len, lines[: line - 1])) + column)


def _table(document: Any, path: Sequence[str]) -> Any:
    """The table at a path, or None where there is none."""
    table = document
    for key in path:
        if key not in table:
            return None
        table = table[key]
        if not isinstance(table, dict):
            raise Malformed(f"`{'.'.join(path)}` is no table", 0)
    return table


def _bom(text: str) -> str:
    return BOM if text.startswith(BOM) else ""


def _same_beginning(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    differing = (place for place, (left, right) in enumerate(pairs) if left != right)
    return next(differing, min(len(one), len(other)))
