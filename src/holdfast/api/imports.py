"""Imports from other memory programs. Reads the source, assigns each of its scopes (users,
projects) to a hub, and writes one change set for each hub."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from holdfast.api.hub import HubMemory
from holdfast.api.operation import operation_of
from holdfast.api.perform import synced
from holdfast.engine.log import import_run
from holdfast.engine.transfer.imports import ImportItem, Source, Taken
from holdfast.errors import InvalidInput, NotFound
from holdfast.importers import Found, Importer, Record, Skipped, digest, importer_named, item_of
from holdfast.text import hub_labels

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast
    from holdfast.engine.history import Undone

# The size of a transaction: as many items as `remember_many` takes, and few enough characters that
# preparing them does not need much memory.
_ITEMS_MAX = 500
_CHARS_MAX = 4_000_000
# How many skipped or refused records are listed; the rest are only counted.
NOTES_MAX = 100
_EXAMPLES_MAX = 3


class ScopeReport(NamedTuple):
    """The result for one scope of the source: the number of records per outcome, the change set
    that `undo` takes, and the titles of the first new records."""

    hub: str
    scope: str
    counts: Mapping[str, int]
    change: str | None = None
    examples: tuple[str, ...] = ()


class ImportReport(NamedTuple):
    """The result of an import, or what a dry run predicts."""

    program: str
    path: str
    rows: tuple[ScopeReport, ...]
    skipped: int = 0
    notes: tuple[Skipped, ...] = ()

    @property
    def written(self) -> int:
        return sum(row.counts.get(name, 0) for row in self.rows for name in _WRITTEN)


_WRITTEN = ("new", "updated", "held")


class Placing(NamedTuple):
    """Which records are imported and where: only those of one scope, one hub per scope, or all in
    one."""

    hub: str | None = None
    only: str | None = None
    split: bool = False
    merge: bool = False


def import_from(
    memory: Holdfast,
    program: str,
    path: str | os.PathLike[str],
    placing: Placing,
    *,
    options: Mapping[str, str],
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Imports what another program has stored. The source is read completely once before anything
    is written, so that a damaged source leaves nothing half done."""
    importer = importer_named(program)
    place = os.path.realpath(os.path.expanduser(os.fspath(path)))
    if not os.path.exists(place):
        raise NotFound(f"There is no file or folder {path}.", hint="Check the path.")
    scopes = _survey(importer.read(place, options), placing)
    if not dry_run:
        _require_choice(importer, scopes, placing)
    run = _Run(memory, importer, Source(program, place), placing, dry_run=dry_run)
    total = sum(scopes.values())
    with ExitStack() as synced:
        run.synced = synced
        for done, found in enumerate(importer.read(place, options), 1):
            run.add(found)
            if progress is not None and done % _ITEMS_MAX == 0:
                progress(done, total)
        run.finish()
    return run.report(place)


def undo_import(
    memory: Holdfast, program: str, path: str | os.PathLike[str], *, force: bool = False
) -> dict[str, Undone]:
    """Undoes the last import of a source in every hub that it wrote to."""
    importer_named(program)
    source = Source(program, os.path.realpath(os.path.expanduser(os.fspath(path))))
    hubs = {info.name: memory.hub(info.name) for info in memory.hubs()}
    scopes = {name: hub.scope for name, hub in hubs.items()}
    runs = import_run.last_runs(scopes, source.run)
    undone = {name: hubs[name].undo(run.change_id, force=force) for name, run in runs.items()}
    if not undone:
        raise NotFound(
            f"No import from {program} of {path} is there to be undone.",
            hint="List the changes of a hub to see which there are.",
            command="`holdfast history` lists the changes of a hub.",
        )
    return undone


def _survey(found: Iterator[Found], placing: Placing) -> Counter[str]:
    """Counts the records of each scope."""
    return Counter(
        one.scope for one in found if isinstance(one, Record) and _is_wanted(one, placing)
    )


def _is_wanted(record: Record, placing: Placing) -> bool:
    return placing.only is None or record.scope == placing.only


# Kinds of scope that may stand for different people.
OF_PEOPLE = {"user": "users or agents", "agent": "agents", "namespace": "namespaces"}


def _require_choice(importer: Importer, scopes: Counter[str], placing: Placing) -> None:
    """Refuses to put several people into one hub unless that was requested."""
    people = OF_PEOPLE.get(importer.scopes)
    if people is None or len(scopes) < 2 or placing.split or placing.merge:
        return
    listed = ", ".join(repr(name) for name, _ in scopes.most_common(5))
    more = f" and {len(scopes) - 5} more" if len(scopes) > 5 else ""
    raise InvalidInput(
        f"The memories belong to {len(scopes)} {people}: {listed}{more}.",
        hint="Say `split` (a hub for each), `only` (one of them) or `merge` (all in one hub).",
        command="Give each a hub of its own with --split, take one with --only NAME, or put all"
        " into one hub with --merge.",
    )


