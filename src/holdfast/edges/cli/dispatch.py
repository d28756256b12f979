"""Finds and runs the command, and turns every error into a message and an exit code. `table.py`
lists the commands and their modules. `--version` opens no store and loads no model, and works even
with broken settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from holdfast import __version__
from holdfast.errors import HoldfastError, InvalidInput, InvalidSetting, code_of

# What a shell reports for a program that SIGINT or SIGPIPE ended.
INTERRUPTED = 130
PIPE_CLOSED = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _escape_what_cannot_be_shown()
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader closed the pipe: drop what is still in the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt as interrupted:
        # A command that can be resumed says how far it got.
        message = str(interrupted) or "Interrupted; nothing was left half done."
        return _failed(words, "interrupted", message, "", INTERRUPTED)
    except HoldfastError as error:
        if os.environ.get("HOLDFAST_DEBUG"):
            raise
        return _failed(
            words, code_of(error), error.message, error.command or error.hint, error.exit_code
        )
    except OSError as error:
        if os.environ.get("HOLDFAST_DEBUG"):
            raise
        where = f"{error.filename}: " if error.filename else ""
        return _failed(words, "os_error", f"{where}{error.strerror or error}.", "", 1)
    # For any other error the user gets a sentence, not a traceback.
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


def _escape_what_cannot_be_shown() -> None:
    """Escapes characters that an old terminal or a pipe on Windows cannot show, instead of failing.
    Standard error already does that."""
    change = getattr(sys.stdout, "reconfigure", None)
    if change is not None and not _is_utf8(sys.stdout):
        change(errors="backslashreplace")


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower() in ("utf-8", "utf8")


def _run(words: list[str]) -> int:
    ended = words.index("--") if "--" in words else len(words)
    options = words[:ended]
    if "--version" in options or words[:1] == ["version"]:
        sys.stdout.write(version(json="--json" in options) + "\n")
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
        sys.stdout.write(_start_page(wants_help=wants_help) + "\n")
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
        call.check_server(command)
        return command.run(call, args) or 0


def _start_page(*, wants_help: bool) -> str:
    """The output of a bare `holdfast`: a greeting in a new home, else the first commands."""
    from holdfast.settings import home_folder

    home = home_folder()
    # Checked without imports, as this is the most frequent case.
    if not wants_help and not os.path.exists(os.path.join(home, "memory.db")):
        from holdfast.edges.cli.help import is_new, look_around, welcome
        from holdfast.edges.clients.program import here

        if is_new(home, os.environ):
            place = here()
            return welcome(look_around(place), home, place)
    from holdfast.edges.cli.help import first_screen, overview

    return overview() if wants_help else first_screen()


def _places(words: Sequence[str]) -> list[int]:
    """The positions of the words that are not options. The first of them names the command."""
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


def _failed(words: Sequence[str], code: str, message: str, hint: str, exit_code: int) -> int:
    if "--json" in words:
        import json

        error = {"code": code, "message": message, "hint": hint}
        # The escapes of another encoding would not be valid JSON.
        escaped = not _is_utf8(sys.stderr)
        sys.stderr.write(json.dumps({"error": error}, ensure_ascii=escaped) + "\n")
    else:
        from holdfast.text.clean import printable

        sys.stderr.write(printable(f"holdfast: {message}") + "\n")
        if hint:
            sys.stderr.write(printable(f"  {hint}") + "\n")
    return exit_code


# Where the header of a SQLite file holds `user_version`, our schema version.
_USER_VERSION = slice(60, 64)
_MAGIC = b"SQLite format 3\x00"


def version(*, json: bool = False) -> str:
    """The version on the first line, for programs; then the model and the store."""
    model, store = _installed()
    if json:
        from json import dumps

        data = {"version": __version__, "model": model, "store": store}
        return dumps({"data": data}, ensure_ascii=False)
    return f"holdfast {__version__}\nmodel    {model}\nstore    {store}"


def _installed() -> tuple[str, str]:
    from holdfast.settings import home_folder, load

    home = home_folder()
    try:
        settings = load(home)
    except InvalidSetting as error:
        return f"unknown: {error.message}", home
    return model_of(settings["embed.model"]), store_of(home, settings["store.url"], os.environ)


def model_of(spec: str) -> str:
    if spec.strip() not in ("", "auto"):
        # A URL may contain a password.
        return spec.partition("@")[0]
    try:
        import holdfast_embed_s
    except ImportError:
        return "none; recall goes by words"
    return str(holdfast_embed_s.IDENTITY)


def store_of(home: str, url: str, environ: Mapping[str, str]) -> str:
    if server := environ.get("HOLDFAST_SERVER"):
        return f"the server {server}"
    if url:
        from holdfast.wiring import without_password

        return without_password(url)
    path = os.path.join(home, "memory.db")
    try:
        with open(path, "rb") as file:
            header = file.read(_USER_VERSION.stop)
    except OSError:
        return f"{path} (not there yet)"
    if not header.startswith(_MAGIC):
        return f"{path} (not a store; `holdfast doctor` says more)"
    schema = int.from_bytes(header[_USER_VERSION], "big")
    # In a new store the schema version is still in the write-ahead log, and 0 in the file.
    return f"{path} (schema {schema})" if schema else path
