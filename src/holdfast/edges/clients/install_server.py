"""Adds Holdfast's entry to a client's settings and removes it again.

Each edit is tried in memory first: what comes out must say what the file said before, plus or minus
the entry, or nothing is written. It decides what happens; the command line prints it.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from holdfast.edges.clients import Client, settings_file
from holdfast.edges.clients.jsonc import Malformed, line_and_column
from holdfast.edges.clients.program import is_ours, line_of
from holdfast.errors import AlreadyExists, Conflict, InvalidInput, StoreError

# A client that is running may write its file at any time; one that writes it this often in the
# blink of an eye is not to be won against.
_TRIES = 5

# A file is foreign where the person has one of their own in the place of ours.
Result = Literal["added", "updated", "replaced", "unchanged", "removed", "absent", "foreign"]


class Outcome(NamedTuple):
    """The result of setting up a client, also of a dry run: the file before and after, and the path
    of the backup."""

    client: Client
    path: str
    result: Result
    entry: Mapping[str, Any] | None
    before: str
    after: str | None  # None if the file is gone, or would be
    backup: str | None = None
    # Whether the person has edited our file: if it is removed, its backup stays.
    is_edited: bool = False

    @property
    def changed(self) -> bool:
        return self.result not in ("unchanged", "absent", "foreign")


class EntryState(NamedTuple):
    """Whether a client's file has an entry of the MCP server, and which."""

    path: str
    state: Literal["ours", "other", "absent", "unreadable"]
    reason: str = ""
    # The command line of an entry of ours.
    line: tuple[str, ...] = ()


