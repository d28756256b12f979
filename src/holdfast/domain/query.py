"""A caller's query: which memories (Filter), under which conditions on metadata and fields,
in what order and how many, and what comes back.

A condition is a tree of tests. Every test is true or false for every memory: a value that is
missing, null or of another type fails the test, and `ne` and `nin` are the negations of `eq` and
`in`. Each store translates the tree into its own language; `holds` is the definition that they are
compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from holdfast.domain.clock import EPOCH, to_micros
from holdfast.domain.memory import TURN, Kind, Layer, Memory, Source, Stability, State, Trust
from holdfast.domain.records import Turn, as_memory
from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple

Order: TypeAlias = Literal["newest", "oldest", "updated", "accessed", "happened", "number"]
ORDERS: tuple[Order, ...] = ("newest", "oldest", "updated", "accessed", "happened", "number")
# These run from the latest to the earliest; the others upwards.
DOWNWARDS: tuple[Order, ...] = ("newest", "updated", "accessed", "happened")


def place_in(memory: Memory, order: Order) -> tuple[int, int]:
    """The sort key of a memory in an order of a list: what it is sorted by, then its number, so
    that no two are equal. A cursor continues after it."""
    if order == "updated":
        return to_micros(memory.updated_at), memory.number
    if order == "accessed":
        at = memory.accessed_at
        return 0 if at is None else to_micros(at), memory.number
    if order == "happened":
        return to_micros(memory.occurred_at or memory.created_at), memory.number
    return memory.number, memory.number


LIMIT_MAX = 1_000


def checked_limit(limit: int) -> int:
    """How many memories a read may return."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LIMIT_MAX:
        given = limit if isinstance(limit, int) else f"{limit!r}, a {type(limit).__name__}"
        raise InvalidInput(f"The limit is {given}; it must be a number from 1 to {LIMIT_MAX}.")
    return limit


