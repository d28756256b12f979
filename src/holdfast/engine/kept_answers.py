"""Answers that a server keeps for requests that are sent again. They hold what was answered, so
they lose it together with the memory or the hub that it came from. Who asked, and what a request
is, this module does not know."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from holdfast.domain.record import NO_HUB
from holdfast.engine.access_records import every

if TYPE_CHECKING:
    from holdfast.store.base import Writer

KIND = "idempotency"


def blank(writer: Writer, ids: Collection[str]) -> None:
    """Empties the answers in which any of these stands: memories that are purged, or a hub that
    goes. That the request was answered stays known, or sending it again would bring them back."""
    for record in every(writer, NO_HUB, KIND):
        answer = record.body["answer"]
        if any(one in answer for one in ids):
            writer.put_record(record._replace(body={**record.body, "answer": ""}))
