"""The one way a memory comes to be or changes: row, revision and index together, as part of a
change set. Everything that writes memories goes through here, so nothing changes unrecorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Action, Change, changed_fields
from holdfast.domain.memory import Memory
from holdfast.engine.core import Core
from holdfast.engine.passages import Indexed, indexed

if TYPE_CHECKING:
    from holdfast.store.base import Writer

# A change of any of these changes what search sees.
_SEARCHED = frozenset(
    {"content", "title", "tags", "key", "speaker", "content_type", "source_path", "forgotten_at"}
)


class Recorder:
    """Writes one change set into one transaction."""

    def __init__(
        self,
        core: Core,
        writer: Writer,
        hub_id: str,
        action: Action,
        *,
        reason: str = "",
        undoes: str | None = None,
        change: Change | None = None,
    ) -> None:
        self._core = core
        self._writer = writer
        self._hub_id = hub_id
        self.written = change is not None
        self.change = change or Change(
            core.ids.next("chg"), hub_id, core.now(), core.actor, action, reason, undoes
        )

    def _write_change(self) -> None:
        # Only once something really changes: an operation that changes nothing leaves no trace.
        if not self.written:
            self._writer.add_change(self.change)
            self.written = True

    def add(self, memory: Memory, index: Indexed | None = None) -> Memory:
        """A new memory."""
        self._write_change()
        self._writer.add_memory(memory)
        self._record(memory, {})
        self._index(memory, index)
        return memory

    def revise(self, before: Memory, index: Indexed | None = None, **new: Any) -> Memory:
        """A new version of a memory; the same one back where nothing differs."""
        fields = changed_fields(before, before._replace(**new))
        if not fields:
            return before
        self._write_change()
        after = before._replace(
            **{name: pair[1] for name, pair in fields.items()},
            version=before.version + 1,
            updated_at=self.change.at,
        )
        self._writer.set_memory(after)
        self._record(after, fields)
        if not _SEARCHED.isdisjoint(fields):
            self._index(after, index)
        return after

    def _record(self, memory: Memory, fields: dict[str, tuple[Any, Any]]) -> None:
        self._writer.add_revision(
            self._hub_id, self.change.id, memory.id, memory.version, self.change.at, fields
        )

    def _index(self, memory: Memory, index: Indexed | None) -> None:
        if memory.forgotten_at is not None:
            self._writer.unindex(self._hub_id, memory.id)
            return
        index = index or indexed(memory, self._core)
        self._writer.index(self._hub_id, memory.id, index.text, index.entries, index.model)


def reindex(core: Core, writer: Writer, memories: Sequence[Memory]) -> None:
    """Rebuilds the derived state of memories as they are; no change, so no revision."""
    for memory in memories:
        index = indexed(memory, core)
        writer.index(memory.hub_id, memory.id, index.text, index.entries, index.model)
