"""Messages of libpq about TLS and of PgBouncer, which have no useful error codes, and what to do
about each.

libpq's messages come before a connection is established. PgBouncer has one code for everything
(08P01, protocol violation) and closes the connection with it, at the beginning of a transaction or,
where one of its own limits is reached, in the middle; nothing was written then.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.errors import DeadlineExceeded, ServerUnreachable, StoreBusy, StoreError


class TlsMessage(NamedTuple):
    """A message of libpq, and ours for it; {0} and {1} are the groups of the pattern."""

    pattern: str
    message: str
    hint: str


_SHOWN = "`openssl s_client -starttls postgres -connect HOST:5432` shows it"

_TLS_MESSAGES = (
    TlsMessage(
        r'certificate for "([^"]*)".* does not match host name "([^"]*)"',
        "The certificate of the server is for {0} and not for {1}, the host that the URL names.",
        "Write the name into store.url that the certificate has (hostaddr=ADDRESS may stand beside"
        " it), or have the server give one for {1}. It may also be the wrong server.",
    ),
    TlsMessage(
        r'root certificate file "([^"]*)" does not exist',
        "There is no file {0} with the certificate of the authority that signed the server's.",
        "Name the file in store.url with sslrootcert=; whoever runs the server has it. This"
        " machine's own authorities may be in /etc/ssl/certs/ca-certificates.crt.",
    ),
    TlsMessage(
        r"certificate verify failed|certificate has expired|unknown ca",
        "The certificate of the server cannot be trusted: none of the authorities that count has"
        " signed it, or its time is over.",
        "Name the file with the certificate of the right authority in store.url: sslrootcert=FILE."
        f" Whose certificate the server has, and until when it holds: {_SHOWN}.",
    ),
    TlsMessage(
        r"server does not support SSL",
        "The server offers no TLS, which the URL asks for.",
        "Turn it on there (ssl = on, with ssl_cert_file and ssl_key_file). Only in a network that"
        " is yours alone, leave sslmode out of store.url.",
    ),
    TlsMessage(
        r"\bSSL\b|certificate",
        "No line to the server is as safe as the URL asks.",
        "sslmode in store.url says what is asked, and sslrootcert names the file of the"
        f" authorities that count. What the server has: {_SHOWN}.",
    ),
)


def tls_error(text: str, address: str) -> ServerUnreachable | None:
    """The error for a message of libpq about TLS; None for others. A retry would fail the same."""
    for one in _TLS_MESSAGES:
        if found := re.search(one.pattern, text):
            message = one.message.format(*found.groups())
            return ServerUnreachable(
                f"{message.removesuffix('.')} ({address}).", hint=one.hint.format(*found.groups())
            )
    return None


_NOTHING = "Nothing was written; try again."

# Sent while the server behind it is down; clients are refused until it has tried again.
POOLER_SERVER_DOWN = r"server login has been failing|cannot connect to server"


class PoolerMessage(NamedTuple):
    """A message of the pooler, and ours for it; `again` where a retry may help."""

    pattern: str
    kind: type[StoreError]
    message: str
    hint: str
    again: bool = False


_POOLER_MESSAGES = (
    PoolerMessage(
        r"^query_wait_timeout",
        StoreBusy,
        "The pooler in front of {0} had no connection to the server free for as long as it waits"
        " (query_wait_timeout).",
        f"Raise default_pool_size there, or run fewer processes; or its server is away. {_NOTHING}",
        again=True,
    ),
    PoolerMessage(
        r"no more connections allowed",
        StoreBusy,
        "The pooler in front of {0} takes no more connections.",
        f"Raise max_client_conn there (14 for each process), or run fewer processes. {_NOTHING}",
    ),
    PoolerMessage(
        POOLER_SERVER_DOWN,
        ServerUnreachable,
        "The pooler in front of {0} cannot reach its server.",
        "Check that the server runs. The pooler tries again after its server_login_retry, 15"
        f" seconds if nobody has set it. {_NOTHING}",
        again=True,
    ),
    PoolerMessage(
        r"^query.timeout",
        DeadlineExceeded,
        "The pooler in front of {0} stopped a statement that took longer than its query_timeout.",
        "Nothing was written. Raise query_timeout there, or leave it out.",
    ),
    PoolerMessage(
        r"^idle.transaction.timeout",
        DeadlineExceeded,
        "The pooler in front of {0} ended a transaction in which nothing was asked for as long as"
        " its idle_transaction_timeout.",
        "Nothing was written. Raise idle_transaction_timeout there, or leave it out.",
    ),
    PoolerMessage(
        r"not allowed in statement pooling mode",
        StoreError,
        "The pooler in front of {0} works by statement, and a store needs whole transactions.",
        "Set pool_mode = transaction there, or name the server itself in store.url.",
    ),
)


def pooler_error(text: str, address: str) -> StoreError | None:
    """The error for a message of a pooler; None for others."""
    for one in _POOLER_MESSAGES:
        if re.search(one.pattern, text):
            return one.kind(one.message.format(address), hint=one.hint, again=one.again)
    return None
