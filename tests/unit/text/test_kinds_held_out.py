"""Kind and stability, measured on lines that no rule was made for (`tests/data`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.text.classify import classify

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(("name", "least"), [("dev", 40), ("held_out", 200)])
def test_lines_are_filed_as_a_person_would(name: str, least: int) -> None:
    lines = (DATA / f"kinds_{name}.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= least
    wrong = []
    for line in lines:
        kind, stability, text = line.split(" | ", 2)
        found = classify(text)
        if (found.kind, found.stability) != (kind, stability):
            wrong.append((text, found.kind, found.stability))
    assert len(wrong) <= 0.05 * len(lines), wrong
