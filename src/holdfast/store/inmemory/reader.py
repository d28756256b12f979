"""The state of an in-memory store, plain dictionaries that are copied for each write, and its
readers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from datetime import datetime
from itertools import islice, pairwise
from typing import Any

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import EPOCH
from holdfast.domain.hub import NOBODY, Hub, Statistics, Viewer
from holdfast.domain.memory import Memory
from holdfast.domain.query import DOWNWARDS, Filter, Order, place_in
from holdfast.domain.records import Agreed, Clash, Record, Turn, as_memory
from holdfast.errors import DeadlineExceeded
from holdfast.store.values import (
    Candidate,
    IndexEntry,
    Lexicon,
    ReaderDefaults,
    TermQuery,
    TextQuery,
    VectorRow,
    VectorState,
    first_named,
)
from holdfast.text.analysis.terms import trigram_text, trigrams


class IndexedPassage:
    """A passage with its index entry, and its vectors by model."""

    __slots__ = ("entry", "memory_id", "pk", "vectors")

    def __init__(self, pk: int, memory_id: str, entry: IndexEntry, model: str) -> None:
        self.pk = pk
        self.memory_id = memory_id
        self.entry = entry
        self.vectors = {model: entry.vectors} if entry.vectors else {}

    def copy(self) -> IndexedPassage:
        twin = IndexedPassage(self.pk, self.memory_id, self.entry, "")
        twin.vectors = dict(self.vectors)
        return twin


class HubContents:
    """The contents of one hub in the in-memory store."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.memories: dict[str, Memory] = {}
        self.changes: dict[str, Change] = {}
        self.revisions: list[Revision] = []
        self.receipts: list[Receipt] = []
        self.turns: dict[str, Turn] = {}
        self.agreed: dict[str, Agreed] = {}
        self.clashes: dict[str, Clash] = {}
        self.passages: dict[int, IndexedPassage] = {}
        self.texts: dict[str, str] = {}
        self.removals = 0

    def owner(self, owner_id: str) -> Memory:
        """The memory of a passage, or its turn as one."""
        memory = self.memories.get(owner_id)
        return as_memory(self.turns[owner_id]) if memory is None else memory

    def copy(self) -> HubContents:
        twin = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | list):
                setattr(twin, name, value.copy())
        twin.passages = {pk: passage.copy() for pk, passage in self.passages.items()}
        return twin

    def seen_by(self, viewer: Viewer) -> HubContents:
        """Only what the viewer may see: memories, their rows, and change sets that changed one of
        them or of which nothing is left."""
        twin = HubContents(self.hub)
        twin.memories = {key: one for key, one in self.memories.items() if viewer.sees(one)}
        mine = twin.memories
        touched = {one.change_id for one in self.revisions}
        twin.revisions = [one for one in self.revisions if one.memory_id in mine]
        changed = {one.change_id for one in twin.revisions}
        twin.changes = {
            key: one for key, one in self.changes.items() if key in changed or key not in touched
        }
        # Rows without a boundary belong to the hub.
        if "hub" in viewer.boundaries:
            twin.receipts = self.receipts
            twin.turns = self.turns
        twin.agreed = self.agreed
        twin.clashes = {key: one for key, one in self.clashes.items() if one.memory_id in mine}
        twin.passages = {
            pk: one
            for pk, one in self.passages.items()
            if one.memory_id in mine or one.memory_id in twin.turns
        }
        twin.texts = {
            key: text for key, text in self.texts.items() if key in mine or key in twin.turns
        }
        twin.removals = self.removals
        return twin


class State:
    """The contents of an in-memory store. A state that readers may have is never changed, only
    replaced."""

    def __init__(self) -> None:
        self.hubs: dict[str, HubContents] = {}
        self.records: dict[tuple[str, str, str], Record] = {}
        self.sequence = 0

    def copy(self) -> State:
        twin = State()
        twin.hubs = {hub_id: hub.copy() for hub_id, hub in self.hubs.items()}
        twin.records = dict(self.records)
        twin.sequence = self.sequence
        return twin


