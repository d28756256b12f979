"""Lists memories in a fixed order, with cursors that stay valid while others write; and searches
text without ranking."""

from __future__ import annotations

import binascii
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import Memory, made_by_line, without_copies
from holdfast.domain.query import (
    DOWNWARDS,
    ORDERS,
    Filter,
    Order,
    Page,
    check_count,
    checked_limit,
    place_in,
)
from holdfast.engine.core import Scope
from holdfast.errors import InvalidInput
from holdfast.store.values import TextQuery, every_memory
from holdfast.text.analysis.terms import is_unspaced, query_terms, trigram_text
from holdfast.text.clean import one_of

if TYPE_CHECKING:
    from holdfast.store.base import Reader


_BATCH = 500


def list_memories(
    scope: Scope,
    wanted: Filter,
    *,
    order: str = "newest",
    limit: int | None = None,
    cursor: str | None = None,
    as_of: datetime | None = None,
) -> Page:
    """Lists one page of memories; without a limit, all of them."""
    checked: Order = one_of(order, ORDERS, "order")  # type: ignore[assignment]
    if limit is not None:
        check_count(limit)
    after = None if cursor is None else _read_cursor(cursor, scope.hub_id, checked)
    items: list[Memory] = []
    # One more than the limit is read, to know whether there is a next page.
    for memory in _scan(scope, wanted, checked, after, limit, as_of):
        if limit is not None and len(items) == limit:
            return Page(items, _cursor(items[-1], checked))
        items.append(memory)
    return Page(items, None)


def pages_without_copies(
    fetch: Callable[[int | None, str | None], Page], limit: int | None, cursor: str | None
) -> Iterator[Page]:
    """Yields pages of a list for a person: lines of the journal that a memory on this page or an
    earlier one repeats are left out, and each page is filled up to the limit. `fetch` lists one
    page, given a limit and a cursor."""
    made: dict[str, Memory] = {}
    while True:
        page = fetch(limit, cursor)
        made |= made_by_line(page)
        rows, cursor = without_copies(page, made), page.cursor
        while limit is not None and len(rows) < limit and cursor is not None:
            page = fetch(limit - len(rows), cursor)
            made |= made_by_line(page)
            rows, cursor = without_copies([*rows, *page], made), page.cursor
        yield Page(rows, cursor)
        if cursor is None:
            return


def scan_memories(scope: Scope, wanted: Filter, *, after: int = 0) -> Iterator[Memory]:
    """Streams the memories that match the filter, by number, without holding them all in memory.
    `after` is the number of the last memory that was seen."""
    return _scan(scope, wanted, "number", (after, after), None, None)


def _scan(
    scope: Scope,
    wanted: Filter,
    order: Order,
    after: tuple[Any, int] | None,
    limit: int | None,
    as_of: datetime | None,
) -> Iterator[Memory]:
    size = _BATCH if limit is None else min(_BATCH, limit + 1)
    if as_of is not None:
        yield from _scan_past(scope, wanted, order, after, as_of)
        return
    while True:
        with scope.read() as reader:
            batch = reader.memories(scope.hub_id, wanted, order=order, after=after, limit=size)
        yield from batch
        if len(batch) < size:
            return
        after = place_in(batch[-1], order)


def _scan_past(
    scope: Scope, wanted: Filter, order: Order, after: tuple[Any, int] | None, at: datetime
) -> Iterator[Memory]:
    with scope.read() as reader:
        then = list(memories_as_of(scope, reader, wanted, at))
    down = order in DOWNWARDS
    then.sort(key=lambda memory: place_in(memory, order), reverse=down)
    for memory in then:
        place = place_in(memory, order)
        if after is None or (place < after if down else place > after):
            yield memory


def memories_as_of(scope: Scope, reader: Reader, wanted: Filter, at: datetime) -> Iterator[Memory]:
    """The list of memories that match the filter, as they were at a past time."""
    from holdfast.engine.history import states_as_of

    past = states_as_of(scope, reader, at)
    everything = Filter(states=(), forgotten=None, quarantined=None)
    for head in every_memory(reader, scope.hub_id, everything):
        then = past.get(head.id, head)
        if then is not None and wanted.admits(then):
            yield then


def _cursor(memory: Memory, order: Order) -> str:
    text = json.dumps([order, memory.hub_id, *place_in(memory, order)]).encode()
    return binascii.b2a_base64(text, newline=False).decode().translate(_TO_URL)


_TO_URL = str.maketrans("+/", "-_", "=")
_FROM_URL = str.maketrans("-_", "+/")


def _read_cursor(cursor: str, hub_id: str, order: Order) -> tuple[int, int]:
    try:
        text = binascii.a2b_base64(cursor.translate(_FROM_URL) + "===", strict_mode=False)
        made_for, made_in, value, number = json.loads(text)
        if not all(isinstance(part, int) and abs(part) < 2**63 for part in (value, number)):
            raise ValueError
    except (ValueError, TypeError, AttributeError):
        raise InvalidInput(
            "This cursor was not made by a list.", hint="Start again without a cursor."
        ) from None
    if made_in != hub_id:
        raise InvalidInput(
            "This cursor belongs to a list of another hub.", hint="Start again without a cursor."
        )
    if made_for != order:
        raise InvalidInput(
            f"This cursor belongs to a list in the order `{made_for}`, not `{order}`.",
            hint="Use the same order for every page.",
        )
    return value, number


# The query is a keyword or a sentence. Nobody searches for a whole document: they have it already.
_CHARS_MAX = 2_000


def search_text(
    scope: Scope,
    text: str,
    wanted: Filter,
    *,
    words: bool = False,
    order: str = "newest",
    limit: int = 20,
) -> list[Memory]:
    """The first memories, in that order, that contain the text and are current."""
    checked: Order = one_of(order, ORDERS, "order")  # type: ignore[assignment]
    count = checked_limit(limit)
    now = scope.now()
    wanted = wanted._replace(alive_at=now)
    query = _query(text, words=words)
    with scope.read(deadline_s=scope.settings["recall.deadline_s"]) as reader:
        matching = reader.matching(scope.hub_id, query, wanted, order=checked)
        found = list(islice((memory for memory in matching if memory.current(now)), count))
    scope.core.count_shown(scope.hub_id, [memory.id for memory in found])
    return found


def _query(text: str, *, words: bool) -> TextQuery:
    if not isinstance(text, str):
        raise InvalidInput("The text to look for must be text.")
    needle = trigram_text(text)
    if not needle:
        raise InvalidInput("Say what to look for: the text is empty.")
    if len(text) > _CHARS_MAX:
        raise InvalidInput(
            f"The text has {len(text):,} characters; at most {_CHARS_MAX:,} can be looked for.",
            hint="Look for a telling part of it.",
        )
    terms = query_terms(text) if words else []
    # A single character of a script without spaces is searched literally.
    if any(len(term) == 1 and is_unspaced(term) for term in terms):
        terms = []
    return TextQuery(needle, tuple(terms))
