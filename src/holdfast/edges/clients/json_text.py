"""Adds members, and items of lists, to the text of a JSON file and removes them; every other
character stays.

Where a new member goes and how it is laid out follows what is there: the line ends, the unit of
indentation, a trailing comma, one line or many. It knows nothing of clients.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.edges.clients import json_text
from holdfast.edges.clients.jsonc import (
    BOM,
    Malformed,
    Member,
    Node,
    Token,
    last_token,
    member_of,
    opened,
    scan,
    value_of,
)

_UNIT = "  "  # what most clients write themselves
_BLANKS = re.compile(r"[ \t]*")


class Edit(NamedTuple):
    """text[start:end] becomes `new`."""

    start: int
    end: int
    new: str


def parse(text: str) -> dict[str, Any]:
    """The value of the text; an empty text is an empty object."""
    root = scan(text)
    if root is None:
        return {}
    if root.kind != "object":
        raise Malformed(f"{_kind(text, root)} stands where an object is needed", root.start)
    value: dict[str, Any] = value_of(text, root)
    return value


def render(path: Sequence[str], value: Any) -> str:
    """A JSON file with this value at that path, and nothing else."""
    return with_value("", path, value)


def with_fields(text: str, path: Sequence[str], fields: Mapping[str, Any]) -> str:
    """The text with these fields in the object at the path; fields with the right value stay as
    they are, and so do fields that are not named."""
    for key, value in fields.items():
        now = _at(parse(text), [*path, key])
        if now is not _MISSING and now == value:
            continue
        text = with_value(text, [*path, key], value)
    return text


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """The text with this value at the path; missing objects on the path are created."""
    root = scan(text)
    if root is None:
        for key in reversed(path):
            value = {key: value}
        blank = not text.strip(f"{BOM} \t\r\n") or text.endswith("\n")
        newline = _newline(text)
        before = text if blank else text + newline
        return before + _pretty(value, "", _UNIT, newline) + newline
    holder = root
    for place, key in enumerate(path):
        _must_be_object(text, holder, path[:place])
        member = member_of(text, holder, key)
        if member is None:
            for inner in reversed(path[place + 1 :]):
                value = {inner: value}
            return _inserted(text, root, holder, key, value)
        holder = member.node
    return _replaced(text, root, holder, value)


def without(text: str, path: Sequence[str]) -> str:
    """The text without the member at the path, and without what belonged to it: its comma,
    and its line."""
    root = scan(text)
    assert root is not None
    holder = root
    for key in path[:-1]:
        member = member_of(text, holder, key)
        assert member is not None
        holder = member.node
    member = member_of(text, holder, path[-1])
    assert member is not None
    return _applied(text, _removal(text, holder, member))


# Putting in


def _inserted(text: str, root: Node, holder: Node, key: str, value: Any) -> str:
    newline = _newline(text)
    last = holder.members[-1] if holder.members else None
    begins = holder.start + 1
    if last is not None:
        begins = last.node.end if last.comma < 0 else last.comma + 1
    after = last_token(text, begins, holder.end - 1).end
    if _is_one_line(text, root, holder):
        compact = _is_compact(text, holder if holder.members else root)
        lead = "" if compact or last is None else " "
        member = _one_line({key: value}, compact=compact)[1:-1]
        tail = ""
    else:
        unit, base = _unit(text, root), _indent(text, holder.start)
        inner = _indent_of_members(text, holder)
        inner = base + unit if inner is None else inner
        lead = newline + inner
        member = f"{_text(key)}: {_pretty(value, inner, unit, newline)}"
        ended = "\n" in text[after : holder.end]
        tail = "" if last is not None or ended else newline + base
    edits = []
    if last is not None and last.comma < 0:
        edits.append(Edit(last.node.end, last.node.end, ","))
    if last is not None and last.comma >= 0:
        tail = ","
    edits.append(Edit(after, after, lead + member + tail))
    return _applied(text, edits)


def _replaced(text: str, root: Node, node: Node, value: Any) -> str:
    if "\n" in text[root.start : root.end]:
        new = _pretty(value, _indent(text, node.start), _unit(text, root), _newline(text))
    else:
        new = _one_line(value, compact=_is_compact(text, root))
    return _applied(text, [Edit(node.start, node.end, new)])


# Taking out


def _removal(text: str, holder: Node, member: Member) -> list[Edit]:
    place = [one.start for one in holder.members].index(member.start)
    before = holder.members[place - 1] if place else None
    begins = before.comma + 1 if before is not None else holder.start + 1
    token = last_token(text, begins, member.start)
    end = member.node.end
    if member.comma >= 0 and not text[end : member.comma].strip():
        end = member.comma + 1
    edits = [Edit(_cut_from(text, token, member.start, end), end, "")]
    if member.comma >= end:
        # There is a comment between the value and its comma, which stays.
        edits.append(Edit(member.comma, member.comma + 1, ""))
    if member.comma < 0 and before is not None:
        edits.append(Edit(before.comma, before.comma + 1, ""))
    if len(holder.members) == 1:
        inside = _applied(text[: holder.end - 1], edits)[holder.start + 1 :]
        if not inside.strip():
            return [Edit(holder.start, holder.end, "{}")]
    return edits


def _cut_from(text: str, token: Token, start: int, end: int) -> int:
    """The start of the cut: directly after what precedes the member, so that no empty line remains.
    Behind a `//` comment the line end must stay if anything follows, or it would swallow that."""
    blanks = _BLANKS.match(text, end)
    follows = blanks.end() if blanks else end
    ends_line = text[follows : follows + 1] in ("\n", "\r", "")
    return token.end if ends_line or not token.is_line_comment else start


def _applied(text: str, edits: Sequence[Edit]) -> str:
    """Applies edits from the end, so that earlier positions stay valid; two at one position keep
    their order."""
    in_order = sorted(edits, key=lambda edit: edit.start)
    for edit in in_order[::-1]:
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text


# How it looks


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _pretty(value: Any, indent: str, unit: str, newline: str) -> str:
    """JSON with objects over several lines and lists, which are short, on one."""
    if not isinstance(value, dict) or not value:
        return _one_line(value, compact=False)
    inner = indent + unit
    lines = [
        f"{inner}{_text(key)}: {_pretty(item, inner, unit, newline)}" for key, item in value.items()
    ]
    return "{" + newline + f",{newline}".join(lines) + newline + indent + "}"


def _one_line(value: Any, *, compact: bool) -> str:
    separators = (",", ":") if compact else (", ", ": ")
    return json.dumps(value, ensure_ascii=False, separators=separators)


def _is_one_line(text: str, root: Node, holder: Node) -> bool:
    """Whether an object is on one line; an empty one follows the whole file."""
    span = holder if holder.members else root
    return bool(span.members) and "\n" not in text[span.start : span.end]


def _is_compact(text: str, node: Node) -> bool:
    """Whether there is no space behind colons, as in a file that a program wrote."""
    first = node.members[0]
    return text[first.node.start - 1] == ":"


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _indent(text: str, at: int) -> str:
    """The white space at the beginning of this position's line."""
    found = _BLANKS.match(text, _line_start(text, at))
    return found[0] if found else ""


