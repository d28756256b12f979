"""What is said of a line that is not as safe as the URL asks (TLS), and what to do about it.

Knows the words of libpq, which come before a connection stands and have no codes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.errors import ServerUnreachable


class Unsafe(NamedTuple):
    """What libpq says, and what we say; {0} and {1} are what the pattern has found."""

    pattern: str
    message: str
    hint: str


_SHOWN = "`openssl s_client -starttls postgres -connect HOST:5432` shows it"

_UNSAFE = (
    Unsafe(
        r'certificate for "([^"]*)".* does not match host name "([^"]*)"',
        "The certificate of the server is for {0} and not for {1}, the host that the URL names.",
        "Write the name into store.url that the certificate has (hostaddr=ADDRESS may stand beside"
        " it), or have the server give one for {1}. It may also be the wrong server.",
    ),
    Unsafe(
        r'root certificate file "([^"]*)" does not exist',
        "There is no file {0} with the certificate of the authority that signed the server's.",
        "Name the file in store.url with sslrootcert=; whoever runs the server has it. This"
        " machine's own authorities may be in /etc/ssl/certs/ca-certificates.crt.",
    ),
    Unsafe(
        r"certificate verify failed|certificate has expired|unknown ca",
        "The certificate of the server cannot be trusted: none of the authorities that count has"
        " signed it, or its time is over.",
        "Name the file with the certificate of the right authority in store.url: sslrootcert=FILE."
        f" Whose certificate the server has, and until when it holds: {_SHOWN}.",
    ),
    Unsafe(
        r"server does not support SSL",
        "The server offers no TLS, which the URL asks for.",
        "Turn it on there (ssl = on, with ssl_cert_file and ssl_key_file). Only in a network that"
        " is yours alone, leave sslmode out of store.url.",
    ),
    Unsafe(
        r"\bSSL\b|certificate",
        "No line to the server is as safe as the URL asks.",
        "sslmode in store.url says what is asked, and sslrootcert names the file of the"
        f" authorities that count. What the server has: {_SHOWN}.",
    ),
)


def unsafe(words: str, address: str) -> ServerUnreachable | None:
    """The error where libpq's words are about TLS. Another attempt would end like this one."""
    for one in _UNSAFE:
        if found := re.search(one.pattern, words):
            said = one.message.format(*found.groups())
            return ServerUnreachable(
                f"{said.removesuffix('.')} ({address}).", hint=one.hint.format(*found.groups())
            )
    return None
