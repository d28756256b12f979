"""What is said in a hub on a server: journals, the conversation log, decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from holdfast.client import values
from holdfast.client.base import RemoteBase, reference_text
from holdfast.errors import HoldfastError
from holdfast.text.normalise import clean_time

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory, Source, Trust
    from holdfast.domain.records import Turn
    from holdfast.domain.review import Decision
    from holdfast.engine.echo.detect import Heard
    from holdfast.engine.reading.lookup import Reference
    from holdfast.files.archive import Archived
    from holdfast.files.journal.journal import Days

# The methods are those of `HubMemory`, where each says what it does.


class RemoteTalk(RemoteBase):
    # Journals

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
        body = {
            "text": text,
            "at": values.sent_time(at),
            "trust": trust,
            "source": source,
            "source_agent": source_agent,
            "once": once,
        }
        memory = values.memory_of(self._send("/journal", body)["data"])
        self._note_redacted(text, memory.content)
        return memory

    def journal(self, when: str | date | tuple[date, date] = "today") -> Days:
        return values.days_of(self._get("/journal", when=_days_text(when)))

    # The conversation log

    def log_turn(
        self,
        role: str,
        content: str,
        *,
        source: str = "unknown",
        session: str | None = None,
        at: datetime | str | None = None,
    ) -> Turn:
        body = {
            "role": role,
            "content": content,
            "source": source,
            "session": session,
            "at": values.sent_time(at),
        }
        turn = values.turn_of(self._send("/log", body)["data"])
        self._note_redacted(content, turn.content)
        return turn

    def turns(
        self, limit: int = 20, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        found = self._get("/log", limit=limit, session=session, before=before)
        return [values.turn_of(one) for one in found["data"]]

    def search_turns(self, query: str, limit: int = 10) -> list[Turn]:
        found = self._get("/log/search", q=query, limit=limit)
        return [values.turn_of(one) for one in found["data"]]

    def recovery_prompt(
        self,
        turns: int = 10,
        chars: int = 500,
        *,
        name: str = "Assistant",
        session: str | None = None,
    ) -> str:
        asked = {"turns": turns, "chars": chars, "name": name, "session": session}
        text: str = self._get("/log/recovery", **asked)["data"]["text"]
        return text

    def archive_conversation(
        self,
        session: str,
        *,
        messages: Iterable[Any] | None = None,
        name: str | None = None,
        at: datetime | str | None = None,
    ) -> Archived:
        from holdfast.files.archive import Archived

        try:
            body = {
                "session": session,
                "messages": None if messages is None else [_message(one) for one in messages],
                "name": name,
                "at": values.sent_time(at),
            }
            return values.archived_of(self._send("/conversations", body)["data"])
        except HoldfastError as error:
            # Archiving must not stop whoever is about to end a conversation.
            return Archived(None, None, (str(error),))

    # Decisions

    def request_decision(
        self,
        question: str,
        options: Sequence[str],
        context: str = "",
        *,
        trust: Trust = "agent",
        source: Source = "sdk",
        source_agent: str | None = None,
    ) -> Decision:
        body = {
            "question": question,
            "options": list(options),
            "context": context,
            "trust": trust,
            "source": source,
            "source_agent": source_agent,
        }
        return values.decision_of(self._send("/decisions", body)["data"])

    def decisions(self, *, every: bool = False) -> list[Decision]:
        return [values.decision_of(one) for one in self._get("/decisions", every=every)["data"]]

    def decide(
        self, reference: Reference, option: str | int, *, note: str = "", source: Source = "sdk"
    ) -> Decision:
        body = {
            "reference": reference_text(reference),
            "option": option,
            "note": note,
            "source": source,
        }
        return values.decision_of(self._send("/decisions/decide", body)["data"])

    def withdraw_decision(self, reference: Reference, *, note: str = "") -> Decision:
        body = {"reference": reference_text(reference), "note": note}
        return values.decision_of(self._send("/decisions/withdraw", body)["data"])

    def heard(self, text: str) -> Heard:
        return values.heard_of(self._ask("/heard", {"text": text})["data"])


def _days_text(when: Any) -> str:
    if isinstance(when, tuple | list) and len(when) == 2:
        return f"{_days_text(when[0])}..{_days_text(when[1])}"
    if isinstance(when, datetime):
        moment = clean_time(when)
        return moment.date().isoformat() if moment is not None else ""
    return when.isoformat() if isinstance(when, date) else str(when)


def _message(message: Any) -> Any:
    """A message of a conversation as JSON can hold it."""
    if isinstance(message, Mapping):
        return dict(message)
    if hasattr(message, "_asdict"):
        return {
            name: values.sent_time(value) if isinstance(value, datetime) else value
            for name, value in message._asdict().items()
        }
    return message
