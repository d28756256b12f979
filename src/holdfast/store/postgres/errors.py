"""Translates errors of PostgreSQL and the driver into errors of the store, with a hint what to do.

No message contains a password: a server is named by its address.
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
from holdfast.store.postgres.libpq_messages import POOLER_SERVER_DOWN, pooler_error, tls_error
from holdfast.store.postgres.urls import setting_error

# The message of a server with row_security = off, which refuses queries that a policy would filter.
_ROW_SECURITY_OFF = "would be affected by row-level security"
# Messages of a server that restarts, or where none of several servers can be written to yet.
_COMING_UP = rf"starting up|shutting down|in recovery|session is read-only|{POOLER_SERVER_DOWN}"
_NOTHING = "Nothing was written; try again."


@contextmanager
def translated(address: str) -> Iterator[None]:
    """Translates errors that the driver raises."""
    try:
        yield
    except psycopg.Error as error:
        raise to_store_error(error, address) from None
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


def to_store_error(error: psycopg.Error, address: str) -> HoldfastError:
    """The error of the store for an error of the driver."""
    state = error.sqlstate or ""
    if isinstance(error, psycopg.OperationalError) and not state:
        return _no_answer(error, address)
    if not state and (wrong := setting_error(str(error))) is not None:
        return wrong
    if state == "08P01" and (known := pooler_error(_message(error), address)) is not None:
        return known
    if node_lost(error):
        return _cut(error, address)
    for front, make in _BY_STATE:
        if state.startswith(front):
            return make(error, address)
    if isinstance(error, psycopg.DataError) and not state:
        # A NUL: the driver refuses it before anything is sent.
        return InvalidInput("The text holds a NUL character, which cannot be stored.")
    return StoreError(f"{address} refused: {_message(error)}.", hint="Nothing was written.")


def _message(error: psycopg.Error) -> str:
    """The server's message, in one line, without its details, which would quote stored text."""
    return _first_line(error.diag.message_primary or str(error).strip())


def _no_answer(error: psycopg.Error, address: str) -> HoldfastError:
    if is_timeout(error):
        return _silent(error, address)
    words = str(error).strip()
    if (wrong := setting_error(words)) is not None:
        return wrong
    # Before a connection is established, a refusal has a message and no code.
    for pattern, make in _BY_MESSAGE:
        if re.search(pattern, words):
            return make(error, address)
    known = pooler_error(_refusal(error), address) or tls_error(words, address)
    if known is not None:
        return known
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
    """The reason for a refused connection, without libpq's description of the
    attempt."""
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
    if node_lost(error):
        return ServerUnreachable(
            f"A node of {address} cannot be reached ({_message(error)}).",
            hint="Hubs on other nodes can be used meanwhile. What was not acknowledged was not"
            " written; try again.",
            again=True,
        )
    return ServerUnreachable(
        f"The connection to {address} was cut ({_refusal(error)}).",
        hint="What was not acknowledged was not written; try again. If it happens each time, look"
        " for a limit: a timeout of the server's, or a pooler's query_timeout.",
        again=True,
    )


