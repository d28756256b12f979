"""The platform of a person (system, environment, folders), passed in as values so that the rules of
every system can be tested on any; and the command line in an entry: how a client starts this
Holdfast from any folder, and how an entry is known to be one of ours."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.errors import InvalidInput


class Platform(NamedTuple):
    """The machine as the rules for clients' paths see it; `platform` is one of sys.platform's
    words."""

    platform: str
    environ: Mapping[str, str]
    home: str
    folder: str

    def at_home(self, *parts: str) -> str:
        return os.path.join(self.home, *parts)

    def named(self, variable: str) -> str:
        """The folder that a variable names, or ''; one that is not absolute does not count, as the
        XDG rules have it."""
        value = self.environ.get(variable, "")
        return value if os.path.isabs(value) else ""

    @property
    def config(self) -> str:
        """$XDG_CONFIG_HOME, or ~/.config: on every system for those who follow the XDG rules."""
        return self.named("XDG_CONFIG_HOME") or self.at_home(".config")

    @property
    def app_data(self) -> str:
        """The folder for a program's own files on this system."""
        if self.platform == "win32":
            return self.named("APPDATA") or self.at_home("AppData", "Roaming")
        if self.platform == "darwin":
            return self.at_home("Library", "Application Support")
        return self.config

    @property
    def local_app_data(self) -> str:
        """The same for files that do not move with the person; only Windows distinguishes them."""
        return self.named("LOCALAPPDATA") or self.at_home("AppData", "Local")

    @property
    def project(self) -> str:
        """The project at hand: the nearest folder above with a `.git`, else the folder itself. A
        home folder that is a repository keeps somebody's settings, and is no project."""
        folder = self.folder
        while folder != self.home:
            if os.path.exists(os.path.join(folder, ".git")):
                return folder
            above = os.path.dirname(folder)
            if above == folder:
                break
            folder = above
        return self.folder


def here() -> Platform:
    """This machine, this person, this folder."""
    return Platform(sys.platform, os.environ, os.path.expanduser("~"), os.getcwd())


# -P keeps Python from looking for modules in the folder the client happens to be in: a project may
# hold a file with any name.
_AS_MODULE = ("-P", "-m", "holdfast")

_CACHE = re.compile(r"[\\/](?:archive-v\d+|pipx[\\/]\.cache)[\\/]")


def program(script: str, executable: str) -> list[str]:
    """The command line of the running Holdfast, for a client's entry: its script if it has one,
    else its Python.

    Links are not followed: those that tools make in a folder of programs stay, what they lead to
    moves with each version.
    """
    path = os.path.abspath(script)
    if _stem(path) == "holdfast":
        # On Windows the script's name is handed over without its ending.
        for candidate in (path, f"{path}.exe"):
            if os.path.isfile(candidate):
                return [candidate]
    return [os.path.abspath(executable), *_AS_MODULE]


# A project's settings are shared: each person has the program in a place of their own.
ON_PATH = ("holdfast",)


def command_line(
    start: Sequence[str],
    *,
    hub: str | None = None,
    dialect: str | None = None,
    home: str | None = None,
    read_only: bool = False,
    all_tools: bool = False,
    hooks: bool = False,
) -> list[str]:
    """The whole command line of a client's entry; an option that was not given is not in it."""
    line = [*start, "mcp", *(["--hooks"] if hooks else [])]
    if home is not None:
        line += ["--home", os.path.abspath(os.path.expanduser(home))]
    if hub is not None:
        line += ["--hub", hub]
    if dialect is not None:
        line += ["--dialect", dialect]
    line += ["--read-only"] * read_only + ["--all-tools"] * all_tools
    for word in line:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise InvalidInput(
                f"{word!r} cannot be written into a settings file: it is not Unicode.",
                hint="Use a path with a name that is.",
            ) from None
    return line


def is_passing(path: str) -> bool:
    """Whether a program lies in a cache of uv or pipx, from where it was run once: it is gone when
    the cache is cleared."""
    return _CACHE.search(path) is not None


def is_ours(entry: Any) -> bool:
    """Whether an entry starts Holdfast's MCP server as we write it: by its script or as a module.
    Whatever else a person made of it is theirs."""
    line = line_of(entry) if isinstance(entry, Mapping) else []
    if line[1:2] == ["mcp"]:
        return _stem(line[0]) == "holdfast"
    return any(line[at : at + 3] == ["-m", "holdfast", "mcp"] for at in range(1, len(line)))


def line_of(entry: Mapping[str, Any]) -> list[str]:
    """The words of the command line that an entry starts; none if they are no words."""
    command, args = entry.get("command"), entry.get("args", [])
    words = command if isinstance(command, list) else [command]
    if not isinstance(args, list):
        return []
    line = [*words, *args]
    return line if all(isinstance(word, str) for word in line) else []


def _stem(path: str) -> str:
    """A program's name; the path may be one of another system."""
    return re.split(r"[\\/]", path)[-1].lower().removesuffix(".exe")
