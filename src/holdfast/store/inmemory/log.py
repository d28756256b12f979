"""Reading the conversation log, and what files and memories agreed on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.domain.mirror import Agreed, Clash
from holdfast.domain.turn import Turn
from holdfast.store.inmemory.part import Part
from holdfast.text.terms import terms as terms_of


class LogReader(Part):
    """The part of the Reader that is about turns and mirrored files."""

    def turns(
        self, hub_id: str, *, limit: int, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        newest_first = list(self._hub(hub_id).turns.values())[::-1]
        if before is not None:
            ids = [turn.id for turn in newest_first]
            newest_first = newest_first[ids.index(before) + 1 :] if before in ids else []
        return [t for t in newest_first if session is None or t.session == session][:limit]

    def search_turns(self, hub_id: str, terms: Sequence[str], *, limit: int) -> list[Turn]:
        wanted = set(terms)
        found = [
            (-len(wanted & set(terms_of(turn.content))), turn)
            for turn in self.turns(hub_id, limit=len(self._hub(hub_id).turns))
        ]
        found.sort(key=lambda pair: pair[0])
        return [turn for merit, turn in found if merit][:limit]

    def scan_turns(self, hub_id: str) -> Iterable[Turn]:
        return list(self._hub(hub_id).turns.values())

    def agreed(self, hub_id: str, path: str) -> Agreed | None:
        return self._hub(hub_id).agreed.get(path)

    def scan_agreed(self, hub_id: str) -> Iterable[Agreed]:
        return [one for _, one in sorted(self._hub(hub_id).agreed.items())]

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        found = self._hub(hub_id).clashes.values()
        return [clash for clash in found if settled or clash.settled_at is None]
