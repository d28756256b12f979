"""The recall benchmark as one call, and its results as text for people and as JSON for programs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.embed import Embedder
from holdfast.evaluation import CachedEmbedder, read_stores, sample_path
from holdfast.evaluation.run import (
    ADVERSARIAL,
    METRICS,
    OURS,
    PLAIN,
    Estimate,
    Progress,
    QuestionResult,
    Results,
    estimate,
    macro,
    percentile,
    run,
)

Table = list[list[str]]


def to_plain(name: str, results: Sequence[Results]) -> dict[str, Any]:
    """One file's results as plain values, for JSON."""
    return {"file": name, "systems": [_system(one) for one in results]}


def macro_plain(results: Sequence[tuple[str, Sequence[Results]]]) -> list[dict[str, Any]]:
    """The average over the files of each system, in which every file counts alike."""
    names = list(dict.fromkeys(one.system for _, of_file in results for one in of_file))
    out = []
    for name in names:
        groups = [one.counted() for _, of_file in results for one in of_file if one.system == name]
        scores = {
            metric: _plain(macro([[_scores(a)[at] for a in group] for group in groups]))
            for at, metric in enumerate(METRICS)
        }
        out.append({"system": name, "metrics": scores})
    return out


def _system(one: Results) -> dict[str, Any]:
    counted = one.counted()
    adversarial = [a for a in one.answers if a.question.category == ADVERSARIAL and a.scores]
    unanswerable = [a for a in one.answers if a.scores is None]
    times_ms = [answer.seconds * 1_000 for answer in one.answers]
    categories: dict[str, list[QuestionResult]] = {}
    for answer in counted:
        categories.setdefault(answer.question.category, []).append(answer)
    return {
        "system": one.system,
        "docs": one.docs,
        "questions": len(counted),
        "metrics": _metrics(counted),
        "categories": {
            name: {"questions": len(answers), "metrics": _metrics(answers)}
            for name, answers in sorted(categories.items())
        },
        "adversarial": {"questions": len(adversarial), "metrics": _metrics(adversarial)},
        # A question without an answer should bring little or nothing.
        "unanswerable": {
            "questions": len(unanswerable),
            "hits_mean": _mean([len(a.ranking) for a in unanswerable]),
            "empty_share": _mean([not a.ranking for a in unanswerable]),
        },
        "hits_mean": _mean([len(a.ranking) for a in counted]),
        "indexing_s": round(one.indexing_s, 3),
        "query_ms": {
            "p50": round(percentile(times_ms, 0.5), 3),
            "p95": round(percentile(times_ms, 0.95), 3),
        },
    }


def _scores(answer: QuestionResult) -> tuple[float, ...]:
    assert answer.scores is not None
    return answer.scores


def _metrics(answers: Sequence[QuestionResult]) -> dict[str, Any]:
    if not answers:
        return {}
    return {
        metric: _plain(estimate([_scores(answer)[at] for answer in answers]))
        for at, metric in enumerate(METRICS)
    }


def _plain(one: Estimate) -> dict[str, float]:
    return {name: round(value, 4) for name, value in one._asdict().items()}


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def systems_table(systems: Sequence[dict[str, Any]]) -> Table:
    """A row a system: the averages, the interval of R@10, and the times."""
    rows = [["", *METRICS, "R@10 95 %", "index s", "p50 ms", "p95 ms"]]
    rows += [[one["system"], *_cells(one["metrics"]), *_times(one)] for one in systems]
    return rows


def categories_table(systems: Sequence[dict[str, Any]]) -> Table:
    """A row a category: how many questions, Holdfast's metrics, and the others' R@10."""
    ours = next(one for one in systems if one["system"] == OURS)
    others = [one for one in systems if one is not ours]
    rows = [["", "n", *METRICS, "R@10 95 %", *(f"{one['system']} R@10" for one in others)]]
    for name, measured in ours["categories"].items():
        row = [name, str(measured["questions"]), *_cells(measured["metrics"])]
        row += [_percent(one["categories"][name]["metrics"]["R@10"]["mean"]) for one in others]
        rows.append(row)
    if ours["adversarial"]["questions"]:
        row = ["adversarial, apart", str(ours["adversarial"]["questions"])]
        row += _cells(ours["adversarial"]["metrics"])
        row += [_percent(one["adversarial"]["metrics"]["R@10"]["mean"]) for one in others]
        rows.append(row)
    return rows


def unanswerable_line(systems: Sequence[dict[str, Any]]) -> str:
    """The results for questions without an answer; empty if all questions have answers."""
    ours = next(one for one in systems if one["system"] == OURS)
    apart = ours["unanswerable"]
    if not apart["questions"]:
        return ""
    return (
        f"{apart['questions']} questions without an answer brought {apart['hits_mean']:.1f} hits"
        f" each ({_percent(apart['empty_share'])} % of them none); those with one"
        f" {ours['hits_mean']:.1f}."
    )


