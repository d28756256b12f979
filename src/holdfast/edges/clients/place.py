"""Where a person is: the system, the environment, the home folder and the folder at hand.

They are handed in as values, so that the rules of every system can be tried on any. Only `here`
asks the machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple


class Place(NamedTuple):
    """The machine as the rules for paths see it; `platform` is one of sys.platform's words."""

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
        """Where the system wants a program's own files."""
        if self.platform == "win32":
            return self.named("APPDATA") or self.at_home("AppData", "Roaming")
        if self.platform == "darwin":
            return self.at_home("Library", "Application Support")
        return self.config

    @property
    def local_app_data(self) -> str:
        """The same for files that do not move with the person; only Windows tells them apart."""
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


def here() -> Place:
    """This machine, this person, this folder."""
    return Place(sys.platform, os.environ, os.path.expanduser("~"), os.getcwd())
