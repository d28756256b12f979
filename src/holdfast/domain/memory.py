"""One piece of knowledge with all of its fields, the attachment that it was made from, and the
draft: what a caller wants remembered, before anything is decided about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from holdfast.domain.clock import from_text, to_text
from holdfast.system.named_tuple import NamedTuple

# The keys of these values in a memory's metadata.
ATTACHMENT = "attachment"
PAGE = "page"


class Attachment(NamedTuple):
    """A file: the SHA-256 of its bytes, its given name, which is data and never a path, its size in
    bytes, and its type, detected from its content."""

    hash: str
    name: str
    size: int
    media_type: str


class Usage(NamedTuple):
    """The size of a hub's attachments, each file counted once."""

    files: int = 0
    bytes: int = 0


def attachment_of(metadata: Mapping[str, Any]) -> Attachment | None:
    """The attachment that a memory's metadata describe; None if they describe none, or something
    else."""
    stored = metadata.get(ATTACHMENT)
    if not isinstance(stored, Mapping) or set(stored) != set(Attachment._fields):
        return None
    texts = all(isinstance(stored[name], str) for name in ("hash", "name", "media_type"))
    return Attachment(**stored) if texts and isinstance(stored["size"], int) else None


def page_of(metadata: Mapping[str, Any]) -> str | None:
    """The address of the page that a memory holds; None if it holds none."""
    stored = metadata.get(PAGE)
    address = stored.get("asked") if isinstance(stored, Mapping) else None
    return address if isinstance(address, str) else None


ContentType: TypeAlias = Literal[
    "text", "markdown", "code", "chat", "transcript", "file", "structured", "link"
]
Kind: TypeAlias = Literal["episodic", "semantic", "procedural", "rationale"]
Stability: TypeAlias = Literal["volatile", "evolving", "stable"]
Boundary: TypeAlias = Literal["private", "hub", "team", "org"]
State: TypeAlias = Literal["processing", "active", "cooling", "archived"]
# The layer of turns of the conversation log: recall finds them like memories, but no memory can be
# written to it.
Layer: TypeAlias = Literal["long_term", "journal", "library", "turn"]
Trust: TypeAlias = Literal["user", "agent", "tool", "import"]
Source: TypeAlias = Literal["cli", "import", "hook", "web", "api", "sdk", "mcp", "extraction"]

CONTENT_TYPES: tuple[ContentType, ...] = get_args(ContentType)
KINDS: tuple[Kind, ...] = get_args(Kind)
STABILITIES: tuple[Stability, ...] = get_args(Stability)
BOUNDARIES: tuple[Boundary, ...] = get_args(Boundary)
STATES: tuple[State, ...] = get_args(State)
TURN: Layer = "turn"
LAYERS: tuple[Layer, ...] = ("long_term", "journal", "library")
TRUSTS: tuple[Trust, ...] = get_args(Trust)
SOURCES: tuple[Source, ...] = get_args(Source)

# What a person files things under; any other label is welcome too.
CATEGORIES = (
    "preference",
    "fact",
    "project",
    "person",
    "routine",
    "decision",
    "core",
    "daily",
    "conversation",
)


# The category of turns, and of archives of conversations.
CONVERSATION = "conversation"


class Origin(NamedTuple):
    """The place in a conversation from which a memory was made."""

    turn: str
    start: int
    end: int
    hash: str


class Memory(NamedTuple):
    """One piece of knowledge in one hub. A change makes a new value and a revision."""

    id: str
    hub_id: str
    number: int
    content: str
    content_hash: str
    title: str
    owner: str
    created_at: datetime
    updated_at: datetime
    summary: str = ""
    content_type: ContentType = "text"
    key: str | None = None
    category: str = "fact"
    tags: tuple[str, ...] = ()
    kind: Kind = "semantic"
    stability: Stability = "evolving"
    boundary: Boundary = "hub"
    state: State = "active"
    state_reason: str = ""
    layer: Layer = "long_term"
    pinned: bool = False
    trust: Trust = "user"
    quarantine: str = ""
    source: Source = "sdk"
    source_agent: str | None = None
    assisted_by_agent: str | None = None
    source_path: str | None = None
    session: str | None = None
    speaker: str | None = None
    occurred_at: datetime | None = None
    occurred_until: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    forgotten_at: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    parent: str | None = None
    origin: Origin | None = None
    metadata: Mapping[str, Any] = {}
    version: int = 1
    access_count: int = 0
    shown_count: int = 0
    mention_count: int = 1
    accessed_at: datetime | None = None

    def __str__(self) -> str:
        return f"#{self.number} {self.title}"

    def __hash__(self) -> int:
        # The metadata are a dictionary, which has no hash; equal memories are of one version.
        return hash((self.id, self.version))

    @property
    def visible(self) -> bool:
        """Neither forgotten nor waiting for review."""
        return self.forgotten_at is None and not self.quarantine

    @property
    def owner_id(self) -> str:
        """The owner, under the name that Memax gives the field."""
        return self.owner

    @property
    def audience(self) -> str:
        """Whose memories share one set of keys and source paths: the owner's where it is private,
        everyone's (empty) where it is not."""
        return self.owner if self.boundary == "private" else ""

    @property
    def last_use(self) -> datetime:
        """When it was last accessed or updated."""
        return max(self.accessed_at or self.updated_at, self.updated_at)

    def current(self, now: datetime) -> bool:
        """Whether it still holds: not superseded, expired or past its validity."""
        return (
            self.superseded_by is None
            and (self.expires_at is None or self.expires_at > now)
            and (self.valid_until is None or self.valid_until > now)
        )

    def in_force(self, now: datetime) -> bool:
        """Whether it is visible and still holds."""
        return self.visible and self.current(now)

    @property
    def said_at(self) -> datetime:
        """When it was said; for a memory made from others, when the last of them was said."""
        written = self.metadata.get(SAID_AT)
        if isinstance(written, str) and MADE_FROM in self.metadata:
            try:
                return from_text(written)
            except ValueError:  # Metadata may be edited.
                return self.created_at
        return self.occurred_at or self.created_at

    @property
    def is_auto(self) -> bool:
        """Whether it was captured from a conversation, and nobody asked for it to be kept."""
        return self.source == "extraction" and self.metadata.get(EXPLICIT) is not True

    @property
    def event_at(self) -> datetime | None:
        """When it happened; None where only the time at which it was said is known."""
        if self.occurred_at is None or self.occurred_until is not None:
            return self.occurred_at
        is_said = MADE_FROM in self.metadata and self.metadata.get(SAID_AT) == to_text(
            self.occurred_at
        )
        return None if is_said else self.occurred_at

    @property
    def dated(self) -> datetime:
        """The moment to show: when it happened, or else when it was said. An old conversation that
        is imported now was not said now."""
        return self.occurred_at or self.said_at