def _indent_of_members(text: str, node: Node) -> str | None:
    """The indentation of members on a line of their own; the last one counts."""
    for member in reversed(node.members):
        before = text[_line_start(text, member.start) : member.start]
        if not before.strip(" \t") and _line_start(text, member.start) > node.start:
            return before
    return None


def _unit(text: str, root: Node) -> str:
    """The indentation of one level, as far as the file shows it."""
    inner = _indent_of_members(text, root)
    return (inner or "").removeprefix(_indent(text, root.start)) or _UNIT


# What is there


_MISSING = object()


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return _MISSING
        value = value[key]
    return value


def _must_be_object(text: str, node: Node, path: Sequence[str]) -> None:
    if node.kind != "object":
        named = f" at {_text('.'.join(path))}" if path else ""
        raise Malformed(f"{_kind(text, node)}{named} stands where an object is needed", node.start)


def _kind(text: str, node: Node) -> str:
    if node.kind == "array":
        return "a list"
    word = text[node.start : node.end]
    if word in ("null", "true", "false"):
        return f"`{word}`"
    return "a text" if word.startswith('"') else "a number"


def items_at(text: str, path: Sequence[str]) -> list[Any] | None:
    """The items of the JSON list at a path; None if there is none."""
    node = _list_at(text, path)
    return None if node is None else [value_of(text, item) for item in node.items]


