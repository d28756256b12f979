"""A hub, who may do what in it, and who sees what: roles, keys, viewers. Pure values and rules; the
engine knows who is a member of what."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NewType, TypeAlias, get_args

from holdfast.domain.memory import BOUNDARIES, Boundary, Memory
from holdfast.system.named_tuple import NamedTuple

DEFAULT_HUB = "default"

HubState: TypeAlias = Literal["active", "importing"]


class Hub(NamedTuple):
    """One hub. `numbers` is the last number given out in it; numbers are never used twice. `label`
    is the name that its owner gave it, if that is another; stores do not keep it."""

    id: str
    name: str
    owner: PersonName
    created_at: datetime
    numbers: int = 0
    state: HubState = "active"
    label: str = ""

    @property
    def called(self) -> str:
        """The name that the caller knows it by."""
        return self.label or self.name


class Statistics(NamedTuple):
    """Counts of what is in a hub, as far as the caller may see it."""

    hub: str
    memories: int
    visible: int
    forgotten: int
    quarantined: int
    pinned: int
    by_state: dict[str, int]
    by_category: dict[str, int]
    by_kind: dict[str, int]
    by_layer: dict[str, int]
    revisions: int
    changes: int
    passages: int
    vectors: int
    content_bytes: int
    receipts: int
    oldest: datetime | None
    newest: datetime | None
    turns: int = 0
    conflicts: int = 0
    # Of what is quarantined, what waits for review: the rest is decided or gone. No store counts
    # it; the engine does.
    waiting: int = 0
    # When the lifecycle last ran over the whole hub; the engine fills it in, too.
    lifecycle_at: datetime | None = None


# Names and references that were checked. Code that decides on permissions takes these types and no
# `str`, so that the type checker refuses text that was never parsed. Only `text.names` makes them
# from input; values read from the store were parsed before they were written.

# A person or an agent: one that owns hubs and memories, belongs to places, and uses keys.
PersonName = NewType("PersonName", str)
# No person has it: names are not empty.
NOBODY = PersonName("")
# The name of an organisation, a team or an API key.
Label = NewType("Label", str)
# A hub, a team or an organisation as a caller refers to it: by name or by id.
PlaceRef = NewType("PlaceRef", str)
# The id of an API key, an invitation or another record.
RecordId = NewType("RecordId", str)


# What a member of a hub sees of it beside what is their own.
MEMBER_SEES: tuple[Boundary, ...] = ("hub", "team", "org")
assert set(MEMBER_SEES) == set(BOUNDARIES) - {"private"}


class Viewer(NamedTuple):
    """Limits a read to what a person may see: their own memories, and those with one of these
    boundaries."""

    actor: PersonName
    boundaries: tuple[Boundary, ...] = MEMBER_SEES

    def sees(self, memory: Memory) -> bool:
        """The same test that the stores make in their own language."""
        return memory.owner == self.actor or memory.boundary in self.boundaries


Role: TypeAlias = Literal["viewer", "contributor", "admin", "owner"]
# From the least to the most.
ROLES: tuple[Role, ...] = get_args(Role)
DeletePolicy: TypeAlias = Literal["none", "own", "any"]
DELETE_POLICIES: tuple[DeletePolicy, ...] = get_args(DeletePolicy)

# Where roles are held. A hub may belong to a team, a team belongs to an organisation.
ScopeKind: TypeAlias = Literal["hub", "team", "org"]
SCOPE_KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)


class Org(NamedTuple):
    """An organisation: teams, and people who see what is for all of it."""

    id: str
    name: str
    created_at: datetime


class Team(NamedTuple):
    """Some people of an organisation, and the hubs that are theirs."""

    id: str
    org_id: str
    name: str
    created_at: datetime


class Member(NamedTuple):
    """Somebody's role in a hub, a team or an organisation."""

    scope: ScopeKind
    scope_id: str
    actor: PersonName
    role: Role
    since: datetime
    added_by: str


class HubCard(NamedTuple):
    """A hub's settings: the team it belongs to or the organisation it is shared with, what
    contributors may delete, and its `label`, the name that callers with a key use if it differs."""

    hub_id: str
    team_id: str | None = None
    delete_policy: DeletePolicy = "own"
    org_id: str | None = None
    label: str = ""


class Invite(NamedTuple):
    """A role in a place for the bearer of a one-time token. Only the token's hash is stored."""

    id: str
    scope: ScopeKind
    scope_id: str
    role: Role
    invited_by: str
    at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    used_by: str | None = None


class Key(NamedTuple):
    """An API key: who it acts for, and with which rights. Only its hash is stored; `hubs` are ids,
    and none means all that its actor may reach."""

    id: str
    actor: PersonName
    name: str
    at: datetime
    hubs: tuple[str, ...] = ()
    read_only: bool = False
    no_delete: bool = False
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = None

    def refusal(self, now: datetime) -> str:
        """Why it opens nothing; empty if it does."""
        if self.revoked_at is not None:
            return "it was revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "it has expired"
        return ""


# read_log: read what has no boundary of its own (the conversation log, receipts, model usage),
# which is not for those who see only what is shared beyond the hub.
# retire: archive, supersede or expire a memory, or show it to fewer people; it can be brought back.
Act: TypeAlias = Literal[
    "read", "read_log", "write", "retire", "delete_own", "delete_any", "manage", "own"
]
ACTS: tuple[Act, ...] = get_args(Act)

_ALLOWED: dict[Role, frozenset[Act]] = {
    "viewer": frozenset({"read", "read_log"}),
    "contributor": frozenset({"read", "read_log", "write", "retire"}),
    "admin": frozenset(
        {"read", "read_log", "write", "retire", "delete_own", "delete_any", "manage"}
    ),
    "owner": frozenset(ACTS),
}
_BY_POLICY: dict[DeletePolicy, frozenset[Act]] = {
    "none": frozenset(),
    "own": frozenset({"delete_own"}),
    "any": frozenset({"delete_own", "delete_any"}),
}


# What a key that deletes nothing does not do.
_REMOVES: frozenset[Act] = frozenset({"retire", "delete_own", "delete_any"})


class Standing(NamedTuple):
    """Somebody's access to a hub: their role in it, if any, and what they see of it."""

    actor: PersonName
    role: Role | None
    boundaries: tuple[Boundary, ...]
    delete_policy: DeletePolicy = "own"

    @property
    def viewer(self) -> Viewer:
        return Viewer(self.actor, self.boundaries)

    def allows(self, act: Act, key: Key | None = None) -> bool:
        """Whether the role allows it, and the key, where one is used, does not forbid it."""
        if key is not None and act not in ("read", "read_log"):
            if key.read_only or (key.no_delete and act in _REMOVES):
                return False
            # A key for some hubs is for their memories, not for their members.
            if key.hubs and act in ("manage", "own"):
                return False
        if self.role is None:
            # Somebody of the team or the organisation reads what is for them.
            return act == "read" and bool(self.boundaries)
        allowed = _ALLOWED[self.role]
        if self.role == "contributor":
            allowed |= _BY_POLICY[self.delete_policy]
        return act in allowed
