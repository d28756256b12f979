"""Which module has which command. Only the module of the command that was asked for is imported."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from holdfast.edges.cli.command import Command, Parser, add_globals, nearest
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
    Group("finding", "read", ("recall", "get", "list", "related", "timeline", "context")),
    Group("looking back and taking back", "history", ("history", "diff", "undo")),
    Group("hubs", "hubs", ("hub",)),
    Group("moving", "transfer", ("export", "import")),
    Group(
        "care",
        "care",
        ("lifecycle", "stats", "doctor", "embed", "backup", "restore-backup"),
    ),
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


def tree() -> Parser:
    """One parser that knows every command: for completion and the reference, not for parsing."""
    root = Parser("holdfast", description="Long-term memory for agents.")
    add_globals(root)
    places = root.add_subparsers(dest="command", metavar="COMMAND")
    inner: dict[str, object] = {}
    for command in all_commands():
        word, _, second = command.name.partition(" ")
        place = places
        if second:
            if word not in inner:
                outer = places.add_parser(word, prog=f"holdfast {word}", help=_group_help(word))
                inner[word] = outer.add_subparsers(dest="part", metavar="PART")
            place = inner[word]  # type: ignore[assignment]
        parser = place.add_parser(
            second or word,
            prog=f"holdfast {command.name}",
            help=command.help,
            description=command.help,
            epilog=f"example:\n  {command.example}",
        )
        command.configure(parser)
        add_globals(parser)
        for action in parser._actions:
            if action.dest in parser.offers:
                action.choices = parser.offers[action.dest]
    return root


def _group_help(word: str) -> str:
    parts = [
        row.name.partition(" ")[2] for row in all_commands() if row.name.startswith(f"{word} ")
    ]
    return ", ".join(parts)


def overview() -> str:
    """What `holdfast --help` says."""
    lines = [
        "Holdfast: long-term memory for agents. Local, offline; everything can be undone.",
        "",
        "usage: holdfast COMMAND …          `holdfast COMMAND --help` tells more",
    ]
    for group in GROUPS:
        rows = commands_in(group)
        if rows:
            lines += ["", f"{group.title}:"]
        lines += [f"  {row.name:<16} {row.help}" for row in rows]
    root = Parser("holdfast")
    add_globals(root)
    _, _, options = root.format_help().partition("everywhere:")
    lines += ["", f"everywhere, before or after the command:{options.rstrip()}"]
    lines += [
        "",
        "exit codes: 0 done, 1 failed, 2 bad input, 3 not found, 4 exists already, 5 conflict,",
        "  6 the store, 7 too slow, 8 the embedding model, 130 interrupted",
        "",
        "example:",
        '  holdfast remember "Prefers tabs over spaces" && holdfast recall "tabs or spaces?"',
    ]
    return "\n".join(lines)
