"""Memories that an incoming one repeats, replaces or contradicts, found by their words through the
store's index: how many memories there are does not matter. How two texts stand to each other,
`text.slots` says; here it is decided which of them may be touched at all.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.recall.lexical import gather
from holdfast.store.values import TermQuery
from holdfast.text.slots import Verdict, compare, is_statement, search_terms, subject_of

if TYPE_CHECKING:
    from holdfast.store.base import Reader

# A slot has one value in force, its echoes and its held rivals; the rest are chance matches.
CANDIDATES_MAX = 40
# Of a move some months ago people speak as news; of one years ago they speak as of the past, and
# what was learnt since may be newer.
_NEWS = timedelta(days=180)
# Who speaks of themselves, whatever a log calls them.
_SELF = frozenset(["", "user", "human", "me", "i"])


class Rival(NamedTuple):
    """A memory that is there, and how the new one stands to it. `protected` says why it may not be
    replaced by rule; empty where it may."""

    memory: Memory
    verdict: Verdict
    protected: str = ""


def find_rivals(reader: Reader, memory: Memory) -> list[Rival]:
    """What is in force or held, for the same eyes and of the same person, and is not unrelated to
    the new memory; the newest first."""
    alike = {one.id: one for one in reader.memories_by_hash(memory.hub_id, memory.content_hash)}
    if is_statement(memory.content):
        alike |= reader.memories_by_id(memory.hub_id, _candidates(reader, memory))
    now = memory.created_at
    found = [
        Rival(one, verdict, _protected(memory, one))
        for one in alike.values()
        if one.id != memory.id and one.current(now) and one.forgotten_at is None
        if _comparable(memory, one)
        if (verdict := compare(memory.content, one.content)).relation != "unrelated"
    ]
    found.sort(key=lambda rival: -rival.memory.number)
    return found


def _candidates(reader: Reader, memory: Memory) -> list[str]:
    asked = tuple(search_terms(memory.content))
    lexicon = reader.lexicon(memory.hub_id, asked)
    wanted = Filter(
        states=(),
        layers=("long_term", "journal"),
        quarantined=None,
        holds_at=memory.created_at,
    )
    hits = gather(reader, memory.hub_id, TermQuery(asked), lexicon, wanted, limit=CANDIDATES_MAX)
    return list(dict.fromkeys(hit.candidate.memory_id for hit in hits))


def _comparable(memory: Memory, other: Memory) -> bool:
    """Whether both speak of the same person, to the same people."""
    if (memory.audience, memory.boundary == "private") != (
        other.audience,
        other.boundary == "private",
    ):
        return False
    if subject_of(memory.content):
        return True
    return memory.owner == other.owner and _speaker(memory) == _speaker(other)


def _speaker(memory: Memory) -> str:
    speaker = (memory.speaker or "").strip().lower()
    return "" if speaker in _SELF else speaker


def _protected(memory: Memory, other: Memory) -> str:
    if other.pinned:
        return "it is pinned"
    if other.owner != memory.owner:
        return f"it is {other.owner}'s"
    if other.key is not None and other.key != memory.key:
        return "it has a key"
    if other.parent is not None and other.source != "extraction":
        return "it is a part of another memory"
    if other.quarantine:
        return "it waits for review itself"
    if memory.trust in ("tool", "import") and other.trust not in ("tool", "import"):
        return "a more trusted voice said it"
    since = memory.valid_from or memory.occurred_at
    learnt = other.valid_from or other.occurred_at or other.created_at
    if since is not None and since + _NEWS < learnt:
        return "it was learnt later than what is told now"
    return ""
