"""Replies of ours that are JSON: an object in a text is ours when every text in it is known.

An object is taken whole or not at all: half of one would be no JSON, and nobody's words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from holdfast.domain.memory import Memory
from holdfast.engine.echo_store import Known
from holdfast.text.bare import bare
from holdfast.text.spans import line_start

_SIGNS = ('"content"', '"text"', '"key"', '"results"', '"memories"')
_BEGINS = re.compile(r'[\[{]\s*["\[{]')
# What begins like JSON and is none costs a reading up to its flaw.
_FLAWED_MAX = 8
_DEPTH_MAX = 6
_WORDS = ("content", "text", "snippet")
# Labels that we give, and that hold nothing anybody said.
_LABELS = (
    *("category", "status", "updated_at", "created_at", "score", "count", "url", "kind"),
    *("source", "state", "layer", "number", "date", "type", "title", "metadata", "tags"),
)
# What recall says of an answer that may miss something.
_NOTES = ("only words were matched", "only its beginning was used", "no vector of this model")
_LISTS = ("memories", "results", "data", "items")

Nested = Callable[[str], list[str] | None]


def json_echoes(text: str, known: Known, nested: Nested) -> Iterator[tuple[int, int, list[str]]]:
    """The objects that are ours, with the ids of their memories. `nested` says of a text whether
    all of it is ours, and which memories it is."""
    if not any(sign in text for sign in _SIGNS):
        return
    decoder = json.JSONDecoder()
    flawed = at = 0
    while flawed < _FLAWED_MAX and (begins := _BEGINS.search(text, at)):
        at = begins.start() + 1
        if line_start(text, begins.start()) is None:
            continue
        try:
            value, at = decoder.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            flawed += 1
            continue
        ids = _ids_of(value, known, nested, _DEPTH_MAX)
        if ids or (ids is not None and _says_nothing(value)):
            yield begins.start(), at, ids


def _ids_of(value: Any, known: Known, nested: Nested, depth: int) -> list[str] | None:
    """The memories it speaks of; None where something in it is not ours."""
    if isinstance(value, str) or depth == 0:
        return None
    if isinstance(value, list):
        return _all_of(value, known, nested, depth)
    if not isinstance(value, dict):
        return []
    memory = _memory_of(value, known)
    if memory is None and ("key" in value or "id" in value):
        return None
    ids = [] if memory is None else [memory.id]
    for name, item in value.items():
        found: list[str] | None = []
        if name in _WORDS:
            found = _words(item, memory, known, nested)
        elif name in _LISTS:
            found = _all_of(item, known, nested, depth) if isinstance(item, list) else None
        elif name in ("notes", "degraded") and isinstance(item, list):
            found = [] if all(_is_note(one) for one in item) else None
        elif name == "title":
            fits = memory is not None and isinstance(item, str) and known.has_title(memory, item)
            found = [] if fits else None
        elif name not in ("key", "id", *_LABELS) and not isinstance(item, (int, float)):
            found = None
        if found is None:
            return None
        ids += found
    return ids


def _says_nothing(value: Any) -> bool:
    """Whether it is the answer that nothing was found."""
    return isinstance(value, dict) and any(value.get(name) == [] for name in _LISTS)


def _is_note(value: Any) -> bool:
    return isinstance(value, str) and any(words in value for words in _NOTES)


def _all_of(values: list[Any], known: Known, nested: Nested, depth: int) -> list[str] | None:
    out: list[str] = []
    for value in values:
        found = _ids_of(value, known, nested, depth - 1)
        if found is None:
            return None
        out += found
    return out


def _memory_of(value: dict[str, Any], known: Known) -> Memory | None:
    id_, key = value.get("id"), value.get("key")
    if isinstance(id_, str):
        return known.by_id(id_)
    if not isinstance(key, str):
        return None
    return known.by_key(key) or known.by_id(key)


def _words(item: Any, memory: Memory | None, known: Known, nested: Nested) -> list[str] | None:
    if not isinstance(item, str):
        return None
    words = bare(item).text
    maybe = [memory] if memory is not None else known.by_words(iter(item.splitlines()))
    for one in maybe:
        for rendering in known.renderings(one):
            if words == rendering or (words[-1:] == "…" and rendering.startswith(words[:-1])):
                return [one.id]
    return nested(item)
