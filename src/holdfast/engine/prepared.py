"""What is done with a draft before the write begins, while nobody waits: checks, rules, passages
and the embedding model. Nothing is decided here, and nothing written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.draft import Draft
from holdfast.domain.memory import Memory
from holdfast.engine import origins
from holdfast.engine.core import Core, require_hub
from holdfast.engine.drafts import clean_draft, compose
from holdfast.engine.facts import facts_in
from holdfast.engine.passages import Indexed, indexed_all
from holdfast.engine.twins import unchanged

if TYPE_CHECKING:
    from holdfast.engine.rivals import Seen


class Prepared(NamedTuple):
    """A draft that was checked, classified and indexed, before the write begins; the facts that
    were found in it; and what it may take the place of, as it was then."""

    draft: Draft
    memory: Memory
    indexed: Indexed | None
    facts: tuple[Prepared, ...] = ()
    seen: Seen | None = None


def prepare(core: Core, hub_id: str, hub: str, drafts: Sequence[Draft]) -> Iterator[Prepared]:
    """The slow part, before the write begins: checks, rules, and the embedding model, which is
    not asked about what is there already."""
    clean = [clean_draft(core, draft) for draft in drafts]
    for draft in clean:
        origins.refuse_unfetchable(draft)
    memories = [compose(draft, core, hub_id) for draft in clean]
    # Only the model is worth the look; without one, the look inside the write is enough.
    known = [False] * len(memories)
    if core.embedder is not None:
        with core.read() as reader:
            require_hub(reader, hub_id, hub)
            reader.expect(hub_id, memories)
            known = [unchanged(reader, *pair) for pair in zip(clean, memories, strict=True)]
    fresh = [memory for memory, there in zip(memories, known, strict=True) if not there]
    indexes = iter(indexed_all(fresh, core))
    for draft, memory, there in zip(clean, memories, known, strict=True):
        indexed = None if there else next(indexes)
        facts: tuple[Prepared, ...] = ()
        if not there and (found := facts_in(core, draft, memory)):
            facts = tuple(prepare(core, hub_id, hub, found))
        yield Prepared(draft, memory, indexed, facts)