def _cells(metrics: dict[str, Any]) -> list[str]:
    if not metrics:
        return ["–"] * (len(METRICS) + 1)
    means = [_percent(metrics[name]["mean"]) for name in METRICS]
    sure = metrics["R@10"]
    return [*means, f"{_percent(sure['low'])}–{_percent(sure['high'])}"]


def _times(one: dict[str, Any]) -> list[str]:
    if "indexing_s" not in one:
        return ["", "", ""]
    query = one["query_ms"]
    return [f"{one['indexing_s']:.1f}", f"{query['p50']:.1f}", f"{query['p95']:.1f}"]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def as_columns(table: Table) -> str:
    """Columns lined up with spaces: the first to the left, numbers to the right."""
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [
            cell.ljust(widths[at]) if at == 0 else cell.rjust(widths[at])
            for at, cell in enumerate(row)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def bench_recall(
    files: Sequence[str],
    embedder: Embedder | None,
    *,
    baselines: bool = False,
    limit_stores: int | None = None,
    cache: str | None = None,
    settings: Mapping[str, Any] | None = None,
    text_only: bool = False,
    seen: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measures recall on files of test stores; on the sample that ships where none is named.

    Without a cache folder, vectors are cached for this run only, and only where the baselines would
    embed the same text again. `seen` names the files that the model was trained on: they are
    reported, and are no part of the average of what was held out.
    """
    if embedder is not None and (baselines or cache):
        embedder = CachedEmbedder(embedder, cache)
    everything: list[tuple[str, list[Results]]] = []
    for path in files or [sample_path()]:
        stores = read_stores(path, limit=limit_stores)
        results = run(
            stores,
            embedder,
            baselines=baselines,
            settings=settings,
            text_only=text_only,
            progress=progress,
        )
        everything.append((os.path.basename(path).removesuffix(".jsonl"), results))
    held_out = [one for one in everything if one[0] not in seen]
    return {
        "model": None if embedder is None else embedder.identity,
        "cached_vectors": cache is not None,
        "text_only": text_only,
        "sets": [to_plain(name, results) for name, results in everything],
        "macro": macro_plain(everything),
        "held_out": [name for name, _ in held_out],
        "macro_held_out": macro_plain(held_out),
        "compared": [row for name, results in everything if (row := compare(name, results))],
    }


def compare(name: str, results: Sequence[Results]) -> dict[str, Any]:
    """Holdfast beside the plain recipe on one file, question by question; empty without one."""
    by_system = {one.system: one for one in results}
    if PLAIN not in by_system:
        return {}
    at = METRICS.index("R@10")
    ours, plain = (
        [_scores(answer)[at] for answer in by_system[system].counted()] for system in (OURS, PLAIN)
    )
    return {
        "file": name,
        "questions": len(ours),
        OURS: _plain(estimate(ours)),
        PLAIN: _plain(estimate(plain)),
        # The same questions are drawn for both, so what they have in common cancels out.
        "difference": _plain(estimate([a - b for a, b in zip(ours, plain, strict=True)])),
    }


def compared_table(measured: Mapping[str, Any]) -> Table:
    """A row a file: R@10 of both, and by how much they differ."""
    rows = [["R@10", "n", OURS, "95 %", PLAIN, "difference", "95 %", "held out"]]
    for one in measured["compared"]:
        ours, difference = one[OURS], one["difference"]
        rows.append(
            [
                one["file"],
                str(one["questions"]),
                _percent(ours["mean"]),
                f"{_percent(ours['low'])}–{_percent(ours['high'])}",
                _percent(one[PLAIN]["mean"]),
                f"{100 * difference['mean']:+.1f}",
                f"{100 * difference['low']:+.1f} to {100 * difference['high']:+.1f}",
                "yes" if one["file"] in measured["held_out"] else "no",
            ]
        )
    return rows


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
        parts.append(as_columns(systems_table(systems)) + "\n")
        parts.append(as_columns(categories_table(systems)))
        if line := unanswerable_line(systems):
            parts.append(line)
    if len(measured["sets"]) > 1:
        parts.append(f"\nmean of the {len(measured['sets'])} sets\n")
        parts.append(as_columns(systems_table(measured["macro"])))
    if 0 < len(measured["held_out"]) < len(measured["sets"]):
        parts.append(f"\nmean of the {len(measured['held_out'])} sets that were held out\n")
        parts.append(as_columns(systems_table(measured["macro_held_out"])))
    if measured["compared"]:
        parts.append("\nbeside the plain recipe, question by question\n")
        parts.append(as_columns(compared_table(measured)))
    return "\n".join(parts)
