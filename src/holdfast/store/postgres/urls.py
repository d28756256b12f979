"""The URL of a database: its address for messages, its defaults, and what is wrong with a bad one.

Errors in a URL are found before a server is contacted; otherwise they would look like a server that
does not answer. No message contains a part of the URL that may belong to a password: a character in
it that is not encoded ends it too early, and the rest looks like a host, a port or a database.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import psycopg
from psycopg import conninfo, pq

from holdfast.errors import InvalidSetting

_WHOSE = "The URL of the PostgreSQL store"
_EXAMPLE = "For example: postgresql://user@host:5432/database."
_PASSWORD = "The characters @ : / ? # % in a password are written as %40 %3A %2F %3F %23 %25."
_PORT_MAX = 65_535
# A host on which no server can listen, so that nothing is contacted; with a password, libpq does
# not look for one.
_NOWHERE = {"host": "/dev/null", "hostaddr": "", "port": "5432", "password": "none"}

# Messages of libpq about a URL that it cannot parse, and ours.
_PARSE_ERRORS = (
    (r"unexpected spaces", f"{_WHOSE} has a space in it.", "It is written as %20."),
    (
        r"percent-encoded",
        f"{_WHOSE} has a % that begins no encoded character.",
        f"A % itself is written as %25. {_PASSWORD}",
    ),
    (
        r"key/value separator",
        f"{_WHOSE} has a setting after the ? that is not written as name=value.",
        "For example: postgresql://user@host/database?sslmode=require&connect_timeout=5.",
    ),
)
# Messages of libpq about a value that it does not accept.
_BAD_VALUE = (
    r"^(connection is bad: )?(connection to .* failed: )?"
    r"(invalid (integer value|port number|\"?\w+\"? value)|bad value for|definition of service"
    r"|could not parse network address|could not match|cannot match)"
)
_VALUES = {
    "sslmode": "disable, allow, prefer, require, verify-ca or verify-full",
    "target_session_attrs": "any, read-write, read-only, primary, standby or prefer-standby",
}


def address_of(url: str) -> str:
    """The URL of a PostgreSQL server without its password, for messages; refuses one that cannot
    work."""
    parts = _parts(url)
    _refuse_places(url, parts)
    _refuse_values(url)
    if not (parts.get("dbname") or parts.get("service") or _named_outside()):
        # libpq would use the database with the name of the user, which nobody has in mind.
        raise InvalidSetting(
            f"{_WHOSE} names no database.",
            hint="It comes after the host: postgresql://user@host:5432/database.",
        )
    user = f"{parts['user']}@" if parts.get("user") else ""
    return f"postgresql://{user}{_places(parts)}/{parts.get('dbname') or parts.get('user') or ''}"


def _places(parts: dict[str, str]) -> str:
    """Each host with its port, as in a URL."""
    hosts = (parts.get("host") or parts.get("hostaddr") or "localhost").split(",")
    ports = parts.get("port", "").split(",")
    if len(ports) == 1:
        ports *= len(hosts)
    # An IPv6 address contains colons.
    shown = [f"[{host}]" if ":" in host and "/" not in host else host for host in hosts]
    both = zip(shown, ports, strict=True)
    return ",".join(f"{host}:{port}" if port else host for host, port in both)


def _named_outside() -> bool:
    """Whether libpq finds the database's name in the environment."""
    return bool(os.environ.get("PGDATABASE") or os.environ.get("PGSERVICE"))


def _parts(url: str) -> dict[str, str]:
    try:
        found = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        # Not chained: libpq's message quotes the part that it could not parse.
        raise _unreadable(url, str(error)) from None
    return {name: str(value) for name, value in found.items() if value is not None}


def _unreadable(url: str, words: str) -> InvalidSetting:
    unknown = re.match(r'invalid URI query parameter: "(\w+)"', words)
    if unknown and "@" not in url.rpartition("?")[2]:
        name = unknown[1]
        return InvalidSetting(
            f"{_WHOSE} has a setting `{name}`, which libpq does not know.", hint=_like(name)
        )
    for pattern, message, hint in _PARSE_ERRORS:
        if re.search(pattern, words):
            return InvalidSetting(message, hint=hint)
    return InvalidSetting(
        f"{_WHOSE} cannot be read.",
        hint=f"{_EXAMPLE} {_PASSWORD} After a ? come settings of libpq, such as sslmode=require.",
    )


