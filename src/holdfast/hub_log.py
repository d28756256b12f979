"""What happened, as methods: journals, the conversation log and its archives. Thin."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from holdfast import engine
from holdfast.errors import HoldfastError
from holdfast.hub_base import HubBase

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.domain.turn import Turn
    from holdfast.files.archive import Archived
    from holdfast.files.journal.journal import Days


class HubLog(HubBase):
    """The methods of a hub that are about days and conversations."""

    def journal_add(
        self,
        text: str,
        *,
        at: datetime | str | None = None,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
        once: bool = False,
    ) -> Memory:
        """Adds an entry to the journal of its UTC day, in the file and as a memory. What the day
        says already is not written again where it is to be there `once`."""
        from holdfast.files.journal import journal

        if self.core.permit is not None:
            # What a person wrote into the file is not the guest's who comes next.
            self._filer.sync_journals()
        return journal.add(
            self._journals,
            text,
            at=at,
            trust=trust,
            source=source,
            source_agent=source_agent,
            once=once,
        )

    def journal(self, when: str | date | tuple[date, date] = "today") -> Days:
        """The journal of today, yesterday, a date, or a range such as `2026-05-01..2026-05-27`;
        newest day first. What was changed in the files is taken in before."""
        from holdfast.files.journal import journal

        if self.core.permit is not None:
            self._filer.sync_journals()
            return journal.days_seen(self._journals, when)
        return journal.days(self._journals, when)

    def sync_journals(self, *, confirm: bool = False) -> list[str]:
        """Takes in what was changed in the journal files; returns notes on what could not be.
        `confirm` says that many missing entries are meant."""
        from holdfast.files.journal import journal

        return journal.sync(self._journals, confirm=confirm)

    def log_turn(
        self,
        role: str,
        content: str,
        *,
        source: str = "unknown",
        session: str | None = None,
        at: datetime | str | None = None,
    ) -> Turn:
        """Logs what a user, an assistant or the system said; the newest `log.keep` turns stay."""
        return engine.turns.log_turn(
            self.core, self.id, self.name, role, content, source=source, session=session, at=at
        )

    def turns(
        self, limit: int = 20, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        """Turns of the log, newest first; `before` is the id of the last one seen."""
        return engine.turns.turns(
            self.core, self.id, self.name, limit=limit, session=session, before=before
        )

    def search_turns(self, query: str, limit: int = 10) -> list[Turn]:
        """Turns that hold words of the query, best first."""
        return engine.turns.search_turns(self.core, self.id, self.name, query, limit=limit)

    def recovery_prompt(
        self,
        turns: int = 10,
        chars: int = 500,
        *,
        name: str = "Assistant",
        session: str | None = None,
    ) -> str:
        """What to tell a new session of the one that was lost; empty where the log is."""
        return engine.turns.recovery_prompt(
            self.core, self.id, self.name, count=turns, chars=chars, name=name, session=session
        )

    def archive_conversation(
        self,
        session: str,
        *,
        messages: Iterable[Any] | None = None,
        name: str | None = None,
        at: datetime | str | None = None,
    ) -> Archived:
        """Keeps a conversation as a file to read and a memory to find: the messages given, else
        what the log has of the session. Raises nothing: what went wrong is in the notes."""
        from holdfast.files.archive import Archived, archive_conversation

        try:
            place = self._journals
        except HoldfastError as error:
            return Archived(None, None, (str(error),))
        return archive_conversation(place, session, messages=messages, name=name, at=at)
