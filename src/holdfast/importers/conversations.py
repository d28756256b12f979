"""Data exports of chat services (a zip archive, the folder that it was unpacked to, or a file), and
conversations as documents: turns with their times, as `text.chunking` reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from holdfast.errors import NotFound
from holdfast.importers.record import Found, Record, Skipped
from holdfast.importers.text_files import is_zip, member, parse_json, read_json, zip_members


class Export:
    """The JSON files of an export, by name, each read when it is asked for."""

    def __init__(self, path: str, names: list[str], load: Callable[[str], Any]) -> None:
        self.path, self._names, self._load = path, names, load

    def all_named(self, pattern: str) -> Iterator[Any]:
        """What is in each file whose name, without its folder, matches."""
        for name in self._names:
            if re.fullmatch(pattern, os.path.basename(name)):
                yield self._load(name)

    def items(self, pattern: str) -> Iterator[dict[str, Any]]:
        """The objects in the lists of these files."""
        for value in self.all_named(pattern):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict):
                    yield one

    def has(self, pattern: str) -> bool:
        return any(re.fullmatch(pattern, os.path.basename(name)) for name in self._names)


@contextmanager
def open_export(path: str) -> Iterator[Export]:
    """The export; NotFound where the path leads nowhere."""
    if os.path.isdir(path):
        names = sorted(
            os.path.relpath(os.path.join(folder, name), path)
            for folder, _, files in os.walk(path)
            for name in files
            if name.endswith(".json") and not os.path.islink(os.path.join(folder, name))
        )
        yield Export(path, names, lambda name: read_json(os.path.join(path, name)))
    elif is_zip(path):
        with zip_members(path) as archive:
            inside = sorted(one for one in archive.namelist() if one.endswith(".json"))
            yield Export(
                path,
                inside,
                lambda name: parse_json(member(archive, name, path), f"{name} in {path}"),
            )
    elif os.path.exists(path):
        yield Export(path, [os.path.basename(path)], lambda name: read_json(path))
    else:
        raise NotFound(f"There is no file or folder {path}.", hint="Check the path.")


# A longer conversation is cut into parts, each a document: half of what one memory may hold, as
# characters may take several bytes.
_PART_CHARS_MAX = 700_000
_NAMES = {"user": "User", "human": "User", "assistant": "Assistant", "ai": "Assistant"}


class Turn(NamedTuple):
    """Who said what, and when."""

    role: str
    text: str
    at: datetime | None = None


def conversation(
    name: str,
    turns: Sequence[Turn],
    *,
    title: str = "",
    created: datetime | None = None,
    updated: datetime | None = None,
    scope: str = "",
    labels: tuple[str, ...] = (),
    noted: dict[str, Any] | None = None,
) -> Iterator[Found]:
    """The conversation as a record, or several where it is long."""
    said = [turn for turn in turns if turn.text.strip()]
    if not said:
        yield Skipped(name, "nothing is said in it")
        return
    for number, part in enumerate(_parts(said), 1):
        yield Record(
            name if number == 1 else f"{name}#{number}",
            "\n\n".join(part),
            created=created or said[0].at,
            updated=updated,
            title=title if number == 1 else f"{title} ({number})",
            category="conversation",
            kind="episodic",
            layer="library",
            content_type="chat",
            scope=scope,
            labels=labels,
            session=name,
            event=True,
            noted=noted or {},
        )


def _parts(turns: Sequence[Turn]) -> Iterator[list[str]]:
    part: list[str] = []
    chars = 0
    for turn in turns:
        line = _line(turn)
        if part and chars + len(line) > _PART_CHARS_MAX:
            yield part
            part, chars = [], 0
        part.append(line)
        chars += len(line)
    yield part


def _line(turn: Turn) -> str:
    name = _NAMES.get(turn.role, turn.role.capitalize() or "User")
    text = turn.text.strip()[:_PART_CHARS_MAX]
    if turn.at is None:
        return f"{name}: {text}"
    return f"[{turn.at.astimezone(UTC):%Y-%m-%d %H:%M}] {name}: {text}"
