"""The Reader of the store contract, composed of its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.store.postgres.records import RecordsReader
from holdfast.store.postgres.vectors import VectorsReader

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Answer, Session


class PostgresReader(VectorsReader, RecordsReader):
    """One snapshot of the database."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._answers: dict[object, Any] = {}

    def _once(self, question: object, ask: Callable[[], Answer]) -> Answer:
        # A snapshot does not change. A recall needs the same few figures in five places, and each
        # query is a round trip.
        if question not in self._answers:
            self._answers[question] = ask()
        answer: Answer = self._answers[question]
        return answer

    def _note(self, question: object, answer: object) -> None:
        self._answers.setdefault(question, answer)
