"""What a command is: a row with its name, its help, an example, its options and what it does.

The parser is argparse with three differences: options and words may stand in any order, a mistake
is an InvalidInput with the nearest right word, and help always ends with an example.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

Namespace = argparse.Namespace


class Command(NamedTuple):
    """One command. `name` may have two words, as in `hub create`."""

    name: str
    help: str
    example: str
    configure: Callable[[Parser], None]
    run: Callable[[Call, Namespace], int | None]
    more: str = ""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, without importing shutil to find out (4 ms)."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=_columns())


def _columns() -> int:
    try:
        return int(os.environ.get("COLUMNS", "")) or 80
    except ValueError:
        pass
    try:
        return min(100, os.get_terminal_size().columns) or 80
    except OSError:
        return 80


class Parser(argparse.ArgumentParser):
    """The options of one command."""

    def __init__(self, prog: str, *, description: str = "", epilog: str = "", **rest: Any) -> None:
        rest |= {"add_help": False, "allow_abbrev": False, "formatter_class": _Formatter}
        super().__init__(prog, description=description, epilog=epilog, **rest)
        # What an option may be given; for completion and help, not for checking: the engine
        # checks, so that every edge refuses with the same words.
        self.offers: dict[str, tuple[str, ...]] = {}

    def offer(self, option: str, values: Sequence[str], **rest: Any) -> None:
        """An option for one of these values."""
        action = self.add_argument(option, **rest)
        self.offers[action.dest] = tuple(values)

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(
            f"{message[:1].upper()}{message[1:]}.", hint=f"`{self.prog} --help` shows how."
        )

    def parse(self, words: Sequence[str]) -> Namespace:
        """The values of these words; InvalidInput where they are not understood."""
        return self.parse_args(self._ordered(words))

    def _ordered(self, words: Sequence[str]) -> list[str]:
        """The same words with the options first, so that they may stand anywhere."""
        options: list[str] = []
        plain: list[str] = []
        left = list(words)
        while left:
            word = left.pop(0)
            if word == "--":
                plain += left
                break
            if not _is_option(word):
                plain.append(word)
                continue
            name, equals, _ = word.partition("=")
            action = self._option_string_actions.get(name)
            if action is None:
                raise self._unknown(name)
            options.append(word)
            if equals or action.nargs == 0:
                continue
            many = action.nargs == "+"
            while left and left[0] != "--" and not self._known(left[0]):
                # Joined, so that a value may begin with a dash.
                value = left.pop(0)
                if many:
                    options.append(value)
                else:
                    options[-1] = f"{name}={value}"
                    break
        return [*options, "--", *plain] if plain else options

    def _known(self, word: str) -> bool:
        return word.partition("=")[0] in self._option_string_actions

    def _unknown(self, name: str) -> InvalidInput:
        near = nearest(name, list(self._option_string_actions))
        guess = f"Did you mean `{near}`? " if near else ""
        return InvalidInput(
            f"`{self.prog}` has no option `{name}`.",
            hint=f"{guess}Words that begin with a dash go into quotes with others, or after `--`.",
        )


def _is_option(word: str) -> bool:
    # "-" is standard input; "- milk" and "-5" are text.
    return len(word) > 1 and word[0] == "-" and " " not in word and not word[1].isdigit()


def nearest(word: str, known: Sequence[str]) -> str:
    """The known word that was probably meant, or ''."""
    import difflib

    found = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return found[0] if found else ""


def add_globals(parser: Parser) -> None:
    """The options that every command takes, before or after its name."""
    group = parser.add_argument_group("everywhere")
    group.add_argument("--home", metavar="FOLDER", help="where everything lives (~/.holdfast)")
    group.add_argument("--hub", metavar="NAME", help="the hub to use")
    group.add_argument("--json", action="store_true", help="answer with one JSON value")
    group.add_argument("--no-color", action="store_true", help="no colours (as NO_COLOR does)")
    group.add_argument("-q", "--quiet", action="store_true", help="no notes and no progress")
    group.add_argument("--version", action="store_true", help="print the version")
    group.add_argument("-h", "--help", action="store_true", help="print this help")


# The global options that take a value: their value is not the command's name.
VALUED = ("--home", "--hub")


def parser_of(command: Command) -> Parser:
    """The parser of one command."""
    told = f"{command.help}\n\n{command.more}" if command.more else command.help
    parser = Parser(
        f"holdfast {command.name}",
        description=told,
        epilog=f"example:\n  {command.example}",
    )
    command.configure(parser)
    add_globals(parser)
    return parser


def whole(text: str) -> int:
    """An option's whole number."""
    try:
        return int(text.strip().removeprefix("#"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
