"""Test stores: documents and questions whose answers are known, read from lines of JSON.

One store a line:

    {"store": name,
     "docs": [{"id", "text", "session"?, "speaker"?, "time"?}],
     "queries": [{"text", "gold": [doc ids], "category"?, "asked_at"?, "upto"?}]}

With `upto`, only the first so many documents exist when the question is asked. A question with no
gold has no answer in the store. Knows the shape of the file and nothing of who answers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from holdfast.errors import InvalidInput, NotFound


class Doc(NamedTuple):
    """Something that was said or written."""

    id: str
    text: str
    session: str | None = None
    speaker: str | None = None
    time: datetime | None = None


class Question(NamedTuple):
    """A question, and the documents that answer it."""

    text: str
    gold: tuple[str, ...]
    category: str = "all"
    asked_at: datetime | None = None
    upto: int | None = None


class Collection(NamedTuple):
    """Documents in the order they came, and the questions asked of them."""

    name: str
    docs: tuple[Doc, ...]
    questions: tuple[Question, ...]


def read_stores(path: str, *, limit: int | None = None) -> Iterator[Collection]:
    """The stores of a file, one at a time; at most `limit` of them."""
    try:
        with open(path, encoding="utf-8") as file:
            count = 0
            for number, line in enumerate(file, 1):
                if limit is not None and count >= limit:
                    return
                if line.strip():
                    count += 1
                    yield _store(line, f"{path}, line {number}")
            if not count:
                raise InvalidInput(f"{path} holds no stores.", hint="It needs one a line, as JSON.")
    except FileNotFoundError:
        raise NotFound(
            f"There is no file {path}.",
            hint="Name a file of test stores, or none for the sample that comes with Holdfast.",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from None


def sample_path() -> str:
    """The small set that ships with the package."""
    return os.path.join(os.path.dirname(__file__), "sample.jsonl")


def _store(line: str, where: str) -> Collection:
    try:
        found = json.loads(line)
        docs = tuple(_doc(row) for row in found["docs"])
        questions = tuple(_question(row) for row in found["queries"])
        store = Collection(str(found.get("store", where)), docs, questions)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{where} is not a test store ({type(error).__name__}: {error}).",
            hint="`docs` need id and text, `queries` need text and gold.",
        ) from None
    _check(store, where)
    return store


def _check(store: Collection, where: str) -> None:
    place = {doc.id: at for at, doc in enumerate(store.docs)}
    if len(place) != len(store.docs):
        raise InvalidInput(f"{where}: two documents have the same id.")
    for question in store.questions:
        reach = len(store.docs) if question.upto is None else question.upto
        for gold in question.gold:
            if place.get(gold, reach) >= reach:
                raise InvalidInput(
                    f"{where}: the answer {gold!r} to {question.text!r} is not among the documents"
                    " that exist when it is asked.",
                    hint="Correct `gold` or `upto`.",
                )


def _doc(row: Mapping[str, Any]) -> Doc:
    return Doc(
        str(row["id"]),
        str(row["text"]),
        _text(row.get("session")),
        _text(row.get("speaker")),
        _time(row.get("time")),
    )


def _question(row: Mapping[str, Any]) -> Question:
    upto = row.get("upto")
    return Question(
        str(row["text"]),
        tuple(str(gold) for gold in row["gold"]),
        str(row.get("category") or "all"),
        _time(row.get("asked_at")),
        None if upto is None else int(upto),
    )


def _text(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)


def _time(value: Any) -> datetime | None:
    if not value:
        return None
    at = datetime.fromisoformat(str(value))
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
