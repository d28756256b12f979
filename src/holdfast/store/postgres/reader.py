"""The Reader of the contract, put together from its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.store.postgres.records import RecordsReader
from holdfast.store.postgres.vectors import VectorsReader

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Answer, Session


class PostgresReader(VectorsReader, RecordsReader):
    """One consistent moment of the database, as values."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._answers: dict[object, Any] = {}

    def _once(self, question: object, ask: Callable[[], Answer]) -> Answer:
        # Nothing changes in the moment that is seen: a recall asks for the same few figures from
        # five places, and each time is a way to the server and back.
        if question not in self._answers:
            self._answers[question] = ask()
        answer: Answer = self._answers[question]
        return answer
