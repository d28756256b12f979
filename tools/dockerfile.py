"""Reads a Dockerfile: its instructions, as far as ours uses them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

_WORD = re.compile(r"([A-Z]+)\s+(.*)", re.S)
_PAIR = re.compile(r"(\w+)=(\"[^\"]*\"|\S+)")


class Instruction(NamedTuple):
    """One instruction: the stage it is in, counted from one, its word and its text."""

    stage: int
    word: str
    text: str


def instructions(path: Path) -> list[Instruction]:
    """The instructions in order, each on one line; comments are left out."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    out: list[Instruction] = []
    stage = 0
    for line in whole.splitlines():
        if found := _WORD.match(line):
            stage += found[1] == "FROM"
            out.append(Instruction(stage, found[1], found[2].strip()))
    return out


def texts(path: Path, word: str, stage: int | None = None) -> list[str]:
    """The texts of all instructions of a kind, of one stage or of all."""
    return [
        one.text
        for one in instructions(path)
        if one.word == word and (stage is None or one.stage == stage)
    ]


def environment(path: Path, stage: int) -> dict[str, str]:
    """The variables that a stage sets."""
    found = [pair for text in texts(path, "ENV", stage) for pair in _PAIR.findall(text)]
    return {name: value.strip('"') for name, value in found}


def exec_form(text: str) -> list[str]:
    """The words of a command in its exec form, also behind the options of HEALTHCHECK."""
    words: list[str] = json.loads(text[text.index("[") :])
    return words
