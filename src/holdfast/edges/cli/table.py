"""Lists every command by group with its module. Only the module of the requested command is
imported.

A command is found by its name (`holdfast backup`), after the name of its group (`holdfast admin
backup`), and by common synonyms (`holdfast search`).
"""

from __future__ import annotations

from importlib import import_module

from holdfast.edges.cli.command import Command, nearest
from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple


class Module(NamedTuple):
    """A module of this package with the first words of its commands, in order, so that a command is
    found without importing the others."""

    name: str
    words: tuple[str, ...]


class Group(NamedTuple):
    """A group of commands, and what they are for."""

    name: str
    title: str
    modules: tuple[Module, ...]

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for module in self.modules for word in module.words)


GROUPS = (
    Group(
        "memory",
        "remember, find, change and take back",
        (
            Module(
                "write",
                ("remember", "update", "pin", "unpin", "archive", "forget", "restore", "purge"),
            ),
            Module("push", ("push",)),
            Module("read", ("recall", "get", "list", "related", "context")),
            Module("history", ("timeline", "history", "diff", "undo")),
        ),
    ),
    Group(
        "files",
        "memory as files, and files as memory",
        (Module("files", ("sync", "watch", "conflicts", "compact", "index-files", "sources")),),
    ),
    Group(
        "capture",
        "conversations, journals, and what waits for your review",
        (
            Module("capture", ("observe", "flush", "captured", "journal", "consolidate")),
            Module("log", ("log", "archive-conversation")),
            Module("review", ("review", "decisions", "decide")),
        ),
    ),
    Group(
        "agent",
        "clients, servers and tools",
        (
            Module("setup", ("setup", "teardown")),
            Module("serve", ("mcp", "serve", "ui", "proxy")),
            Module("agent", ("hook", "session", "tools", "call", "status")),
        ),
    ),
    Group(
        "hub",
        "hubs, people and keys",
        (
            Module("hubs", ("where", "hub")),
            Module("people", ("member", "invite", "org", "team", "share")),
            Module("remote", ("key", "login", "logout")),
        ),
    ),
    Group(
        "admin",
        "settings, checks, backups, stores and jobs",
        (
            Module("config", ("config", "completion")),
            Module("doctor", ("doctor",)),
            Module("upkeep", ("lifecycle", "stats", "embed", "usage", "scan", "work", "jobs")),
            Module("transfer", ("export", "import", "move")),
            Module("store", ("store", "backup", "restore-backup")),
            Module("demo", ("demo", "bench")),
        ),
    ),
)

# The commands of the first screen, in order.
FIRST = (
    *("remember", "recall", "context", "list", "get", "update", "forget", "undo"),
    *("status", "setup", "ui", "doctor"),
)

# Synonyms from other programs. A name that is already a command keeps its meaning.
SYNONYMS = {
    "add": "remember",
    "save": "remember",
    "note": "remember",
    "new": "remember",
    "search": "recall",
    "find": "recall",
    "query": "recall",
    "ask": "recall",
    "show": "get",
    "view": "get",
    "ls": "list",
    "memories": "list",
    "edit": "update",
    "change": "update",
    "delete": "forget",
    "remove": "forget",
    "rm": "forget",
    "revert": "undo",
    "install": "setup",
    "uninstall": "teardown",
    "settings": "config",
    "info": "status",
    "web": "ui",
}

# Words that people try, and what does what they mean, where that is more than another command.
_MEANT = {
    "tag": "`holdfast update 12 --tag NAME` sets the tags of a memory.",
    "why": "`holdfast recall QUESTION --explain` says why a memory was found.",
    "supersede": "`holdfast remember TEXT --supersedes 12` puts a new memory in its place.",
    "replace": "`holdfast remember TEXT --supersedes 12` puts a new memory in its place.",
    **dict.fromkeys(
        ("clear", "reset", "wipe"),
        "`holdfast hub delete NAME` deletes a hub and everything in it, `holdfast forget` hides"
        " single memories.",
    ),
    **dict.fromkeys(
        ("stop", "pause", "disable", "off"),
        "`holdfast log pause` stops the log; `holdfast teardown CLIENT` takes Holdfast out of an"
        " agent.",
    ),
    **dict.fromkeys(
        ("start", "run"),
        "`holdfast setup` gives memory to your agents; `holdfast serve` starts a server.",
    ),
}

# Synonyms for the second word of a command, such as `hub ls`. The first that exists is used.
PART_SYNONYMS = {
    "ls": ("list",),
    "add": ("create", "set"),
    "new": ("create",),
    "rm": ("delete", "remove", "revoke", "unset"),
    "remove": ("delete", "revoke", "unset"),
    "delete": ("remove", "revoke", "unset"),
    "show": ("get", "list"),
}