class ReaderPart:
    """Base of the parts of the in-memory Reader: one state, for one viewer, with a deadline."""

    def __init__(
        self, state: State, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> None:
        self._state = state
        self._viewer = viewer
        self._seconds = deadline_s
        self._ends = None if deadline_s is None else time.monotonic() + deadline_s

    def _in_time(self) -> None:
        if self._ends is not None and time.monotonic() > self._ends:
            raise DeadlineExceeded(
                f"The read was stopped after {self._seconds:g} s; this is not an empty answer.",
                hint="Narrow the query, or raise recall.deadline_s.",
            )

    def _whole(self, hub_id: str) -> HubContents:
        """The whole hub."""
        self._in_time()
        hub = self._state.hubs.get(hub_id)
        return HubContents(Hub(hub_id, "", NOBODY, EPOCH)) if hub is None else hub

    def _hub(self, hub_id: str) -> HubContents:
        """The hub as the viewer sees it."""
        hub = self._whole(hub_id)
        return hub if self._viewer is None else hub.seen_by(self._viewer)

    def _ordered(self, hub_id: str) -> list[Memory]:
        return sorted(self._hub(hub_id).memories.values(), key=lambda memory: memory.number)


class SearchReader(ReaderPart):
    """The part of the in-memory Reader that searches."""

    def lexicon(self, hub_id: str, terms: Sequence[str]) -> Lexicon:
        passages = list(self._whole(hub_id).passages.values())
        frequency = {
            term: sum(term in p.entry.body or term in p.entry.head for p in passages)
            for term in terms
        }
        length = sum(len(p.entry.body) + len(p.entry.head) for p in passages)
        return Lexicon(len(passages), length, frequency)

    def vocabulary(self, hub_id: str, prefix: str, *, limit: int) -> dict[str, int]:
        entries = [passage.entry for passage in self._whole(hub_id).passages.values()]
        held = (term for entry in entries for term in {*entry.body, *entry.head})
        counts = Counter(term for term in held if term.startswith(prefix))
        return {term: counts[term] for term in sorted(counts)[:limit]}

    def search_terms(
        self, hub_id: str, query: TermQuery, wanted: Filter, *, limit: int
    ) -> list[Candidate]:
        hub = self._hub(hub_id)
        query = query.of_rarest(self.lexicon(hub_id, query.terms))
        found: list[tuple[int, int, Candidate]] = []
        for passage in hub.passages.values():
            self._in_time()
            merit = _merit(passage.entry, query)
            if merit and wanted.admits(hub.owner(passage.memory_id)):
                found.append((-merit, passage.pk, _candidate(passage)))
        return [candidate for _, _, candidate in sorted(found)[:limit]]

    def search_substring(
        self, hub_id: str, needle: str, wanted: Filter, *, limit: int
    ) -> list[str]:
        out = []
        hub = self._hub(hub_id)
        texts = hub.texts
        # Memories first. A needle too short for a trigram is not looked for in turns.
        turns = hub.turns.values() if trigrams(needle) else ()
        said = map(as_memory, reversed(list(turns)))
        for memory in (*reversed(self._ordered(hub_id)), *said):
            self._in_time()
            if memory.id in texts and needle in texts[memory.id] and wanted.admits(memory):
                out.append(memory.id)
                if len(out) == limit:
                    break
        return out

    def matching(
        self, hub_id: str, query: TextQuery, wanted: Filter, *, order: Order
    ) -> Iterable[Memory]:
        hub = self._hub(hub_id)
        held = {
            passage.memory_id
            for passage in hub.passages.values()
            if query.terms and all(term in passage.entry.body for term in query.terms)
        }
        found = [m for m in hub.memories.values() if m.id in hub.texts and wanted.admits(m)]
        found.sort(key=lambda memory: place_in(memory, order), reverse=order in DOWNWARDS)
        for memory in found:
            self._in_time()
            if memory.id in held or query.needle in trigram_text(memory.content):
                yield memory

    def passages(self, hub_id: str, memory_ids: Sequence[str]) -> list[Candidate]:
        hub = self._hub(hub_id)
        named = set(memory_ids)
        found = [p for p in hub.passages.values() if p.memory_id in named]
        memories = [p for p in found if p.memory_id in hub.memories]
        memories.sort(key=lambda p: (hub.memories[p.memory_id].number, p.entry.ordinal))
        logged = {turn_id: place for place, turn_id in enumerate(hub.turns)}
        turns = [p for p in found if p.memory_id in logged]
        turns.sort(key=lambda p: (logged[p.memory_id], p.entry.ordinal))
        return [_candidate(passage) for passage in (*memories, *turns)]

    def candidates(
        self, hub_id: str, passage_ids: Sequence[int], wanted: Filter
    ) -> list[Candidate]:
        hub = self._hub(hub_id)
        found = [hub.passages[pk] for pk in sorted(passage_ids) if pk in hub.passages]
        return [_candidate(p) for p in found if wanted.admits(hub.owner(p.memory_id))]

    def vector_state(self, hub_id: str, model: str) -> VectorState:
        hub = self._whole(hub_id)
        sizes = {p.pk: len(p.vectors[model]) for p in hub.passages.values() if model in p.vectors}
        return VectorState(sum(sizes.values()), len(sizes), max(sizes, default=0), hub.removals)

    def vector_models(self, hub_id: str) -> list[str]:
        return sorted({model for p in self._whole(hub_id).passages.values() for model in p.vectors})

    def vectors(self, hub_id: str, model: str, *, after: int) -> Iterable[VectorRow]:
        for pk, passage in sorted(self._whole(hub_id).passages.items()):
            if pk > after:
                for window, vector in enumerate(passage.vectors.get(model, ())):
                    yield VectorRow(pk, window, vector)

    def vectors_of(self, hub_id: str, model: str, memory_id: str) -> list[VectorRow]:
        seen = self._hub(hub_id).passages
        return [
            row
            for row in self.vectors(hub_id, model, after=0)
            if row.passage_id in seen and seen[row.passage_id].memory_id == memory_id
        ]

    def unembedded(self, hub_id: str, model: str, *, limit: int, after: int = 0) -> list[Candidate]:
        passages = self._whole(hub_id).passages.values()
        return [_candidate(p) for p in passages if p.pk > after and model not in p.vectors][:limit]

    def unembedded_count(self, hub_id: str, model: str) -> int:
        return len(self.unembedded(hub_id, model, limit=len(self._whole(hub_id).passages)))


def _candidate(passage: IndexedPassage) -> Candidate:
    entry = passage.entry
    return Candidate(
        passage.memory_id,
        passage.pk,
        entry.ordinal,
        entry.start,
        entry.end,
        entry.headings,
        " ".join(entry.body),
        " ".join(entry.head),
        entry.windows,
    )


def _merit(entry: IndexEntry, query: TermQuery) -> int:
    """The number of terms that the passage contains; 0 if it does not match the query."""
    both = (entry.body, entry.head)
    if any(_holds(words, phrase) for phrase in query.excluded for words in both):
        return 0
    for phrase in query.phrases:
        if not any(_holds(words, phrase) for words in both):
            return 0
    merit = sum(term in words for term in query.terms for words in both)
    merit += sum(w.startswith(front) for front in query.prefixes for words in both for w in words)
    return merit + len(query.phrases)


def _holds(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    if len(phrase) == 2:
        return phrase in set(pairwise(words))
    return any(words[at : at + len(phrase)] == phrase for at in range(len(words)))


class MemoriesReader(ReaderPart):
    """The part of the in-memory Reader for hubs and memories."""

    def hubs(self) -> list[Hub]:
        return sorted((hub.hub for hub in self._state.hubs.values()), key=lambda hub: hub.name)

    def hub(self, name: str) -> Hub | None:
        return next((hub for hub in self.hubs() if hub.name == name), None)

    def hub_by_id(self, hub_id: str) -> Hub | None:
        found = self._state.hubs.get(hub_id)
        return None if found is None else found.hub

    def memory(self, hub_id: str, memory_id: str) -> Memory | None:
        return self._hub(hub_id).memories.get(memory_id)

    def _with_fields(self, hub_id: str, **wanted: object) -> Iterable[Memory]:
        for memory in self._ordered(hub_id):
            if all(getattr(memory, name) == value for name, value in wanted.items()):
                yield memory

    def memory_by_number(self, hub_id: str, number: int) -> Memory | None:
        return next(iter(self._with_fields(hub_id, number=number)), None)

    def memory_by_key(self, hub_id: str, key: str, *, audience: str | None = None) -> Memory | None:
        return first_named(self._with_fields(hub_id, key=key, forgotten_at=None), audience)

    def memory_by_path(
        self, hub_id: str, source_path: str, *, audience: str | None = None
    ) -> Memory | None:
        return first_named(
            self._with_fields(hub_id, source_path=source_path, forgotten_at=None), audience
        )

    def memories_by_hash(self, hub_id: str, content_hash: str) -> list[Memory]:
        return list(self._with_fields(hub_id, content_hash=content_hash, forgotten_at=None))

    def memories_by_id(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        memories = self._hub(hub_id).memories
        return {memory_id: memories[memory_id] for memory_id in memory_ids if memory_id in memories}

    def memories(
        self,
        hub_id: str,
        wanted: Filter,
        *,
        order: Order,
        after: tuple[Any, int] | None,
        limit: int,
    ) -> list[Memory]:
        down = order in DOWNWARDS
        keyed = [(place_in(memory, order), memory) for memory in self._ordered(hub_id)]
        keyed.sort(key=lambda pair: pair[0], reverse=down)
        out = []
        for value, memory in keyed:
            self._in_time()
            past = after is None or (value < tuple(after) if down else value > tuple(after))
            if past and wanted.admits(memory):
                out.append(memory)
                if len(out) == limit:
                    break
        return out

    def ids_by_use(self, hub_id: str, wanted: Filter, *, limit: int | None = None) -> list[str]:
        found = [memory for memory in self._ordered(hub_id) if wanted.admits(memory)]
        found.sort(key=lambda one: (one.pinned, one.last_use, one.number), reverse=True)
        return [memory.id for memory in found[:limit]]

    def adjacent(self, hub_id: str, pairs: Sequence[tuple[str, int, int]]) -> list[bool]:
        visible = [m for m in self._hub(hub_id).memories.values() if m.visible]
        return [
            not any(m.session == session and low < m.number < high for m in visible)
            for session, low, high in pairs
        ]

    def speakers(self, hub_id: str, *, limit: int) -> list[str]:
        hub = self._hub(hub_id)
        named = {one.speaker for one in hub.memories.values()}
        named |= {one.speaker for one in hub.turns.values()}
        return sorted(name for name in named if name is not None)[:limit]


class HistoryReader(ReaderPart):
    """The part of the in-memory Reader for changes, revisions and receipts."""

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        newest_first = list(self._hub(hub_id).changes.values())[::-1]
        if before is None:
            return newest_first[:limit]
        ids = [change.id for change in newest_first]
        start = ids.index(before) + 1 if before in ids else len(ids)
        return newest_first[start : start + limit]

    def change(self, hub_id: str, change_id: str) -> Change | None:
        return self._hub(hub_id).changes.get(change_id)

    def changes_by_id(self, hub_id: str, change_ids: Sequence[str]) -> dict[str, Change]:
        changes = self._hub(hub_id).changes
        return {one: changes[one] for one in change_ids if one in changes}

    def last_undoable(self, hub_id: str) -> Change | None:
        for change in reversed(self._hub(hub_id).changes.values()):
            if change.undoes is None and change.undone_by is None:
                return change
        return None

    def revisions(self, hub_id: str, memory_id: str) -> list[Revision]:
        return [r for r in self._hub(hub_id).revisions if r.memory_id == memory_id]

    def revisions_of(
        self, hub_id: str, change_id: str, *, limit: int | None = None
    ) -> list[Revision]:
        found = (r for r in self._hub(hub_id).revisions if r.change_id == change_id)
        return list(islice(found, limit))

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        changed = {r.memory_id for r in self._hub(hub_id).revisions if r.at > at}
        return [memory.id for memory in self._ordered(hub_id) if memory.id in changed]

    def newest_revision(self, hub_id: str) -> int:
        return self._state.sequence

    def revised_since(self, hub_id: str, sequence: int, *, limit: int) -> list[str]:
        later = {r.memory_id for r in self._hub(hub_id).revisions if r.sequence > sequence}
        return [memory.id for memory in self._ordered(hub_id) if memory.id in later][:limit]

    def scan_changes(self, hub_id: str) -> Iterable[Change]:
        return list(self._hub(hub_id).changes.values())

    def scan_revisions(self, hub_id: str) -> Iterable[Revision]:
        return list(self._hub(hub_id).revisions)

    def receipts(self, hub_id: str) -> list[Receipt]:
        return list(self._hub(hub_id).receipts)


class LogReader(ReaderPart):
    """The part of the in-memory Reader for turns and mirrored files."""

    def turns(
        self, hub_id: str, *, limit: int, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        newest_first = list(self._hub(hub_id).turns.values())[::-1]
        if before is not None:
            ids = [turn.id for turn in newest_first]
            newest_first = newest_first[ids.index(before) + 1 :] if before in ids else []
        return [t for t in newest_first if session is None or t.session == session][:limit]

    def turns_by_id(self, hub_id: str, turn_ids: Sequence[str]) -> dict[str, Turn]:
        turns = self._hub(hub_id).turns
        return {one: turns[one] for one in turn_ids if one in turns}

    def turns_around(self, hub_id: str, turn_id: str, *, before: int, after: int) -> list[Turn]:
        turns = self._hub(hub_id).turns
        if turn_id not in turns:
            return []
        session = [one for one in turns.values() if one.session == turns[turn_id].session]
        place = [one.id for one in session].index(turn_id)
        return session[max(0, place - before) : place] + session[place + 1 : place + 1 + after]

    def adjacent_turns(self, hub_id: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        turns = self._hub(hub_id).turns
        out = []
        for one, two in pairs:
            ids = [other.id for other in turns.values() if other.session == turns[one].session]
            out.append(two in ids and abs(ids.index(one) - ids.index(two)) <= 1)
        return out

    def turn_ids(
        self,
        hub_id: str,
        *,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[str]:
        return [
            one.id
            for one in self._hub(hub_id).turns.values()
            if session in (None, one.session)
            and (since is None or one.at >= since)
            and (until is None or one.at < until)
        ][:limit]

    def log_size(self, hub_id: str) -> tuple[int, int, datetime | None, datetime | None]:
        turns = self._hub(hub_id).turns.values()
        times = [turn.at for turn in turns]
        size = sum(len(turn.content.encode()) for turn in turns)
        return len(times), size, min(times, default=None), max(times, default=None)

    def turns_by_speaker(self, hub_id: str, *, limit: int) -> list[tuple[str, int, datetime]]:
        said: dict[str, list[datetime]] = {}
        for turn in self._hub(hub_id).turns.values():
            if turn.speaker is not None:
                said.setdefault(turn.speaker, []).append(turn.at)
        counted = [(name, len(times), max(times)) for name, times in said.items()]
        return sorted(counted, key=lambda one: (-one[1], one[0]))[:limit]

    def scan_turns(self, hub_id: str) -> Iterable[Turn]:
        return list(self._hub(hub_id).turns.values())

    def agreed(self, hub_id: str, path: str) -> Agreed | None:
        return self._hub(hub_id).agreed.get(path)

    def scan_agreed(self, hub_id: str) -> Iterable[Agreed]:
        return [one for _, one in sorted(self._hub(hub_id).agreed.items())]

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        found = self._hub(hub_id).clashes.values()
        return [clash for clash in found if settled or clash.settled_at is None]


class RecordsReader(ReaderPart):
    """The part of the in-memory Reader for records; a viewer makes no difference to them."""

    def record(self, hub_id: str, kind: str, record_id: str) -> Record | None:
        return self._state.records.get((hub_id, kind, record_id))

    def record_by_lookup(self, hub_id: str, kind: str, lookup: str) -> Record | None:
        found = (one for one in self._of_kind(hub_id, kind) if one.lookup == lookup)
        return next(found, None)

    def records(self, hub_id: str, kind: str, *, limit: int, after: str = "") -> list[Record]:
        return [one for one in self._of_kind(hub_id, kind) if one.id > after][:limit]

    def _of_kind(self, hub_id: str, kind: str) -> list[Record]:
        found = self._state.records.values()
        mine = [one for one in found if one.hub_id == hub_id and one.kind == kind]
        return sorted(mine, key=lambda one: one.id)

    def scan_records(self, hub_id: str) -> Iterable[Record]:
        found = (one for one in self._state.records.values() if one.hub_id == hub_id)
        return sorted(found, key=lambda one: (one.kind, one.id))

    def due_records(
        self, kind: str, by: datetime, *, limit: int, hub_id: str | None = None
    ) -> list[Record]:
        waiting = [
            (one.due, one.hub_id, one.id, one)
            for one in self._state.records.values()
            if one.kind == kind
            and one.due is not None
            and one.due <= by
            and hub_id in (None, one.hub_id)
        ]
        return [entry[3] for entry in sorted(waiting, key=lambda entry: entry[:3])][:limit]

    def due_hub(self, kind: str, by: datetime, *, after: str = "") -> str | None:
        found = {one.hub_id for one in self.due_records(kind, by, limit=len(self._state.records))}
        return min((hub for hub in found if hub > after), default=None)


class InMemoryReader(
    MemoriesReader, HistoryReader, LogReader, RecordsReader, SearchReader, ReaderDefaults
):
    """The whole Reader of the in-memory store."""

    def statistics(self, hub_id: str) -> Statistics:
        state = self._hub(hub_id)
        everything = list(state.memories.values())
        visible = [memory for memory in everything if memory.visible]

        def counted(field: str) -> dict[str, int]:
            tally = Counter(getattr(memory, field) for memory in visible)
            return dict(sorted(tally.items(), key=lambda pair: (-pair[1], pair[0])))

        created = [memory.created_at for memory in everything]
        return Statistics(
            hub=state.hub.name,
            memories=len(everything),
            visible=len(visible),
            forgotten=sum(memory.forgotten_at is not None for memory in everything),
            quarantined=sum(bool(memory.quarantine) for memory in everything),
            pinned=sum(memory.pinned for memory in everything),
            by_state=counted("state"),
            by_category=counted("category"),
            by_kind=counted("kind"),
            by_layer=counted("layer"),
            revisions=len(state.revisions),
            changes=len(state.changes),
            passages=len(state.passages),
            vectors=sum(
                len(rows)
                for passage in state.passages.values()
                for rows in passage.vectors.values()
            ),
            content_bytes=sum(len(memory.content.encode()) for memory in everything),
            receipts=len(state.receipts),
            oldest=min(created, default=None),
            newest=max(created, default=None),
            turns=len(state.turns),
            conflicts=len(self.clashes(hub_id)),
        )
