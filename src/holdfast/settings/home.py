"""Where everything lives: the folder with the store, the settings and the files of hubs."""

from __future__ import annotations

import os


def home_folder(home: str | os.PathLike[str] | None = None) -> str:
    """What was named, $HOLDFAST_HOME, or ~/.holdfast."""
    chosen = os.fspath(home) if home is not None else os.environ.get("HOLDFAST_HOME")
    return os.path.abspath(os.path.expanduser(chosen or "~/.holdfast"))