def _like(name: str) -> str:
    """A hint with the setting that may be meant."""
    from difflib import get_close_matches

    known = [option.keyword.decode() for option in pq.Conninfo.get_defaults()]
    near = get_close_matches(name, known, n=1)
    return f"Is `{near[0]}` meant?" if near else "After the ? come settings of libpq alone."


def _refuse_places(url: str, parts: dict[str, str]) -> None:
    """Refuses impossible hosts and ports, and what looks like the rest of a password."""
    given = re.match(r"\w+://([^/?]*)(.*?)(?:\?|$)", url)
    misplaced = given is not None and (given[1].count("@") > 1 or "@" in given[2])
    # The name of an abstract Unix socket begins with @ (?host=@name).
    if misplaced or any("@" in host[1:] for host in parts.get("host", "").split(",")):
        raise InvalidSetting(f"{_WHOSE} has an @ too many, or one too late.", hint=_PASSWORD)
    ports = parts.get("port", "").split(",")
    if any(port and not (port.isdecimal() and 0 < int(port) <= _PORT_MAX) for port in ports):
        raise InvalidSetting(
            f"{_WHOSE} has a port that is no number from 1 to {_PORT_MAX}.",
            hint=f"{_EXAMPLE} {_PASSWORD}",
        )
    hosts = (parts.get("host") or parts.get("hostaddr") or "").split(",")
    if len(ports) not in (1, len(hosts)):
        raise InvalidSetting(
            f"{_WHOSE} names {len(hosts)} hosts and {len(ports)} ports.",
            hint="Write one port for all of them, or one behind each:"
            " postgresql://user@one:5432,two:5433/database.",
        )


def _refuse_values(url: str) -> None:
    """Refuses values that libpq does not accept, in the URL or its variables (PGSSLMODE). libpq
    checks them before it connects."""
    asked = pq.PGconn.connect_start(conninfo.make_conninfo(url, **_NOWHERE).encode())
    words = asked.get_error_message()
    asked.finish()
    if refused := setting_error(words):
        raise refused


def setting_error(words: str) -> InvalidSetting | None:
    """The error for a message of libpq about a value that it does not accept; None for others."""
    if not re.match(_BAD_VALUE, words):
        return None
    message = re.sub(r"^connection .*?(bad|failed): ", "", words.partition("\n")[0])
    hint = "It stands after the ? of the URL, or in a variable that begins with PG."
    for name, values in _VALUES.items():
        if name in message:
            hint = f"{name} is {values}. {hint}"
    return InvalidSetting(
        f"A setting of the connection to PostgreSQL cannot be used ({message}).", hint=hint
    )


# Defaults where the URL has none: a server that has vanished is noticed in seconds, not in hours.
_DEFAULTS = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "application_name": "holdfast",
}
# Defaults where it names several servers: the primary is meant, and one that has vanished must not
# use up the time in which the next would have answered.
_OF_SEVERAL = {"target_session_attrs": "read-write", "connect_timeout": "3"}

# Variables of libpq that override these defaults.
_VARIABLES = {
    "connect_timeout": "PGCONNECT_TIMEOUT",
    "application_name": "PGAPPNAME",
    "target_session_attrs": "PGTARGETSESSIONATTRS",
}


def complete(url: str, *, wanted: Mapping[str, str] = _OF_SEVERAL) -> str:
    """The URL of a PostgreSQL server with our defaults; `wanted` are those for a URL that names
    several servers."""
    given = conninfo.conninfo_to_dict(url)
    several = "," in str(given.get("host") or given.get("hostaddr") or "")
    defaults = {**_DEFAULTS, **wanted} if several else _DEFAULTS
    missing = {
        k: v
        for k, v in defaults.items()
        if k not in given and _VARIABLES.get(k, "") not in os.environ
    }
    # Always, so that every text can be sent.
    return conninfo.make_conninfo(url, **missing, client_encoding="utf8")
