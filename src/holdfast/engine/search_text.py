"""Looking for a text as it stands: the characters themselves, or its words in any form. No query
language, no ranking and no model; the answer is in an order the caller names."""

from __future__ import annotations

from itertools import islice

from holdfast.domain.memory import Memory
from holdfast.domain.query import ORDERS, Filter, Order
from holdfast.engine.core import Core, require_hub
from holdfast.engine.recall import checked_limit
from holdfast.errors import InvalidInput
from holdfast.store.values import TextQuery
from holdfast.text.normalise import one_of
from holdfast.text.terms import is_unspaced, query_terms, trigram_text

# A keyword or a sentence; who looks for a whole document has it already.
_CHARS_MAX = 2_000


def search_text(
    core: Core,
    hub_id: str,
    hub: str,
    text: str,
    wanted: Filter,
    *,
    words: bool = False,
    order: str = "newest",
    limit: int = 20,
) -> list[Memory]:
    """The first memories, in that order, that hold the text and still hold true."""
    checked: Order = one_of(order, ORDERS, "order")  # type: ignore[assignment]
    count = checked_limit(limit)
    now = core.now()
    wanted = wanted._replace(alive_at=now)
    query = _query(text, words=words)
    with core.read(deadline_s=core.settings["recall.deadline_s"]) as reader:
        require_hub(reader, hub_id, hub)
        matching = reader.matching(hub_id, query, wanted, order=checked)
        found = list(islice((memory for memory in matching if memory.current(now)), count))
    core.shown(hub_id, [memory.id for memory in found])
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
    # One character of a script without spaces is found as it stands.
    if any(len(term) == 1 and is_unspaced(term) for term in terms):
        terms = []
    return TextQuery(needle, tuple(terms))
