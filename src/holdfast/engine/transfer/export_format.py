"""The lines of an export, read and checked: each as the value that it says. Knows nothing of a
store; what is wrong with a line is said with its number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import from_text
from holdfast.domain.codec import fields_from_plain, memory_from_plain
from holdfast.domain.memory import STATES, TIMES, Memory
from holdfast.domain.records import Turn
from holdfast.engine.writing.drafts import clean_fields
from holdfast.errors import HoldfastError, InvalidInput
from holdfast.text.normalise import clean_content, clean_time, content_hash, one_of

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub

FORMAT = "holdfast-hub"
FORMAT_VERSION = 1


class Line(NamedTuple):
    """A line of the file: which one, what it says, and how long it is."""

    number: int
    said: dict[str, Any]
    chars: int


def parsed(lines: Iterable[str]) -> Iterator[Line]:
    """The lines but the last, which counts them: a file that was cut off is noticed."""
    count = 0
    ended = False
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        if ended:
            raise InvalidInput(f"Line {number} comes after the end of the export.")
        try:
            line = json.loads(text)
            if "\\u" in text:
                # Half a character can be written as an escape, but not be stored.
                json.dumps(line, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict) or "type" not in line:
            raise InvalidInput(
                f"Line {number} is not a line of an export.",
                hint="Import what `holdfast export` has written.",
            )
        if line["type"] == "end":
            ended = True
            if line.get("lines") != count:
                raise InvalidInput(
                    f"The file says it has {line.get('lines')} lines, but {count} were there.",
                    hint="It was changed or damaged; export it again.",
                )
            continue
        count += 1
        yield Line(number, line, len(text))
    if count and not ended:
        raise InvalidInput(
            "The file ends too early: its last line is missing.", hint="Export it again."
        )


Value: TypeAlias = Memory | Change | Revision | Turn | Receipt


def value_of(line: dict[str, Any], hub: Hub, bytes_max: int) -> Value:
    """What the line says; one of UNREADABLE where it cannot be read."""
    fields = {name: value for name, value in line.items() if name != "type"}
    _storable(fields)
    match line["type"]:
        case "memory":
            return memory_from_plain({**_checked(fields, bytes_max), "hub_id": hub.id})
        case "change":
            _texts(fields, "id", "actor", "action")
            return Change(**{**fields, "hub_id": hub.id, "at": from_text(fields["at"])})
        case "revision":
            _texts(fields, "change_id", "memory_id")
            count_of(fields, "version")
            at, changed = from_text(fields.pop("at")), fields_from_plain(fields.pop("fields"))
            return Revision(sequence=0, at=at, fields=changed, **fields)
        case "turn":
            _texts(fields, "id", "role", "content")
            return Turn(**{**fields, "hub_id": hub.id, "at": from_text(fields["at"])})
        case "receipt":
            _texts(fields, "memory_id", "actor")
            count_of(fields, "number")
            count_of(fields, "revisions", least=0)
            return Receipt(**{**fields, "at": from_text(fields["at"])})
        case other:
            raise ValueError(f"there is no line type {other!r}")


# What an import checks as a caller's words would be; the rest was written by Holdfast itself.
_CHECKED = frozenset(
    {"content_type", "kind", "stability", "boundary", "layer", "trust", "source"}
    | {"key", "category", "tags", "metadata"}
)
_COUNTS = {"number": 1, "version": 1, "access_count": 0, "shown_count": 0, "mention_count": 0}
# The integers of every store end here.
_COUNT_MAX = 2**63 - 1
UNREADABLE = (KeyError, IndexError, ValueError, TypeError, AttributeError, OverflowError)


def _checked(fields: dict[str, Any], bytes_max: int) -> dict[str, Any]:
    """The fields of a memory, each as the door would have let it in."""
    content = clean_content(fields["content"], bytes_max=bytes_max)
    if fields.get("content_hash") != content_hash(content):
        raise ValueError("the content does not match its hash")
    for name in TIMES:
        clean_time(fields.get(name))
    for name, least in _COUNTS.items():
        if name in fields or name == "number":
            count_of(fields, name, least=least)
    _texts(fields, "id", "title", "owner")
    if not isinstance(fields.get("pinned", False), bool):
        raise ValueError("pinned must be true or false")
    out = {**fields, **clean_fields({n: fields[n] for n in _CHECKED if n in fields})}
    if "state" in out:
        out["state"] = one_of(out["state"], STATES, "state")
    return out


def count_of(fields: dict[str, Any], name: str, *, least: int = 1) -> int:
    value = fields[name]
    if type(value) is not int or not least <= value <= _COUNT_MAX:
        raise ValueError(f"{name} must be a whole number from {least}, not {value!r}")
    return value


def text_of(fields: dict[str, Any], name: str) -> str:
    value = fields[name]
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be text, not {value!r}")
    return value


def _texts(fields: dict[str, Any], *names: str) -> None:
    for name in names:
        text_of(fields, name)


def _storable(fields: dict[str, Any]) -> None:
    """Refuses text that a store could not keep. Halves of characters were seen with the line."""
    for name, value in fields.items():
        if isinstance(value, str) and "\0" in value:
            raise ValueError(f"{name} has a NUL character")


def bad_line(number: int, error: Exception) -> HoldfastError:
    """What is wrong with a line, as a sentence."""
    return InvalidInput(
        f"Line {number} cannot be read: {_reason(error)}.",
        hint="Nothing was imported; export it again.",
    )


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return (error.message if isinstance(error, HoldfastError) else str(error)).rstrip(".")
