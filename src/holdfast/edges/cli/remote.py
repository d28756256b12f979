"""Access to a server: its API keys (`key`), the keys stored on this machine (`login`, `logout`),
the connection, and the refusal of commands that do not work there. The secret of a key is printed
once.

A key is never an option: options are visible to every user of the machine and are kept in shell
histories.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from holdfast.api.people import People
from holdfast.edges.cli.bind import Flags, flag
from holdfast.edges.cli.command import Command, Commands, Namespace, ago, option
from holdfast.errors import Forbidden, InvalidInput, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.client import Client
    from holdfast.domain.hub import Key
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()


KEY_VARIABLE = "HOLDFAST_KEY"
# In the home folder: a line for each server with its address and key.
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
    """Connects the command line to a server with its stored key."""
    from holdfast.client import Client

    return Client(url, key_for(url, home), hub=hub, home=home)


def key_for(url: str, home: str) -> str | None:
    """The key in the environment, else the one stored for this server."""
    if key := os.environ.get(KEY_VARIABLE, "").strip():
        return key
    return read_keys(home).get(same_place(url))


def same_place(url: str) -> str:
    """Normalises a server's address: a key is sent to the server it is for, and to no other."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return f"{parts.scheme.lower()}://{(parts.hostname or '').lower()}:{port}"
    except ValueError:
        return url


def read_keys(home: str) -> dict[str, str]:
    """The stored keys by server. Raises InvalidInput if other users can read the file."""
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
    """Replaces the stored keys; only this user can read the file. Returns its path."""
    from holdfast.system.atomic_file import write_atomic

    path = os.path.join(home, KEYS_FILE)
    write_atomic(path, "".join(f"{url} {key}\n" for url, key in sorted(keys.items())))
    return path


# key


_CREATE_KEY = Flags(
    People.create_key,
    name=flag(about="what it is for, such as laptop or ci"),
    actor=flag(metavar="WHO", about="who it speaks for (you)"),
    hubs=flag("--only", metavar="HUB", about="only this hub"),
    read_only=flag(about="it changes nothing"),
    no_delete=flag(about="it deletes nothing"),
    expires_at=flag(
        "--expires",
        metavar="SPAN",
        about="it ends after this: 12h, 30d, 1y",
        convert=lambda call, text: _expiry(call, text),
    ),
)


@COMMANDS.add("key create", "holdfast key create laptop --no-delete --expires 90d", _CREATE_KEY)
def _create_key(call: Call, args: Namespace) -> None:
    # --hub names the hub that the key gives access to.
    """Create an API key for the server; its secret is printed once.

    A key belongs to somebody (--actor) and never allows more than their role does."""
    # An empty name, as of a variable that is not set, is an error and not the widest key.
    only = args.hubs or ([] if args.hub is None else [args.hub])
    hubs = [call.hub_named(name).id for name in only]
    handed = _CREATE_KEY.run(call, args, hubs=hubs)
    if call.out.json:
        call.out.value({**_plain_key(call, handed.what), "secret": handed.secret})
        return
    call.out.line(handed.secret)
    key = handed.what
    ends = f", until {call.out.time(key.expires_at)}" if key.expires_at else ""
    call.out.note(f"For {key.actor}: {_key_scope(call, key)}{ends}. It is shown once.")
    call.out.note("A client sends it as `Authorization: Bearer KEY`, or stores it by `login`.")


def _expiry(call: Call, text: str) -> datetime:
    length = ago(text)
    if length is None:
        raise InvalidInput(f"{text!r} is no span of time.", hint="For example 12h, 30d or 1y.")
    return call.now + length


