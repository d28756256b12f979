"""Lets a person edit a text in their own editor: that of VISUAL or EDITOR, or vi."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile

from holdfast.errors import InvalidInput


def edited(text: str, *, instead: str) -> str | None:
    """The text after the editor had it; None where nothing is left of it. `instead` is the command
    that does without one."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    # For this user alone, and gone afterwards.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "item.txt")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        try:
            ended = subprocess.run([*shlex.split(editor), path], check=False)
        except OSError as error:
            raise InvalidInput(
                f"The editor {editor!r} cannot be started: {error.strerror}.",
                hint=f"Set EDITOR, or give the text: {instead}.",
            ) from None
        if ended.returncode:
            raise InvalidInput(f"The editor {editor!r} failed, so nothing was changed.")
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            after = file.read()
    # Editors end the last line.
    after = after if text.endswith("\n") else after.removesuffix("\n")
    return after if after.strip() else None
