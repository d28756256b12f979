"""Settings: read from the file, then the environment, then flags; each value knows its origin.

The file is `holdfast.toml` in the home folder. `recall.limit` is written there as `limit` in the
table `[recall]`, and in the environment as `HOLDFAST_RECALL_LIMIT`. Where the file changes while a
process runs, `refresh` loads the new values; objects made from the old ones at the start stay. A
write sets or removes one setting and leaves everything else in the file unchanged, comments too.
`registry` declares every setting.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidSetting
from holdfast.settings.registry import SETTINGS, Setting, checked, find, nearest, parsed
from holdfast.system.named_tuple import NamedTuple

FILE_NAME = "holdfast.toml"


def read_file(path: str) -> dict[str, Any]:
    """The values of a file by name, not yet checked."""
    try:
        with open(path, "rb") as file:
            import tomllib

            tables = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        raise InvalidSetting(
            f"{path} cannot be read: {error.strerror}.",
            hint="Check who owns it and its folder, or name another folder.",
            command="Check who owns it and its folder, or name another folder with --home.",
        ) from None
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
    from holdfast.system.atomic_file import write_file

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
    """The home folder: the one given, $HOLDFAST_HOME, or ~/.holdfast."""
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


__all__ = ["FILE_NAME", "SETTINGS", "Setting", "Settings", "Value", "find", "load", "read_file"]


class Value(NamedTuple):
    """A setting's value and where it came from."""

    value: Any
    origin: str


class Settings:
    """The values in force, read from a file and held under an environment and flags."""

    def __init__(self, path: str, environ: Mapping[str, str], flags: Mapping[str, Any]) -> None:
        self.path = path
        self._environ, self._flags = environ, flags
        # Before the reading: what is written meanwhile is read again.
        self._seen = _mark_of(path)
        self._values = _values(path, environ, flags)

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            find(name)  # Raises, and names the nearest setting.
        return self._values[name].value

    def origin(self, name: str) -> str:
        return self._values[find(name).name].origin

    def refresh(self) -> None:
        """Reads the file again if its modification time has changed. A file that cannot be read, or
        has an invalid value, changes nothing; that is logged once."""
        seen = _mark_of(self.path)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._values = _values(self.path, self._environ, self._flags)
        except InvalidSetting as error:
            import logging

            logging.getLogger("holdfast.settings").warning(
                "the settings stay as they were: %s", error
            )


def _mark_of(path: str) -> tuple[int, int, int] | None:
    """A value that changes when the file is written; None if there is no file."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def load(
    home: str,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Reads the settings of a home folder; flags of None do not count."""
    environ = os.environ if environ is None else environ
    ours = {name: text for name, text in environ.items() if name.startswith(_OURS)}
    _refuse_unknown(ours)
    return Settings(os.path.join(home, FILE_NAME), ours, dict(flags or {}))


def _values(path: str, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Mapping[str, Value]:
    values = {setting.name: Value(setting.default, "default") for setting in SETTINGS}
    for name, value in read_file(path).items():
        setting = find(name, where=f" in {path}")
        values[setting.name] = Value(checked(setting, value, path), path)
    for setting in SETTINGS:
        if (text := environ.get(setting.variable)) is not None:
            value = parsed(setting, text, setting.variable)
            values[setting.name] = Value(value, setting.variable)
    for name, value in flags.items():
        if value is not None:
            values[name] = Value(checked(find(name), value, "flag"), "flag")
    return values


# Variables that are no settings: where the home folder is, whether errors show where they come
# from, the key of the MCP server, the server that commands are for and its key, which must not be
# in a file of settings; and what tests and tools around Holdfast name for themselves.
_NO_SETTINGS = (
    *("HOLDFAST_HOME", "HOLDFAST_DEBUG", "HOLDFAST_MCP_KEY"),
    *("HOLDFAST_SERVER", "HOLDFAST_KEY"),
)
_FOR_TESTS = "HOLDFAST_TEST_"
_OURS = "HOLDFAST_"


def _refuse_unknown(environ: Mapping[str, str]) -> None:
    """A variable with a slip in its name would be passed over in silence."""
    if not environ:
        return
    known = [setting.variable for setting in SETTINGS] + [*_NO_SETTINGS]
    for name in sorted(environ):
        if name in known or name.startswith(_FOR_TESTS):
            continue
        raise InvalidSetting(
            f"The environment variable {name} is no setting.", hint=nearest(name, known)
        )
