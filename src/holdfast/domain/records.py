"""Small stored values: records (keys, members, invitations, jobs), turns of the conversation log,
the last synced state of mirrored files; and their JSON for revisions, export and import."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.hub import NOBODY
from holdfast.domain.memory import CONVERSATION, TIMES, Memory, Origin, Trust
from holdfast.system.named_tuple import NamedTuple

# The hub of what belongs to no hub.
NO_HUB = ""


class Record(NamedTuple):
    """One record. `body` is plain JSON. No two of a hub and kind have the same id or lookup."""

    hub_id: str
    kind: str
    id: str
    at: datetime
    body: Mapping[str, Any]
    lookup: str | None = None
    due: datetime | None = None


Role: TypeAlias = Literal["user", "assistant", "system"]
ROLES: tuple[Role, ...] = get_args(Role)


_NOT_OF_A_PERSON = ("tool", "import")


class Turn(NamedTuple):
    """One turn. The source is the place where it was said: telegram, tui, unknown, or any other
    label. The speaker is the speaker's name, if known. `trust` is the origin of the words: a tool,
    a page or a pasted document is not the user. `note` is a remark for readers of the log; it is
    not stored."""

    id: str
    hub_id: str
    role: Role
    content: str
    at: datetime
    source: str = "unknown"
    session: str | None = None
    speaker: str | None = None
    trust: Trust = "user"
    note: str = ""

    @property
    def voice(self) -> str:
        """The role; where it is not the user's word, what it is: `tool` or `import`."""
        is_foreign = self.role == "user" and self.trust in _NOT_OF_A_PERSON
        return self.trust if is_foreign else self.role


# The kind of the record that a turn has, under its id, until its words are in the index.
WITHOUT_WORDS = "turn-without-words"

# Whose words a turn has where nobody says so.
TRUST_OF_ROLE: dict[Role, Trust] = {"user": "user", "assistant": "agent", "system": "tool"}


def is_own_word(turn: Turn) -> bool:
    """Whether the user said it: among a user's turns are also the words of tools, of pages and of
    pasted documents."""
    return turn.voice == "user"


def as_memory(turn: Turn) -> Memory:
    """A turn as search, ranking and the block for a prompt see it. It is in no list of memories,
    and has no number."""
    return Memory(
        id=turn.id,
        hub_id=turn.hub_id,
        number=0,
        content=turn.content,
        content_hash="",
        title="",
        owner=NOBODY,
        created_at=turn.at,
        updated_at=turn.at,
        category=CONVERSATION,
        kind="episodic",
        layer="turn",
        trust=turn.trust,
        source_agent=turn.source,
        session=turn.session,
        speaker=turn.speaker or turn.voice,
        occurred_at=turn.at,
    )


class Agreed(NamedTuple):
    """The text of a mirrored file as it was after the last sync: the base of a three-way merge."""

    path: str
    text: str
    at: datetime


class Clash(NamedTuple):
    """A memory that was changed in the file and in the store since they last agreed.

    Both texts are stored, here and as memories, until someone settles it.
    """

    id: str
    memory_id: str
    path: str
    in_store: str
    in_file: str
    at: datetime
    settled_at: datetime | None = None


def field_to_plain(name: str, value: Any) -> Any:
    """One field of a revision as JSON can hold it."""
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, Origin):
        return list(value)
    if name == "tags":
        return list(value)
    if name == "metadata":
        return _in_order(value)
    return value


def _in_order(value: Any) -> Any:
    """The same with every dictionary sorted by key: what is equal is written alike."""
    if isinstance(value, Mapping):
        return {key: _in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    return value


def field_from_plain(name: str, value: Any) -> Any:
    """The field that `field_to_plain` was given."""
    if value is None:
        return None
    if name in TIMES:
        return from_text(value)
    if name == "tags":
        return tuple(value)
    if name == "origin":
        return Origin(*value)
    return value


def memory_to_plain(memory: Memory) -> dict[str, Any]:
    return {name: field_to_plain(name, value) for name, value in memory._asdict().items()}


def memory_from_plain(plain: Mapping[str, Any]) -> Memory:
    return Memory(**{name: field_from_plain(name, value) for name, value in plain.items()})


def fields_to_plain(fields: Mapping[str, tuple[Any, Any]]) -> dict[str, list[Any]]:
    """A revision's fields, each as [old, new]."""
    return {
        name: [field_to_plain(name, old), field_to_plain(name, new)]
        for name, (old, new) in sorted(fields.items())
    }


def fields_from_plain(plain: Mapping[str, list[Any]]) -> dict[str, tuple[Any, Any]]:
    return {
        name: (field_from_plain(name, pair[0]), field_from_plain(name, pair[1]))
        for name, pair in plain.items()
    }
