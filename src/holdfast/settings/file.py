"""Reads and writes `holdfast.toml`, and finds the home folder it is in. A write sets or removes one
setting and leaves all else in the file as it is, comments too."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidSetting
from holdfast.settings.registry import checked, find, parsed
from holdfast.system.atomic_file import write_file

FILE_NAME = "holdfast.toml"


def read_file(path: str) -> dict[str, Any]:
    """The values of a file by name, not yet checked."""
    try:
        with open(path, "rb") as file:
            import tomllib

            tables = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (ValueError, OSError) as error:
        raise InvalidSetting(
            f"{path} cannot be read: {error}.", hint="Mend the file, or move it away."
        ) from None
    return _flat(tables)


def _flat(tables: Mapping[str, Any], front: str = "") -> dict[str, Any]:
    """Tables within tables as names with dots."""
    out: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            out.update(_flat(value, f"{front}{key}."))
        else:
            out[front + key] = value
    return out


def save(home: str, name: str, text: str | None) -> Any:
    """Writes one setting to the file (None takes it out), keeping the rest of the file."""
    path = os.path.join(home, FILE_NAME)
    there = read_file(path)  # A file that cannot be read must not be written over.
    # A name that is no setting may still be taken out, where the file has it.
    known = name if text is None and name in there else find(name).name
    value = None if text is None else parsed(find(known), text, name)
    edited = _edited(path, known, value)
    if text is not None:
        _refuse_unreadable(path, edited)
    write_file(path, edited.encode())
    return value


def _refuse_unreadable(path: str, text: str) -> None:
    """A file that would not load is not written. Taking something out is let through, so that one
    mistake after the other can go."""
    import tomllib

    try:
        after = _flat(tomllib.loads(text))
    except ValueError as error:
        raise InvalidSetting(
            f"{path} would not be readable any more: {error}.", hint="Mend the file by hand."
        ) from None
    for name, value in after.items():
        checked(find(name, where=f" in {path}"), value, path)


def _edited(path: str, name: str, value: Any) -> str:
    """The file's text with one setting changed and every comment kept."""
    import tomlkit

    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    document = tomlkit.parse(text)
    *tables, key = name.split(".")
    place: Any = document
    for table in tables:
        place = place.setdefault(table, tomlkit.table())
        if not isinstance(place, dict):
            raise InvalidSetting(
                f"{path} has a value where the table `{table}` belongs.", hint="Mend the file."
            )
    if value is not None:
        place[key] = value
    elif key in place:
        del place[key]
    return tomlkit.dumps(document)


def home_folder(home: str | os.PathLike[str] | None = None) -> str:
    """What was named, $HOLDFAST_HOME, or ~/.holdfast."""
    chosen = os.fspath(home) if home is not None else os.environ.get("HOLDFAST_HOME")
    chosen = chosen or "~/.holdfast"
    path = os.path.expanduser(chosen)
    # Else it would be in a folder named ~, or at the root of the disk.
    is_lost = path.startswith("~") or (os.name == "posix" and os.environ.get("HOME") == "")
    if chosen.startswith("~") and is_lost:
        raise InvalidSetting(
            "Where your home folder is, is not known: HOME is empty or not set.",
            hint="Set HOME, or name the folder that memories are to be kept in.",
            command="Set HOME, or name the folder of memories by --home or HOLDFAST_HOME.",
        )
    return os.path.abspath(path)
