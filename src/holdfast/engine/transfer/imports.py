"""Imports records of other programs: batches of drafts in one change set.

A record for each item names its memory, so that a second run writes nothing, an edited item becomes
a new version, and what was forgotten here stays forgotten. `engine.log.import_run` resumes
interrupted runs in the same change set. This module does not know where the items come from.

`follow_items` is for a source that is edited as text, such as a file of instructions: its
statements have no ids, and are recognised by their words. An edited statement becomes a new version
of its memory, a removed one is archived, and a restored one becomes active again. What a person has
changed or forgotten here stays so. The text of the source is stored with the change set of the run,
so that the next run sees if this one was undone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from holdfast.domain.memory import Draft, Memory
from holdfast.domain.records import Agreed, Record
from holdfast.domain.results import Duplicate, Quarantined, Remembered, Updated
from holdfast.engine.core import Scope
from holdfast.engine.writing.drafts import Prepared, clean_draft, prepare, twin_of
from holdfast.engine.writing.recorder import Recorder, import_recorder
from holdfast.engine.writing.remember import memories_of, renew, store_with_facts
from holdfast.errors import InvalidInput
from holdfast.text.clean import content_hash
from holdfast.text.facts.sameness import similarity

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.store.base import Reader, Writer


# The kind of the records of imported items.
ITEM = "imported"

Outcome: TypeAlias = Literal[
    "new", "updated", "known", "duplicate", "held", "forgotten", "edited", "refused", "removed"
]
# The beginning of the reason for archiving a memory that its source no longer contains.
GONE = "gone from"


class ImportItem(NamedTuple):
    """A record of another program: its id there, and the draft that it becomes."""

    id: str
    draft: Draft


class Taken(NamedTuple):
    """The result of importing an item.

    new, updated: written. known: imported before, and unchanged. duplicate: the hub has a memory
    that says the same. held: held for review. forgotten: imported before and forgotten here, which
    it stays. edited: changed there and here, and left as it is here. refused: it cannot be stored;
    `note` says why. removed: the source no longer contains it, and it was archived.
    """

    id: str
    outcome: Outcome
    memory: Memory | None = None
    note: str = ""


class Source(NamedTuple):
    """The origin of imported items: the program, and the named place."""

    program: str
    place: str

    @property
    def reason(self) -> str:
        """The reason of the change set."""
        return f"imported from {self.program}: {self.place}"

    @property
    def run(self) -> str:
        """The name of the runs of this source."""
        return f"{self.program}:{_digest(self.place)}"

    def item_id(self, item: ImportItem) -> str:
        return self.id_of(item.id)

    def id_of(self, item_id: str) -> str:
        """The id of the record of an item."""
        return _digest(self.program, item_id)


def import_batch(
    scope: Scope, items: Sequence[ImportItem], source: Source, change: str
) -> list[Taken]:
    """Imports some items, in one transaction, as part of the change set with this id."""
    decided, fresh = _split_known(scope, items, source)
    ready, refused = _prepared(scope, fresh)
    decided |= refused
    with scope.write() as writer:
        writer.expect(scope.hub_id, memories_of(list(ready.values())))
        recorder = import_recorder(scope, writer, change, reason=source.reason)
        for item in items:
            if item.id in ready and item.id not in decided:
                decided[item.id] = _take(writer, recorder, scope, source, item, ready[item.id])
    recorder.embed()
    return _in_order(items, decided)


def preview_batch(scope: Scope, items: Sequence[ImportItem], source: Source) -> list[Taken]:
    """The outcomes that `import_batch` would have; writes nothing."""
    decided, fresh = _split_known(scope, items, source)
    with scope.read() as reader:
        for item in fresh:
            decided[item.id] = _preview(reader, scope, source, item)
    return _in_order(items, decided)


def _in_order(items: Sequence[ImportItem], decided: dict[str, Taken]) -> list[Taken]:
    """The result of each item in order; if an id occurs twice, the second one is known."""
    first: dict[str, ImportItem] = {}
    for item in items:
        first.setdefault(item.id, item)
    return [
        decided[item.id] if first[item.id] is item else decided[item.id]._replace(outcome="known")
        for item in items
    ]


def memory_of(reader: Reader, hub_id: str, source: Source, item_id: str) -> Memory | None:
    """The memory that was made from this item alone and is unchanged; None if it existed before,
    was edited here since, or was removed."""
    record = reader.record(hub_id, ITEM, source.id_of(item_id))
    if record is None or not record.body["change"]:
        return None
    memory = reader.memory(hub_id, record.body["memory"])
    return None if memory is None or _is_edited(reader, record, memory) else memory


# Decisions


def _split_known(
    scope: Scope, items: Sequence[ImportItem], source: Source
) -> tuple[dict[str, Taken], list[ImportItem]]:
    """The results of known items, and the items that are new or differ."""
    decided: dict[str, Taken] = {}
    fresh: dict[str, ImportItem] = {}
    with scope.read() as reader:
        for item in items:
            if known := _known_result(reader, scope, source, item):
                decided[item.id] = known
            else:
                fresh.setdefault(item.id, item)
    return decided, list(fresh.values())


def _known_result(reader: Reader, scope: Scope, source: Source, item: ImportItem) -> Taken | None:
    """The result for an item that was imported before; None if there is something to do."""
    record = reader.record(scope.hub_id, ITEM, source.item_id(item))
    if record is None:
        return None
    memory = reader.memory(scope.hub_id, record.body["memory"])
    if memory is None:
        # It was purged, or became private to somebody else.
        return Taken(item.id, "forgotten")
    if _is_undone(reader, record):
        # An import that was undone may be wanted after all; a memory that was forgotten by itself
        # is not.
        return None
    if memory.forgotten_at is not None:
        return Taken(item.id, "forgotten", memory)
    if memory.state == "archived" and memory.state_reason.startswith(GONE):
        return None
    if record.body["digest"] == _digest_of(item.draft):
        return Taken(item.id, "known", memory)
    if _is_edited(reader, record, memory):
        return Taken(item.id, "edited", memory)
    return None


def _is_undone(reader: Reader, record: Record) -> bool:
    """Whether the import of it was undone."""
    change = reader.change(record.hub_id, record.body["change"])
    return change is not None and change.undone_by is not None


def _is_edited(reader: Reader, record: Record, memory: Memory) -> bool:
    """Whether its text was changed here since the import, other than by an undo."""
    return not _is_undone(reader, record) and any(
        "content" in revision.fields
        for revision in reader.revisions(memory.hub_id, memory.id)
        if revision.version > record.body["version"]
    )


def _prepared(
    scope: Scope, items: Sequence[ImportItem]
) -> tuple[dict[str, Prepared], dict[str, Taken]]:
    """The items checked and indexed, and the results of those that cannot be stored."""
    try:
        made = prepare(scope, [item.draft for item in items])
        return {item.id: one for item, one in zip(items, made, strict=True)}, {}
    except InvalidInput:
        pass  # One of the items is invalid: it is found below.
    ready: dict[str, Prepared] = {}
    refused: dict[str, Taken] = {}
    for item in items:
        try:
            ready[item.id] = next(prepare(scope, [item.draft]))
        except InvalidInput as error:
            refused[item.id] = Taken(item.id, "refused", note=error.message)
    return ready, refused


def _take(
    writer: Writer,
    recorder: Recorder,
    scope: Scope,
    source: Source,
    item: ImportItem,
    prepared: Prepared,
) -> Taken:
    # Another process may have imported it since.
    if known := _known_result(writer, scope, source, item):
        return known
    record = writer.record(scope.hub_id, ITEM, source.item_id(item))
    before = record and writer.memory(scope.hub_id, record.body["memory"])
    result: Remembered
    if prepared.memory.quarantine:
        result = store_with_facts(writer, recorder, scope, prepared)
    elif before and before.forgotten_at is None:
        result = renew(writer, recorder, prepared, before)
    elif twin := twin_of(writer, prepared.draft, prepared.memory):
        # A memory of this hub is not changed by another program's copy of it.
        if twin.content_hash != prepared.memory.content_hash:
            return Taken(item.id, "edited", twin)
        result = Duplicate(twin)
    else:
        result = store_with_facts(writer, recorder, scope, prepared)
    memory = result.memory
    body = {
        "memory": memory.id,
        "version": memory.version,
        "change": "" if isinstance(result, Duplicate) else recorder.change.id,
        "digest": _digest_of(item.draft),
    }
    writer.put_record(Record(scope.hub_id, ITEM, source.item_id(item), scope.now(), body))
    return Taken(item.id, _outcome(result, known=bool(before)), memory)


def _outcome(result: Remembered, *, known: bool) -> Outcome:
    match result:
        case Duplicate():
            return "known" if known else "duplicate"
        case Quarantined():
            return "held"
        case Updated():
            return "updated"
        case _:
            return "new"


def _preview(reader: Reader, scope: Scope, source: Source, item: ImportItem) -> Taken:
    from holdfast.engine.writing.drafts import compose

    try:
        draft = clean_draft(scope.core, item.draft)
        memory = compose(draft, scope.core, scope.hub_id)
    except InvalidInput as error:
        return Taken(item.id, "refused", note=error.message)
    if memory.quarantine:
        return Taken(item.id, "held", memory, memory.quarantine)
    record = reader.record(scope.hub_id, ITEM, source.item_id(item))
    before = record and reader.memory(scope.hub_id, record.body["memory"])
    if before and before.forgotten_at is None:
        return Taken(item.id, "updated", memory)
    twin = twin_of(reader, draft, memory)
    if twin is None:
        return Taken(item.id, "new", memory)
    same = twin.content_hash == memory.content_hash
    return Taken(item.id, "duplicate" if same else "edited", twin)


def _digest_of(draft: Draft) -> str:
    """A digest that shows whether an item has changed."""
    import json

    given = {name: value for name, value in draft._asdict().items() if value is not None}
    return _digest(json.dumps(given, sort_keys=True, default=_plain))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else str(value)


def _digest(*parts: str) -> str:
    from hashlib import sha256

    return sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]


# As in MEMORY.md: everyday edits score 0.6 and more, different facts in the same words less.
_ALIKE_LEAST = 0.6
# The most pairs of new and removed statements that are compared.
_PAIRS_MAX = 2_500
# The last text of the source is stored where the base texts of synced files are.
_FRONT = "import:"


class SourceStatement(NamedTuple):
    """A statement of a file of instructions, as an item with its section and an id made from its
    words."""

    item: ImportItem
    section: str = ""


class _Known(NamedTuple):
    """A statement of the last run: its section, and the hash of its words."""

    section: str
    hash: str


_Lines = dict[str, _Known]


def follow_items(
    scope: Scope,
    found: Sequence[SourceStatement],
    source: Source,
    change: str,
    *,
    dry_run: bool = False,
) -> list[Taken]:
    """Updates the memories of a source from all of its statements, as part of the change set with
    this id. Returns the result of each, then of the removed ones. A dry run writes nothing."""
    with scope.read() as reader:
        before = _load(reader, scope.hub_id, source)
        statements, gone = _match_statements(reader, scope, source, found, before)
    items = [one.item for one in statements]
    if dry_run:
        taken = preview_batch(scope, items, source)
        with scope.read() as reader:
            removed = [(one, memory_of(reader, scope.hub_id, source, one)) for one in gone]
        return taken + [_removed(one, memory) for one, memory in removed if _is_shown(memory)]
    taken = import_batch(scope, items, source, change) if items else []
    taken += _archive(scope, source, gone, change)
    now = {
        one.item.id: _Known(one.section, content_hash(one.item.draft.content)) for one in statements
    }
    if now != before:
        _save(scope, source, change, now, before)
    return taken


def followed_places(scope: Scope, program: str) -> list[str]:
    """The files of instructions that were followed before and contained something then."""
    with scope.read() as reader:
        kept = [
            json.loads(one.text)
            for one in reader.scan_agreed(scope.hub_id)
            if one.path.startswith(f"{_FRONT}{program}:")
        ]
    return [body["place"] for body in kept if body["lines"]]


def _match_statements(
    reader: Reader, scope: Scope, source: Source, found: Sequence[SourceStatement], before: _Lines
) -> tuple[list[SourceStatement], list[str]]:
    """The statements with their earlier ids, also those that were edited; and the ids of the
    removed ones."""
    ids: dict[str, list[str]] = {}
    for known_id, known in before.items():
        ids.setdefault(known.hash, []).append(known_id)
    out: list[SourceStatement] = []
    new: list[int] = []
    for one in found:
        same = ids.get(content_hash(one.item.draft.content))
        if same:
            one = one._replace(item=one.item._replace(id=same.pop(0)))
        else:
            new.append(len(out))
        out.append(one)
    left = [known_id for same in ids.values() for known_id in same]
    if len(left) * len(new) <= _PAIRS_MAX:
        alike = _alike(reader, scope, source, {at: out[at] for at in new}, before, left)
        for at, known_id in alike.items():
            out[at] = out[at]._replace(item=out[at].item._replace(id=known_id))
            left.remove(known_id)
    return out, left


def _alike(
    reader: Reader,
    scope: Scope,
    source: Source,
    new: dict[int, SourceStatement],
    before: _Lines,
    left: Sequence[str],
) -> dict[int, str]:
    """Which new statements are edits of which old ones of their section: the most similar first,
    each once."""
    scores: list[tuple[float, int, str]] = []
    for known_id in left:
        memory = memory_of(reader, scope.hub_id, source, known_id)
        if memory is None:
            continue
        scores += [
            (score, at, known_id)
            for at, one in new.items()
            if one.section == before[known_id].section
            and (score := similarity(memory.content, one.item.draft.content)) >= _ALIKE_LEAST
        ]
    pairs: dict[int, str] = {}
    for _, at, known_id in sorted(scores, key=lambda row: (-row[0], row[1])):
        if at not in pairs and known_id not in pairs.values():
            pairs[at] = known_id
    return pairs


def _archive(scope: Scope, source: Source, gone: Sequence[str], change: str) -> list[Taken]:
    if not gone:
        return []
    out: list[Taken] = []
    with scope.write() as writer:
        recorder = import_recorder(scope, writer, change, reason=source.reason)
        for one in gone:
            memory = memory_of(writer, scope.hub_id, source, one)
            if memory is not None and _is_shown(memory):
                reason = f"{GONE} {source.place}"
                memory = recorder.revise(memory, state="archived", state_reason=reason)
                out.append(_removed(one, memory))
    return out


def _removed(item_id: str, memory: Memory | None) -> Taken:
    return Taken(item_id, "removed", memory)


def _is_shown(memory: Memory | None) -> bool:
    if memory is None or not memory.visible:
        return False
    return memory.state != "archived" and memory.superseded_by is None


# The stored text of the source


def _path(source: Source) -> str:
    return f"{_FRONT}{source.program}:{content_hash(source.place)[:32]}"


def _load(reader: Reader, hub_id: str, source: Source) -> _Lines:
    """The statements of the last run; if that was undone, of the one before it."""
    agreed = reader.agreed(hub_id, _path(source))
    if agreed is None:
        return {}
    body: dict[str, Any] = json.loads(agreed.text)
    change = reader.change(hub_id, body["change"])
    undone = change is not None and change.undone_by is not None
    return {one: _Known(*row) for one, row in body["before" if undone else "lines"].items()}


def _save(scope: Scope, source: Source, change: str, now: _Lines, before: _Lines) -> None:
    body = {"place": source.place, "change": change, "lines": now, "before": before}
    text = json.dumps(body, ensure_ascii=False, indent=0)
    with scope.write() as writer:
        writer.set_agreed(scope.hub_id, Agreed(_path(source), text, scope.now()))