def _busy(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreBusy(
        f"Other writers were in the way at {address} ({_message(error)}).",
        hint=_NOTHING,
        again=True,
    )


def _waited(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreBusy(
        f"Other processes kept writing to {address} for as long as we wait.", hint=_NOTHING
    )


def _full(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreFull(
        f"The server of {address} has no room left ({_message(error)}).",
        hint="Nothing was written; free some space there and try again.",
    )


def _read_only(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreReadOnly(
        f"{address} cannot be written ({_message(error)}).",
        hint="It may be a standby, the role may only read, or default_transaction_read_only is on"
        " for the role or the database. Name the primary, grant the role INSERT, UPDATE and DELETE,"
        " or reset that setting.",
    )


def _not_allowed(error: psycopg.Error, address: str) -> HoldfastError:
    known = f"The role of {address} may not do that ({_message(error)})."
    if _ROW_SECURITY_OFF in str(error):
        return StoreReadOnly(
            known,
            hint="row_security is off for the role or the database; the server's default is on:"
            f' ALTER ROLE "{_user(address)}" RESET row_security',
        )
    return StoreReadOnly(
        known,
        hint="Let the owner of the schema run it; or, where this role only has to read and write,"
        f" let it in: `holdfast store init --role {_user(address)}`, as the owner.",
    )


def _user(address: str) -> str:
    user, at, _ = address.removeprefix("postgresql://").partition("@")
    return user if at else "ROLE"


def _stopped(error: psycopg.Error, address: str) -> HoldfastError:
    return DeadlineExceeded(
        "The read was stopped because it took too long; this is not an empty answer.",
        hint="Narrow the query, or raise recall.deadline_s; of other reads than recall, look for"
        " what keeps the server busy, or for a node that does not answer.",
    )


def _missing(error: psycopg.Error, address: str) -> HoldfastError:
    return StoreDamaged(
        f"A table of {address} is missing or broken ({_message(error)}).",
        hint="Run `holdfast doctor`; if the tables were dropped, a backup brings them back.",
    )


def _too_large(error: psycopg.Error, address: str) -> HoldfastError:
    return InvalidInput(
        f"A value is larger than PostgreSQL can keep ({_message(error)}).", hint="Make it shorter."
    )


def write_cancelled(error: psycopg.Error, address: str) -> DeadlineExceeded:
    """For a write whose statement the server cancelled: by a timeout, or by an administrator."""
    return DeadlineExceeded(
        f"The server of {address} stopped the write ({_message(error)}).",
        hint="Nothing was written. Where the server or the role has a statement_timeout, raise it;"
        " otherwise store.answer_s.",
    )


def transaction_failed() -> StoreError:
    """For a write that continued after one of its statements had failed."""
    return StoreError(
        "A part of the write had failed and was passed over.", hint="Nothing was written."
    )


# By message, before a connection is established; the first match counts.
_BY_MESSAGE = (
    (r"no password supplied", _no_password),
    (r"authentication failed|no such user|not permitted to log in", _wrong_password),
    (r'FATAL: +role ".*" does not exist', _wrong_password),
    (r'FATAL: +database ".*" does not exist|no such database', _no_database),
    (r"pg_hba\.conf|permission denied for database", _not_let_in),
    (r"too many|remaining connection slots", _no_slot),
    (_COMING_UP, _stopping),
    (r"closed the connection unexpectedly", _cut),
)

# By the first characters of the SQLSTATE; the first match counts.
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
    ("25P02", lambda error, address: transaction_failed()),
    ("25P03", _cut),
    ("25P04", _cut),
    ("42P01", _missing),
    ("42703", _missing),
    ("XX001", _missing),
    ("XX002", _missing),
    ("3F000", _missing),
)


def connection_lost(error: psycopg.Error) -> bool:
    """Whether the connection is lost, so that another may be tried."""
    state = error.sqlstate or ""
    # 25P03 and 25P04: the server ended a session that was idle in a transaction, or took too long.
    gone = state.startswith(("08", "57P")) or state in ("25P03", "25P04") or node_lost(error)
    return gone or (isinstance(error, psycopg.OperationalError) and not state)


# What a coordinator reports of a node that it cannot reach, or whose answer broke off. The first
# has a code of its own, the second that of an internal error, with the words of the driver.
_NODE_LOST = r"connection to the remote node|^server closed the connection unexpectedly"


def node_lost(error: psycopg.Error) -> bool:
    """Whether Citus has lost one of its nodes; the connection to the coordinator is fine."""
    message = error.diag.message_primary or ""
    return bool(error.sqlstate) and re.search(_NODE_LOST, message) is not None


def was_idle(error: psycopg.Error) -> bool:
    """Whether a healthy server closed the connection because it was idle."""
    return error.sqlstate == "57P05"


def is_coming_up(error: psycopg.Error) -> bool:
    """Whether a server is up that will accept connections, or writes, in a moment."""
    return re.search(_COMING_UP, str(error)) is not None


def connection_refused(error: psycopg.Error) -> bool:
    """Whether nobody listens at an address that exists."""
    # Of several addresses, the last one tried comes first.
    return re.search(r"Connection refused|No such file", _first_line(str(error))) is not None


def is_timeout(error: psycopg.Error) -> bool:
    """Whether no server answered at all."""
    waited = isinstance(error, psycopg.errors.ConnectionTimeout) and not is_coming_up(error)
    return waited or isinstance(error, NoAnswer)


def busy(address: str) -> StoreBusy:
    return StoreBusy(f"Another process is writing to {address}.")
