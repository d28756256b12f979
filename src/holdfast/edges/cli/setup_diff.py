"""The change of a settings file as a dry run shows it."""

from __future__ import annotations

import json
from difflib import unified_diff
from typing import Any

from holdfast.edges.clients import json_text
from holdfast.edges.clients.install import Outcome
from holdfast.edges.clients.jsonc import Malformed

# A longer line of a diff is a whole file on one line. It would hide the change, and show what else
# the file holds.
_LINE_CHARS_MAX = 200


def diff(outcome: Outcome) -> list[str]:
    """The lines that change, and none around them: those may hold the keys of other servers."""
    before, after = outcome.before.splitlines(), (outcome.after or "").splitlines()
    lines = list(unified_diff(before, after, outcome.path, outcome.path, lineterm="", n=0))
    if not before or not after:
        # The whole file is ours: it is new, or goes.
        return lines
    longest = max(map(len, lines[2:]), default=0)
    is_whole_file = len(before) == 1 or len(after) == 1
    changed = [line for line in lines[2:] if line.startswith("-") or is_whole_file]
    if max(map(len, changed), default=0) <= _LINE_CHARS_MAX:
        return lines
    return [
        *lines[:2],
        f"@@ inside a line of {longest:,} characters @@",
        *_values(outcome),
    ]


def _values(outcome: Outcome) -> list[str]:
    """The values that come and go, over several lines."""
    for parse in (outcome.client.format.parse, json_text.parse):
        try:
            before, after = parse(outcome.before), parse(outcome.after or "")
        except Malformed:
            continue
        return [
            *_signed("-", _only_in(before, after)),
            *_signed("+", _only_in(after, before)),
        ]
    # Each text was parsed before it was edited.
    raise AssertionError(f"{outcome.path} is in no format of {outcome.client.name}")


def _signed(sign: str, value: Any) -> list[str]:
    if not value:
        return []
    return [f"{sign}{line}" for line in json.dumps(value, indent=2, ensure_ascii=False).split("\n")]


def _only_in(value: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The members of an object, and the items of its lists, that another one does not have."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        there = other.get(key)
        if key not in other:
            found[key] = item
        elif isinstance(item, dict) and isinstance(there, dict):
            inner = _only_in(item, there)
            if inner:
                found[key] = inner
        elif isinstance(item, list) and isinstance(there, list):
            items = [one for one in item if one not in there]
            if items:
                found[key] = items
        elif item != there:
            found[key] = item
    return found