def set_up(
    client: Client,
    path: str,
    name: str,
    line: Sequence[str],
    *,
    now: datetime,
    force: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """Makes the MCP server's entry in a client's file start this command line. The caller holds the
    lock."""

    def edit(text: str | None) -> Outcome:
        return _with_entry(client, path, text or "", name, line, force=force)

    return written(client, path, edit, now=now, dry_run=dry_run)


def tear_down(
    client: Client,
    path: str,
    name: str,
    *,
    now: datetime,
    force: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """Removes the MCP server's entry from a client's file, if it is ours. The caller holds the
    lock."""

    def edit(text: str | None) -> Outcome:
        return _without_entry(client, path, text or "", name, force=force)

    return written(client, path, edit, now=now, dry_run=dry_run)


def look(client: Client, path: str, name: str) -> EntryState:
    """Whether a client's file has an entry of the MCP server of that name, and who wrote it."""
    try:
        data = settings_file.read(path)
        value = _parsed(client, path, settings_file.decode(path, data or b""))
        at = client.path(name, value)
        entry = _at(value, at)
    except (InvalidInput, StoreError) as error:
        return EntryState(path, "unreadable", error.message)
    if entry is None:
        return EntryState(path, "absent")
    if not is_ours(entry):
        return EntryState(path, "other")
    return EntryState(path, "ours", line=tuple(line_of(entry)))


def holds_only_ours(client: Client, path: str) -> bool:
    """Whether a client's file has our entries and nothing else."""
    try:
        data = settings_file.read(path)
        value = _parsed(client, path, settings_file.decode(path, data or b""))
        entries = _at(value, client.holder)
    except (InvalidInput, StoreError):
        return False
    only_entries = list(value) == [client.holder[0]] and isinstance(entries, Mapping)
    return only_entries and all(is_ours(entry) for entry in entries.values())


def rendered(client: Client, name: str, line: Sequence[str]) -> str:
    """The MCP server's entry as text to paste."""
    entry = client.entry(line)
    text: str = client.format.render((*client.holder, name), entry.fields | entry.first)
    return text


def written(
    client: Client,
    path: str,
    edit: Callable[[str | None], Outcome],
    *,
    now: datetime,
    dry_run: bool,
) -> Outcome:
    """Edits a file that another program may write at the same time. `edit` gets None for a missing
    file."""
    for _ in range(_TRIES):
        data = settings_file.read(path)
        outcome = edit(None if data is None else settings_file.decode(path, data))
        if not outcome.changed or dry_run:
            return outcome
        try:
            if outcome.after is None and outcome.is_edited:
                backup = settings_file.put_aside(path, old=data or b"", now=now)
                return outcome._replace(backup=backup)
            if outcome.after is None:
                settings_file.remove(path, old=data or b"")
                return outcome
            new = outcome.after.encode()
            return outcome._replace(backup=settings_file.write(path, new, old=data, now=now))
        except settings_file.FileChanged:
            continue
    raise Conflict(
        f"{path} is being written by another program all the time; nothing was changed.",
        hint=f"Quit {client.title} and try again.",
    )


def _with_entry(
    client: Client, path: str, text: str, name: str, line: Sequence[str], *, force: bool
) -> Outcome:
    value = _parsed(client, path, text)
    at = client.path(name, value)
    entry = client.entry_at(at, line)
    old = _at(value, at)
    whole = entry.fields | entry.first
    if old is None:
        new = _edited(path, text, client.format.with_value, text, at, whole)
        return _checked(Outcome(client, path, "added", whole, text, new), value, at, whole)
    if is_ours(old):
        new = _edited(path, text, client.format.with_fields, text, at, entry.fields)
        result: Result = "unchanged" if new == text else "updated"
        kept = dict(old) | entry.fields
        return _checked(Outcome(client, path, result, kept, text, new), value, at, kept)
    if not force:
        raise AlreadyExists(
            f"{path} has an entry `{name}` that Holdfast did not write.",
            hint="Give ours another name with --name, or say --force to replace it.",
        )
    cleared = _edited(path, text, client.format.without, text, at)
    new = _edited(path, text, client.format.with_value, cleared, at, whole)
    return _checked(Outcome(client, path, "replaced", whole, text, new), value, at, whole)


def _without_entry(client: Client, path: str, text: str, name: str, *, force: bool) -> Outcome:
    value = _parsed(client, path, text)
    at = client.path(name, value)
    old = _at(value, at)
    if old is None:
        return Outcome(client, path, "absent", None, text, text)
    if not is_ours(old) and not force:
        raise Conflict(
            f"{path} has an entry `{name}` that Holdfast did not write; it was left alone.",
            hint="Name ours with --name, or say --force to take this one out.",
        )
    befores = _earlier_texts(client, path, name)
    for before in befores:
        # The file has not changed since: its earlier text is restored exactly.
        if _is_reproduced(client, before, at, old, text):
            return Outcome(client, path, "removed", None, text, before)
    if not befores and not os.path.islink(path) and text == client.format.render(at, old):
        # The file is what we made of none.
        return Outcome(client, path, "removed", None, text, None)
    new = _edited(path, text, client.format.without, text, at)
    values = [_parsed(client, path, before) for before in befores]
    for end in range(len(at) - 1, 0, -1):
        # An object that is empty now was made for the entry, unless it was there all along.
        was_there = values and all(_at(one, at[:end]) is not None for one in values)
        if was_there or _at(_parsed(client, path, new), at[:end]) != {}:
            break
        new = _edited(path, new, client.format.without, new, at[:end])
    return _checked(Outcome(client, path, "removed", None, text, new), value, at, None)


def _is_reproduced(client: Client, before: str, at: Sequence[str], entry: Any, text: str) -> bool:
    """Whether adding the entry to one text results in the other."""
    try:
        return bool(client.format.with_value(before, at, entry) == text)
    except Malformed:
        return False


def _earlier_texts(client: Client, path: str, name: str) -> list[str]:
    """The texts that the file had before the entry, from its backups, newest first."""
    texts = []
    for backup in settings_file.backups(path):
        try:
            text = settings_file.decode(backup, settings_file.read(backup) or b"")
            value = _parsed(client, backup, text)
        except (InvalidInput, StoreError):
            continue
        if _at(value, client.path(name, value)) is None:
            texts.append(text)
    return texts


def _checked(outcome: Outcome, value: dict[str, Any], at: Sequence[str], entry: Any) -> Outcome:
    """The outcome, if both texts differ only in the entry."""
    wanted = copy.deepcopy(value)
    _put(wanted, at, entry)
    says = outcome.client.format.parse(outcome.after)
    if _without_empty(says, at) != _without_empty(wanted, at):
        raise StoreError(
            f"{outcome.path} cannot be changed without touching other parts of it; it was left"
            " as it is.",
            hint="Add or remove the entry yourself: --print shows it.",
        )
    return outcome


def _put(value: dict[str, Any], at: Sequence[str], entry: Any) -> None:
    holder = value
    for key in at[:-1]:
        holder = holder.setdefault(key, {})
    holder.pop(at[-1], None)
    if entry is not None:
        holder[at[-1]] = entry


def _without_empty(value: dict[str, Any], at: Sequence[str]) -> dict[str, Any]:
    """The value without empty objects on the path."""
    for end in range(len(at) - 1, 0, -1):
        if _at(value, at[:end]) == {}:
            _put(value, at[:end], None)
    return value


def _at(value: Any, at: Sequence[str]) -> Any:
    for key in at:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _parsed(client: Client, path: str, text: str) -> dict[str, Any]:
    value: dict[str, Any] = _edited(path, text, client.format.parse, text)
    return value


def _edited(path: str, text: str, edit: Callable[..., Any], *given: Any) -> Any:
    """The result of the edit; an error in the text is raised with its line and column."""
    try:
        return edit(*given)
    except Malformed as error:
        line, column = line_and_column(text, error.at)
        raise InvalidInput(
            f"{path} cannot be used as it is: line {line}, column {column}: {error.reason}.",
            hint="It was left as it is. Mend it, or add the entry yourself: --print shows it.",
        ) from None
