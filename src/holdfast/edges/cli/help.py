"""Help, completions and the greeting in a new home. Help and completions come from argparse parsers
built from the commands. The greeting lists what was found on this machine and what to do next; for
it nothing is written and no transcript is opened, files are only counted."""

from __future__ import annotations

import argparse
import os
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.edges.cli.command import Command, Option, Parser, add_globals, parser_of
from holdfast.edges.cli.table import (
    FIRST,
    GROUPS,
    SYNONYMS,
    Group,
    all_commands,
    commands_of,
    find,
    group_named,
    has_parts,
    split_group,
)

if TYPE_CHECKING:
    from holdfast.edges.clients.program import Platform


_TITLE = "Holdfast: long-term memory for agents. Local, offline; everything can be undone."


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Formats help as wide as the terminal, at most 100 columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=_columns())


def _columns() -> int:
    text = os.environ.get("COLUMNS", "")
    if text.isdigit() and int(text):
        return int(text)
    try:
        return min(100, os.get_terminal_size().columns) or 80
    except OSError:
        return 80


def help_for(names: list[str]) -> str:
    """Help for the group or command with this name, as `holdfast help …` prints it."""
    if len(names) == 1 and (group := group_named(names[0])):
        return help_of_group(group)
    _, rest = split_group(names)
    if len(rest) == 1 and has_parts(rest[0]):
        return help_of_parts(SYNONYMS.get(rest[0], rest[0]))
    return help_of(find(names)[0])


def help_of(command: Command) -> str:
    """The output of `holdfast COMMAND --help`."""
    parser = argparse.ArgumentParser(f"holdfast {command.name}", **_about(command))
    _fill(parser, parser_of(command))
    return parser.format_help()


def help_of_group(group: Group) -> str:
    """The output of `holdfast admin --help`."""
    rows = commands_of(group)
    lines = [
        f"usage: holdfast {group.name} COMMAND …",
        "",
        *_listed(group, rows),
        "",
        f"`holdfast {group.name} {rows[-1].name}` and `holdfast {rows[-1].name}` are the same.",
        f"`holdfast help {rows[-1].name}` explains a command.",
    ]
    return "\n".join(lines)


def help_of_parts(word: str) -> str:
    """The output of `holdfast config --help`: the commands that begin with this word."""
    rows = [row for row in all_commands() if row.name.partition(" ")[0] == word]
    return "\n".join(
        [f"usage: holdfast {word} …", "", *_lines(rows), "", "example:", f"  {rows[0].example}"]
    )


def _listed(group: Group, rows: list[Command]) -> list[str]:
    return [f"{group.name}: {group.title}", *_lines(rows)]


def _lines(rows: list[Command]) -> list[str]:
    width = max(len(row.name) for row in rows)
    indent = " " * (width + 4)
    lines = []
    for row in rows:
        said = f"  {row.name:<{width}}  {row.help}"
        lines += textwrap.wrap(said, _columns(), subsequent_indent=indent, break_on_hyphens=False)
    return lines


def _about(command: Command) -> dict[str, Any]:
    return {
        "description": f"{command.help}\n\n{command.more}" if command.more else command.help,
        "epilog": f"example:\n  {command.example}",
        "formatter_class": _Formatter,
        "add_help": False,
    }


def _fill(described: argparse.ArgumentParser, parser: Parser, *, offers: bool = False) -> None:
    everywhere = described.add_argument_group("everywhere")
    for option in [*parser.words, *dict.fromkeys(parser.options.values())]:
        place = everywhere if option.everywhere else described
        action = place.add_argument(*option.names, **_settings(option))
        if offers and option.offers:
            action.choices = option.offers


def _settings(option: Option) -> dict[str, Any]:
    settings: dict[str, Any] = {"help": option.help.replace("%", "%%"), "action": option.action}
    if option.action != "store_true":
        settings["metavar"] = option.metavar
    if option.nargs is not None:
        settings["nargs"] = option.nargs
    if not option.positional:
        settings["dest"] = option.dest
    return settings


