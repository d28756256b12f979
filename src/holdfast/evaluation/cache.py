"""An embedder that remembers what it has embedded, in this process and, given a folder, on disk.

A benchmark embeds the same texts run after run; with this the second run takes seconds. The key is
the model's identity, whether it is a question or a passage, and the text itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.embed.base import Embedder

if TYPE_CHECKING:
    from holdfast.embed.base import Matrix, Vector


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
