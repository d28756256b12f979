"""The picture of a session at a terminal (`make screenshots`)."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

from tools.terminal_recording import SESSION, Line, svg

PICTURE = Path(__file__).parents[2] / "docs" / "assets" / "session.svg"


def shown(picture: str) -> list[str]:
    return [
        "".join(text.itertext()) for text in ElementTree.fromstring(picture).iterfind("{*}text")
    ]


def test_the_committed_picture_shows_the_commands_of_the_session() -> None:
    commands = [line for line in shown(PICTURE.read_text()) if line.startswith("$ ")]
    steps = [[word for word in step if word != "--work"] for step in SESSION if step[0] != "#"]
    assert commands == [f"$ holdfast {shlex.join(step)}" for step in steps]


def test_the_committed_picture_shows_hits_as_they_are_printed_now() -> None:
    lines = shown(PICTURE.read_text())
    at = next(place for place, line in enumerate(lines) if line.startswith("$ holdfast recall"))
    assert re.search(r" · \d{4}-\d\d-\d\d \d\d:\d\d$", lines[at + 1])


def test_colours_and_brackets_of_the_terminal_become_text() -> None:
    picture = svg([Line(0, "\x1b[1;36m#1\x1b[0m <b> & \x1b[2mdim\x1b[0m")])
    assert shown(picture) == ["#1 <b> & dim"]
    assert 'class="b c"' in picture
