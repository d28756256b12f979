"""Vectors as real texts have them, as many as are wanted: for benchmarks of large hubs.

The windows of test stores are embedded with the bundled model (`--cache` keeps the vectors between
runs). Those come first. Past their number they are mixed: two of them in uneven shares and a little
noise, so that what is near and what is far is spread as in real texts. Directions drawn at random
would all be equally far from each other, and no index finds its way among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.measure import DIMENSIONS, RandomEmbedder
from holdfast.embed import quantise
from holdfast.embed.providers import find_embedder
from holdfast.evaluation import CachedEmbedder, read_stores, sample_path
from holdfast.text.chunking import chunk, windows_of

_BATCH = 256
# The larger share of a mixture, and the length of the noise: the ten nearest of a question are then
# about as near as among the real ones.
_LARGER = (0.6, 0.95)
_NOISE = 0.25


class RealVectors:
    """Vectors of passages and of questions."""

    def __init__(self, files: Sequence[str], cache: str | None) -> None:
        windows: dict[str, None] = {}
        questions: dict[str, None] = {}
        for path in files or [sample_path()]:
            for store in read_stores(path):
                for doc in store.docs:
                    windows |= dict.fromkeys(_windows(doc.text))
                questions |= {question.text: None for question in store.questions}
        found = find_embedder("auto")
        if found is None:
            raise SystemExit("There is no embedding model; `holdfast doctor` says how to get one.")
        embedder = CachedEmbedder(found, cache)
        texts = list(windows)
        parts = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        self.real = np.concatenate([embedder.embed_passages(part) for part in parts])
        self.questions = np.stack([embedder.embed_query(text) for text in questions])

    def draw(self, count: int, seed: int) -> Any:
        """So many mixtures; always the same for the same seed."""
        chance = np.random.default_rng(seed)
        one, two = (self.real[chance.integers(0, len(self.real), count)] for _ in range(2))
        share = chance.uniform(*_LARGER, (count, 1)).astype(np.float32)
        noise = chance.standard_normal((count, DIMENSIONS), dtype=np.float32)
        mixed = share * one + (1 - share) * two + _NOISE * noise / DIMENSIONS**0.5
        return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)

    def blobs(self, count: int, seed: int) -> list[bytes]:
        """The same as they are stored."""
        return list(quantise(self.draw(count, seed)))


def _windows(text: str) -> list[str]:
    return [
        text[start:end]
        for piece in chunk(text, content_type="text", language="")
        for start, end in windows_of(text, piece.start, piece.end)
    ]


class AskedEmbedder(RandomEmbedder):
    """Gives each question the vector of a real one: the cost of a recall without that of a model,
    among vectors as a model makes them."""

    def __init__(self, questions: Any) -> None:
        self._questions = questions

    def embed_query(self, text: str) -> Any:
        drawn = sum(text.encode()) * 31 + len(text)
        return self._questions[drawn % len(self._questions)]
