"""Reading what a server sent, and mending what a model made up, for every protocol alike.

A server's answer is data of any shape: nothing here trusts it to be what was promised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.llm.base import Message, Usage

if TYPE_CHECKING:
    from holdfast.llm.base import ModelCall

# Far beyond what a pass may have answered; a server that says more does not keep to the tokens.
TEXT_CHARS_MAX = 100_000
# More than any model takes at once; what claims more has miscounted.
_TOKENS_MAX = 10_000_000
_CHARS_PER_TOKEN = 4
# What protocols take as the name of a tool or of a call.
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


def text_of(value: Any) -> str:
    """A text, cut where it is too long. Half a surrogate pair, which JSON can spell and no store
    can keep, becomes a question mark."""
    found = value if isinstance(value, str) else ""
    return found[:TEXT_CHARS_MAX].encode("utf-8", "replace").decode("utf-8")


def clean(text: str) -> str:
    """A text of ours that can be sent as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def arguments_of(value: Any) -> str:
    """A call's arguments as text; some servers send the object itself."""
    return text_of(value) if isinstance(value, str) else json.dumps(value)


def object_of(written: str) -> dict[str, Any]:
    """A call's arguments as an object, to send back; what is none becomes an empty one. A server
    would refuse the whole talk for it."""
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def plain_name(name: str) -> str:
    """A tool's name as a server takes it back; models make up others."""
    return name if _PLAIN.fullmatch(name) else "unknown"


def is_plain(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None


def spent(
    requests: int,
    counted: Any,
    names: tuple[str, str],
    system: str,
    messages: Sequence[Message],
    said: tuple[str, Sequence[ModelCall]],
) -> Usage:
    """What was spent, as the server counted it under these names; a guess where it counted
    nothing, so that a cap holds there too."""
    counted = counted if isinstance(counted, dict) else {}
    text, calls = said
    sent_chars = len(system) + sum(
        len(one.text) + sum(len(call.arguments) for call in one.calls) for one in messages
    )
    said_chars = len(text) + sum(len(call.arguments) for call in calls)
    return Usage(
        requests,
        _count(counted.get(names[0]), sent_chars),
        _count(counted.get(names[1]), said_chars),
    )


def _count(value: Any, chars: int) -> int:
    if type(value) is int and 0 < value <= _TOKENS_MAX:
        return value
    return chars // _CHARS_PER_TOKEN
