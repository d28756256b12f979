"""Translates errors of PostgreSQL, the driver and PgBouncer into errors of the store, with a hint
what to do.

Most come with a code (SQLSTATE). What fails before a connection is established has only a message
of libpq. PgBouncer has one code for everything (08P01, protocol violation) and closes the
connection with it, at the beginning of a transaction or, where one of its own limits is reached, in
the middle; nothing was written then. No message contains a password: a server is named by its
address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json import JSONDecodeError
from typing import NamedTuple

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
from holdfast.store.postgres.urls import setting_error

# The message of a server with row_security = off, which refuses queries that a policy would filter.
_ROW_SECURITY_OFF = "would be affected by row-level security"
# Sent by a pooler while the server behind it is down; clients are refused until it has tried again.
_POOLER_SERVER_DOWN = r"server login has been failing|cannot connect to server"
# Messages of a server that restarts, or where none of several servers can be written to yet.
_COMING_UP = rf"starting up|shutting down|in recovery|session is read-only|{_POOLER_SERVER_DOWN}"
_NOTHING = "Nothing was written; try again."


class NoAnswer(psycopg.OperationalError):
    """No answer of PostgreSQL in time; `late` where the deadline of the caller has passed."""

    late = False


class Known(NamedTuple):
    """The error for what a server, a pooler or libpq reports; `again` where a retry may help.

    Message and hint may name the {address}, its {user} and {database}, the {message} of the server,
    the reason of a refused connection ({refusal}), and the groups of the pattern ({0}, {1})."""

    kind: type[StoreError] | type[InvalidInput]
    message: str
    hint: str = ""
    again: bool = False

    def error(
        self, error: psycopg.Error, address: str, groups: Sequence[str] = ()
    ) -> HoldfastError:
        user, at, _ = address.removeprefix("postgresql://").partition("@")
        values = {
            "address": address,
            "user": user if at else "ROLE",
            "database": address.rpartition("/")[2],
            "message": _message(error),
            "refusal": _refusal(error),
        }
        message = self.message.format(*groups, **values)
        hint = self.hint.format(*groups, **values)
        if issubclass(self.kind, StoreError):
            return self.kind(message, hint=hint, again=self.again)
        return self.kind(message, hint=hint)


_WRONG_PASSWORD = Known(
    ServerUnreachable,
    "The server of {address} refused the user or the password.",
    "Check store.url, or the URL that was given. The password may stand in the URL, in PGPASSWORD"
    " or in ~/.pgpass.",
)
_NO_PASSWORD = Known(
    ServerUnreachable,
    "The server of {address} asks for a password, and none was given.",
    "Put it into PGPASSWORD, or into ~/.pgpass of the account that runs this, readable by nobody"
    " else (chmod 600). A scheduled job or a service has an environment and perhaps a home of its"
    " own.",
)
_NO_DATABASE = Known(
    ServerUnreachable,
    "There is no database `{database}` on the server of {address}.",
    "Make it with `createdb {database}`, or name another in store.url.",
)
_NOT_LET_IN = Known(
    ServerUnreachable,
    "The server of {address} does not let this role in ({refusal}).",
    "`GRANT CONNECT ON DATABASE … TO …` lets a role into a database, a line of pg_hba.conf lets it"
    " in from an address. Where that says `no encryption`, add sslmode=require to the URL.",
)
_NO_SLOT = Known(
    StoreBusy,
    "The server of {address} takes no more connections.",
    f"Raise max_connections, put a pooler in front, or run fewer processes. {_NOTHING}",
)
_STOPPING = Known(
    ServerUnreachable,
    "The server of {address} is starting, stopping or taking over.",
    "Try again in a moment.",
    again=True,
)
_UNREACHABLE = Known(
    ServerUnreachable,
    "The PostgreSQL server of {address} cannot be reached ({refusal}).",
    "Check that it runs and that the address is right. A write that had not been acknowledged can"
    " be tried again.",
    again=True,
)
_SILENT = Known(
    ServerUnreachable,
    "The PostgreSQL server of {address} has stopped answering.",
    "It may be frozen or wait for its disk, nothing may come through on the way to it, or a pooler"
    " in between has no connection free. What was not acknowledged was not written; try again.",
    again=True,
)
_NODE_CUT = Known(
    ServerUnreachable,
    "A node of {address} cannot be reached ({message}).",
    "Hubs on other nodes can be used meanwhile. What was not acknowledged was not written; try"
    " again.",
    again=True,
)
_CUT = Known(
    ServerUnreachable,
    "The connection to {address} was cut ({refusal}).",
    "What was not acknowledged was not written; try again. If it happens each time, look for a"
    " limit: a timeout of the server's, or a pooler's query_timeout.",
    again=True,
)
_BUSY = Known(
    StoreBusy, "Other writers were in the way at {address} ({message}).", _NOTHING, again=True
)
_WAITED = Known(
    StoreBusy, "Other processes kept writing to {address} for as long as we wait.", _NOTHING
)
_FULL = Known(
    StoreFull,
    "The server of {address} has no room left ({message}).",
    "Nothing was written; free some space there and try again.",
)
_READ_ONLY = Known(
    StoreReadOnly,
    "{address} cannot be written ({message}).",
    "It may be a standby, the role may only read, or default_transaction_read_only is on for the"
    " role or the database. Name the primary, grant the role INSERT, UPDATE and DELETE, or reset"
    " that setting.",
)
_NOT_ALLOWED = Known(
    StoreReadOnly,
    "The role of {address} may not do that ({message}).",
    "Let the owner of the schema run it; or, where this role only has to read and write, let it in:"
    " `holdfast store init --role {user}`, as the owner.",
)
_STOPPED = Known(
    DeadlineExceeded,
    "The read was stopped because it took too long; this is not an empty answer.",
    "Narrow the query, or raise recall.deadline_s; of other reads than recall, look for what keeps"
    " the server busy, or for a node that does not answer.",
)
_MISSING = Known(
    StoreDamaged,
    "A table of {address} is missing or broken ({message}).",
    "Run `holdfast doctor`; if the tables were dropped, a backup brings them back.",
)
_TOO_LARGE = Known(
    InvalidInput, "A value is larger than PostgreSQL can keep ({message}).", "Make it shorter."
)
_PASSED_OVER = Known(
    StoreError, "A part of the write had failed and was passed over.", "Nothing was written."
)
_OTHER = Known(StoreError, "{address} refused: {message}.", "Nothing was written.")

# By the first characters of the SQLSTATE; the first match counts.
_BY_STATE = (
    ("28", _WRONG_PASSWORD),
    ("3D000", _NO_DATABASE),
    ("53300", _NO_SLOT),
    ("57P03", _STOPPING),
    ("57P", _CUT),
    ("08", _CUT),
    ("25006", _READ_ONLY),
    ("42501", _NOT_ALLOWED),
    ("57014", _STOPPED),
    ("55P03", _WAITED),
    ("40", _BUSY),
    ("53", _FULL),
    ("58030", _FULL),
    ("54", _TOO_LARGE),
    ("22021", Known(InvalidInput, "The text holds characters that are not UTF-8.")),
    ("25P02", _PASSED_OVER),
    ("25P03", _CUT),
    ("25P04", _CUT),
    ("42P01", _MISSING),
    ("42703", _MISSING),
    ("XX001", _MISSING),
    ("XX002", _MISSING),
    ("3F000", _MISSING),
)

# By message of libpq, before a connection is established; the first match counts.
_BY_MESSAGE = (
    (r"no password supplied", _NO_PASSWORD),
    (r"authentication failed|no such user|not permitted to log in", _WRONG_PASSWORD),
    (r'FATAL: +role ".*" does not exist', _WRONG_PASSWORD),
    (r'FATAL: +database ".*" does not exist|no such database', _NO_DATABASE),
    (r"pg_hba\.conf|permission denied for database", _NOT_LET_IN),
    (r"too many|remaining connection slots", _NO_SLOT),
    (_COMING_UP, _STOPPING),
    (r"closed the connection unexpectedly", _CUT),
)

_SHOWN = "`openssl s_client -starttls postgres -connect HOST:5432` shows it"

# The same about TLS. A retry would fail in the same way.
_BY_TLS_MESSAGE = (
    (
        r'certificate for "([^"]*)".* does not match host name "([^"]*)"',
        Known(
            ServerUnreachable,
            "The certificate of the server is for {0} and not for {1}, the host that the URL names"
            " ({address}).",
            "Write the name into store.url that the certificate has (hostaddr=ADDRESS may stand"
            " beside it), or have the server give one for {1}. It may also be the wrong server.",
        ),
    ),
    (
        r'root certificate file "([^"]*)" does not exist',
        Known(
            ServerUnreachable,
            "There is no file {0} with the certificate of the authority that signed the server's"
            " ({address}).",
            "Name the file in store.url with sslrootcert=; the server's administrator has it. This"
            " machine's own authorities may be in /etc/ssl/certs/ca-certificates.crt.",
        ),
    ),
    (
        r"certificate verify failed|certificate has expired|unknown ca",
        Known(
            ServerUnreachable,
            "The certificate of the server cannot be trusted: none of the authorities that count"
            " has signed it, or its time is over ({address}).",
            "Name the file with the certificate of the right authority in store.url:"
            " sslrootcert=FILE. Whose certificate the server has, and until when it holds:"
            f" {_SHOWN}.",
        ),
    ),
    (
        r"server does not support SSL",
        Known(
            ServerUnreachable,
            "The server offers no TLS, which the URL asks for ({address}).",
            "Turn it on there (ssl = on, with ssl_cert_file and ssl_key_file). Only in a network"
            " that is yours alone, leave sslmode out of store.url.",
        ),
    ),
    (
        r"\bSSL\b|certificate",
        Known(
            ServerUnreachable,
            "No line to the server is as safe as the URL asks ({address}).",
            "sslmode in store.url says what is asked, and sslrootcert names the file of the"
            f" authorities that count. What the server has: {_SHOWN}.",
        ),
    ),
)

_BY_POOLER_MESSAGE = (
    (
        r"^query_wait_timeout",
        Known(
            StoreBusy,
            "The pooler in front of {address} had no connection to the server free for as long as"
            " it waits (query_wait_timeout).",
            "Raise default_pool_size there, or run fewer processes; or its server is away."
            f" {_NOTHING}",
            again=True,
        ),
    ),
    (
        r"no more connections allowed",
        Known(
            StoreBusy,
            "The pooler in front of {address} takes no more connections.",
            "Raise max_client_conn there (14 for each process), or run fewer processes."
            f" {_NOTHING}",
        ),
    ),
    (
        _POOLER_SERVER_DOWN,
        Known(
            ServerUnreachable,
            "The pooler in front of {address} cannot reach its server.",
            "Check that the server runs. The pooler tries again after its server_login_retry, 15"
            f" seconds if nobody has set it. {_NOTHING}",
            again=True,
        ),
    ),
    (
        r"^query.timeout",
        Known(
            DeadlineExceeded,
            "The pooler in front of {address} stopped a statement that took longer than its"
            " query_timeout.",
            "Nothing was written. Raise query_timeout there, or leave it out.",
        ),
    ),
    (
        r"^idle.transaction.timeout",
        Known(
            DeadlineExceeded,
            "The pooler in front of {address} ended a transaction in which nothing was asked for as"
            " long as its idle_transaction_timeout.",
            "Nothing was written. Raise idle_transaction_timeout there, or leave it out.",
        ),
    ),
    (
        r"not allowed in statement pooling mode",
        Known(
            StoreError,
            "The pooler in front of {address} works by statement, and a store needs whole"
            " transactions.",
            "Set pool_mode = transaction there, or name the server itself in store.url.",
        ),
    ),
)


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
    if not state:
        return _without_state(error, address)
    if state == "08P01":
        pooler = _by_message(_BY_POOLER_MESSAGE, _message(error), error, address)
        if pooler is not None:
            return pooler
    if node_lost(error):
        return _NODE_CUT.error(error, address)
    if state == "42501" and _ROW_SECURITY_OFF in str(error):
        reset = (
            "row_security is off for the role or the database; the server's default is on:"
            ' ALTER ROLE "{user}" RESET row_security'
        )
        return _NOT_ALLOWED._replace(hint=reset).error(error, address)
    known = next((known for front, known in _BY_STATE if state.startswith(front)), _OTHER)
    return known.error(error, address)


def _without_state(error: psycopg.Error, address: str) -> HoldfastError:
    """The error before a connection is established, or one of the driver itself."""
    connecting = isinstance(error, psycopg.OperationalError)
    if connecting and is_timeout(error):
        return _SILENT._replace(again=not getattr(error, "late", False)).error(error, address)
    words = str(error).strip()
    if (wrong := setting_error(words)) is not None:
        return wrong
    if connecting:
        known = (
            _by_message(_BY_MESSAGE, words, error, address)
            or _by_message(_BY_POOLER_MESSAGE, _refusal(error), error, address)
            or _by_message(_BY_TLS_MESSAGE, words, error, address)
        )
        return known or _UNREACHABLE.error(error, address)
    if isinstance(error, psycopg.DataError):
        # A NUL: the driver refuses it before anything is sent.
        return InvalidInput("The text holds a NUL character, which cannot be stored.")
    return _OTHER.error(error, address)


def _by_message(
    rows: Sequence[tuple[str, Known]], words: str, error: psycopg.Error, address: str
) -> HoldfastError | None:
    for pattern, known in rows:
        if found := re.search(pattern, words):
            return known.error(error, address, found.groups())
    return None


def _message(error: psycopg.Error) -> str:
    """The server's message, in one line, without its details, which would quote stored text."""
    return _first_line(error.diag.message_primary or str(error).strip())


