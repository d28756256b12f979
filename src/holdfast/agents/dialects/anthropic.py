"""Anthropic's client-side memory tool `memory_20250818` over a hub's files: one tool, six commands,
replies to the letter. `files.tool_files.operations` carries the commands out; this module words the
replies.

`/memories/MEMORY.md` is the hub's long-term memories as a file among its files. An edit of it is an
edit of memories: it is read clean and written as a difference. It is never deleted or renamed. A
hub without long-term memories has no such file, and one of that name among its own files goes
first: then it is a file like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.agents import ToolContext
from holdfast.agents.dialects import read_dialect
from holdfast.errors import AlreadyExists, InvalidInput
from holdfast.files.tool_files import ROOT, folded
from holdfast.files.tool_files.operations import Edited, Files, FileText, inserted, replaced
from holdfast.files.tool_files.tree import Listing, Shown

# The tool's own bound: line numbers are six wide.
LINES_MAX = 999_999
_NUMBER_WIDTH = 6
# Lines shown before and after the one on which an edit begins.
_AROUND = 2
_UNITS = ("B", "K", "M", "G")
# A file or a folder as it was shown. Each repeated part begins with a line end, so that there is
# only one way to read it.
_OWN_REPLY = re.compile(
    r"Here's the content of /memories/[^\n]* with line numbers:(?:\n *\d+\t[^\n]*)+\n?"
    r"|Here're the files and directories up to 2 levels deep in /memories[^\n]*"
    r"(?:\n\S+\t/[^\n]*)+\n?"
)


def _memory(ctx: ToolContext, given: dict[str, Any]) -> str:
    run, needed = _COMMANDS[given["command"]]
    missing = [name for name in needed if given[name] is None]
    if missing:
        raise InvalidInput(
            f"The command {given['command']} needs {' and '.join(missing)}.",
            hint=f"It takes {', '.join(needed)}.",
        )
    return run(ctx, _files(ctx), given)


def _refuse_echo(ctx: ToolContext, text: str) -> None:
    """Refuses a text that is nothing but what memory has handed out. With other words around it, it
    is the agent's own text and stored unchanged."""
    heard = ctx.hub.heard(text)
    if heard.nothing_new:
        raise InvalidInput(heard.sentence)
    if _OWN_REPLY.fullmatch(text):
        raise InvalidInput("This is an answer of memory itself; nothing new was stored.")


def _files(ctx: ToolContext) -> Files:
    return ctx.hub.files(trust=ctx.trust, source=ctx.source, source_agent=ctx.agent)


def _view(ctx: ToolContext, files: Files, given: dict[str, Any]) -> str:
    path = given["path"]
    text = _memory_md_text(ctx, files) if path == _MEMORY_MD_PATH else None
    found = files.look(path) if text is None else FileText(path, text)
    if isinstance(found, FileText):
        return _page(found, given["view_range"])
    if found.path == ROOT:
        found = found._replace(items=_with_memory_md(ctx, files, found.items))
    return _listing(found)


def _listing(found: Listing) -> str:
    lines = [
        f"Here're the files and directories up to 2 levels deep in {found.path},"
        " excluding hidden items:",
        f"{_size(found.size_bytes)}\t{found.path}",
    ]
    for item in found.items:
        end = "/" if item.folder else ""
        lines.append(f"{_size(item.size_bytes)}\t{found.path}/{item.path}{end}")
    return "\n".join(lines)


def _page(found: FileText, view_range: Any) -> str:
    lines = found.text.split("\n")
    if len(lines) > LINES_MAX:
        raise InvalidInput(f"File {found.path} exceeds maximum line limit of {LINES_MAX:,} lines.")
    first, last = _range(view_range, len(lines))
    numbered = _numbered(lines, first, last)
    return f"Here's the content of {found.path} with line numbers:\n{numbered}"


def _range(given: Any, count: int) -> tuple[int, int]:
    """The first and the last line meant, counted from 1; all of them where nothing is given."""
    if given is None:
        return 1, count
    whole = isinstance(given, Sequence) and all(type(part) is int for part in given)
    if whole and not isinstance(given, str) and len(given) == 2:
        first, last = given
        if last == -1:
            last = count
        if 1 <= first <= count and first <= last:
            return first, min(last, count)
    raise InvalidInput(
        "Invalid `view_range` parameter. It should be two whole numbers, the first and the last "
        f"line, within the range [1, {count}]; -1 as the last means the end of the file."
    )


def _numbered(lines: Sequence[str], first: int, last: int) -> str:
    shown = enumerate(lines[first - 1 : last], first)
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{line}" for number, line in shown)


def _size(count: int) -> str:
    """`0B`, `512B`, `1.5K`, `4K`: a point only where it is needed."""
    unit = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    size = count / 1024**unit
    return f"{int(size)}{_UNITS[unit]}" if size == int(size) else f"{size:.1f}{_UNITS[unit]}"


def _create(ctx: ToolContext, files: Files, given: dict[str, Any]) -> str:
    path = given["path"]
    _refuse_memory_md(ctx, files, path, f"File {path} already exists")
    _refuse_echo(ctx, given["file_text"])
    files.create(path, given["file_text"])
    return f"File created successfully at: {path}"


def _str_replace(ctx: ToolContext, files: Files, given: dict[str, Any]) -> str:
    path, old, new = given["path"], given["old_str"], given["new_str"]
    _refuse_echo(ctx, new)
    note = ""
    edited: Edited | None = None
    if path == _MEMORY_MD_PATH:
        made = edit_memory_md(ctx, files, lambda text: replaced(text, old, new, path))
        edited, note = made or (None, "")
    if edited is None:
        edited = files.replace(path, old, new)
    lines = edited.text.split("\n")
    first = max(0, edited.line - _AROUND) + 1
    snippet = _numbered(lines, first, min(len(lines), edited.line + _AROUND + 1))
    return (
        "The memory file has been edited. Here is the snippet showing the change (with line "
        f"numbers):\n{snippet}{note}"
    )