def with_item(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at the end of the list at a path, which is created if it is missing."""
    node = _list_at(text, path)
    if node is None:
        return json_text.with_value(text, path, [value])
    new = json.dumps(value, ensure_ascii=False)
    if not node.items:
        inside = text[node.start + 1 : node.end - 1]
        if inside.strip():
            # A comment is in it; the item comes behind that, on a line of its own.
            return text[: node.end - 1] + f"\n{new}\n" + text[node.end - 1 :]
        return text[: node.start] + f"[{new}]" + text[node.end :]
    last = node.items[-1]
    rest = text[last.end : node.end - 1]
    comma = _comma_in(rest)
    lead = _lead(text, node)
    if comma < 0:
        return text[: last.end] + f",{lead}{new}" + text[last.end :]
    at = last.end + comma + 1
    return text[:at] + f"{lead}{new}," + text[at:]


def without_items(text: str, path: Sequence[str], is_gone: Callable[[Any], bool]) -> str:
    """The text without some items of the list at a path; the list stays, even if it is empty."""
    while True:
        node = _list_at(text, path)
        places = () if node is None else range(len(node.items))
        gone = [at for at in places if node and is_gone(value_of(text, node.items[at]))]
        if node is None or not gone:
            return text
        text = _without(text, node, gone[-1])


def _without(text: str, node: Node, at: int) -> str:
    item = node.items[at]
    if at:
        before = node.items[at - 1].end
        between = text[before : item.start]
        comma = _comma_in(between)
        if between.strip() == ",":
            return text[:before] + text[item.end :]
        # There is a comment, which stays.
        kept = between[:comma] + between[comma + 1 :]
        return text[:before] + kept.rstrip(" \t") + text[item.end :]
    if len(node.items) > 1:
        return text[: item.start] + text[node.items[1].start :]
    rest = text[item.end : node.end - 1]
    comma = _comma_in(rest)
    rest = rest if comma < 0 else rest[:comma] + rest[comma + 1 :]
    inside = text[node.start + 1 : item.start] + rest
    return text[: node.start + 1] + (inside if inside.strip() else "") + text[node.end - 1 :]


def _comma_in(text: str) -> int:
    """The position of the comma in white space and comments; -1 if there is none."""
    at = 0
    while at < len(text):
        if text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 2
        elif text[at] == ",":
            return at
        else:
            at += 1
    return -1


def _lead(text: str, node: Node) -> str:
    """What precedes an item: a new line, or a space."""
    first, last = node.items[0], node.items[-1]
    front = text[node.start + 1 : first.start]
    if "\n" not in front:
        return " " if len(node.items) < 2 or text[last.start - 1] == " " else ""
    line = text.rfind("\n", 0, last.start)
    indent = text[line + 1 : last.start]
    newline = "\r\n" if text[line - 1 : line] == "\r" else "\n"
    return newline + (indent if not indent.strip() else front.rpartition("\n")[2])


def _list_at(text: str, path: Sequence[str]) -> Node | None:
    node = scan(text)
    for key in path:
        if node is None:
            return None
        if node.kind != "object":
            raise Malformed(f"an object is needed above {json.dumps(key)}", node.start)
        member = member_of(text, node, key)
        if member is None:
            return None
        node = member.node
    if node is None:
        return None
    if node.kind != "array":
        raise Malformed(f"{json.dumps('.'.join(path))} is no list", node.start)
    return opened(text, node)