def tree() -> argparse.ArgumentParser:
    """A parser that knows every command, with and without its group, for completions."""
    root = argparse.ArgumentParser("holdfast", add_help=False)
    _fill(root, _globals())
    places = root.add_subparsers(dest="command", metavar="COMMAND")
    for group in GROUPS:
        rows = commands_of(group)
        # `hub` is both a group and the first word of commands, so they share a parser.
        parts = [row for row in rows if row.name.startswith(f"{group.name} ")]
        others = [row for row in rows if row not in parts]
        below = places.add_parser(group.name, help=group.title, add_help=False).add_subparsers(
            dest="grouped", metavar="COMMAND"
        )
        for row in parts:
            _add_command(below, row, row.name.partition(" ")[2])
        _add_commands(below, others)
        _add_commands(places, others)
    return root


def _add_commands(places: Any, rows: list[Command]) -> None:
    outer: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    # Commands of two words come first, since their parser has to exist for a command of one.
    for row in sorted(rows, key=lambda row: " " not in row.name):
        word, _, second = row.name.partition(" ")
        if second and word not in inner:
            outer[word] = places.add_parser(word, help=f"{word} …", add_help=False)
            inner[word] = outer[word].add_subparsers(dest="part", metavar="PART")
        if not second and word in outer:
            # The command's own positional words would collide with the names of its subcommands.
            _fill(outer[word], _without_words(parser_of(row)), offers=True)
        else:
            _add_command(inner[word] if second else places, row, second or word)


def _add_command(places: Any, command: Command, name: str) -> None:
    parser = places.add_parser(name, help=command.help, **_about(command))
    _fill(parser, parser_of(command), offers=True)


def _without_words(parser: Parser) -> Parser:
    parser.words = []
    return parser


def _globals() -> Parser:
    parser = Parser("holdfast")
    add_globals(parser)
    return parser


def first_screen() -> str:
    """The output of a bare `holdfast`: at most 24 lines of 80 columns."""
    rows = [find([name])[0] for name in FIRST]
    groups = ", ".join(group.name for group in GROUPS)
    return "\n".join(
        [
            _TITLE,
            "",
            "usage: holdfast COMMAND …",
            "",
            *_lines(rows),
            "  help      List all commands; or those of a group, or explain one.",
            "",
            f"There is more in the groups {groups}:",
            "  holdfast help            all commands, by group",
            "  holdfast help admin      the commands of a group",
            "  holdfast help recall     a command, its options and an example",
            "",
            'Try: holdfast remember "Prefers tabs" && holdfast recall "tabs or spaces?"',
        ]
    )


def overview() -> str:
    """The output of `holdfast --help`: all commands, by group."""
    lines = [
        _TITLE,
        "",
        "usage: holdfast COMMAND …          `holdfast COMMAND --help` explains one",
    ]
    for group in GROUPS:
        lines += ["", *_listed(group, commands_of(group))]
    root = argparse.ArgumentParser("holdfast", add_help=False, formatter_class=_Formatter)
    _fill(root, _globals())
    _, _, options = root.format_help().partition("everywhere:")
    lines += ["", f"everywhere, before or after the command:{options.rstrip()}"]
    lines += [
        "",
        "exit codes: 0 done, 1 failed, 2 bad input, 3 not found, 4 exists already,",
        "  5 conflict, 6 the store, 7 too slow, 8 the embedding model, 9 not allowed,",
        "  10 a language model, 130 interrupted",
        "",
        "example:",
        '  holdfast remember "Prefers tabs" && holdfast recall "tabs or spaces?"',
    ]
    return "\n".join(lines)


# Instruction files that agents read, in the user's home and in a project.
_OF_A_PERSON = (
    (".claude", "CLAUDE.md"),
    (".codex", "AGENTS.md"),
    (".gemini", "GEMINI.md"),
    (".config", "opencode", "AGENTS.md"),
)
_OF_A_PROJECT = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md")
_COLUMNS = 80
_LABEL = 17


class MachineSummary(NamedTuple):
    """What was found on this machine: agents, transcripts by client, instruction files."""

    agents: tuple[str, ...]
    conversations: dict[str, int]
    notes: tuple[str, ...]


