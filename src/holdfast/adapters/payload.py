"""Values of other frameworks as memories: a text that people read and recall searches, and the
value itself, unchanged, in the metadata. A value too large for metadata is the content, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory

VALUE = "value"
# Metadata hold 64 KiB; this leaves room for what else is in them.
_VALUE_BYTES_MAX = 60_000
_TEXT_KEYS = ("content", "text", "memory", "data")


def packed(value: Mapping[str, Any], text: str) -> tuple[str, dict[str, Any]]:
    """The content and the metadata of a memory that stands for a value. `text` is what is to be
    found of it."""
    try:
        # ASCII, since content is normalised and an escaped character stays what it is.
        encoded = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"The value cannot be written as JSON: {error}.",
            hint="Use text, numbers, true, false, None, lists and dictionaries with text keys.",
        ) from None
    if len(encoded) > _VALUE_BYTES_MAX:
        return encoded, {VALUE: None}
    return text.strip() or encoded, {VALUE: json.loads(encoded)}


def unpacked(memory: Memory) -> dict[str, Any]:
    """The value that a memory stands for; of one that no adapter stored, its content."""
    if VALUE not in memory.metadata:
        return {"content": memory.content}
    found = memory.metadata[VALUE]
    if found is None:
        found = json.loads(memory.content)
    return dict(found)


def text_of(value: Any) -> str:
    """The words of a value: of its main text where it has one, else of everything in it."""
    if isinstance(value, Mapping):
        for name in _TEXT_KEYS:
            if isinstance(value.get(name), str) and value[name].strip():
                others = {key: one for key, one in value.items() if key != name}
                rest = text_of(others) if others else ""
                return f"{value[name]}\n{rest}".strip()
        lines = (f"{key}: {text_of(one)}" for key, one in value.items() if one is not None)
        return "\n".join(lines)
    if isinstance(value, list | tuple):
        return "\n".join(text_of(one) for one in value)
    return "" if value is None else str(value)
