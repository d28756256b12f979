"""The command line: finds the command, runs it, and turns every error into a sentence and an exit
code. What the commands do stands in the modules beside this one, a group of them in each.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from holdfast.errors import HoldfastError, InvalidInput

# What a shell reports for a program that SIGINT or SIGPIPE ended.
INTERRUPTED = 130
PIPE_CLOSED = 141


def run() -> NoReturn:
    """The program: `main` as a process of its own, which pays for neither tidying up after itself
    (4 ms: the system does it faster) nor for looking for garbage while it starts (4 ms)."""
    # High enough that a start finds none, low enough that a long import does not grow.
    gc.set_threshold(100_000, 20, 20)
    code = main()
    sys.stderr.flush()
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough. What is still in the buffer goes nowhere, quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt as interrupted:
        # A command that goes on where it stopped says how far that is.
        message = str(interrupted) or "Interrupted; nothing was left half done."
        return _failed(words, "interrupted", message, "", INTERRUPTED)
    except HoldfastError as error:
        if os.environ.get("HOLDFAST_DEBUG"):
            raise
        return _failed(words, _code(error), error.message, error.hint, error.exit_code)
    except OSError as error:
        if os.environ.get("HOLDFAST_DEBUG"):
            raise
        where = f"{error.filename}: " if error.filename else ""
        return _failed(words, "os_error", f"{where}{error.strerror or error}.", "", 1)
    # The last line of defence: a person gets a sentence, not a traceback.
    except Exception as error:
        if os.environ.get("HOLDFAST_DEBUG"):
            raise
        return _failed(
            words,
            "fault",
            f"Holdfast has a fault ({type(error).__name__}: {error}).",
            "Run it again with HOLDFAST_DEBUG=1 to see where, and report it.",
            1,
        )


def _run(words: list[str]) -> int:
    ended = words.index("--") if "--" in words else len(words)
    options = words[:ended]
    if "--version" in options:
        from holdfast import __version__

        sys.stdout.write(f"holdfast {__version__}\n")
        return 0
    from holdfast.edges.cli.command import parser_of

    places = _places(options)
    names = [words[place] for place in places]
    wants_help = "--help" in options or "-h" in options
    if not names and options and not wants_help:
        raise InvalidInput("Say what to do.", hint="`holdfast --help` lists the commands.")
    if names[:1] == ["help"]:
        names, places, wants_help = names[1:], places[1:], True
    if not names:
        from holdfast.edges.cli.help import first_screen, overview

        sys.stdout.write((overview() if wants_help else first_screen()) + "\n")
        return 0
    if wants_help:
        from holdfast.edges.cli.help import help_for

        sys.stdout.write(help_for(names).rstrip("\n") + "\n")
        return 0
    from holdfast.edges.cli.table import find

    command, count = find(names)
    own = places[:count]
    args = parser_of(command).parse([word for place, word in enumerate(words) if place not in own])
    from holdfast.edges.cli.call import Call

    with Call(args) as call:
        call.check_server(command.name)
        return command.run(call, args) or 0


def _places(words: Sequence[str]) -> list[int]:
    """Where the words stand that are no options: the first of them names the command."""
    from holdfast.edges.cli.command import VALUED

    places = []
    skip = False
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word in VALUED:
            skip = True
        elif not word.startswith("-"):
            places.append(place)
    return places


def _code(error: HoldfastError) -> str:
    """The error's name as others write it: not_found, store_busy."""
    letters = [f"_{char.lower()}" if char.isupper() else char for char in type(error).__name__]
    return "".join(letters).lstrip("_")


def _failed(words: Sequence[str], code: str, message: str, hint: str, exit_code: int) -> int:
    if "--json" in words:
        import json

        error = {"code": code, "message": message, "hint": hint}
        sys.stderr.write(json.dumps({"error": error}, ensure_ascii=False) + "\n")
    else:
        from holdfast.text.characters import printable

        sys.stderr.write(printable(f"holdfast: {message}") + "\n")
        if hint:
            sys.stderr.write(printable(f"  {hint}") + "\n")
    return exit_code