@COMMANDS.add("key list", "holdfast key list", server="works")
def _key_list(call: Call, args: Namespace) -> None:
    """List the keys, with their scope and last use.

    In a pipe, a line per key: id, name, owner, scope, last use, valid or why not."""
    found = call.memory.keys(everyone=call.client is None)
    data = [_plain_key(call, key) for key in found] if call.out.json else None
    rows = [
        (
            key.id,
            key.name,
            key.actor,
            _key_scope(call, key),
            "never" if key.used_at is None else call.out.time(key.used_at),
            key.refusal(call.now) or (_good_until(call, key) if call.out.terminal else "good"),
        )
        for key in found
    ]
    names = ("id", "name", "for", "scope", "last used", "state")
    none = "There is no key yet: `holdfast key create NAME` makes one."
    call.out.rows(names, rows, data=data, empty=none)


@COMMANDS.shows(
    "key revoke",
    "holdfast key revoke key_1k09z8y4fde835t4c1t2",
    Flags(People.revoke_key, key_id=flag(metavar="ID", about="its id (key_…), or its name")),
)
def _show_revoked(call: Call, args: Namespace, key: Key) -> None:
    """Revoke a key, permanently."""
    data = _plain_key(call, key) if call.out.json else None
    said = f"The key {key.name} of {key.actor} ({key.id}) opens nothing from now on."
    call.out.done("revoked", data, said, key.id, key.name)


def _names(call: Call, key: Key) -> list[str]:
    known = {hub.id: hub.name for hub in call.memory.hubs()}
    return [known.get(hub_id, f"{hub_id} (gone)") for hub_id in key.hubs]


def _good_until(call: Call, key: Key) -> str:
    """The state of a key that opens something, for people: with its end, if it has one."""
    return "good" if key.expires_at is None else f"good until {call.out.time(key.expires_at)}"


def _key_scope(call: Call, key: Key) -> str:
    parts = [", ".join(_names(call, key)) or "all hubs"]
    parts += ["read-only"] if key.read_only else ["no delete"] if key.no_delete else []
    return "; ".join(parts)


def _plain_key(call: Call, key: Key) -> dict[str, Any]:
    times = {
        name: None if at is None else at.isoformat()
        for name, at in (
            ("created_at", key.at),
            ("expires_at", key.expires_at),
            ("revoked_at", key.revoked_at),
            ("used_at", key.used_at),
        )
    }
    return {
        "id": key.id,
        "name": key.name,
        "actor": key.actor,
        "hubs": _names(call, key),
        "read_only": key.read_only,
        "no_delete": key.no_delete,
        **times,
    }


# login, logout


_LOGIN_OPTIONS = option("url", "URL", "the server, such as http://127.0.0.1:4653")


@COMMANDS.add("login", "holdfast login http://127.0.0.1:4653", _LOGIN_OPTIONS, server="ignored")
def _login(call: Call, args: Namespace) -> None:
    """Check a server's key and store it on this machine.

    The key is asked for, or read from a pipe, and stored in a file of the home folder that
    only you can read. HOLDFAST_KEY overrides it."""
    from holdfast.client import Client

    # Refuse an invalid address before anybody types a key.
    Client(args.url).close()
    key = _read_key(call)
    with Client(args.url, key) as client:
        try:
            hubs = client.hubs()
        except Forbidden as error:
            error.hint = (
                "It is unknown there, revoked or expired. Check that all of it was copied, or ask"
                " the person who runs the server for another."
            )
            raise
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
    if url.startswith("http://") and urlsplit(url).hostname not in (
        "127.0.0.1",
        "localhost",
        "::1",
    ):
        call.out.note("The key goes over plain HTTP, where others on the way can read it.")


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


@COMMANDS.add("logout", "holdfast logout http://127.0.0.1:4653", _LOGIN_OPTIONS, server="ignored")
def _logout(call: Call, args: Namespace) -> None:
    """Remove the key for a server from this machine."""
    kept = read_keys(call.home)
    place = same_place(args.url)
    if kept.pop(place, None) is None:
        raise NotFound(f"There is no key for {args.url}.", hint="Nothing was changed.")
    write_keys(call.home, kept)
    said = f"The key for {args.url} is gone from here. It is good until it is revoked."
    call.out.done("logged out", {"server": args.url}, said, args.url)