def _first_line(words: str) -> str:
    return words.partition("\n")[0].rstrip(".")


def _refusal(error: psycopg.Error) -> str:
    """The reason for a refused connection, without libpq's description of the attempt."""
    return re.sub(r"^.*(failed|bad|FATAL): +", "", _first_line(str(error).strip()))


def write_cancelled(error: psycopg.Error, address: str) -> DeadlineExceeded:
    """The error for a write that PostgreSQL cancelled: by a timeout, or by an administrator."""
    return DeadlineExceeded(
        f"The server of {address} stopped the write ({_message(error)}).",
        hint="Nothing was written. Where the server or the role has a statement_timeout, raise it;"
        " otherwise store.answer_s.",
    )


def transaction_failed() -> StoreError:
    """The error for a write that continued after one of its statements had failed in PostgreSQL."""
    return StoreError(_PASSED_OVER.message, hint=_PASSED_OVER.hint)


def connection_lost(error: psycopg.Error) -> bool:
    """Whether the connection to PostgreSQL is lost, so that another may be tried."""
    state = error.sqlstate or ""
    # 25P03 and 25P04: the server ended a session that was idle in a transaction, or took too long.
    gone = state.startswith(("08", "57P")) or state in ("25P03", "25P04") or node_lost(error)
    return gone or (isinstance(error, psycopg.OperationalError) and not state)


# What a coordinator reports of a node that it cannot reach, or that broke off its answer. The first
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
    """Whether a PostgreSQL server is up that will accept connections, or writes, in a moment."""
    return re.search(_COMING_UP, str(error)) is not None


def connection_refused(error: psycopg.Error) -> bool:
    """Whether nobody listens at an address that exists."""
    # Of several addresses, the last one tried comes first.
    return re.search(r"Connection refused|No such file", _first_line(str(error))) is not None


def is_timeout(error: psycopg.Error) -> bool:
    """Whether no PostgreSQL server answered at all."""
    waited = isinstance(error, psycopg.errors.ConnectionTimeout) and not is_coming_up(error)
    return waited or isinstance(error, NoAnswer)


def busy(address: str) -> StoreBusy:
    return StoreBusy(f"Another process is writing to {address}.")