class _Run:
    """A running import: the pending batches of each hub, and the results so far."""

    def __init__(
        self,
        memory: Holdfast,
        importer: Importer,
        source: Source,
        placing: Placing,
        *,
        dry_run: bool,
    ) -> None:
        self._memory, self._importer, self._source = memory, importer, source
        self._placing, self._dry_run = placing, dry_run
        self.synced = ExitStack()
        self._hubs: dict[str, HubMemory | None] = {}
        self._waiting: dict[str, list[tuple[str, ImportItem]]] = {}
        self._chars = Counter[str]()
        self._counts: dict[tuple[str, str], Counter[str]] = {}
        self._runs: dict[str, import_run.Run] = {}
        self._change = "" if dry_run else self._begun()
        self._examples: dict[tuple[str, str], list[str]] = {}
        self._skipped = 0
        self._notes: list[Skipped] = []

    def add(self, found: Found) -> None:
        if isinstance(found, Skipped):
            self._skipped += 1
            self._note(found)
            return
        if not _is_wanted(found, self._placing):
            return
        name = self._hub_name(found)
        waiting = self._waiting.setdefault(name, [])
        own_hub = self._placing.split and bool(found.scope)
        if own_hub and hub_labels.is_digest(_APP, name):
            metadata = {**found.metadata, hub_labels.SCOPE: list(found.labels)}
            found = found._replace(metadata=metadata)
        waiting.append((found.scope, item_of(found, self._importer.name, own_hub=own_hub)))
        self._chars[name] += len(found.text)
        if len(waiting) >= _ITEMS_MAX or self._chars[name] >= _CHARS_MAX:
            self._write(name)

    def finish(self) -> None:
        for name in list(self._waiting):
            self._write(name)
        for name, run in self._runs.items():
            hub = self._hub(name)
            assert hub is not None
            import_run.finish(hub.scope, run)

    def _begun(self) -> str:
        """The change set of an interrupted run, or a new one. Its id is the same in each hub."""
        scopes = [self._memory.hub(info.name).scope for info in self._memory.hubs()]
        return import_run.interrupted(scopes, self._source.run) or self._memory.core.ids.next("chg")

    def report(self, path: str) -> ImportReport:
        rows = tuple(
            ScopeReport(
                hub,
                scope,
                dict(counts),
                self._change if any(counts[one] for one in _WRITTEN) else None,
                tuple(self._examples.get((hub, scope), ())),
            )
            for (hub, scope), counts in sorted(self._counts.items())
        )
        return ImportReport(
            self._source.program, path, rows, self._skipped, tuple(self._notes[:NOTES_MAX])
        )

    def _hub_name(self, record: Record) -> str:
        if self._placing.split and record.scope:
            return hub_name_of(record.scope, record.labels)
        return self._placing.hub or str(self._memory.core.settings["hub"])

    def _hub(self, name: str) -> HubMemory | None:
        """The hub; None in a dry run if it would have to be created."""
        if name not in self._hubs:
            self._hubs[name] = self._opened(name)
        return self._hubs[name]

    def _opened(self, name: str) -> HubMemory | None:
        named = None if name == self._memory.core.settings["hub"] else name
        try:
            hub = self._memory.hub(named, create=self._placing.split and not self._dry_run)
        except NotFound:
            if self._dry_run and self._placing.split:
                return None
            raise
        if not self._dry_run:
            operation = operation_of(HubMemory.import_items)
            assert operation is not None
            self._runs[name] = import_run.begin(hub.scope, self._source.run, self._change)
            self.synced.enter_context(synced(hub, operation))
        return hub

    def _write(self, name: str) -> None:
        batch, self._waiting[name] = self._waiting[name], []
        self._chars[name] = 0
        hub = self._hub(name)
        items = [item for _, item in batch]
        if hub is None:
            results = [Taken(item.id, "new") for item in items]
        else:
            results = hub.import_items(items, self._source, self._change, dry_run=self._dry_run)
        for (scope, item), taken in zip(batch, results, strict=True):
            self._count(name, scope, item, taken)

    def _count(self, hub: str, scope: str, item: ImportItem, taken: Taken) -> None:
        self._counts.setdefault((hub, scope), Counter())[taken.outcome] += 1
        if taken.outcome == "new":
            examples = self._examples.setdefault((hub, scope), [])
            if len(examples) < _EXAMPLES_MAX:
                title = taken.memory.title if taken.memory else item.draft.title
                examples.append(title or item.draft.content[:80])
        elif taken.outcome == "refused":
            self._note(Skipped(item.id, taken.note))

    def _note(self, one: Skipped) -> None:
        if len(self._notes) < NOTES_MAX:
            self._notes.append(one)


_NAME_CHARS_MAX = 40
# The prefix of the names of hubs in which the adapters keep users, agents and namespaces.
_APP = hub_labels.prefix_of(hub_labels.DEFAULT_APP)


def hub_name_of(scope: str, labels: tuple[str, ...] = ()) -> str:
    """The name of the hub into which an import puts a scope of the other program, such as a user or
    an agent of mem0. If the scope has labels, the name that the adapters use. Else the scope's own
    name if it is a valid one, or a slug of it with a short digest."""
    if labels and all(labels):
        return hub_labels.name_of(_APP, labels)
    slug = re.sub(r"[^a-z0-9._-]+", "-", scope.casefold()).strip("-._")
    slug = re.sub(r"\.{2,}", ".", slug)[:_NAME_CHARS_MAX].strip("-._")
    return slug if slug == scope and slug else f"{slug or 'scope'}-{digest(scope)[:6]}"
