"""Servers: login and logout. A key is read from the terminal without being shown, or from a pipe;
it is never an option."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call


def _options(parser: Parser) -> None:
    parser.add_argument("url", metavar="URL", help="the server, such as http://127.0.0.1:4653")


def _login(call: Call, args: Namespace) -> None:
    from holdfast.client import Client
    from holdfast.edges.cli import remote

    # An address that is none is refused before anybody types a key.
    Client(args.url).close()
    key = _read_key(call)
    with Client(args.url, key) as client:
        hubs = client.hubs()
        url = client.url
    kept = remote.read_keys(call.home)
    path = remote.write_keys(call.home, {**kept, remote.same_place(url): key})
    names = [hub.name for hub in hubs]
    if call.out.json:
        call.out.value({"result": "logged in", "server": url, "file": path, "hubs": names})
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
    from urllib.parse import urlsplit

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
    from holdfast.edges.cli import remote

    kept = remote.read_keys(call.home)
    place = remote.same_place(args.url)
    if kept.pop(place, None) is None:
        raise NotFound(f"There is no key for {args.url}.", hint="Nothing was changed.")
    remote.write_keys(call.home, kept)
    if call.out.json:
        call.out.value({"result": "logged out", "server": args.url})
    elif call.out.terminal:
        call.out.line(f"The key for {args.url} is gone from here. It is good until it is revoked.")
    else:
        call.out.row("logged out", args.url)


COMMANDS = (
    Command(
        "login",
        "Keep the key for a server, after trying it.",
        "holdfast login http://127.0.0.1:4653",
        _options,
        _login,
        "The key is asked for, or read from a pipe, and kept in the home folder in a file that\n"
        "only you can read. HOLDFAST_KEY wins over it.",
    ),
    Command(
        "logout",
        "Remove the key for a server from this machine.",
        "holdfast logout http://127.0.0.1:4653",
        _options,
        _logout,
    ),
)
