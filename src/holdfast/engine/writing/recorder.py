"""Writes memories: row, revision and index entries together, as part of a change set. Everything
that adds, changes or supersedes memories goes through here, so no change is unrecorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Action, Change, changed_fields, retires
from holdfast.domain.memory import Memory
from holdfast.engine import traces
from holdfast.engine.core import Scope
from holdfast.engine.writing.indexing import Indexed, indexed_all

if TYPE_CHECKING:
    from holdfast.store.base import Writer

# Fields that are indexed: a change of one requires new index entries.
_SEARCHED = frozenset(
    {"content", "title", "tags", "key", "speaker", "content_type", "source_path", "forgotten_at"}
)


class Recorder:
    """Writes one change set into one transaction."""

    def __init__(
        self,
        scope: Scope,
        writer: Writer,
        action: Action,
        *,
        reason: str = "",
        undoes: str | None = None,
        change: Change | None = None,
        change_id: str | None = None,
    ) -> None:
        """With `change`, continues an existing change set; with `change_id`, begins one with that
        id."""
        self._scope = scope
        self._writer = writer
        self._without_vectors: list[str] = []
        self.written = change is not None
        self.change = change or Change(
            change_id or scope.core.ids.next("chg"),
            scope.hub_id,
            scope.now(),
            scope.actor,
            action,
            scope.core.redactor.text(reason),
            undoes,
        )

    def _write_change(self) -> None:
        # Written with the first real change: an operation that changes nothing leaves no change
        # set.
        if not self.written:
            self._writer.add_change(self.change)
            self.written = True

    def add(self, memory: Memory, index: Indexed | None = None) -> Memory:
        """Adds a memory, and sets its id, number and times."""
        self._scope.require("write")
        memory = memory._replace(
            id=self._scope.core.ids.next("mem"),
            number=self._writer.take_numbers(self._scope.hub_id, 1),
            created_at=self.change.at,
            updated_at=self.change.at,
        )
        clean = self._scope.core.redactor.memory(memory)
        if clean is not memory:
            memory, index = clean, None
        self._write_change()
        self._writer.add_memory(memory)
        self._record(memory, {})
        self._index(memory, index)
        self._scope.core.held.note(memory)
        return memory

    def revise(self, before: Memory, index: Indexed | None = None, **new: Any) -> Memory:
        """Writes a new version of a memory; returns the same one if nothing differs."""
        wanted = before._replace(**new)
        clean = self._scope.core.redactor.memory(wanted)
        if clean is not wanted:
            wanted, index = clean, None
        fields = changed_fields(before, wanted)
        if not fields:
            return before
        if fields.get("forgotten_at", (None, None))[1] is not None:
            self._scope.core.require_delete(before)
        else:
            self._scope.require("retire" if retires(before, fields) else "write", before)
        self._write_change()
        after = before._replace(
            **{name: pair[1] for name, pair in fields.items()},
            version=before.version + 1,
            updated_at=self.change.at,
        )
        self._writer.set_memory(after)
        self._record(after, fields)
        if "superseded_by" in fields:
            traces.note_superseded(self._scope, self._writer, after, self.change.at)
        if not _SEARCHED.isdisjoint(fields):
            if index is None and "content" not in fields:
                index = self._with_kept_vectors(after)
            self._index(after, index)
        if "quarantine" in fields or "content" in fields:
            self._scope.core.held.note(after)
        return after

    def supersede_twins(self, before: Memory, by: Memory) -> None:
        """Ends the journal lines that say what a memory said, once that memory is changed or
        superseded."""
        for line in self._lines_of(before):
            if line.superseded_by is None:
                ended = line.valid_until or self.change.at
                self.revise(line, superseded_by=by.id, valid_until=ended)

    def archive_twins(self, archived: Memory) -> None:
        """Archives the journal lines that say what an archived memory says."""
        for line in self._lines_of(archived):
            self.revise(line, state=archived.state, state_reason=archived.state_reason)

    def _lines_of(self, memory: Memory) -> list[Memory]:
        found = traces.twins(self._writer, memory)
        return [one for one in found if one.layer == "journal" and self.may_retire(one)]

    def may_retire(self, memory: Memory) -> bool:
        """Whether the actor may archive, supersede or expire this memory."""
        return self._scope.core.allows("retire", memory)

    def _record(self, memory: Memory, fields: dict[str, tuple[Any, Any]]) -> None:
        self._writer.add_revision(
            self._scope.hub_id, self.change.id, memory.id, memory.version, self.change.at, fields
        )

    def _index(self, memory: Memory, index: Indexed | None) -> None:
        if memory.forgotten_at is not None:
            self._writer.unindex(self._scope.hub_id, memory.id)
            return
        if index is None:
            # The embedding model is never called inside a transaction; `embed` calls it afterwards.
            index = indexed_all([memory], None)[0]
            self._without_vectors.append(memory.id)
        self._writer.index(self._scope.hub_id, memory.id, index.text, index.entries, index.model)

    def _with_kept_vectors(self, memory: Memory) -> Indexed | None:
        """The index entries of a memory with unchanged content. Its vectors depend on the content
        alone, so they are reused if the passages are the same."""
        embedder = self._scope.core.embedder
        if embedder is None or memory.forgotten_at is not None:
            return None
        index = indexed_all([memory], None)[0]
        before = self._writer.passages(self._scope.hub_id, [memory.id])
        if [(old.start, old.end, old.headings) for old in before] != [
            (new.start, new.end, new.headings) for new in index.entries
        ]:
            return None
        vectors: dict[int, list[bytes]] = {}
        for row in self._writer.vectors_of(self._scope.hub_id, embedder.identity, memory.id):
            vectors.setdefault(row.passage_id, []).append(row.vector)
        if any(old.passage_id not in vectors for old in before):
            return None
        entries = [
            new._replace(vectors=tuple(vectors[old.passage_id]))
            for old, new in zip(before, index.entries, strict=True)
        ]
        return Indexed(index.text, entries, embedder.identity)

    def embed(self) -> None:
        """Makes, after the transaction, the vectors that could not be made inside it."""
        if self._without_vectors:
            from holdfast.engine.writing.indexing import embed_memories

            embed_memories(self._scope.core, self._scope.hub_id, self._without_vectors)


# Change sets of several transactions; reindexing


def import_recorder(scope: Scope, writer: Writer, change_id: str, *, reason: str = "") -> Recorder:
    """A recorder for an import, whose change set spans several transactions. The first one that
    writes creates it with this id, the others continue it. If it was undone meanwhile, or belongs
    to somebody else, a new change set is begun."""
    there = writer.change(scope.hub_id, change_id)
    if there is None:
        return Recorder(scope, writer, "import", reason=reason, change_id=change_id)
    if there.undone_by is not None or there.actor != scope.actor:
        return Recorder(scope, writer, "import", reason=reason)
    return Recorder(scope, writer, "import", change=there)


def reindex(writer: Writer, memories: Sequence[Memory]) -> None:
    """Rebuilds the index entries of memories, except the vectors. Nothing changes, so no revision
    is written."""
    for memory in memories:
        index = indexed_all([memory], None)[0]
        writer.index(memory.hub_id, memory.id, index.text, index.entries, index.model)