def commands_in(module: Module) -> tuple[Command, ...]:
    """The module's commands; none if it is not part of this installation."""
    name = f"holdfast.edges.cli.{module.name}"
    try:
        imported = import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return ()
    return tuple(imported.COMMANDS)


def commands_of(group: Group) -> list[Command]:
    return [command for module in group.modules for command in commands_in(module)]


def all_commands() -> list[Command]:
    return [command for group in GROUPS for command in commands_of(group)]


def _words_of(group: Group) -> list[str]:
    return [word for module in group.modules for word in first_words(module)]


def group_named(name: str) -> Group | None:
    return next((group for group in GROUPS if group.name == name), None)


def find(words: list[str]) -> tuple[Command, int]:
    """The command that these words name, and how many of them are its name."""
    group, rest = split_group(words)
    if group is not None and not rest:
        raise InvalidInput(
            f"Say what to do: `holdfast {group.name}` has {', '.join(_words_of(group))}.",
            hint=f"`holdfast help {group.name}` lists them.",
        )
    module = _module_of(rest[0], group)
    if module is None:
        raise _unknown(rest[0]) if group is None else _unknown_in(group, rest[0])
    command, count = _among(commands_in(module), rest)
    return command, count + len(words) - len(rest)


def split_group(words: list[str]) -> tuple[Group | None, list[str]]:
    """The group that these words begin with, and the words after it.

    `hub` is a group and a command: `hub list` lists hubs, `hub member list` lists members."""
    group = group_named(words[0])
    if group is None:
        return None, words
    is_command = words[0] in group.words and not set(words[1:2]) & set(group.words)
    return (None, words) if is_command else (group, words[1:])


def has_parts(word: str) -> bool:
    """Whether a word is the first of two-word commands, but not a command itself."""
    module = _module_of(word)
    names = [row.name for row in commands_in(module)] if module else []
    word = SYNONYMS.get(word, word)
    return word not in names and any(name.startswith(f"{word} ") for name in names)


def _module_of(word: str, group: Group | None = None) -> Module | None:
    """The module with the command of this name or synonym, in this group or in any."""
    word = SYNONYMS.get(word, word)
    modules = [module for one in ((group,) if group else GROUPS) for module in one.modules]
    for module in modules:
        if word in module.words:
            return module
    return next((module for module in modules if word in first_words(module)), None)


def first_words(module: Module) -> list[str]:
    """The first words of the module's commands, read from the module itself."""
    return list(dict.fromkeys(row.name.partition(" ")[0] for row in commands_in(module)))


def _among(rows: tuple[Command, ...], words: list[str]) -> tuple[Command, int]:
    first = SYNONYMS.get(words[0], words[0])
    parts: dict[str, Command] = {}
    for command in rows:
        head, _, second = command.name.partition(" ")
        if head == first and second:
            parts[second] = command
    if words[1:2] and words[1] in parts:
        return parts[words[1]], 2
    if alone := next((command for command in rows if command.name == first), None):
        return alone, 1
    if not parts:
        raise InvalidInput(f"`holdfast {first}` is not part of this installation.")
    listed = ", ".join(parts)
    if len(words) == 1:
        raise InvalidInput(
            f"Say what to do: `holdfast {first}` has {listed}.",
            hint=f"`holdfast help {first}` lists them.",
        )
    for part in PART_SYNONYMS.get(words[1], ()):
        if part in parts:
            return parts[part], 2
    near = nearest(words[1], list(parts))
    guess = f"Did you mean `{near}`? " if near else ""
    raise InvalidInput(
        f"There is no `holdfast {first} {words[1]}`.", hint=f"{guess}It has {listed}."
    )


def _unknown(word: str) -> InvalidInput:
    if word in _MEANT:
        return InvalidInput(f"There is no command `{word}`.", hint=_MEANT[word])
    known = [name for group in GROUPS for name in (group.name, *_words_of(group))]
    near = nearest(word, [*known, *SYNONYMS])
    guess = f"Did you mean `holdfast {SYNONYMS.get(near, near)}`? " if near else ""
    return InvalidInput(
        f"There is no command `{word}`.", hint=f"{guess}`holdfast --help` lists them all."
    )


def _unknown_in(group: Group, word: str) -> InvalidInput:
    """The error for a word that is not a command of the group; it may belong to another group."""
    elsewhere = _module_of(word) is not None
    near = word if elsewhere else nearest(word, [*_words_of(group), *SYNONYMS])
    guess = f"Did you mean `holdfast {SYNONYMS.get(near, near)}`? " if near else ""
    return InvalidInput(
        f"There is no `holdfast {group.name} {word}`.",
        hint=f"{guess}`holdfast help {group.name}` lists what there is.",
    )
