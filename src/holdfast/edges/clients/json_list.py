"""Puts items into lists of a JSON file and takes them out; every other character stays. Beside
`json_text`, which does the same with members of objects. It knows nothing of clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.edges.clients import json_text
from holdfast.edges.clients.jsonc import Malformed, Node, member_of, opened, scan, value_of


def items_at(text: str, path: Sequence[str]) -> list[Any] | None:
    """The items of the list at a path; None where there is none."""
    node = _list_at(text, path)
    return None if node is None else [value_of(text, item) for item in node.items]


def with_item(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at the end of the list at a path, which is made where it is missing."""
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
    """The text without some items of the list at a path; a list that has none left stays empty."""
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
        # A comment stands there, and stays.
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
    """Where the comma stands in text that has nothing else but white space and comments; or -1."""
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
    """What stands before an item: a line of its own, or a space."""
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