def check_count(count: int, what: str = "limit") -> None:
    """Refuses what is not a whole number from one on."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InvalidInput(
            f"The {what} is {count!r}; it must be at least 1.", hint="Give a whole number."
        )


# Recall and lists show these unless asked otherwise; archived is for those who ask.
SHOWN_STATES: tuple[State, ...] = ("processing", "active", "cooling")


class Filter(NamedTuple):
    """Which memories count. An empty tuple or None means: any.

    `since` and `until` speak of when it happened or was said; `alive_at` leaves out what had
    expired by then, `holds_at` what was superseded or past its validity, `known_by` what was not
    there yet. `came_from` is a source (cli, mcp, …), an agent, a file or a folder. `where` holds
    conditions on metadata and on other fields, which are of memories alone. Turns of the
    conversation log count only with `turns`; the layer `turn` asks for nothing else.
    """

    states: tuple[State, ...] = SHOWN_STATES
    categories: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    stabilities: tuple[Stability, ...] = ()
    layers: tuple[Layer, ...] = ()
    sources: tuple[Source, ...] = ()
    tags: tuple[str, ...] = ()
    key: str | None = None
    came_from: str | None = None
    session: str | None = None
    pinned: bool | None = None
    forgotten: bool | None = False
    quarantined: bool | None = False
    since: datetime | None = None
    until: datetime | None = None
    alive_at: datetime | None = None
    known_by: datetime | None = None
    holds_at: datetime | None = None
    trusts: tuple[Trust, ...] = ()
    where: Condition | None = None
    turns: bool = False

    def admits_turns(self) -> bool:
        """Whether a turn can count at all: what all turns have in common is asked here. A store
        asks each one for its session, source, trust and time."""
        any_turn = self._replace(
            came_from=None, session=None, since=None, until=None, known_by=None, trusts=()
        )
        return not any_turn.refusal(_SOME_TURN)

    def admits(self, memory: Memory) -> bool:
        """The same test that the stores make in their own language."""
        return not self.refusal(memory)

    def refusal(self, memory: Memory) -> str:
        """Why the memory does not count, in a few words; empty if it does."""
        if memory.layer == TURN and (self.where is not None or not self.turns):
            return "it is a turn of the conversation log"
        for field, allowed in (
            ("state", self.states),
            ("category", self.categories),
            ("kind", self.kinds),
            ("stability", self.stabilities),
            ("layer", self.layers),
            ("source", self.sources),
            ("trust", self.trusts),
        ):
            value = getattr(memory, field)
            if allowed and value not in allowed:
                return f"its {field} is {value}"
        if self.where is not None and not holds(self.where, memory):
            return "it does not meet the condition"
        return self._refusal_by_label(memory) or self._refusal_by_time(memory)

    def _refusal_by_label(self, memory: Memory) -> str:
        if any(tag not in memory.tags for tag in self.tags):
            return "it lacks a tag"
        if self.key is not None and memory.key != self.key:
            return "it has another key"
        if self.came_from is not None and not self._came_from(memory):
            return "it came from elsewhere"
        if self.session is not None and memory.session != self.session:
            return "it belongs to another session"
        if self.pinned is not None and memory.pinned != self.pinned:
            return "it is pinned" if memory.pinned else "it is not pinned"
        if self.quarantined is not None and bool(memory.quarantine) != self.quarantined:
            return "it waits for review" if memory.quarantine else "it does not wait for review"
        return ""

    def _refusal_by_time(self, memory: Memory) -> str:
        happened = memory.occurred_at or memory.created_at
        if self.forgotten is not None and (memory.forgotten_at is not None) != self.forgotten:
            return "it is not forgotten" if self.forgotten else "it is forgotten"
        if self.since is not None and happened < self.since:
            return "it is from before the time asked for"
        if self.until is not None and happened >= self.until:
            return "it is from after the time asked for"
        if self.known_by is not None and memory.created_at > self.known_by:
            return "it was not there yet"
        if self.alive_at is not None and memory.expires_at and memory.expires_at <= self.alive_at:
            return "it has expired"
        if self.holds_at is not None and memory.superseded_by is not None:
            return "something newer took its place"
        if self.holds_at is not None and memory.valid_until and memory.valid_until <= self.holds_at:
            return "it no longer holds"
        return ""

    def _came_from(self, memory: Memory) -> bool:
        path = memory.source_path or ""
        wanted = self.came_from or ""
        return (
            wanted in (memory.source, memory.source_agent, memory.source_path)
            or path.startswith(wanted.rstrip("/") + "/")
            or path.endswith("/" + wanted)
        )


_SOME_TURN = as_memory(Turn("", "", "user", "", EPOCH))

EVERYTHING = Filter(states=(), forgotten=None, quarantined=None)


class Page(list[Memory]):
    """A piece of a list, and the cursor that fetches the next one (None at the end)."""

    def __init__(self, items: Iterable[Memory], cursor: str | None = None) -> None:
        super().__init__(items)
        self.cursor = cursor

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "[]"


class Passage(NamedTuple):
    """The part of a memory that matched: its text, its position, and the headings above it."""

    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()


class Hit(NamedTuple):
    """One answer of recall, with the reasons for its rank.

    `probability` estimates how likely the memory answers the question, from 0 to 1. The score only
    orders hits of one answer; probabilities can be compared between questions, hubs and models. It
    is 1 where no question was asked: lists by conditions, related memories.

    For a turn of the conversation log, `turn` says who said it, when and in which session, and
    `memory` is the same as search sees it: of the layer `turn`, without a number. `around` are the
    turns before and after it, in order, where they were asked for; `window` is the span of the
    content that is nearest to the question, where that was asked for.
    """

    memory: Memory
    passage: Passage
    score: float
    why: tuple[str, ...]
    parts: dict[str, float]
    probability: float = 1.0
    turn: Turn | None = None
    around: tuple[Turn, ...] = ()
    window: tuple[int, int] | None = None

    def __str__(self) -> str:
        named = f"#{self.memory.number}" if self.turn is None else "turn"
        return f"{named} {self.passage.text} ({'; '.join(self.why)})"


class LeftOut(NamedTuple):
    """A memory that matched a recall and was not shown, and why."""

    memory: Memory
    reason: str
    score: float


# If the best hit is less likely than this to answer, there is no clear match.
_CLEAR_LEAST = 0.2


class Recalled(list[Hit]):
    """The answer of recall: the hits, best first, and what the caller should know about it.

    It is a plain list with notes: `degraded` says why the answer may be weaker than usual (empty
    when it is not), `filtered` counts what was found but not shown, by reason, and `left_out`
    names it where an explanation was asked for. `confidence` estimates how likely the hub holds an
    answer at all, from 0 to 1; where it is low, there are no hits. `superseded` are memories that
    fit the question and that others have taken the place of, `unknown_names` names in the
    question that the hub does not hold, `holds_names` is true where the best hits, or who speaks
    in the hub, have every name in it, and `cosines` are those of the question with the memories
    that the caller named; these are known in this process alone.
    """

    superseded: tuple[Memory, ...] = ()
    unknown_names: tuple[str, ...] = ()
    holds_names: bool = False
    cosines: Mapping[str, float] = MappingProxyType({})

    def __init__(
        self,
        hits: Iterable[Hit],
        *,
        degraded: tuple[str, ...] = (),
        filtered: dict[str, int] | None = None,
        left_out: Iterable[LeftOut] = (),
        confidence: float | None = None,
    ) -> None:
        super().__init__(hits)
        best = max((hit.probability for hit in self), default=0.0)
        self.confidence = best if confidence is None else confidence
        self.degraded = degraded
        self.filtered = filtered or {}
        self.left_out = list(left_out)

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "[]"

    @property
    def is_clear(self) -> bool:
        """Whether a hit is likely enough to be shown as an answer and not as the closest there
        is."""
        return max((hit.probability for hit in self), default=1.0) >= _CLEAR_LEAST


Operator: TypeAlias = Literal[
    "eq", "gt", "gte", "lt", "lte", "in", "contains", "icontains", "exists"
]
Value: TypeAlias = str | int | float | bool | datetime

# The fields of a memory that may be tested, by the type of their values. Every other name is a key
# of the metadata.
TEXT_FIELDS = (
    *("content", "title", "key", "category", "kind", "stability", "state", "layer", "trust"),
    *("content_type", "boundary", "source", "source_agent", "source_path", "session", "speaker"),
)
NUMBER_FIELDS = ("number", "version")
FLAG_FIELDS = ("pinned",)
TIME_FIELDS = (
    *("created_at", "updated_at", "occurred_at", "occurred_until"),
    *("valid_from", "valid_until", "expires_at", "accessed_at"),
)
LIST_FIELDS = ("tags",)
FIELDS = (*TEXT_FIELDS, *NUMBER_FIELDS, *FLAG_FIELDS, *TIME_FIELDS, *LIST_FIELDS)


class Comparison(NamedTuple):
    """One comparison. With an empty `field` it is about the metadata, at `path`.

    `value` is a tuple for `in`, None for `exists`.
    """

    field: str
    path: tuple[str, ...]
    operator: Operator
    value: Value | tuple[Value, ...] | None = None


class Group(NamedTuple):
    """Conditions of which all (`and`), one (`or`) or none (`not`) must hold."""

    kind: Literal["and", "or", "not"]
    parts: tuple[Condition, ...]


Condition: TypeAlias = Comparison | Group


def holds(condition: Condition, memory: Memory) -> bool:
    """Whether a memory meets a condition."""
    if isinstance(condition, Comparison):
        return _passes(condition, _found(condition, memory))
    found = (holds(part, memory) for part in condition.parts)
    if condition.kind == "and":
        return all(found)
    return any(found) if condition.kind == "or" else not any(found)


def _found(test: Comparison, memory: Memory) -> Any:
    if test.field:
        return getattr(memory, test.field)
    value: Any = memory.metadata
    for name in test.path:
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


def _passes(test: Comparison, found: Any) -> bool:
    if found is None:
        return False
    wanted = test.value
    match test.operator:
        case "exists":
            # A memory without tags has an empty list of them, which is as good as none.
            return not (isinstance(found, tuple) and not found)
        case "eq":
            return _equal(found, wanted)
        case "in":
            return isinstance(wanted, tuple) and any(_equal(found, one) for one in wanted)
        case "contains":
            if isinstance(found, list | tuple):
                return any(_equal(one, wanted) for one in found)
            return isinstance(found, str) and isinstance(wanted, str) and wanted in found
        case "icontains":
            if not isinstance(found, str) or not isinstance(wanted, str):
                return False
            return ascii_lower(wanted) in ascii_lower(found)
        case _:
            same = kind_of(found) == kind_of(wanted) and kind_of(found) in _ORDERED
            return same and _COMPARE[test.operator](found, wanted)


_ORDERED = ("text", "number", "time")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "gt": lambda found, wanted: found > wanted,
    "gte": lambda found, wanted: found >= wanted,
    "lt": lambda found, wanted: found < wanted,
    "lte": lambda found, wanted: found <= wanted,
}


def _equal(found: Any, wanted: Any) -> bool:
    return kind_of(found) == kind_of(wanted) != "" and bool(found == wanted)


def kind_of(value: Any) -> str:
    """The type of a value in conditions; empty for lists, objects and None."""
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "number"
    return "time" if isinstance(value, datetime) else ""


def ascii_lower(text: str) -> str:
    """The text with its ASCII letters in lower case: the one folding that all stores share."""
    return text.translate(_LOWER)


_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
