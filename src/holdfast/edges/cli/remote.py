"""The command line against a server: login and logout, the stored keys, and the refusal of
commands that do not work there. Loaded only when a server is named.

A key is never an option: options are visible to every user of the machine and are kept in shell
histories.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from holdfast.client import Client
    from holdfast.edges.cli.call import Call


KEY_VARIABLE = "HOLDFAST_KEY"
# In the home folder: a line for each server, its address and its key.
KEYS_FILE = "server-keys"
_BYTES_MAX = 1_000_000


def require(command: Command, server: str) -> None:
    """Raises InvalidInput for a command that works only on the machine with the store."""
    if command.server == "refused":
        raise InvalidInput(
            f"`holdfast {command.name}` works on the machine that has the memory, not through"
            f" {server}.",
            hint="Run it there; or, for this machine's own memory, give --server with nothing"
            ' (--server "").',
        )


def connect(url: str, home: str, hub: str | None) -> Client:
    """The server, with the key that is kept for it."""
    from holdfast.client import Client

    return Client(url, key_for(url, home), hub=hub, home=home)


def key_for(url: str, home: str) -> str | None:
    """The key in the environment, else the one that is kept for this server."""
    if key := os.environ.get(KEY_VARIABLE, "").strip():
        return key
    return read_keys(home).get(same_place(url))


def same_place(url: str) -> str:
    """The address in one form: a key is for this server, and goes to no other."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return f"{parts.scheme.lower()}://{(parts.hostname or '').lower()}:{port}"
    except ValueError:
        return url


def read_keys(home: str) -> dict[str, str]:
    """The keys that are kept, by server; InvalidInput where others may read the file."""
    path = os.path.join(home, KEYS_FILE)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if os.name == "posix" and mode & 0o077:
                raise InvalidInput(
                    f"Others can read {path}, which holds keys.",
                    hint=f"Take that away: chmod 600 {path}",
                )
            lines = file.read(_BYTES_MAX).splitlines()
    except FileNotFoundError:
        return {}
    pairs = [line.split() for line in lines if not line.lstrip().startswith("#")]
    return {same_place(pair[0]): pair[1] for pair in pairs if len(pair) == 2}


def write_keys(home: str, keys: dict[str, str]) -> str:
    """Keeps these keys and no others, for this user alone; returns where."""
    from holdfast.files.atomic import write_atomic

    path = os.path.join(home, KEYS_FILE)
    write_atomic(path, "".join(f"{url} {key}\n" for url, key in sorted(keys.items())))
    return path


def _login_options(parser: Parser) -> None:
    parser.add_argument("url", metavar="URL", help="the server, such as http://127.0.0.1:4653")


def _login(call: Call, args: Namespace) -> None:
    from holdfast.client import Client

    # An address that is none is refused before anybody types a key.
    Client(args.url).close()
    key = _read_key(call)
    with Client(args.url, key) as client:
        hubs = client.hubs()
        url = client.url
    kept = read_keys(call.home)
    path = write_keys(call.home, {**kept, same_place(url): key})
    names = [hub.name for hub in hubs]
    if call.out.json:
        call.out.value({"server": url, "file": path, "hubs": names}, result="logged in")
        return
    if call.out.terminal:
        call.out.line(f"The key is good, and kept in {path}.", "green")
        call.out.line(f"Hubs in reach: {', '.join(names) or 'none yet'}.")
    else:
        call.out.row("logged in", url, path)
    call.out.note(f"Use it: `holdfast list --server {url}`, or set HOLDFAST_SERVER.")
    if url.startswith("http://") and not _is_here(url):
        call.out.note("The key goes over plain HTTP, where others on the way can read it.")


def _is_here(url: str) -> bool:
    return urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")


def _read_key(call: Call) -> str:
    if sys.stdin is not None and sys.stdin.isatty():
        from getpass import getpass

        text = getpass("Key: ", stream=call.out.stderr)
    else:
        text = call.read("-", "a key") if sys.stdin is not None else ""
    if not text.strip():
        raise InvalidInput(
            "There is no key.", hint="Type it, or pipe it: `holdfast login URL < FILE`."
        )
    return text.strip()


def _logout(call: Call, args: Namespace) -> None:
    kept = read_keys(call.home)
    place = same_place(args.url)
    if kept.pop(place, None) is None:
        raise NotFound(f"There is no key for {args.url}.", hint="Nothing was changed.")
    write_keys(call.home, kept)
    if call.out.json:
        call.out.value({"server": args.url}, result="logged out")
    elif call.out.terminal:
        call.out.line(f"The key for {args.url} is gone from here. It is good until it is revoked.")
    else:
        call.out.row("logged out", args.url)


COMMANDS = (
    Command(
        "login",
        "Keep the key for a server, after trying it.",
        "holdfast login http://127.0.0.1:4653",
        _login_options,
        _login,
        "The key is asked for, or read from a pipe, and kept in the home folder in a file that\n"
        "only you can read. HOLDFAST_KEY wins over it.",
        server="ignored",
    ),
    Command(
        "logout",
        "Remove the key for a server from this machine.",
        "holdfast logout http://127.0.0.1:4653",
        _login_options,
        _logout,
        server="ignored",
    ),
)
