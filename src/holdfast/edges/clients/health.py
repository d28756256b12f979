"""Whether what setup wrote into a client's settings still works: the hooks are in their files, and
the programs that hooks and the server's entry start exist.

A client says nothing about hooks that are gone or fail, so a person would go on without memory.
Whether the client runs them is not known here.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import Any

from holdfast.edges.clients import Client, json_text, settings_file
from holdfast.edges.clients.install_hooks import OUR_FRONT, HookFile, files_of, is_ours
from holdfast.edges.clients.install_server import EntryState, look
from holdfast.edges.clients.jsonc import Malformed, line_and_column
from holdfast.edges.clients.program import Platform
from holdfast.errors import InvalidInput, StoreError

# Between the interpreter and our program.
_ALONE = " -I -S "
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def entry_of(client: Client, place: Platform, name: str) -> EntryState:
    """The state of the entry in a person's own settings: the first file that has one counts."""
    looks = [look(client, path, name) for path in client.files(place, "user")]
    return next((one for one in looks if one.state in ("ours", "other")), looks[0])


def wants_hooks(entry: EntryState) -> bool:
    """Whether a client's entry was written together with hooks that add memory to prompts."""
    return entry.state == "ours" and "--hooks" in entry.line


def faults(client: Client, place: Platform, name: str) -> list[str]:
    """Why a client that was set up is without memory, or without a part of it; a sentence each,
    without its end."""
    entry = entry_of(client, place, name)
    if entry.state != "ours":
        return []
    found = []
    if os.path.isabs(entry.line[0]) and not os.path.exists(entry.line[0]):
        found.append(f"its server starts {entry.line[0]}, which is gone")
    for file in files_of(client, place, ("",) * 4):
        if not file.path.endswith(".md"):
            said = _fault_of(file, place, wanted=wants_hooks(entry))
            found += [said] if said else []
    return found


def _fault_of(file: HookFile, place: Platform, *, wanted: bool) -> str:
    try:
        data = settings_file.read(file.path)
        text = settings_file.decode(file.path, data or b"")
        items = _items(file, text)
    except (InvalidInput, StoreError) as error:
        return error.message.removesuffix(".") if wanted else ""
    except Malformed as error:
        line, column = line_and_column(text, error.at)
        return f"{file.path} cannot be read: line {line}, column {column}: {error.reason}"
    if wanted and (not items or None in items):
        return f"its hooks are not in {file.path}"
    gone = next((path for path in _programs(items, place) if not os.path.exists(path)), None)
    return f"its hooks start {gone}, which is gone" if gone else ""


def _items(file: HookFile, text: str) -> list[str | None]:
    """Our item in each list of hooks, as JSON; None where there is none. A file that is ours alone
    is one item."""
    if file.content:
        return [text] if "/".join(OUR_FRONT) in text.replace("\\\\", "/") else []
    found: list[str | None] = []
    for path, item in file.additions:
        if path[0] == "hooks":
            there: list[Any] = json_text.items_at(text, path) or []
            found.append(next((json.dumps(one) for one in there if is_ours(one, item)), None))
    return found


def _programs(items: list[str | None], place: Platform) -> list[str]:
    """The paths of the interpreter and of our program in items of hooks."""
    found = []
    for item in items:
        for string in _STRING.findall(item or ""):
            words = _words(json.loads(string), place)
            found += [word for word in words if os.path.isabs(word)]
    return list(dict.fromkeys(found))


def _words(text: str, place: Platform) -> list[str]:
    """The interpreter and our program in a command line, or our program alone; nothing of another
    text."""
    # The quotes of a command line on Windows are not those of a POSIX shell.
    if "/".join(OUR_FRONT) not in text or place.platform == "win32":
        return []
    if _ALONE not in text:
        return [text]
    try:
        return shlex.split(text)[:4]
    except ValueError:
        return []
