"""Settings: read from the file, then the environment, then flags; each value knows its origin.

The file is `holdfast.toml` in the home folder. `recall.limit` is written there as `limit` in the
table `[recall]`, and in the environment as `HOLDFAST_RECALL_LIMIT`. Where the file changes while a
process runs, `refresh` loads the new values; what was made from the old ones at the start stays.
`registry` declares every setting, `file` reads and writes the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.errors import InvalidSetting
from holdfast.settings.file import FILE_NAME, read_file
from holdfast.settings.registry import SETTINGS, Setting, checked, find, nearest, parsed

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
    """What tells whether a file was written since; None where there is none."""
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
