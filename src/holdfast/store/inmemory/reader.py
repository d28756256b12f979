"""Reading: questions answered from one state, that no write changes any more. Each part stands in a
module of its own, as in the embedded store; what is asked of all of them stands here."""

from __future__ import annotations

from holdfast.domain.hub import Statistics
from holdfast.store.inmemory.finding import FindingReader
from holdfast.store.inmemory.history import HistoryReader
from holdfast.store.inmemory.log import LogReader
from holdfast.store.inmemory.memories import MemoriesReader
from holdfast.store.inmemory.records import RecordsReader
from holdfast.store.single_writer import ReaderDefaults


class InMemoryReader(
    MemoriesReader, HistoryReader, LogReader, RecordsReader, FindingReader, ReaderDefaults
):
    """The Reader of the contract, on one state."""

    def statistics(self, hub_id: str) -> Statistics:
        state = self._hub(hub_id)
        everything = list(state.memories.values())
        visible = [memory for memory in everything if memory.visible]

        def counted(field: str) -> dict[str, int]:
            tally: dict[str, int] = {}
            for memory in visible:
                value = getattr(memory, field)
                tally[value] = tally.get(value, 0) + 1
            return dict(sorted(tally.items(), key=lambda pair: (-pair[1], pair[0])))

        created = [memory.created_at for memory in everything]
        return Statistics(
            hub=state.hub.name,
            memories=len(everything),
            visible=len(visible),
            forgotten=sum(memory.forgotten_at is not None for memory in everything),
            quarantined=sum(bool(memory.quarantine) for memory in everything),
            pinned=sum(memory.pinned for memory in everything),
            by_state=counted("state"),
            by_category=counted("category"),
            by_kind=counted("kind"),
            by_layer=counted("layer"),
            revisions=len(state.revisions),
            changes=len(state.changes),
            passages=len(state.passages),
            vectors=sum(
                len(rows)
                for passage in state.passages.values()
                for rows in passage.vectors.values()
            ),
            content_bytes=sum(len(memory.content.encode()) for memory in everything),
            receipts=len(state.receipts),
            oldest=min(created, default=None),
            newest=max(created, default=None),
            turns=len(state.turns),
            conflicts=len(self.clashes(hub_id)),
        )