# Under this name, metadata has the ids of the memories that one was made from.
MADE_FROM = "sources"
# And under this one, of a memory made from others, when the last of them was said.
SAID_AT = "said_at"
# In the metadata of a memory that may be meant to replace an older one: its id and its number.
CLOSE_TO = "close_to"
# The quarantine of an open question; nothing else is hidden for this reason.
AWAITS = "waits for a person's decision"
# True in the metadata of what the user asked to be remembered in a conversation.
EXPLICIT = "explicit"


def made_from(memory: Memory) -> tuple[str, ...]:
    """The ids of the memories that this one was made from, when they were consolidated."""
    found = memory.metadata.get(MADE_FROM)
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def is_archive(memory: Memory) -> bool:
    """Whether a memory is the archive of a whole session, and not taken from one thing said in
    it."""
    return memory.category == CONVERSATION and memory.session is not None and not memory.origin


def without_copies(
    memories: Sequence[Memory], made: Mapping[str, Memory] | None = None
) -> list[Memory]:
    """Without the lines of the journal that a memory among them, or among `made`, was made from and
    repeats or has replaced. `made` has such memories by the id of the line."""
    by_line = {**(made or {}), **made_by_line(memories)}
    return [one for one in memories if not _is_copy(one, by_line.get(one.id))]


def made_by_line(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Memories that were made from others, by the id of each of these."""
    return {source: memory for memory in memories for source in made_from(memory)}


def _is_copy(line: Memory, made: Memory | None) -> bool:
    return made is not None and (made.content == line.content or line.superseded_by == made.id)


def number_of_close(memory: Memory) -> int | None:
    """The number of the older memory that this one may be meant to replace, as its metadata say;
    None if there is none."""
    found = memory.metadata.get(CLOSE_TO)
    number = found.get("number") if isinstance(found, Mapping) else None
    return number if isinstance(number, int) else None


def renewed_id(memory: Memory) -> str | None:
    """The id of the older memory that this one was told as a change of."""
    found = memory.metadata.get(CLOSE_TO)
    if not isinstance(found, Mapping) or found.get("told") is not True:
        return None
    older = found.get("id")
    return older if isinstance(older, str) else None


def derived_from(parent: Memory, **fields: Any) -> Memory:
    """A new memory made of another one: its child, with these fields, and not used yet. Its id,
    number and times are set when it is added."""
    return parent._replace(
        parent=parent.id,
        source_path=None,
        supersedes=None,
        version=1,
        access_count=0,
        shown_count=0,
        mention_count=1,
        accessed_at=None,
        **fields,
    )


# Counters move without a revision: being read is not a change of the memory.
COUNTERS = frozenset({"access_count", "shown_count", "mention_count", "accessed_at"})
# Who and where it is never changes; version and updated_at belong to the revision that sets them.
FIXED = frozenset({"id", "hub_id", "number", "created_at", "version", "updated_at"})
REVISED = tuple(f for f in Memory._fields if f not in COUNTERS and f not in FIXED)
TIMES = frozenset(f for f in Memory._fields if f.endswith(("_at", "_until", "_from")))


class Draft(NamedTuple):
    """Only the content is needed; the rules choose values for fields that are None. A memory with
    an attachment, or with a link to be fetched, is `processing` until a worker has read it."""

    content: str
    title: str | None = None
    summary: str | None = None
    content_type: ContentType | None = None
    key: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    kind: Kind | None = None
    stability: Stability | None = None
    boundary: Boundary | None = None
    layer: Layer | None = None
    pinned: bool = False
    trust: Trust = "user"
    source: Source = "sdk"
    source_agent: str | None = None
    assisted_by_agent: str | None = None
    source_path: str | None = None
    session: str | None = None
    speaker: str | None = None
    occurred_at: datetime | None = None
    occurred_until: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    supersedes: str | None = None
    parent: str | None = None
    origin: Origin | None = None
    metadata: Mapping[str, Any] | None = None
    attachment: Attachment | None = None
    fetch: bool = False


# The times that a caller may give.
GIVEN_TIMES = tuple(f for f in Draft._fields if f in TIMES)
# The fields besides the content that a caller may give when it is stored, and change later.
DESCRIPTIVE = (
    *("title", "category", "tags", "kind", "stability", "boundary", "layer", "session", "speaker"),
    *GIVEN_TIMES,
    *("metadata", "key"),
)
