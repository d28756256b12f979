"""What PostgreSQL says, turned into what a person can act on.

Knows error codes; knows nothing of what the tables mean. No sentence holds a password: a server is
named by its address alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError

import psycopg

from holdfast.errors import (
    DeadlineExceeded,
    HoldfastError,
    InvalidInput,
    ServerUnreachable,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from holdfast.store.postgres.keepalive import NoAnswer
from holdfast.store.postgres.libpq_messages import AWAY, said_by_pooler, unsafe
from holdfast.store.postgres.urls import of_a_setting

# What is said by a server that was told to refuse whatever a policy would hide rows of.
_WALL_OFF = "would be affected by row-level security"
# What is said by a server that restarts, and of several none of which can be written to yet.
_COMES_BACK = rf"starting up|shutting down|in recovery|session is read-only|{AWAY}"
_NOTHING = "Nothing was written; try again."


@contextmanager
def translated(address: str) -> Iterator[None]:
    """Turns what the driver raises into one of ours."""
    try:
        yield
    except psycopg.Error as error:
        raise fault(error, address) from None
    except (UnicodeDecodeError, JSONDecodeError, OverflowError) as error:
        raise StoreDamaged(
            f"{address} holds a value that cannot be read ({error.__class__.__name__}).",
            hint="Run `holdfast doctor`; a backup of the server brings back what was there.",
        ) from None
    except UnicodeEncodeError:
        raise InvalidInput(
            "The text holds half of a character, which cannot be stored.",
            hint="Write it as UTF-8 anew.",
        ) from None


def fault(error: psycopg.Error, address: str) -> HoldfastError:
    """The error of ours that says the same."""
    state = error.sqlstate or ""
    if isinstance(error, psycopg.OperationalError) and not state:
        return _no_answer(error, address)
    if not state and (wrong := of_a_setting(str(error))) is not None:
        return wrong
    if state == "08P01" and (told := said_by_pooler(_said(error), address)) is not None:
        return told
    for front, make in _BY_STATE:
        if state.startswith(front):
            return make(error, address)
    if isinstance(error, psycopg.DataError) and not state:
        # A NUL: the driver refuses it before the server is asked.
        return InvalidInput("The text holds a NUL character, which cannot be stored.")
    return StoreError(f"{address} refused: {_said(error)}.", hint="Nothing was written.")


def _said(error: psycopg.Error) -> str:
    """The server's own words, in one line. Its details would quote what was stored."""
    return _first_line(error.diag.message_primary or str(error).strip())


def _no_answer(error: psycopg.Error, address: str) -> HoldfastError:
    if is_silence(error):
        return _silent(error, address)
    words = str(error).strip()
    if (wrong := of_a_setting(words)) is not None:
        return wrong
    # Before a connection stands, the server's refusal comes as words alone.
    for pattern, make in _AT_THE_DOOR:
        if re.search(pattern, words):
            return make(error, address)
    told = said_by_pooler(_refusal(error), address) or unsafe(words, address)
    if told is not None:
        return told
    return ServerUnreachable(
        f"The PostgreSQL server of {address} cannot be reached ({_refusal(error)}).",
        hint="Check that it runs and that the address is right. A write that had not been"
        " acknowledged can be tried again.",
        again=True,
    )


def _silent(error: psycopg.Error, address: str) -> HoldfastError:
    return ServerUnreachable(
        f"The PostgreSQL server of {address} has stopped answering.",
        hint="It may be frozen or wait for its disk, nothing may come through on the way to it, or"
        " a pooler in between has no connection free."
        " What was not acknowledged was not written; try again.",
        again=not getattr(error, "late", False),
    )


def _first_line(words: str) -> str:
    return words.partition("\n")[0].rstrip(".")


def _wrong_password(error: psycopg.Error, address: str) -> HoldfastError:
    return ServerUnreachable(
        f"The server of {address} refused the user or the password.",
        hint="Check store.url, or the URL that was given. The password may stand in the URL, in"
        " PGPASSWORD or in ~/.pgpass.",
    )


def _no_password(error: psycopg.Error, address: str) -> HoldfastError:
    return ServerUnreachable(
        f"The server of {address} asks for a password, and none was given.",
        hint="Put it into PGPASSWORD, or into ~/.pgpass of whoever runs this, readable by nobody"
        " else (chmod 600). A scheduled job or a service has an environment and perhaps a home of"
        " its own.",
    )


def _no_database(error: psycopg.Error, address: str) -> HoldfastError:
    name = address.rpartition("/")[2]
    return ServerUnreachable(
        f"There is no database `{name}` on the server of {address}.",
        hint=f"Make it with `createdb {name}`, or name another in store.url.",
    )


def _not_let_in(error: psycopg.Error, address: str) -> HoldfastError:
    return ServerUnreachable(
        f"The server of {address} does not let this role in ({_refusal(error)}).",
        hint="`GRANT CONNECT ON DATABASE … TO …` lets a role into a database, a line of pg_hba.conf"
        " lets it in from an address. Where that says `no encryption`, add sslmode=require to the"
        " URL.",
    )


def _refusal(error: psycopg.Error) -> str:
    """What was said at the door, without the way there."""
    return re.sub(r"^.*(failed|bad|FATAL): +", "", _first_line(str(error).strip()))


