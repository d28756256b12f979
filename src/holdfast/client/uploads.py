"""A file of this machine to a server: opened, named, and sent as a form with its fields."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO

from holdfast.api.arguments import draft_from
from holdfast.client.faults import decoded
from holdfast.domain.memory import Memory
from holdfast.domain.results import Duplicate, Quarantined, Stored, Superseded, Updated
from holdfast.errors import InvalidInput, NotFound
from holdfast.files.reading import open_regular
from holdfast.text.normalise import clean_time

if TYPE_CHECKING:
    from holdfast.client.hub import RemoteHub
    from holdfast.domain.results import Remembered

# What a server takes with a file; who sent it, it says itself.
_SAYS_ITSELF = ("source",)
_TIMES = ("occurred_at", "occurred_until", "valid_from", "valid_until", "expires_at")


def upload(hub: RemoteHub, file: Any, name: str | None, fields: dict[str, Any]) -> Remembered:
    """Sends the file and returns what became of it."""
    form = _form(fields)
    if isinstance(file, str | os.PathLike):
        path = os.fspath(file)
        try:
            if os.path.isdir(path):
                raise InvalidInput(f"{path} is a folder.", hint="Use index_files for folders.")
            with open_regular(path) as opened:
                return _send(hub, opened, name or os.path.basename(path), form)
        except FileNotFoundError:
            raise NotFound(f"There is no file {path}.", hint="Check the name.") from None
    if not hasattr(file, "read"):
        raise InvalidInput(f"A file is a path or an open file, not {type(file).__name__}.")
    named = name or os.path.basename(str(getattr(file, "name", "")))
    return _send(hub, file, named, form)


def _send(hub: RemoteHub, file: BinaryIO, name: str, form: dict[str, Any]) -> Remembered:
    answer = hub.server.upload("/memories/upload", file, name or "file", form, hub=hub.id)
    url = hub.server.url
    memory = decoded(url, Memory, answer["data"])
    match answer["result"]:
        case "stored":
            close = answer.get("close_to")
            return Stored(memory, answer["change"], close and decoded(url, Memory, close))
        case "updated":
            return Updated(memory, answer["change"], decoded(url, Memory, answer["previous"]))
        case "superseded":
            return Superseded(memory, answer["change"], decoded(url, Memory, answer["previous"]))
        case "quarantined":
            return Quarantined(memory, answer["change"], answer["reason"])
        case _:
            return Duplicate(memory)


def _form(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as a form has them: texts, tags once for each, metadata as JSON."""
    import json

    # The library's own check of names and values; the content is the file's.
    draft_from({**fields, "content": "-"})
    out: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None or name in _SAYS_ITSELF:
            continue
        if name in _TIMES:
            value = clean_time(value)
            value = None if value is None else value.isoformat()
        if name == "metadata":
            out[name] = json.dumps(dict(value), ensure_ascii=False)
        elif isinstance(value, bool):
            out[name] = "true" if value else "false"
        else:
            out[name] = [*value] if name == "tags" else str(value)
    return out
