"""`/memories/MEMORY.md`: the hub's long-term memories as a file among its files. An edit of it is
an edit of memories: it is read clean and written as a difference. It is never deleted or renamed.

A hub without long-term memories has no such file, and one of that name among its own files goes
first: then it is a file like any other.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.agents.desk import Desk
from holdfast.errors import AlreadyExists, InvalidInput
from holdfast.files.line_edits import Edited
from holdfast.files.tool_files.operations import Files
from holdfast.files.tool_files.paths import ROOT, folded
from holdfast.files.tool_files.tree import Shown

NAME = "MEMORY.md"
PATH = f"{ROOT}/{NAME}"


def text_of(desk: Desk, files: Files) -> str | None:
    """What the hub's long-term memories say; None where they are not to be seen at this path."""
    if files.has(PATH) or not desk.hub.list(layer="long_term", limit=1):
        return None
    return desk.hub.read_memory_md(source_agent=desk.agent)


def listed(desk: Desk, files: Files, items: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """The entries of the root with this one in its place."""
    text = text_of(desk, files)
    if text is None:
        return items
    mine = Shown(NAME, len(text.encode()), False)
    return tuple(sorted((*items, mine), key=lambda item: item.path.split("/")))


def edited(desk: Desk, files: Files, change: Callable[[str], Edited]) -> tuple[Edited, str] | None:
    """The text after a change, and what is to be said of it; None where the path is no such file.

    One editor at a time: a second one would be compared with what the first has read.
    """
    if text_of(desk, files) is None:
        return None
    with files.alone():
        text = text_of(desk, files)
        if text is None:
            return None
        made = change(text)
        done = desk.hub.rewrite_memory_md(
            made.text, trust=desk.trust, source=desk.source, source_agent=desk.agent
        )
        desk.take_held()  # The notes say what is held.
        after = desk.hub.read_memory_md(source_agent=desk.agent) or ""
    return made._replace(text=after), "".join(f"\n{note}" for note in done.notes)


def refuse_new(desk: Desk, files: Files, path: str, taken: str) -> None:
    """Refuses to put a file where this one is, or where some systems would take it for this one."""
    if folded(path) != folded(PATH) or text_of(desk, files) is None:
        return
    if path == PATH:
        raise AlreadyExists(taken)
    raise AlreadyExists(
        f"The path {path} cannot be used: {PATH} is there, and some systems take the two for one.",
        hint="Use another name.",
    )


def refuse_away(desk: Desk, files: Files, path: str, verb: str) -> None:
    """Refuses to delete or rename it."""
    if path == PATH and text_of(desk, files) is not None:
        raise InvalidInput(
            f"{PATH} holds the long-term memories and cannot be {verb}.",
            hint="Take out what no longer holds with str_replace.",
        )
