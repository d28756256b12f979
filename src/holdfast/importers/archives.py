"""Data exports of chat services: a zip archive, the folder that it was unpacked to, or a file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.errors import NotFound
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
