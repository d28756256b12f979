"""Prepares a recall: checks its arguments, makes sure that the index is up to date, and runs the
recall pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.domain.memory import made_from, without_copies
from holdfast.domain.query import Filter, Hit, Passage, Recalled, checked_limit
from holdfast.domain.records import WITHOUT_WORDS, as_memory
from holdfast.engine.core import Scope
from holdfast.engine.late_words import index_late_turns
from holdfast.engine.reading.follow_ups import follow_ups
from holdfast.engine.traces import Withheld
from holdfast.errors import InvalidInput
from holdfast.recall.analyse import analyse
from holdfast.recall.pipeline import Ask, recall
from holdfast.store.values import Capability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.memory import Memory
    from holdfast.engine.reading.lookup import Reference
    from holdfast.store.base import Reader
    from holdfast.store.values import VectorRow

AROUND_MAX = 10
# Of how many turns it is looked up whether they were corrected: the first ones are believed.
_CORRECTED_MAX = 3
# The limits of confidence are 0.2 at most, so that this asks for certainty.
CAUTION_MAX = 5


def recall_memories(
    scope: Scope,
    query: str,
    wanted: Filter,
    *,
    limit: int | None = None,
    as_of: datetime | None = None,
    now: datetime | None = None,
    zone: tzinfo | None = None,
    meaning: bool = True,
    explain: bool = False,
    project: str = "",
    plain: bool = False,
    count_shown: bool = True,
    around: int = 0,
    windows: bool = False,
    compared: Sequence[str] = (),
    caution: float = 1.0,
    corrections: bool = True,
) -> Recalled:
    """The hits for a question. With `count_shown`, the memories are counted as shown, after the
    reply. Hits that are turns come with this many turns `around` them. With `windows`, every hit
    says which part of it is nearest to the question. The result has the cosines of the memories
    with the ids in `compared`. The confidence that is needed for hits is multiplied by
    `caution`. With `corrections`, turns that correct one of the first hits are among them."""
    count = checked_limit(scope.settings["recall.limit"] if limit is None else limit)
    around = checked_around(around)
    caution = checked_caution(caution)
    if not isinstance(query, str):
        raise InvalidInput("The query must be text.")
    moment = now or as_of or scope.now()
    analysis = analyse(query, now=moment, zone=zone, plain=plain)
    wanted = wanted._replace(alive_at=moment, known_by=as_of)
    embedder = scope.core.embedder if meaning else None
    model = "" if embedder is None else embedder.identity

    with _reader_when_ready(scope, model) as reader:
        past = None if as_of is None else engine.history.states_as_of(scope, reader, as_of)
        hidden = Withheld(reader, scope, as_of=as_of)
        withheld = hidden.hides_in
        ask = Ask(
            *(analysis, wanted, count, moment, past, project),
            *(windows, compared, withheld, caution),
        )
        vectors = scope.core.vectors
        recalled = recall(
            reader, scope.hub_id, ask, embedder, vectors, meaning=meaning, explain=explain
        )
        recalled[:] = [hidden.without(hit) for hit in recalled]
        recalled.left_out = [hidden.without_left_out(one) for one in recalled.left_out]
        if past is None and corrections:
            _bring_corrections(reader, hidden, wanted, recalled, count)
        if around:
            recalled[:] = [_with_neighbours(reader, hit, around, hidden) for hit in recalled]
    if recalled.degraded:
        scope.core.catch_up()
    if count_shown:
        shown = [hit.memory.id for hit in recalled if hit.turn is None]
        scope.core.count_shown(scope.hub_id, shown)
    return recalled


@contextmanager
def _reader_when_ready(scope: Scope, model: str) -> Iterator[Reader]:
    """A reader, opened after the words of all turns were indexed and the model's vectors were
    loaded."""
    deadline_s = scope.settings["recall.deadline_s"]
    with scope.read(deadline_s=deadline_s) as reader:
        if _is_ready(scope, reader, model):
            yield reader
            return
    index_late_turns(scope.core, scope.hub_id)
    # The first recall in a large hub reads all of its vectors; that time is not part of the
    # deadline.
    if model:
        with scope.core.read() as reader:
            scope.core.vectors.refresh(reader, scope.hub_id, model)
    with scope.read(deadline_s=deadline_s) as reader:
        yield reader


def _is_ready(scope: Scope, reader: Reader, model: str) -> bool:
    late = Capability.LATE_WORDS in scope.core.store.capabilities
    if late and reader.records(scope.hub_id, WITHOUT_WORDS, limit=1):
        return False
    return not model or scope.core.vectors.ready(reader, scope.hub_id, model)


def _bring_corrections(
    reader: Reader, hidden: Withheld, wanted: Filter, recalled: Recalled, limit: int
) -> None:
    """Puts what corrects one of the first turns, later in its session, before that turn: 'sorry, it
    is stage4' has no word of a question about the host."""
    by_id = {hit.memory.id: hit for hit in recalled}
    said = [hit for hit in recalled if hit.turn is not None and hit.turn.role == "user"]
    for hit in said[:_CORRECTED_MAX]:
        assert hit.turn is not None
        for one in follow_ups(reader, hidden, hit.turn):
            memory = as_memory(one.turn)
            if not one.corrects or not wanted.admits(memory):
                continue
            found = by_id.get(memory.id)
            if found is None:
                passage = Passage(memory.content, 0, len(memory.content))
                found = hit._replace(memory=memory, passage=passage, turn=one.turn, window=None)
            elif recalled.index(found) < recalled.index(hit):
                continue
            else:
                recalled.remove(found)
            found = found._replace(why=("corrects what was said before it",))
            by_id[memory.id] = found
            recalled.insert(recalled.index(hit), found)
    del recalled[limit:]