def _no_slot(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreBusy(
        f"The server of {address} takes no more connections.",
        hint="Raise max_connections, put a pooler in front, or run fewer processes. " + _NOTHING,
    )


def _stopping(error: psycopg.Error, address: str) -> HoldfastError:
    return ServerUnreachable(
        f"The server of {address} is starting, stopping or taking over.",
        hint="Try again in a moment.",
        again=True,
    )


def _cut(error: psycopg.Error, address: str) -> HoldfastError:
    return ServerUnreachable(
        f"The connection to {address} was cut ({_refusal(error)}).",
        hint="What was not acknowledged was not written; try again. If it happens each time, look"
        " for a limit: a timeout of the server's, or a pooler's query_timeout.",
        again=True,
    )


def _busy(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreBusy(
        f"Other writers were in the way at {address} ({_said(error)}).", hint=_NOTHING, again=True
    )


def _waited(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreBusy(
        f"Other processes kept writing to {address} for as long as we wait.", hint=_NOTHING
    )


def _full(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreFull(
        f"The server of {address} has no room left ({_said(error)}).",
        hint="Nothing was written; free some space there and try again.",
    )


def _read_only(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreReadOnly(
        f"{address} cannot be written ({_said(error)}).",
        hint="It may be a standby, the role may only read, or default_transaction_read_only is on"
        " for the role or the database. Name the primary, grant the role INSERT, UPDATE and DELETE,"
        " or reset that setting.",
    )


def _not_allowed(error: psycopg.Error, address: str) -> HoldfastError:
    told = f"The role of {address} may not do that ({_said(error)})."
    if _WALL_OFF in str(error):
        return StoreReadOnly(
            told,
            hint="row_security is off for the role or the database; the server's default is on:"
            f' ALTER ROLE "{_user(address)}" RESET row_security',
        )
    return StoreReadOnly(
        told,
        hint="Let the owner of the schema run it; or, where this role only has to read and write,"
        f" let it in: `holdfast store init --role {_user(address)}`, as the owner.",
    )


def _user(address: str) -> str:
    user, at, _ = address.removeprefix("postgresql://").partition("@")
    return user if at else "ROLE"


def _stopped(error: psycopg.Error, address: str) -> HoldfastError:
    return DeadlineExceeded(
        "The read was stopped because it took too long; this is not an empty answer.",
        hint="Narrow the query, or raise recall.deadline_s.",
    )


def _missing(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreDamaged(
        f"A table of {address} is missing or broken ({_said(error)}).",
        hint="Run `holdfast doctor`; if the tables were dropped, a backup brings them back.",
    )


def _too_large(error: psycopg.Error, address: str) -> HoldfastError:
    return InvalidInput(
        f"A value is larger than PostgreSQL can keep ({_said(error)}).", hint="Make it shorter."
    )


def stopped_writing(error: psycopg.Error, address: str) -> DeadlineExceeded:
    """For a write of which the server stopped a statement: by a limit of its own, or by hand."""
    return DeadlineExceeded(
        f"The server of {address} stopped the write ({_said(error)}).",
        hint="Nothing was written. Where the server or the role has a statement_timeout, raise it.",
    )


def passed_over() -> StoreError:
    """For a write that went on after one of its statements had failed."""
    return StoreError(
        "A part of the write had failed and was passed over.", hint="Nothing was written."
    )


# By what is said before a connection stands; the first that fits counts.
_AT_THE_DOOR = (
    (r"no password supplied", _no_password),
    (r"authentication failed|no such user|not permitted to log in", _wrong_password),
    (r'FATAL: +role ".*" does not exist', _wrong_password),
    (r'FATAL: +database ".*" does not exist|no such database', _no_database),
    (r"pg_hba\.conf|permission denied for database", _not_let_in),
    (r"too many|remaining connection slots", _no_slot),
    (_COMES_BACK, _stopping),
    (r"closed the connection unexpectedly", _cut),
)

# By the first characters of the code; the first that fits counts.
_BY_STATE = (
    ("28", _wrong_password),
    ("3D000", _no_database),
    ("53300", _no_slot),
    ("57P03", _stopping),
    ("57P", _cut),
    ("08", _cut),
    ("25006", _read_only),
    ("42501", _not_allowed),
    ("57014", _stopped),
    ("55P03", _waited),
    ("40", _busy),
    ("53100", _full),
    ("53", _full),
    ("58030", _full),
    ("54", _too_large),
    ("22021", lambda error, address: InvalidInput("The text holds characters that are not UTF-8.")),
    ("25P02", lambda error, address: passed_over()),
    ("25P03", _cut),
    ("25P04", _cut),
    ("42P01", _missing),
    ("42703", _missing),
    ("XX001", _missing),
    ("XX002", _missing),
    ("3F000", _missing),
)


def lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, so that another may be tried."""
    state = error.sqlstate or ""
    # The last two: the server ends a session that was silent, or at work, for too long.
    gone = state.startswith(("08", "57P")) or state in ("25P03", "25P04")
    return gone or (isinstance(error, psycopg.OperationalError) and not state)


def lay_idle(error: psycopg.Error) -> bool:
    """Whether a server that is well has cut the connection because nothing was asked on it."""
    return error.sqlstate == "57P05"


def comes_back(error: psycopg.Error) -> bool:
    """Whether a server is there that will let us in, or take writes, in a moment."""
    return re.search(_COMES_BACK, str(error)) is not None


def refused(error: psycopg.Error) -> bool:
    """Whether nobody listens at an address that exists."""
    # Of several addresses, the last that was tried comes first.
    return re.search(r"Connection refused|No such file", _first_line(str(error))) is not None


def is_silence(error: psycopg.Error) -> bool:
    """Whether nothing at all was said, by any of several servers."""
    waited = isinstance(error, psycopg.errors.ConnectionTimeout) and not comes_back(error)
    return waited or isinstance(error, NoAnswer)


def busy(address: str) -> StoreBusy:
    return StoreBusy(f"Another process is writing to {address}.")
