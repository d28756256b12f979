"""The index past a size: what it names is measured exactly, and it follows every change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holdfast import Holdfast
from holdfast.recall import vector
from holdfast.testing import HashEmbedder, open_for_tests

pytest.importorskip("turbovec", reason="the extra `index` is not installed")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "INDEX_FROM", 200)


def filled(memory: Holdfast, count: int) -> None:
    words = [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
    ]
    rng = np.random.default_rng(7)
    memory.hub().remember_many(
        [f"{' '.join(rng.choice(words, 4))} number {n}" for n in range(count)]
    )


def nearest(memory: Holdfast, text: str, limit: int) -> list[tuple[int, float]]:
    embedder = memory.core.embedder
    assert embedder is not None
    with memory.core.store.read() as reader:
        hits = memory.core.vectors.search(
            reader,
            memory.hub().id,
            embedder.identity,
            embedder.embed_query(text),
            limit=limit,
            also=[1, 2],
        )
    return [(passage, round(cosine, 4)) for passage, cosine in hits.items()]


def test_the_index_finds_what_an_exact_scan_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        filled(memory, 450)
        kept = 0
        for text in ("word1 word2", "word5 word6 word7", "word9 number 44", "word3 word11"):
            found = nearest(memory, text, 10)
            monkeypatch.setattr(vector, "INDEX_FROM", 10**9)
            memory.core.vectors.forget()
            exact = nearest(memory, text, 10)
            monkeypatch.setattr(vector, "INDEX_FROM", 200)
            memory.core.vectors.forget()
            # Many of these texts are equally near: what counts is how near the ten are.
            kept += sum(one[1] >= exact[9][1] - 1e-4 for one in found[:10])
            assert {1, 2} <= {passage for passage, _ in found}
        assert kept >= 0.95 * 40


def test_the_index_follows_what_is_added_and_what_goes(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        filled(memory, 250)
        hub = memory.hub()
        assert nearest(memory, "word1", 5)
        added = hub.remember("quokka wombat bilby").memory.number
        assert hub.recall("quokka wombat bilby")[0].memory.number == added
        hub.update(added, content="numbat potoroo")
        assert hub.recall("numbat potoroo")[0].memory.number == added
        hub.purge(added)
        assert all(hit.memory.number != added for hit in hub.recall("numbat potoroo"))
