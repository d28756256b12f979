"""What PgBouncer says in the server's place, and what to do about it.

It has one code for everything (08P01, a broken protocol) and ends the connection with it, so its
words are what tells. They come at the beginning of a transaction or, where a limit of its own is
over, in the middle; nothing was written then.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.errors import DeadlineExceeded, ServerUnreachable, StoreBusy, StoreError

_NOTHING = "Nothing was written; try again."

# Said while the server behind it is away; it lets nobody through until it has tried again.
AWAY = r"server login has been failing|cannot connect to server"


class Said(NamedTuple):
    """What the pooler says, and what we say; `again` where another attempt may help."""

    pattern: str
    kind: type[StoreError]
    message: str
    hint: str
    again: bool = False


_SAID = (
    Said(
        r"^query_wait_timeout",
        StoreBusy,
        "The pooler in front of {0} had no connection to the server free for as long as it waits"
        " (query_wait_timeout).",
        f"Raise default_pool_size there, or run fewer processes; or its server is away. {_NOTHING}",
        again=True,
    ),
    Said(
        r"no more connections allowed",
        StoreBusy,
        "The pooler in front of {0} takes no more connections.",
        f"Raise max_client_conn there (14 for each process), or run fewer processes. {_NOTHING}",
    ),
    Said(
        AWAY,
        ServerUnreachable,
        "The pooler in front of {0} cannot reach its server.",
        "Check that the server runs. The pooler tries again after its server_login_retry, 15"
        f" seconds if nobody has set it. {_NOTHING}",
        again=True,
    ),
    Said(
        r"^query.timeout",
        DeadlineExceeded,
        "The pooler in front of {0} stopped a statement that took longer than its query_timeout.",
        "Nothing was written. Raise query_timeout there, or leave it out.",
    ),
    Said(
        r"^idle.transaction.timeout",
        DeadlineExceeded,
        "The pooler in front of {0} ended a transaction in which nothing was asked for as long as"
        " its idle_transaction_timeout.",
        "Nothing was written. Raise idle_transaction_timeout there, or leave it out.",
    ),
)


def said_by_pooler(words: str, address: str) -> StoreError | None:
    """The error where the words are a pooler's."""
    for one in _SAID:
        if re.search(one.pattern, words):
            return one.kind(one.message.format(address), hint=one.hint, again=one.again)
    return None
