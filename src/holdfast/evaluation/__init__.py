"""Measures recall. Reads test stores, imports them through the public API, asks their questions,
and scores the answers next to simple baselines.

Uses the public library, and knows nothing of the internals of recall.

Here: test stores, which are documents and questions with known answers, read from JSON Lines, and
a cache of their vectors in memory and on disk, so that a benchmark that embeds the same texts again
takes seconds.

One store a line:

    {"store": name,
     "docs": [{"id", "text", "session"?, "speaker"?, "time"?}],
     "queries": [{"text", "gold": [doc ids], "category"?, "asked_at"?, "upto"?}]}

With `upto`, only the first so many documents exist when the question is asked. A question with no
gold has no answer in the store. Knows the shape of the file, and not how questions are answered.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.embed import Embedder
from holdfast.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from holdfast.embed import Matrix, Vector


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


class CachedEmbedder:
    """Wraps an embedder; the vectors are those of the wrapped one, bit for bit."""

    def __init__(self, embedder: Embedder, folder: str | None = None) -> None:
        self._embedder = embedder
        self._vectors: dict[bytes, Vector] = {}
        # Vectors are made in the background too, and a connection serves one thread at a time.
        self._lock = threading.Lock()
        self._database: Any = None
        if folder is not None:
            import apsw

            os.makedirs(folder, exist_ok=True)
            self._database = apsw.Connection(os.path.join(folder, "embeddings.db"))
            self._database.set_busy_timeout(60_000)
            self._database.pragma("journal_mode", "WAL")
            self._database.pragma("synchronous", "OFF")  # what is lost is made again
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
                " WITHOUT ROWID"
            )

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def passage_tokens_max(self) -> int:
        return self._embedder.passage_tokens_max

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        if not texts:
            return self._embedder.embed_passages(texts)
        keys = [self._key("passage", text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if not self._has(key)}
        if missing:
            made = self._embedder.embed_passages(list(missing.values()))
            self._keep(dict(zip(missing, made, strict=True)))
        return np.stack([self._vectors[key] for key in keys])

    def embed_query(self, text: str) -> Vector:
        key = self._key("question", text)
        if not self._has(key):
            self._keep({key: self._embedder.embed_query(text)})
        return self._vectors[key]

    def _key(self, role: str, text: str) -> bytes:
        from hashlib import blake2b

        said = f"{self.identity}\0{role}\0{text}"
        return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=20).digest()

    def _has(self, key: bytes) -> bool:
        if key in self._vectors:
            return True
        if self._database is None:
            return False
        with self._lock:
            blob = self._database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).get
        if blob is None:
            return False
        import numpy as np

        self._vectors[key] = np.frombuffer(blob, "<f4").astype(np.float32)
        return True

    def _keep(self, made: dict[bytes, Vector]) -> None:
        self._vectors.update(made)
        if self._database is not None:
            rows = [(key, vector.astype("<f4").tobytes()) for key, vector in made.items()]
            with self._lock, self._database:
                self._database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
