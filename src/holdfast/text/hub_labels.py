"""The name of the hub that belongs to a user, an agent or a namespace of another program.

A label is written in lower-case ASCII: other bytes as `_xx` in hexadecimal, an underscore as `__`.
So two labels never share a hub, not even on file systems that ignore case. A name that would be too
long for a hub is a digest instead.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from holdfast.errors import InvalidInput
from holdfast.text.clean import HUB_NAME_CHARS_MAX

# The application that adapters and importers use where none is named.
DEFAULT_APP = "agents"
# In the metadata of memories in hubs that are named by a digest.
SCOPE = "scope"

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-")
_ESCAPE = re.compile(r"__|_[0-9a-f]{2}")
# An underscore before a dot is no escape, so no label is written like it.
DIGEST_MARK = "_."
# 128 bits tell hubs apart. Before them come 16 bits of each of the first labels, where there is
# room, so that a search by the first labels need not look into every such hub.
_DIGEST_CHARS = 32
_HINT_CHARS = 4


def prefix_of(app: str) -> str:
    """The prefix of the names of all hubs of an application."""
    prefix = written(app) + "."
    if _chars_left(prefix) < 0:
        raise InvalidInput(
            f"The name of the app, {app!r}, is too long.",
            hint="Use at most 20 letters and digits.",
        )
    return prefix


def _chars_left(prefix: str) -> int:
    return HUB_NAME_CHARS_MAX - len(prefix) - len(DIGEST_MARK) - _DIGEST_CHARS


def name_of(prefix: str, labels: Sequence[str]) -> str:
    """The name of the hub of these labels."""
    if not labels:
        raise InvalidInput("A hub needs at least one label.", hint="Name a user or namespace.")
    name = prefix + ".".join(written(label) for label in labels)
    if len(name) <= HUB_NAME_CHARS_MAX:
        return name
    # Of the name, in which labels cannot run into each other.
    digest = _digest(name)[:_DIGEST_CHARS]
    return f"{prefix}{DIGEST_MARK}{hints(prefix, labels)}{digest}"


def is_digest(prefix: str, name: str) -> bool:
    """Whether the name does not hold the labels."""
    return name.startswith(prefix + DIGEST_MARK)


def hints(prefix: str, labels: Sequence[str]) -> str:
    """The beginning of the digest of labels that begin with these."""
    room = _chars_left(prefix) // _HINT_CHARS
    return "".join(_digest(label)[:_HINT_CHARS] for label in labels[:room])


def labels_of(prefix: str, name: str) -> tuple[str, ...] | None:
    """The labels of a hub by its name; None if no labels give that name."""
    try:
        labels = tuple(_read(part) for part in name.removeprefix(prefix).split("."))
        return labels if name_of(prefix, labels) == name else None
    except (InvalidInput, UnicodeDecodeError):
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def written(label: str) -> str:
    """A label as it is written in the name of a hub."""
    if not isinstance(label, str) or not label:
        raise InvalidInput(f"{label!r} cannot name a hub.", hint="Use a text that is not empty.")
    try:
        encoded = label.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{label!r} holds characters that are not text.") from None
    return "".join(
        chr(byte) if byte in _PLAIN else "__" if byte == 0x5F else f"_{byte:02x}"
        for byte in encoded
    )


def _read(part: str) -> str:
    def byte_of(found: re.Match[str]) -> str:
        return "_" if found[0] == "__" else chr(int(found[0][1:], 16))

    return _ESCAPE.sub(byte_of, part).encode("latin-1").decode()
