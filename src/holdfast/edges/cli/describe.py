"""Help and completion: the commands' rows as argparse parsers, which know how to print them."""

from __future__ import annotations

import argparse
import os
from typing import Any

from holdfast.edges.cli.command import Command, Option, Parser, add_globals, parser_of
from holdfast.edges.cli.table import GROUPS, all_commands, commands_in


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, at most 100 columns."""

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


def help_of(command: Command) -> str:
    """What `holdfast COMMAND --help` prints."""
    parser = argparse.ArgumentParser(f"holdfast {command.name}", **_about(command))
    _fill(parser, parser_of(command))
    return parser.format_help()


def help_of_group(word: str) -> str:
    """What `holdfast hub --help` prints: the commands that begin with this word."""
    rows = [row for row in all_commands() if row.name.partition(" ")[0] == word]
    lines = [f"  {row.name:<16} {row.help}" for row in rows]
    return "\n".join(
        [f"usage: holdfast {word} …", "", *lines, "", "example:", f"  {rows[0].example}"]
    )


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
    """One parser that knows every command, for completion."""
    root = argparse.ArgumentParser("holdfast", add_help=False)
    _fill(root, _globals())
    places = root.add_subparsers(dest="command", metavar="COMMAND")
    outer: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for command in all_commands():
        word, _, second = command.name.partition(" ")
        if second and word not in inner:
            outer[word] = places.add_parser(word, help=f"{word} …", add_help=False)
            inner[word] = outer[word].add_subparsers(dest="part", metavar="PART")
        if not second and word in outer:
            # A command that has others below it: its words stand where their names may stand.
            _fill(outer[word], _without_words(parser_of(command)), offers=True)
            continue
        place = inner[word] if second else places
        parser = place.add_parser(second or word, help=command.help, **_about(command))
        _fill(parser, parser_of(command), offers=True)
    return root


def _without_words(parser: Parser) -> Parser:
    parser.words = []
    return parser


def _globals() -> Parser:
    parser = Parser("holdfast")
    add_globals(parser)
    return parser


def overview() -> str:
    """What `holdfast --help` prints."""
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
    root = argparse.ArgumentParser("holdfast", add_help=False, formatter_class=_Formatter)
    _fill(root, _globals())
    _, _, options = root.format_help().partition("everywhere:")
    lines += ["", f"everywhere, before or after the command:{options.rstrip()}"]
    lines += [
        "",
        "exit codes: 0 done, 1 failed, 2 bad input, 3 not found, 4 exists already, 5 conflict,",
        "  6 the store, 7 too slow, 8 the embedding model, 9 not allowed, 10 a language model,",
        "  130 interrupted",
        "",
        "example:",
        '  holdfast remember "Prefers tabs over spaces" && holdfast recall "tabs or spaces?"',
    ]
    return "\n".join(lines)
