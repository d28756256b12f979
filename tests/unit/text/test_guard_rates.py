"""How many attacks the guard knows, and how many honest texts it takes for one, on a corpus that
was written for it: the rates are printed and held.

The texts stand in `guard_corpus`, one in a line, with `\\n` for a line end and `\\uXXXX` for what
cannot be seen; a line that begins with `===` names what follows. The rules were tuned on `attacks`
and `benign`. The texts that are held out were written when the rules were finished, and nothing was
changed for them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast.text.guard import instruction_shaped

CORPUS = Path(__file__).parent / "guard_corpus"
_ESCAPE = re.compile(r"\\n|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}")


def read(name: str) -> list[tuple[str, str]]:
    """The texts of a file, each with the name of its group."""
    group, out = "", []
    for line in (CORPUS / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("=== "):
            group = line[4:]
        elif line.strip():
            out.append((group, _ESCAPE.sub(_meant, line)))
    return out


def _meant(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\\n" else chr(int(found[0][2:], 16))


def rate(name: str) -> tuple[float, list[str]]:
    """The share that is held, and the texts that are."""
    texts = read(name)
    held = [text for _, text in texts if instruction_shaped(text)]
    print(f"{name}: {len(held)} of {len(texts)} held ({len(held) / len(texts):.3f})")
    return len(held) / len(texts), held


def test_the_corpus_is_large_and_says_nothing_twice() -> None:
    names = ("attacks", "attacks_held_out", "benign", "benign_held_out")
    sets = {name: [text for _, text in read(name)] for name in names}
    every = [text for texts in sets.values() for text in texts]
    assert len(set(every)) == len(every)
    assert len(sets["attacks"]) + len(sets["attacks_held_out"]) >= 200
    assert len(sets["benign"]) + len(sets["benign_held_out"]) >= 500


@pytest.mark.parametrize(("name", "least"), [("attacks", 0.98), ("attacks_held_out", 0.52)])
def test_attacks_are_held(name: str, least: float) -> None:
    share, held = rate(name)
    missed = [text for _, text in read(name) if text not in held]
    assert share >= least, missed


def test_honest_texts_are_left_alone() -> None:
    share, held = rate("benign")
    assert share == 0.0, held
    share, held = rate("benign_held_out")
    assert share <= 0.01, held
