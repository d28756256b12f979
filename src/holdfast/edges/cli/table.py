"""Which module has which command. Only the module of the command that was asked for is imported."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from holdfast.edges.cli.command import Command, nearest
from holdfast.errors import InvalidInput


class Group(NamedTuple):
    """Commands that belong together, in one module."""

    title: str
    module: str
    words: tuple[str, ...]


GROUPS = (
    Group(
        "taking in and changing",
        "write",
        ("remember", "update", "pin", "unpin", "archive", "forget", "restore", "purge"),
    ),
    Group("files, folders and links", "push", ("push",)),
    Group("finding", "read", ("recall", "get", "list", "related", "timeline")),
    Group("for an agent's prompt", "context", ("context",)),
    Group("memory as a file", "files", ("sync", "watch", "conflicts", "compact")),
    Group("a hub's files", "documents", ("index-files",)),
    Group("memories beside a hub's own", "sources", ("sources",)),
    Group("looking back and taking back", "history", ("history", "diff", "undo")),
    Group("journals", "journal", ("journal",)),
    Group("conversations", "log", ("log", "archive-conversation")),
    Group("memory that fills itself", "observe", ("observe", "flush", "captured")),
    Group("from journals to long-term memory", "consolidate", ("consolidate",)),
    Group("what agents ask you", "decisions", ("decisions", "decide")),
    Group("what waits for you", "review", ("review",)),
    Group("tools for agents", "tools", ("tools", "call")),
    Group("serving agents", "mcp", ("mcp",)),
    Group("clients", "setup", ("setup", "teardown")),
    Group("hubs", "hubs", ("hub",)),
    Group("a server", "serve", ("serve",)),
    Group("people", "people", ("member", "invite", "org", "team", "share")),
    Group("keys for the server", "keys", ("key",)),
    Group("using a server", "login", ("login", "logout")),
    Group("work for later", "work", ("work", "jobs")),
    Group("moving", "transfer", ("export", "import")),
    Group("moving to another store", "move", ("move",)),
    Group("a database as the store", "store", ("store",)),
    Group(
        "care",
        "care",
        ("lifecycle", "stats", "doctor", "embed", "backup", "restore-backup"),
    ),
    Group("language models", "usage", ("usage",)),
    Group("secrets", "scan", ("scan",)),
    Group("settings and the shell", "config", ("config", "completion")),
    Group("a tour", "demo", ("demo",)),
    Group("measuring", "bench", ("bench",)),
)


def commands_in(group: Group) -> tuple[Command, ...]:
    """The group's rows; none where its module is not part of this installation."""
    name = f"holdfast.edges.cli.{group.module}"
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return ()
    rows: tuple[Command, ...] = module.COMMANDS
    return rows


def all_commands() -> list[Command]:
    return [command for group in GROUPS for command in commands_in(group)]


def find(words: list[str]) -> tuple[Command, int]:
    """The command that these words name, and how many of them are its name."""
    first = words[0]
    for group in GROUPS:
        if first in group.words:
            return _among(commands_in(group), words)
    known = [word for group in GROUPS for word in group.words]
    near = nearest(first, known)
    guess = f"Did you mean `holdfast {near}`? " if near else ""
    raise InvalidInput(
        f"There is no command `{first}`.", hint=f"{guess}`holdfast --help` lists them all."
    )


def has_parts(word: str) -> bool:
    """Whether it is the first word of commands with two, and none itself."""
    rows = [row for group in GROUPS if word in group.words for row in commands_in(group)]
    names = [row.name for row in rows]
    return word not in names and any(name.startswith(f"{word} ") for name in names)


def _among(rows: tuple[Command, ...], words: list[str]) -> tuple[Command, int]:
    first = words[0]
    parts = []
    for command in rows:
        if command.name == first:
            return command, 1
        head, _, second = command.name.partition(" ")
        if head == first:
            if len(words) > 1 and words[1] == second:
                return command, 2
            parts.append(second)
    if not parts:
        raise InvalidInput(f"`holdfast {first}` is not part of this installation.")
    listed = ", ".join(parts)
    if len(words) == 1:
        raise InvalidInput(f"Say what to do: `holdfast {first}` has {listed}.")
    near = nearest(words[1], parts)
    guess = f"Did you mean `{near}`? " if near else ""
    raise InvalidInput(
        f"There is no `holdfast {first} {words[1]}`.", hint=f"{guess}It has {listed}."
    )
