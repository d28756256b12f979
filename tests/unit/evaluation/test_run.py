"""A run: who sees which documents when, what is averaged, and that the systems really differ."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.evaluation import (
    CachedEmbedder,
    Collection,
    Doc,
    Question,
    read_stores,
    sample_path,
)
from holdfast.evaluation import run as running
from holdfast.evaluation.report import as_text, bench_recall
from holdfast.evaluation.run import (
    OURS,
    PLAIN,
    FullText,
    HoldfastSystem,
    Hybrid,
    Results,
    Vectors,
    run,
    without_metadata,
)

if TYPE_CHECKING:
    from holdfast.embed import Matrix, Vector

np = pytest.importorskip("numpy")


class LetterEmbedder:
    """Counts letters: enough to tell texts apart, and quick. Counts its own calls as well."""

    identity = "letters"
    dimensions = 26
    passage_tokens_max = 512

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.embedded += texts
        rows = [[1 + text.lower().count(chr(97 + at)) for at in range(26)] for text in texts]
        matrix = np.array(rows or np.zeros((0, 26)), np.float32)
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector


DOCS = tuple(Doc(f"d{n}", f"Entry {n}: the kettle is in cupboard {n}.") for n in range(6))


class Watcher:
    """A system that notes what it was given before each question."""

    def __init__(self) -> None:
        self.there: list[str] = []
        self.asked: list[tuple[str, int]] = []

    def add(self, docs: Sequence[Doc]) -> None:
        self.there += [doc.id for doc in docs]

    def ask(self, question: Question, limit: int) -> list[str]:
        self.asked.append((question.text, len(self.there)))
        return self.there[:limit]

    def close(self) -> None:
        pass


def test_a_question_sees_only_the_documents_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Watcher()
    monkeypatch.setattr(running, "_systems", lambda *_, **__: {OURS: watcher})
    questions = (
        Question("last", ("d5",)),
        Question("third", ("d0",), upto=3),
        Question("first", ("d0",), upto=1),
        Question("beyond", ("d0",), upto=99),
    )
    (results,) = run([Collection("s", DOCS, questions)], None)
    assert watcher.asked == [("first", 1), ("third", 3), ("last", 6), ("beyond", 6)]
    assert watcher.there == [doc.id for doc in DOCS]
    assert results.docs == 6


@pytest.mark.parametrize("name", [OURS, "substring", "FTS5", "FTS5, no stop words"])
def test_no_system_answers_with_what_was_said_later(name: str) -> None:
    store = Collection("s", DOCS, (Question("where is the kettle", ("d1",), upto=2),))
    results = {one.system: one for one in run([store], None, baselines=True)}
    assert set(results[name].answers[0].ranking) <= {"d0", "d1"}
    assert results[name].answers[0].ranking


def test_documents_that_are_one_memory_are_all_found() -> None:
    twice = (Doc("x", "The kettle is blue."), Doc("y", "The kettle is blue."))
    store = Collection("s", twice, (Question("What colour is the kettle?", ("x", "y")),))
    (results,) = run([store], None)
    assert results.answers[0].ranking == ("x", "y")
    assert results.answers[0].scores is not None
    assert results.answers[0].scores[2] == 1


def test_a_fact_out_of_a_transcript_stands_for_its_document() -> None:
    said = (
        "User: Hello, I work as a baker in Porto.\n"
        "Assistant: How lovely! What do you bake there, and for whom?\n"
        "User: Bread and cakes, and I live near the river.\n"
        "Assistant: That sounds delicious."
    )
    docs = (Doc("chat", said), Doc("other", "The kettle whistles"))
    system = HoldfastSystem(docs, None)
    system.add(docs)
    found = system.ask(Question("who works as a baker?", ("chat",)), 10)
    system.close()
    assert found and set(found) == {"chat"}


def test_adversarial_and_unanswerable_questions_are_kept_apart() -> None:
    questions = (
        Question("kettle", ("d0",), "plain"),
        Question("kettle?", ("d1",), "adversarial"),
        Question("submarine", (), "plain"),
    )
    (results,) = run([Collection("s", DOCS, questions)], None)
    assert [answer.question.text for answer in results.counted()] == ["kettle"]
    assert len(results.answers) == 3


def sample_results(embedder: Any = None) -> dict[str, Results]:
    found = run(read_stores(sample_path()), embedder, baselines=True)
    return {one.system: one for one in found}


def test_the_baselines_are_there_and_differ() -> None:
    results = sample_results(LetterEmbedder())
    assert list(results) == [
        OURS,
        "substring",
        "FTS5",
        "FTS5, no stop words",
        "vectors",
        "RRF",
        PLAIN,
    ]
    rankings = {tuple(answer.ranking for answer in one.answers) for one in results.values()}
    assert len(rankings) == len(results)


def test_without_a_model_only_the_baselines_of_words_run() -> None:
    assert list(sample_results()) == [OURS, "substring", "FTS5", "FTS5, no stop words"]


def test_the_same_run_twice_gives_the_same_rankings() -> None:
    one, two = sample_results(LetterEmbedder()), sample_results(LetterEmbedder())
    for name, results in one.items():
        assert [a.ranking for a in results.answers] == [a.ranking for a in two[name].answers]


def test_the_report_is_plain_json_and_its_text_has_every_part(
    tmp_path: os.PathLike[str],
) -> None:
    measured = bench_recall([sample_path(), sample_path()], LetterEmbedder(), baselines=True)
    assert json.loads(json.dumps(measured)) == measured
    assert len(measured["sets"]) == 2
    ours = measured["sets"][0]["systems"][0]
    assert ours["questions"] + ours["unanswerable"]["questions"] >= 40
    assert sum(one["questions"] for one in ours["categories"].values()) == ours["questions"]
    interval = ours["metrics"]["R@10"]
    assert 0 < interval["low"] <= interval["mean"] <= interval["high"] <= 1
    assert measured["macro"][0]["metrics"]["R@10"]["mean"] == pytest.approx(interval["mean"])
    text = as_text(measured)
    for part in (
        "holdfast",
        "RRF",
        "R@20",
        "temporal",
        "without an answer",
        "mean of the 2 sets",
        PLAIN,
    ):
        assert part in text


def test_only_some_of_the_stores_can_be_measured() -> None:
    measured = bench_recall([], None, limit_stores=1)
    first = next(read_stores(sample_path()))
    assert measured["sets"][0]["systems"][0]["docs"] == len(first.docs)
    assert measured["model"] is None


def test_a_cached_vector_is_the_same_and_is_made_once(tmp_path: os.PathLike[str]) -> None:
    plain = LetterEmbedder()
    folder = os.path.join(tmp_path, "cache")
    first = CachedEmbedder(plain, folder)
    made = first.embed_passages(["one", "two", "one"])
    asked = first.embed_query("one")
    assert plain.embedded == ["one", "two", "one"]  # twice: a question is not a passage
    again = CachedEmbedder(LetterEmbedder(), folder)
    assert (again.embed_passages(["one", "two", "one"]) == made).all()
    assert (again.embed_query("one") == asked).all()
    assert again._embedder.embedded == []  # type: ignore[attr-defined]
    assert (made == LetterEmbedder().embed_passages(["one", "two", "one"])).all()


def test_a_cache_without_a_folder_lives_as_long_as_the_run() -> None:
    plain = LetterEmbedder()
    cached = CachedEmbedder(plain)
    cached.embed_passages(["one"])
    cached.embed_passages(["one", "two"])
    assert plain.embedded == ["one", "two"]
    assert cached.embed_passages([]).shape == (0, 26)


def test_the_plain_recipe_adds_stretched_scores_of_words_and_vectors() -> None:
    docs = (Doc("near", "aaab"), Doc("both", "aab kettle"), Doc("neither", "zzz"))
    system = Hybrid(FullText(stop_words=False), Vectors(LetterEmbedder()))
    system.add(docs)
    assert system.ask(Question("aaab", ()), 3)[0] == "near"
    assert system.ask(Question("kettle aab", ()), 3)[0] == "both"
    system.close()


def test_the_comparison_is_paired_and_says_what_was_held_out() -> None:
    measured = bench_recall([sample_path()], LetterEmbedder(), baselines=True, seen=["sample"])
    (row,) = measured["compared"]
    mean = row[OURS]["mean"] - row[PLAIN]["mean"]
    assert row["difference"]["mean"] == pytest.approx(mean, abs=2e-4)
    assert row["difference"]["low"] <= row["difference"]["mean"] <= row["difference"]["high"]
    assert measured["held_out"] == []
    assert "no" in as_text(measured).splitlines()[-1]


def test_text_alone_has_its_speaker_in_front_and_nothing_else() -> None:
    spoken = Doc("a", "I like tea", "s1", "Ann", datetime(2026, 1, 1, tzinfo=UTC))
    bare = without_metadata(Collection("s", (spoken,), ()))
    assert bare.docs == (Doc("a", "Ann: I like tea"),)
