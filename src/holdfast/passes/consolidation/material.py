"""The material of a consolidation: the journals of the last days, long-term memory, and the results
of earlier runs; and which of these memories may be about the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import to_text
from holdfast.domain.memory import MADE_FROM, SAID_AT, Memory
from holdfast.domain.query import Filter
from holdfast.domain.records import Record
from holdfast.engine.core import Core, Scope
from holdfast.engine.writing.supersede import is_news_of_old
from holdfast.passes.consolidation import STEP_KINDS, Step, StepKind
from holdfast.store.values import every_memory
from holdfast.text.analysis.terms import terms
from holdfast.text.facts.statements import words_key
from holdfast.text.slots.compare import compare, slot_of

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer


# Related memories


# The most memories that a text is compared with: the newest of the same slot, and as many again
# that share most of its words.
_RELATED_MAX = 5
# The search uses the rarest words of a text, and for each word the newest memories: a word that
# more memories have is not specific.
_TERMS_MAX = 6
_LISTED_MAX = 100


class Material(NamedTuple):
    """The input of a consolidation. `by_assistant` are ids of lines that only the assistant said;
    `settled` are steps that were undone before, `declined` are sources of steps that a person
    removed from a plan; neither is proposed again. `unwanted` maps the words of removed long-term
    memories to the time of their removal: earlier statements with these words no longer count."""

    journal: tuple[Memory, ...]
    long_term: tuple[Memory, ...]
    now: datetime
    chars_max: int
    by_assistant: frozenset[str] = frozenset()
    settled: frozenset[tuple[StepKind, frozenset[int]]] = frozenset()
    declined: frozenset[int] = frozenset()
    unwanted: Mapping[str, datetime] = {}

    @property
    def memories(self) -> dict[int, Memory]:
        return {memory.number: memory for memory in (*self.long_term, *self.journal)}


def said_at(memory: Memory) -> datetime:
    """When a memory that is consolidated was said, as a key to sort by."""
    return memory.said_at


def origin_of(sources: Sequence[Memory]) -> dict[str, object]:
    """The metadata of a memory that was made from others by consolidation."""
    newest = max(map(said_at, sources))
    return {MADE_FROM: [memory.id for memory in sources], SAID_AT: to_text(newest)}


def day_of(memory: Memory) -> date:
    return (memory.occurred_at or memory.created_at).date()


def audience(memory: Memory) -> tuple[str, str]:
    """The audience of a memory. Consolidation never combines memories with different audiences."""
    return memory.boundary, memory.audience


# Speakers that mean the owner of the memory.
_OWN = frozenset({"", "user", "human", "me"})


def voice(memory: Memory) -> tuple[str, str, str]:
    """The audience and the speaker of a memory that is consolidated: the same words of another
    speaker are about somebody else."""
    speaker = (memory.speaker or "").strip().casefold()
    return *audience(memory), "" if speaker in _OWN else speaker


class RelatedMemories:
    """Finds the memories that a text may repeat or contradict, by the same slot or rare shared
    words, so that each is compared with a few and not with all."""

    def __init__(self, memories: Iterable[Memory]) -> None:
        self._memories: dict[int, Memory] = {}
        self._by_term: dict[tuple[object, str], list[int]] = {}
        self._by_slot: dict[tuple[object, str, str], list[int]] = {}
        for memory in sorted(memories, key=said_at):
            self._memories[memory.number] = memory
            speaker = voice(memory)
            for term in set(terms(memory.content)):
                self._by_term.setdefault((speaker, term), []).append(memory.number)
            if slot := slot_of(memory.content):
                place = (speaker, slot.subject, slot.attribute)
                self._by_slot.setdefault(place, []).append(memory.number)

    def to(self, memory: Memory, text: str | None = None) -> list[Memory]:
        """The memories most similar to a memory, or to a text made from it, with the same voice;
        never the memory itself."""
        said = memory.content if text is None else text
        speaker = voice(memory)
        listed = [self._by_term.get((speaker, term), ()) for term in set(terms(said))]
        shared: dict[int, int] = {}
        for numbers in sorted(listed, key=len)[:_TERMS_MAX]:
            for number in numbers[-_LISTED_MAX:]:
                shared[number] = shared.get(number, 0) + 1
        # One more, because the memory itself is the most similar.
        best = nlargest(_RELATED_MAX + 1, shared, key=lambda number: (shared[number], number))
        slot = slot_of(said)
        same = self._by_slot.get((speaker, slot.subject, slot.attribute), []) if slot else []
        newest = same[: -_RELATED_MAX - 2 : -1]
        found = dict.fromkeys([*newest, *best])
        return [self._memories[number] for number in found if number != memory.number]

    def replacement_of(self, memory: Memory, text: str | None = None) -> Memory | None:
        """Later statements that replace a memory, or a text that is made from it."""
        said = memory.content if text is None else text
        for other in self.to(memory, text):
            if (
                said_at(other) > said_at(memory)
                and compare(other.content, said).relation == "replaces"
                and not is_news_of_old(other, memory)
            ):
                return other
        return None


# Reading


DAYS = 7
JOURNAL_CHARS_MAX = 4_000
# Far more than fits into MEMORY.md; of more, those unchanged the longest are not read.
LONG_TERM_MAX = 2_000
# The most runs that are recorded in case they are undone, and the most declined sources.
_RUNS_KEPT = 20
_DECLINED_KEPT = 500
_KIND, _ID = "upkeep", "consolidated"
# Names of assistants in a log.
_ASSISTANTS = frozenset({"assistant", "agent", "ai", "model", "bot"})
_HASH_CHARS = 16


class Gathered(NamedTuple):
    """The material, notes on what was not read, and a hash that changes when it does."""

    material: Material
    notes: tuple[str, ...]
    hash: str


def gather(scope: Scope, *, by: str = "") -> Gathered:
    """Reads the material that the caller may see. `by` names who will propose."""
    now = scope.now()
    with scope.read() as reader:
        journal, notes = _journal(reader, scope.hub_id, now)
        long_term = _long_term(reader, scope.hub_id, notes)
        origins = dict.fromkeys(one.origin.turn for one in journal if one.origin is not None)
        said = reader.turns_by_id(scope.hub_id, list(origins))
        roles = {turn_id: turn.role for turn_id, turn in said.items()}
        settled, declined = _earlier(reader, scope.hub_id)
        unwanted = _taken_away(reader, scope.hub_id)
    material = Material(
        journal=tuple(journal),
        long_term=tuple(long_term),
        now=now,
        chars_max=scope.settings["context.chars_max"],
        by_assistant=frozenset(one.id for one in journal if _by_assistant(one, roles)),
        settled=settled,
        declined=declined,
        unwanted=unwanted,
    )
    return Gathered(material, tuple(notes), _hash_of(material, by))


def _by_assistant(memory: Memory, roles: Mapping[str, str]) -> bool:
    """Whether only the assistant said it. If the turn is no longer in the log, the recorded author
    of the line counts."""
    if memory.metadata.get("said_by") == "assistant":
        return True
    if (memory.speaker or "").strip().casefold() in _ASSISTANTS:
        return True
    return memory.origin is not None and roles.get(memory.origin.turn) == "assistant"


def _journal(reader: Reader, hub_id: str, now: datetime) -> tuple[list[Memory], list[str]]:
    """The entries, newest day first; of each day, as many from its beginning as fit."""
    today = now.date()
    wanted = Filter(
        layers=("journal",),
        since=_midnight(today - timedelta(days=DAYS - 1)),
        until=_midnight(today + timedelta(days=1)),
        alive_at=now,
    )
    by_day: dict[date, list[Memory]] = {}
    for memory in every_memory(reader, hub_id, wanted):
        by_day.setdefault(day_of(memory), []).append(memory)
    found: list[Memory] = []
    notes: list[str] = []
    for day in sorted(by_day, reverse=True):
        entries = sorted(by_day[day], key=lambda one: (said_at(one), one.number))
        read, room = 0, JOURNAL_CHARS_MAX
        for entry in entries:
            room -= len(entry.content)
            if room < 0:
                break
            found.append(entry)
            read += 1
        if read < len(entries):
            notes.append(
                f"Of {day}, {read} of {len(entries)} entries were read: the first"
                f" {JOURNAL_CHARS_MAX:,} characters."
            )
    return found, notes


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _long_term(reader: Reader, hub_id: str, notes: list[str]) -> list[Memory]:
    wanted = Filter(layers=("long_term",), states=("active", "cooling"))
    found: list[Memory] = []
    for memory in every_memory(reader, hub_id, wanted, order="updated"):
        if memory.superseded_by is None:
            found.append(memory)
        if len(found) == LONG_TERM_MAX:
            notes.append(f"The {LONG_TERM_MAX:,} newest long-term memories were looked at.")
            break
    return sorted(found, key=lambda memory: memory.number)


def _taken_away(reader: Reader, hub_id: str) -> dict[str, datetime]:
    """The words of memories removed from long-term memory, and the time of their removal."""
    away: dict[str, datetime] = {}
    forgotten = Filter(layers=("long_term",), states=(), forgotten=True, quarantined=None)
    archived = Filter(layers=("long_term",), states=("archived",))
    for wanted in (forgotten, archived):
        walk = every_memory(reader, hub_id, wanted, order="updated")
        for memory, _ in zip(walk, range(LONG_TERM_MAX), strict=False):
            key = words_key(memory.content)
            away[key] = max(away.get(key, memory.updated_at), memory.updated_at)
    return away


def _hash_of(material: Material, by: str) -> str:
    from hashlib import blake2b

    now = material.now
    state = (
        by,
        material.chars_max,
        [
            (m.id, m.content_hash, m.pinned, m.mention_count, min(m.access_count, 3))
            for m in material.journal
        ],
        [(m.id, m.content_hash, m.pinned, m.current(now)) for m in material.long_term],
        sorted((kind, sorted(numbers)) for kind, numbers in material.settled),
        sorted(material.declined),
    )
    # Short, so that it does not look like a secret.
    return blake2b(repr(state).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]


# Earlier runs


def last_hash(core: Core, hub_id: str) -> str:
    """The hash of the material after the last run."""
    with core.store.read() as reader:
        record = reader.record(hub_id, _KIND, _ID)
    return "" if record is None else str(record.body.get("hash", ""))


def note_hash(scope: Scope, hash_: str) -> None:
    with scope.write_unfiltered() as writer:
        _put(scope.core, writer, scope.hub_id, {**_body(writer, scope.hub_id), "hash": hash_})


def note_run(
    core: Core, writer: Writer, hub_id: str, change: str, steps: list[Step], declined: set[int]
) -> None:
    """Records, in the transaction of a run of consolidation, its steps in case they are undone, and
    the sources that a person removed from its plan."""
    body = _body(writer, hub_id)
    run = {"change": change, "steps": [[step.kind, list(step.sources)] for step in steps]}
    runs = [*body.get("runs", []), *([run] if steps else [])]
    known = dict.fromkeys([*body.get("declined", []), *sorted(declined)])
    body |= {"runs": runs[-_RUNS_KEPT:], "declined": list(known)[-_DECLINED_KEPT:]}
    _put(core, writer, hub_id, body)


def _earlier(
    reader: Reader, hub_id: str
) -> tuple[frozenset[tuple[StepKind, frozenset[int]]], frozenset[int]]:
    """The steps of runs that were undone, and the declined sources."""
    body = _body(reader, hub_id)
    settled = set()
    for run in body.get("runs", []):
        change = reader.change(hub_id, run["change"])
        if change is not None and change.undone_by is not None:
            settled |= {
                (kind, frozenset(numbers)) for kind, numbers in run["steps"] if kind in STEP_KINDS
            }
    return frozenset(settled), frozenset(body.get("declined", []))


def _body(reader: Reader, hub_id: str) -> dict[str, Any]:
    record = reader.record(hub_id, _KIND, _ID)
    return {} if record is None else dict(record.body)


def _put(core: Core, writer: Writer, hub_id: str, body: dict[str, Any]) -> None:
    writer.put_record(Record(hub_id, _KIND, _ID, core.now(), body))
