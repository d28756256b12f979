"""The arguments of operations: the fields of a memory that a caller may set, typed as keyword
arguments, and the conversion of plain arguments to checked drafts and filters. The library, the
client, the bodies of REST requests and the options of commands all use these definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from holdfast.domain.memory import KINDS, LAYERS, SOURCES, STABILITIES, STATES, TURN, Origin
from holdfast.domain.query import SHOWN_STATES, Filter
from holdfast.engine.reading.lookup import Reference
from holdfast.errors import InvalidInput
from holdfast.text import clean

if TYPE_CHECKING:
    from holdfast.domain.memory import Draft
    from holdfast.domain.query import Condition


class DescriptiveFields(TypedDict, total=False):
    """Fields that `remember` and `update` both accept."""

    title: str | None
    summary: str | None
    content_type: str | None
    key: str | None
    category: str | None
    tags: Iterable[str] | None
    kind: str | None
    stability: str | None
    boundary: str | None
    layer: str | None
    session: str | None
    speaker: str | None
    occurred_at: datetime | str | None
    occurred_until: datetime | str | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    expires_at: datetime | str | None
    metadata: Mapping[str, Any] | None


class MemoryFields(DescriptiveFields, total=False):
    """The fields of `remember` besides the content. Fields that are not given are chosen by
    rules."""

    pinned: bool
    trust: str
    source: str
    source_agent: str | None
    assisted_by_agent: str | None
    source_path: str | None
    # How long until the memory is archived; instead of `expires_at`.
    ttl: timedelta | None
    supersedes: Reference | None
    parent: str | None
    origin: Origin | None
    # For a link: whether to fetch the page.
    fetch: bool


class MemoryChanges(DescriptiveFields, total=False):
    """The fields of `update`. None clears a field that may be empty."""

    content: str | None
    pinned: bool | None
    trust: str | None


# A condition as a JSON object, or as a line of text.
Where: TypeAlias = Mapping[str, Any] | str | None


def to_draft(item: str | Draft | Mapping[str, Any]) -> Draft:
    """Converts a text or a dictionary to a draft."""
    from holdfast.domain.memory import Draft

    if isinstance(item, Draft):
        return item
    return draft_from(item if isinstance(item, Mapping) else {"content": item})


def draft_from(values: Mapping[str, Any]) -> Draft:
    """Builds a draft from named values. An unknown name is an error that suggests the nearest
    field."""
    from holdfast.domain.memory import Draft

    for name in values:
        if name not in Draft._fields:
            clean.one_of(name, Draft._fields, "field")
    if "content" not in values:
        raise InvalidInput("A memory needs content.", hint="It is the text to be kept.")
    checked = dict(values)
    if checked.get("tags") is not None:
        checked["tags"] = clean.clean_tags(checked["tags"])
    return Draft(**checked)


def filter_from(
    *,
    category: str | None = None,
    kind: str | None = None,
    stability: str | None = None,
    layer: str | None = None,
    source: str | None = None,
    tags: Iterable[str] | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    where: Where = None,
    **rest: Any,
) -> Filter:
    """Builds a filter from plain arguments and checks each of them."""

    def one(value: str | None, allowed: tuple[str, ...], field: str) -> Any:
        return () if value is None else (clean.one_of(value, allowed, field),)

    begins = None if since is None else clean.clean_time(since)
    ends = None if until is None else clean.clean_time(until)
    if begins is not None and ends is not None and begins >= ends:
        raise InvalidInput("The time window ends before it begins.", hint="Swap since and until.")
    return Filter(
        categories=() if category is None else (clean.clean_category(category),),
        kinds=one(kind, KINDS, "kind"),
        stabilities=one(stability, STABILITIES, "stability"),
        layers=one(layer, (*LAYERS, TURN) if rest.get("turns") else LAYERS, "layer"),
        sources=one(source, SOURCES, "source"),
        tags=() if tags is None else clean.clean_tags(tags),
        since=begins,
        until=ends,
        where=None if where is None else _read_where(where),
        **rest,
    )


def _read_where(where: Where) -> Condition | None:
    from holdfast.text.where import read_where

    return read_where(where)


def states_from(state: str | None, *, hidden: bool) -> tuple[Any, ...]:
    """The states to include in a list. Memories hidden for another reason are listed in any
    state."""
    if state == "all" or (state is None and hidden):
        return ()
    if state is None:
        return SHOWN_STATES
    return (clean.one_of(state, STATES, "state"),)