def look_around(place: Platform) -> MachineSummary:
    """Finds agents, transcripts and instruction files that a new memory could import."""
    from holdfast.edges.cli.imports import NAMES
    from holdfast.edges.clients import CLIENTS
    from holdfast.edges.hooks.past_sessions import transcript_files

    agents = tuple(client.title for client in CLIENTS if client.installed(place))
    counts = {client: len(transcript_files(client, place.home)) for client in NAMES}
    files = [place.at_home(*parts) for parts in _OF_A_PERSON]
    files += [os.path.join(place.project, name) for name in _OF_A_PROJECT]
    notes = (_shown(path, place) for path in dict.fromkeys(files) if os.path.isfile(path))
    return MachineSummary(
        agents, {name: count for name, count in counts.items() if count}, tuple(notes)
    )


def is_new(home: str, environ: os._Environ[str] | dict[str, str]) -> bool:
    """Whether nothing was ever stored in this home, and the environment names no other store."""
    if environ.get("HOLDFAST_STORE_URL") or environ.get("HOLDFAST_SERVER"):
        return False
    return not any(os.path.exists(os.path.join(home, name)) for name in _KEPT)


_KEPT = ("memory.db", "holdfast.toml")


def welcome(found: MachineSummary, home: str, place: Platform) -> str:
    """The greeting: at most 24 lines of 80 columns."""
    from holdfast.edges.cli.imports import NAMES
    from holdfast.edges.clients import CLIENTS

    lines = ["Welcome to Holdfast: long-term memory for your agents. Nothing is stored yet.", ""]
    lines.append("On this machine:")
    lines += _row("agents", found.agents or ("none that we know; any MCP client works",))
    if found.conversations:
        titles = {client.name: client.title for client in CLIENTS}
        counts = tuple(
            f"{count:,} of {titles[NAMES[one]]}" for one, count in found.conversations.items()
        )
        lines += _row("conversations", counts)
    if found.notes:
        lines += _row("instructions", found.notes)
    lines += ["", "Next:"]
    lines += [f"  {name:<{_STEP}}{said}" for name, said in _steps(found)]
    lines += [
        "",
        f"Everything stays on this machine, in {_short(_shown(home, place))}.",
        "No key, no account, nothing is sent anywhere. `holdfast undo` takes back a",
        "change, `holdfast teardown` takes Holdfast out of your agents again.",
        "`holdfast help` lists all commands.",
    ]
    return "\n".join(lines)


_STEP = 30


def _steps(found: MachineSummary) -> list[tuple[str, str]]:
    from holdfast.edges.cli.imports import NAMES

    steps = []
    if found.agents:
        steps.append(("holdfast setup", "put memory into your agents; it asks first"))
    if found.conversations:
        first = next(iter(found.conversations))
        said = "import what was said so far (or --dry-run)"
        steps.append((f"holdfast import {NAMES[first]}", said))
    if found.notes:
        steps.append(("holdfast import claude-md", "import the instructions that are in files"))
    steps.append(("holdfast demo", "a tour of a minute that leaves nothing behind"))
    steps.append(('holdfast remember "…"', "keep something; `recall` finds it again"))
    return steps


def _row(label: str, items: Sequence[str]) -> list[str]:
    """A label and its items, on at most two lines. Items that do not fit are counted."""
    lines = [""]
    for place, item in enumerate(items):
        left = len(items) - place
        text = f"{item}, " if left > 1 else item
        if len(lines[-1]) + len(text) > _COLUMNS - _LABEL:
            if len(lines) == 2:
                lines[-1] += f"… ({left} more)"
                break
            lines.append("")
        room = _COLUMNS - _LABEL - (len("… (99 more)") if len(lines) == 2 else 0)
        if len(lines[-1]) + len(text) > room:
            lines[-1] += f"… ({left} more)"
            break
        lines[-1] += text
    heads = (f"  {label}", "")
    return [f"{heads[at]:<{_LABEL}}{line.rstrip()}" for at, line in enumerate(lines)]


def _short(path: str) -> str:
    """Shortens a long path to its end so that it fits the line."""
    return path if len(path) <= _PATH_MAX else f"…{path[1 - _PATH_MAX :]}"


_PATH_MAX = 40


def _shown(path: str, place: Platform) -> str:
    """A path relative to the project or to ~."""
    for folder, short in ((place.project, ""), (place.home, f"~{os.sep}")):
        if path.startswith(folder + os.sep) and (short or folder != place.home):
            return short + path[len(folder) + 1 :]
    return path
