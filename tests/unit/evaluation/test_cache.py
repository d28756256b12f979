"""The cache of vectors that benchmarks use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from holdfast.evaluation import CachedEmbedder
from holdfast.testing import HashEmbedder


def test_several_threads_may_use_the_cache_at_once(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashEmbedder(), str(tmp_path))
    plain = HashEmbedder()

    def ask(number: int) -> bool:
        texts = [f"text {number} {one}" for one in range(20)]
        made = np.array_equal(cached.embed_passages(texts), plain.embed_passages(texts))
        question = f"question {number % 5}"
        return made and np.array_equal(cached.embed_query(question), plain.embed_query(question))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(60)))
    # What one process has made, the next one reads, in several threads too.
    cached = CachedEmbedder(HashEmbedder(), str(tmp_path))
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(60)))
