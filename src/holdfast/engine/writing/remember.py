"""Stores drafts: all or none in one transaction, or any number in batches, as one change set. The
next draft is prepared while the one before is being written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from holdfast.domain.change import Change
from holdfast.domain.memory import Draft, Memory
from holdfast.domain.results import Remembered, Stored, Superseded, Updated
from holdfast.engine.reading.lookup import find_memory
from holdfast.engine.scope import Scope
from holdfast.engine.writing.dedup import twin_of
from holdfast.engine.writing.drafts import Prepared, prepare
from holdfast.engine.writing.intake import take_in
from holdfast.engine.writing.recorder import Recorder
from holdfast.engine.writing.supersede import with_candidates
from holdfast.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.store.base import Writer


Raw = TypeVar("Raw")
Ready = TypeVar("Ready")


def ahead(make: Callable[[Raw], Ready], raw: Iterable[Raw]) -> Iterator[Ready]:
    """Each of them made ready, in order. `make` runs in a thread of its own, one step ahead of who
    takes what is ready; what is raw is taken from where it comes in the caller's own thread."""
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(1, thread_name_prefix="holdfast-ahead") as pool:
        before: Future[Ready] | None = None
        for one in raw:
            coming = pool.submit(make, one)
            if before is not None:
                yield before.result()
            before = coming
        if before is not None:
            yield before.result()


# One transaction takes at most this many: long enough to be fast, short enough that another
# process waiting to write is not kept for long.
BATCH_MAX = 500

# Somebody who says something says a few things at once; whoever brings more has a list from
# elsewhere, where looking for rivals of each would take longer than all the rest.
_STATED_MAX = 50
# A longer text tells of several things at several times.
_EVENT_CHARS_MAX = 240


def remember(scope: Scope, draft: Draft, *, by_rule: bool = False) -> Remembered:
    """Takes one draft in, as a change set of its own."""
    return remember_many(scope, [draft], by_rule=by_rule)[0]


def remember_many(
    scope: Scope,
    drafts: Sequence[Draft],
    *,
    reason: str = "",
    first_is_parent: bool = False,
    by_rule: bool = False,
) -> list[Remembered]:
    """Takes all of them in, or none: one transaction, one change set.

    With `first_is_parent` those that are new point to the first. With `by_rule` a new value takes
    the place of an old one without being told to; what follows a file says itself what goes.
    """
    by_rule = by_rule and not first_is_parent and len(drafts) <= _STATED_MAX
    if by_rule:
        now = scope.now()
        drafts = [_with_event(draft, now) for draft in drafts]
    prepared = list(prepare(scope, drafts))
    by_rule = by_rule and scope.settings["supersede.enabled"]
    if by_rule:
        prepared = with_candidates(scope, prepared)
    with scope.write() as writer:
        scope.require_hub(writer)
        writer.expect(scope.hub_id, all_of(prepared))
        recorder = Recorder(scope, writer, "remember", reason=reason)
        results: list[Remembered] = []
        for item in prepared:
            if first_is_parent and results:
                parent = results[0].memory.id
                item = _below(item, parent)
            results.append(take_in_whole(writer, recorder, scope, item, by_rule=by_rule))
    recorder.embed()
    return results


def _with_event(draft: Draft, now: datetime) -> Draft:
    """The draft with the time that its words mean today; the words stay as they are."""
    said = isinstance(draft.content, str) and draft.content_type in (None, "text")
    if not said or draft.occurred_at is not None or draft.source == "import" or draft.attachment:
        return draft
    # A line of a journal stands at the day it was written.
    if draft.layer == "journal" or len(draft.content) > _EVENT_CHARS_MAX:
        return draft
    # Here, as most of what is remembered is longer, or names no time.
    from holdfast.text.dates.event import event_in

    event = event_in(draft.content, at=now)
    if event is None:
        return draft
    return draft._replace(occurred_at=event.since, occurred_until=event.until)


def remember_stream(
    scope: Scope, drafts: Iterable[Draft], *, reason: str = ""
) -> Iterator[Remembered]:
    """Takes any number in, a batch at a time, all as one change set.

    Each batch is safe on disk before its results are handed out.
    """
    change: Change | None = None
    coming = iter(drafts)
    while batch := list(islice(coming, BATCH_MAX)):
        prepared = list(prepare(scope, batch))
        with scope.write() as writer:
            scope.require_hub(writer)
            writer.expect(scope.hub_id, all_of(prepared))
            going_on = change and _in_force(writer, change)
            recorder = Recorder(scope, writer, "remember", reason=reason, change=going_on)
            results = [take_in_whole(writer, recorder, scope, item) for item in prepared]
        recorder.embed()
        if recorder.written:
            change = recorder.change
        yield from results


def all_of(prepared: Sequence[Prepared]) -> list[Memory]:
    """What will be looked for: the memories, and the facts that were found in them."""
    return [one.memory for item in prepared for one in (item, *item.facts)]


def _in_force(writer: Writer, change: Change) -> Change | None:
    """The change set as it stands; None where it was undone, or purged empty, since the last
    batch: what comes now is then a change set of its own."""
    current = writer.change(change.hub_id, change.id)
    return None if current is None or current.undone_by is not None else current


def take_in_whole(
    writer: Writer,
    recorder: Recorder,
    scope: Scope,
    item: Prepared,
    *,
    by_rule: bool = False,
) -> Remembered:
    """One draft with what follows from it: the job that reads its file or page, and its facts."""
    if item.draft.parent is not None:
        item = _below(item, _parent(writer, scope, item))
    result = take_in(writer, recorder, scope, item, by_rule=by_rule)
    if item.draft.attachment is not None or item.draft.fetch:
        from holdfast.engine.writing import extraction

        extraction.begin(scope.core, writer, item.draft, result)
    if isinstance(result, Stored | Updated | Superseded):
        parent = result.memory.id
        for fact in item.facts:
            pointing = _below(fact, parent)
            if twin_of(writer, fact.draft, fact.memory) is None:
                take_in(writer, recorder, scope, pointing)
    # Also what waited already, or was rejected: the caller must not take it for known.
    scope.core.held.note(result.memory)
    return result


def _parent(writer: Writer, scope: Scope, item: Prepared) -> str:
    """The id of the memory that a draft is to be a part of: one of the same hub, or NotFound."""
    try:
        return find_memory(writer, scope, item.draft.parent or "").id
    except NotFound as error:
        hint = "Name a memory of this hub as the parent, or none."
        raise NotFound(f"The parent is missing. {error.message}", hint=hint) from None


def _below(item: Prepared, parent: str) -> Prepared:
    """The item as a part of another memory, whatever its draft named."""
    draft = item.draft._replace(parent=None)
    return item._replace(draft=draft, memory=item.memory._replace(parent=parent))
