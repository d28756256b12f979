"""The URL of a store as it is shown and kept: without its password, and good from any folder."""

from __future__ import annotations

import os

from holdfast.errors import InvalidInput


def from_anywhere(url: str) -> str:
    """The same store from whichever folder it is opened: the path of a file is made whole."""
    path = url.removeprefix("sqlite:")
    return url if path in (url, "") else f"sqlite:{os.path.abspath(path)}"


def without_password(url: str) -> str:
    """A URL as it may be shown. A server's password may stand before its name, or be an option."""
    from urllib.parse import unquote

    front, mark, rest = url.partition("://")
    if not mark:
        return url
    place, question, options = rest.partition("?")
    if "@" in options:
        # An option, or the second half of a password.
        return f"{front}{mark}…"
    user, at, path = place.rpartition("@")
    kept = [one for one in options.split("&") if "password" not in unquote(one.partition("=")[0])]
    shown = f"{user.partition(':')[0]}{at}{path}" if at else place
    return f"{front}{mark}{shown}{question if any(kept) else ''}{'&'.join(kept)}"


def refuse_password(url: str) -> None:
    """InvalidInput for a URL that is about to be written into the settings, with a password."""
    if without_password(url) != url:
        raise InvalidInput(
            "The settings file must not hold a password, so this URL is not written into it.",
            hint="Put the password into PGPASSWORD or ~/.pgpass, and leave it out of the URL.",
        )
