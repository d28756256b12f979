"""The command line against a server: which commands work there, and where the key comes from.
Loaded only when a server is named.

A key is never an option: options are seen by everyone on the machine, and kept in histories.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.client import Client

KEY_VARIABLE = "HOLDFAST_KEY"
# In the home folder: a line for each server, its address and its key.
KEYS_FILE = "server-keys"
_BYTES_MAX = 1_000_000

WORKS = frozenset(
    {
        *("remember", "update", "pin", "unpin", "archive", "forget", "restore", "purge", "push"),
        *("recall", "get", "list", "related", "timeline", "context", "history", "diff", "undo"),
        *("journal", "journal add", "log", "log add", "log search", "log recover"),
        *("archive-conversation", "decisions", "decide", "review", "index-files", "stats"),
        *("consolidate", "observe", "flush", "captured", "export", "lifecycle"),
        *("hub create", "hub list", "hub use", "hub rename", "hub delete"),
        *("member list", "member set", "member remove", "invite create", "invite accept"),
        *("org create", "org list", "org rename", "org remove", "share"),
        *("team create", "team list", "team rename", "team remove"),
        *("key create", "key list", "key revoke", "import", "usage"),
    }
)
# These have nothing to do with where memories are.
APART = ("config", "completion", "demo", "bench", "serve", "setup", "teardown", "login", "logout")


def applies(command: str) -> bool:
    """Whether a server matters to this command."""
    return command.partition(" ")[0] not in APART


def require(command: str, server: str) -> None:
    """InvalidInput for a command that needs the machine that has the memory."""
    if command not in WORKS:
        raise InvalidInput(
            f"`holdfast {command}` works on the machine that has the memory, not through {server}.",
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
