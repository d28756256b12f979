"""`holdfast bench recall` on the sample that ships, and on files of one's own."""

from __future__ import annotations

import json
import os

import pytest

from holdfast.edges.cli import main

Folder = os.PathLike[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Folder, monkeypatch: pytest.MonkeyPatch) -> str:
    """A home of its own, and words only: a model would make the tests slow and machine-bound."""
    folder = os.path.join(tmp_path, "home")
    monkeypatch.setenv("HOLDFAST_HOME", folder)
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", "none")
    return folder


@pytest.fixture
def kettles(tmp_path: Folder) -> str:
    """A store whose second question is asked before the last document exists."""
    docs = [
        {"id": "old", "text": "The kettle is in the blue cupboard."},
        {"id": "new", "text": "The kettle is in the green cupboard now."},
    ]
    queries = [
        {"text": "kettle", "gold": ["new"], "category": "late"},
        {"text": "green kettle", "gold": ["old"], "category": "early", "upto": 1},
    ]
    path = os.path.join(tmp_path, "kettles.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps({"store": "kitchen", "docs": docs, "queries": queries}) + "\n")
    return path


def test_without_a_file_the_sample_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "recall"]) == 0
    out = capsys.readouterr().out
    assert "sample:" in out
    assert "R@10 95 %" in out
    assert "holdfast" in out
    assert "FTS5" not in out


def test_baselines_stand_next_to_it_and_json_is_one_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "recall", "--baselines", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["data"]
    systems = {one["system"]: one for one in measured["sets"][0]["systems"]}
    assert list(systems) == ["holdfast", "substring", "FTS5", "FTS5, no stop words"]
    assert len({json.dumps(one["metrics"]) for one in systems.values()}) == len(systems)
    for one in systems.values():
        assert 0 < one["metrics"]["R@10"]["mean"] <= 1
        assert one["query_ms"]["p50"] <= one["query_ms"]["p95"]


def test_a_question_is_asked_before_later_documents_exist(
    kettles: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "recall", kettles, "--json"]) == 0
    (ours,) = json.loads(capsys.readouterr().out)["data"]["sets"][0]["systems"]
    # Were both documents there, the green one would stand first.
    assert ours["categories"]["early"]["metrics"]["R@1"]["mean"] == 1
    assert ours["categories"]["late"]["metrics"]["R@20"]["mean"] == 1
    assert ours["docs"] == 2


def test_several_files_get_a_mean(kettles: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "recall", kettles, kettles]) == 0
    assert "mean of the 2 sets" in capsys.readouterr().out


def test_the_memories_of_the_home_are_not_touched(home: str) -> None:
    assert main(["bench", "recall", "--limit-stores", "1", "-q"]) == 0
    assert not os.path.exists(os.path.join(home, "memory.db"))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere.jsonl"], 3, "There is no file nowhere.jsonl."),
        (["--limit-stores", "0"], 2, "--limit-stores must be at least 1."),
        (["--limit-stores", "some"], 2, "not a whole number"),
        (["--bselines"], 2, "Did you mean `--baselines`?"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "recall", *words]) == code
    assert said in capsys.readouterr().err


def test_a_file_of_something_else_is_refused(
    tmp_path: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    path = os.path.join(tmp_path, "notes.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# Notes\n")
    assert main(["bench", "recall", path]) == 2
    assert "notes.md, line 1 is not a test store" in capsys.readouterr().err


def test_a_store_that_the_environment_names_is_left_alone(
    kettles: str, tmp_path: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = os.path.join(tmp_path, "team.db")
    monkeypatch.setenv("HOLDFAST_STORE_URL", f"sqlite:{used}")
    assert main(["bench", "recall", kettles]) == 0
    assert not os.path.exists(used)
