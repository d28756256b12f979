"""Files of test stores: what is read, and what is refused."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.errors import InvalidInput, NotFound
from holdfast.evaluation import read_stores, sample_path

DOCS = [
    {"id": "a", "text": "One", "session": "s", "speaker": "Ida", "time": "2025-01-02T03:04:05Z"},
    {"id": "b", "text": "Two", "session": "", "speaker": None, "time": "2025-01-02T03:04:05+02:00"},
]


def written(folder: os.PathLike[str], *stores: Any) -> str:
    path = os.path.join(folder, "stores.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for store in stores:
            file.write((store if isinstance(store, str) else json.dumps(store)) + "\n")
    return path


def test_a_store_is_read_with_its_times_in_utc(tmp_path: os.PathLike[str]) -> None:
    question = {"text": "Which?", "gold": ["a"], "category": "x", "asked_at": "2025-02-03"}
    path = written(tmp_path, {"store": "S", "docs": DOCS, "queries": [question]})
    (store,) = read_stores(path)
    assert store.name == "S"
    assert store.docs[0].time == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert store.docs[1].time == datetime(2025, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert (store.docs[1].session, store.docs[1].speaker) == (None, None)
    assert store.questions[0].asked_at == datetime(2025, 2, 3, tzinfo=UTC)
    assert (store.questions[0].gold, store.questions[0].upto) == (("a",), None)


def test_only_as_many_stores_as_wanted_are_read(tmp_path: os.PathLike[str]) -> None:
    one = {"store": "1", "docs": DOCS, "queries": []}
    path = written(tmp_path, one, "", {**one, "store": "2"}, "this is not JSON")
    assert [store.name for store in read_stores(path, limit=2)] == ["1", "2"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not JSON", "line 1"),
        ("[]", "is not a test store"),
        ({"docs": [{"text": "no id"}], "queries": []}, "KeyError: 'id'"),
        ({"docs": DOCS}, "KeyError: 'queries'"),
        ({"docs": [DOCS[0], DOCS[0]], "queries": []}, "the same id"),
        ({"docs": DOCS, "queries": [{"text": "?", "gold": ["z"]}]}, "'z'"),
        ({"docs": DOCS, "queries": [{"text": "?", "gold": ["b"], "upto": 1}]}, "exist when"),
        ({"docs": [{"id": "a", "text": "x", "time": "soon"}], "queries": []}, "soon"),
        ("", "holds no stores"),
    ],
)
def test_a_broken_store_is_refused_with_its_place(
    tmp_path: os.PathLike[str], line: Any, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        list(read_stores(written(tmp_path, line)))


def test_a_missing_file_is_not_found() -> None:
    with pytest.raises(NotFound, match="no file nowhere"):
        list(read_stores("nowhere.jsonl"))


def test_the_sample_ships_and_asks_for_all_kinds() -> None:
    stores = list(read_stores(sample_path()))
    questions = [question for store in stores for question in store.questions]
    assert len(stores) == 3
    assert sum(len(store.docs) for store in stores) >= 50
    assert len(questions) >= 40
    assert any(not question.gold for question in questions)
    assert any(question.upto is not None for question in questions)
    assert any(question.asked_at is not None for question in questions)