def _with_neighbours(reader: Reader, hit: Hit, count: int, hidden: Withheld | None) -> Hit:
    if hit.turn is None:
        return hit
    around = reader.turns_around(hit.turn.hub_id, hit.turn.id, before=count, after=count)
    return hit._replace(around=tuple(hidden.shown_turns(around) if hidden else around))


def checked_around(around: int) -> int:
    """Checks the number of turns that are returned before and after a hit."""
    if isinstance(around, bool) or not isinstance(around, int) or not 0 <= around <= AROUND_MAX:
        raise InvalidInput(
            f"The number of turns around is {around}; it must be from 0 to {AROUND_MAX}."
        )
    return around


def checked_caution(caution: float) -> float:
    """Checks the factor for the limits of confidence."""
    is_number = isinstance(caution, int | float) and not isinstance(caution, bool)
    if not is_number or not 0 <= caution <= CAUTION_MAX:
        raise InvalidInput(f"`caution` is {caution!r}; it must be from 0 to {CAUTION_MAX}.")
    return caution


def related(scope: Scope, reference: Reference, *, limit: int = 5) -> Recalled:
    """Memories similar to a memory: by meaning if it has vectors, else by its words."""
    checked_limit(limit)
    embedder = scope.core.embedder
    with scope.read(deadline_s=scope.settings["recall.deadline_s"]) as reader:
        memory = engine.lookup.find_memory(reader, scope, reference)
        if embedder is not None:
            own = reader.vectors_of(scope.hub_id, embedder.identity, memory.id)
            if own:
                return _related_by_meaning(scope, reader, memory, embedder.identity, own, limit)
    return _related_by_words(scope, memory, limit)


def _related_by_meaning(
    scope: Scope,
    reader: Reader,
    memory: Memory,
    model: str,
    own: Sequence[VectorRow],
    limit: int,
) -> Recalled:
    """The memories nearest to the mean of a memory's vectors, each with its nearest passage."""
    import numpy as np

    from holdfast.embed import dequantise

    middle = np.stack([dequantise(row.vector) for row in own]).mean(axis=0)
    middle = (middle / np.linalg.norm(middle)).astype(np.float32)
    cosines = scope.core.vectors.search(
        reader, scope.hub_id, model, middle, limit=limit * 4 + len(own)
    )
    found = reader.candidates(scope.hub_id, list(cosines), Filter(alive_at=scope.now()))
    found.sort(key=lambda one: (-cosines[one.passage_id], one.passage_id))
    memories = reader.memories_by_id(scope.hub_id, [one.memory_id for one in found])
    hits: dict[str, Hit] = {}
    for one in found:
        if one.memory_id != memory.id and one.memory_id not in hits:
            other = memories[one.memory_id]
            passage = Passage(other.content[one.start : one.end], one.start, one.end, one.headings)
            cosine = round(cosines[one.passage_id], 6)
            why = (f"meaning {cosine:.2f}",)
            hits[other.id] = Hit(other, passage, cosine, why, {"vector": cosine})
    return Recalled(_without_itself(memory, list(hits.values()))[:limit])


def _without_itself(memory: Memory, hits: list[Hit]) -> list[Hit]:
    """Without lines of the journal that say the same as the memory made from them, and without the
    memory that was made from this one."""
    kept = {one.id for one in without_copies([memory, *(hit.memory for hit in hits)])}
    return [hit for hit in hits if hit.memory.id in kept and memory.id not in made_from(hit.memory)]


def _related_by_words(scope: Scope, memory: Memory, limit: int) -> Recalled:
    words = " ".join(memory.content.split()[:40])
    plain = "".join(char if char.isalnum() else " " for char in words)
    if not plain.strip():
        return Recalled([])
    # Half of them may be lines of the journal.
    found = recall_memories(scope, plain, Filter(), limit=2 * limit + 1, meaning=False)
    others = [hit for hit in found if hit.memory.id != memory.id]
    return Recalled(_without_itself(memory, others)[:limit])
