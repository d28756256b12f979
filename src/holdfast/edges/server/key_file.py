"""The key of a server that has one for all its clients: in a file that only its owner may read, or
in the environment."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from holdfast.errors import AlreadyExists, InvalidInput, NotFound

# A shorter one could be guessed.
KEY_CHARS_MIN = 16
_KEY_BYTES = 32


def find_key(
    file: str | None, *, variable: str, command: str, environ: Mapping[str, str] = os.environ
) -> str | None:
    """The key of a file or of the environment; None where there is none. `command` makes one, with
    the name of a file behind it."""
    if file is None:
        given = environ.get(variable)
        return None if given is None else _checked(given.strip(), variable, command)
    path = os.path.expanduser(file)
    try:
        with open(path, encoding="utf-8") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
                raise InvalidInput(
                    f"Others may read the key in {file}.", hint=f"Run `chmod 600 {file}`."
                )
            return _checked(opened.read().strip(), file, command)
    except FileNotFoundError:
        hint = f"Make a key: `{command} {file}`."
        raise NotFound(f"There is no file {file}.", hint=hint) from None
    except UnicodeDecodeError:
        hint = f"Make a key: `{command} another-file`."
        raise InvalidInput(f"{file} holds no key.", hint=hint) from None


def _checked(key: str, where: str, command: str) -> str:
    if len(key) < KEY_CHARS_MIN or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInput(
            f"The key in {where} can be guessed or cannot be sent: it needs at least "
            f"{KEY_CHARS_MIN} letters and digits, without spaces.",
            hint=f"Make a key: `{command} FILE`.",
        )
    return key


def make_key(file: str) -> str:
    """A new key in a new file that only its owner may read; returns where."""
    import secrets

    path = os.path.abspath(os.path.expanduser(file))
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise AlreadyExists(
            f"There is a file {file} already.", hint="Remove it first, or name another."
        ) from None
    with os.fdopen(handle, "w", encoding="ascii") as opened:
        opened.write(secrets.token_urlsafe(_KEY_BYTES) + "\n")
    return path
