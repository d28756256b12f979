"""The recall benchmark as one call: files in, plain values out; and the text a person reads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.embed.base import Embedder
from holdfast.evaluation import report
from holdfast.evaluation.cache import CachedEmbedder
from holdfast.evaluation.run import Progress, Results, run
from holdfast.evaluation.stores import read_stores, sample_path


def bench_recall(
    files: Sequence[str],
    embedder: Embedder | None,
    *,
    baselines: bool = False,
    limit_stores: int | None = None,
    cache: str | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measures recall on files of test stores; on the sample that ships where none is named.

    Without a cache folder, vectors are kept for this run only, and only where the baselines would
    embed the same text again.
    """
    if embedder is not None and (baselines or cache):
        embedder = CachedEmbedder(embedder, cache)
    everything: list[tuple[str, list[Results]]] = []
    for path in files or [sample_path()]:
        stores = read_stores(path, limit=limit_stores)
        results = run(stores, embedder, baselines=baselines, settings=settings, progress=progress)
        everything.append((os.path.basename(path).removesuffix(".jsonl"), results))
    return {
        "model": None if embedder is None else embedder.identity,
        "cached_vectors": cache is not None,
        "sets": [report.to_plain(name, results) for name, results in everything],
        "macro": report.macro_plain(everything),
    }


def as_text(measured: Mapping[str, Any]) -> str:
    """The figures as tables, in per cent."""
    parts = [f"Embedding model: {measured['model'] or 'none, words only'}."]
    if measured["cached_vectors"]:
        parts.append("Vectors came from the cache where it had them: the times leave them out.")
    for one in measured["sets"]:
        systems = one["systems"]
        ours = systems[0]
        counts = f"{ours['docs']} documents, {ours['questions']} questions"
        parts.append(f"\n{one['file']}: {counts}\n")
        parts.append(report.as_text(report.systems_table(systems)) + "\n")
        parts.append(report.as_text(report.categories_table(systems)))
        if line := report.unanswerable_line(systems):
            parts.append(line)
    if len(measured["sets"]) > 1:
        parts.append(f"\nmean of the {len(measured['sets'])} sets\n")
        parts.append(report.as_text(report.systems_table(measured["macro"])))
    return "\n".join(parts)