def _insert(ctx: ToolContext, files: Files, given: dict[str, Any]) -> str:
    path, line, new = given["path"], given["insert_line"], given["insert_text"]
    _refuse_echo(ctx, new)
    made = None
    if path == _MEMORY_MD_PATH:
        made = edit_memory_md(ctx, files, lambda text: inserted(text, line, new))
    if made is None:
        files.insert(path, line, new)
    return f"The file {path} has been edited.{made[1] if made else ''}"


def _delete(ctx: ToolContext, files: Files, given: dict[str, Any]) -> str:
    _refuse_removal(ctx, files, given["path"], "deleted")
    files.delete(given["path"])
    return f"Successfully deleted {given['path']}"


def _rename(ctx: ToolContext, files: Files, given: dict[str, Any]) -> str:
    old, new = given["old_path"], given["new_path"]
    _refuse_removal(ctx, files, old, "renamed")
    _refuse_memory_md(ctx, files, new, f"The destination {new} already exists")
    files.rename(old, new)
    return f"Successfully renamed {old} to {new}"


_COMMANDS: dict[
    str, tuple[Callable[[ToolContext, Files, dict[str, Any]], str], tuple[str, ...]]
] = {
    "view": (_view, ("path",)),
    "create": (_create, ("path", "file_text")),
    "str_replace": (_str_replace, ("path", "old_str", "new_str")),
    "insert": (_insert, ("path", "insert_line", "insert_text")),
    "delete": (_delete, ("path",)),
    "rename": (_rename, ("old_path", "new_path")),
}

# The first and the last line to view.
_RANGE = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
_READ = read_dialect(
    "anthropic", {"memory": _memory}, {"COMMANDS": tuple(_COMMANDS), "RANGE": _RANGE}
)
_TOOL = _READ.tools[0]._replace(
    wire={"anthropic": {"type": "memory_20250818", "name": "memory"}},
)


def _view_only(ctx: ToolContext, given: dict[str, Any]) -> str:
    if given["command"] != "view":
        raise InvalidInput(
            f"The command {given['command']} cannot be used: this memory is read-only.",
            hint="Only view can.",
        )
    return _memory(ctx, given)


# The name and the arguments stay those that a model knows.
_VIEWING = _TOOL._replace(
    description="Shows files below /memories, notes that last from one conversation to the next. "
    "Only the command view can be used: this memory is read-only here.",
    run=_view_only,
    reads=True,
    destroys=False,
)

DIALECT = _READ._replace(tools=(_TOOL,), when_read_only=(_VIEWING,))


_MEMORY_MD_NAME = "MEMORY.md"
_MEMORY_MD_PATH = f"{ROOT}/{_MEMORY_MD_NAME}"


def _memory_md_text(ctx: ToolContext, files: Files) -> str | None:
    """The text of the hub's long-term memories; None if they are not shown at this path."""
    if files.has(_MEMORY_MD_PATH) or not ctx.hub.list(layer="long_term", limit=1):
        return None
    return ctx.hub.read_memory_md(source_agent=ctx.agent)


def _with_memory_md(ctx: ToolContext, files: Files, items: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """The entries of the root with this one in its place."""
    text = _memory_md_text(ctx, files)
    if text is None:
        return items
    mine = Shown(_MEMORY_MD_NAME, len(text.encode()), False)
    return tuple(sorted((*items, mine), key=lambda item: item.path.split("/")))


def edit_memory_md(
    ctx: ToolContext, files: Files, change: Callable[[str], Edited]
) -> tuple[Edited, str] | None:
    """The text of MEMORY.md after a command of Anthropic's memory tool, and what is to be said of
    it; None if the path is no such file.

    One editor at a time: a second one would be compared with what the first has read.
    """
    if _memory_md_text(ctx, files) is None:
        return None
    with files.alone():
        text = _memory_md_text(ctx, files)
        if text is None:
            return None
        made = change(text)
        done = ctx.hub.rewrite_memory_md(
            made.text, trust=ctx.trust, source=ctx.source, source_agent=ctx.agent
        )
        ctx.take_held()  # The notes say what is held.
        after = ctx.hub.read_memory_md(source_agent=ctx.agent) or ""
    return made._replace(text=after), "".join(f"\n{note}" for note in done.notes)


def _refuse_memory_md(ctx: ToolContext, files: Files, path: str, taken: str) -> None:
    """Refuses to put a file where this one is, or where some systems would take it for this one."""
    if folded(path) != folded(_MEMORY_MD_PATH) or _memory_md_text(ctx, files) is None:
        return
    if path == _MEMORY_MD_PATH:
        raise AlreadyExists(taken)
    raise AlreadyExists(
        f"The path {path} cannot be used: {_MEMORY_MD_PATH} is there, and some systems take the"
        " two for one.",
        hint="Use another name.",
    )


def _refuse_removal(ctx: ToolContext, files: Files, path: str, verb: str) -> None:
    """Refuses to delete or rename it."""
    if path == _MEMORY_MD_PATH and _memory_md_text(ctx, files) is not None:
        raise InvalidInput(
            f"{_MEMORY_MD_PATH} holds the long-term memories and cannot be {verb}.",
            hint="Take out what no longer holds with str_replace.",
        )
