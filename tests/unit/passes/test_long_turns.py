"""Turns that somebody pasted, or made to be slow: whoever notes them is done in time."""

from __future__ import annotations

import time

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.engine.log.observe import USER_CHARS_MAX
from holdfast.passes.work import work_until_done

END = "\nI use vim for everything."
PASTED = {
    "white space": " " * 20_000,
    "code": "```python\n" + "print(1); " * 1_000 + "\n```",
    "quotations": "“" + "x " * 250 + "” ",
    "commas": "," * 20_000,
    "links": "https://example.org/a " * 1_000,
    "numbers": "17 " * 6_000,
    "dashes": " - " * 6_000,
    "one word": "a" * 20_000,
}


@pytest.mark.parametrize("name", PASTED)
def test_a_long_turn_takes_seconds_at_most(memory: Holdfast, hub: HubMemory, name: str) -> None:
    text = PASTED[name][: USER_CHARS_MAX - len(END)] + END
    hub.observe_turn(text, "I see.")
    began = time.monotonic()
    work_until_done(memory.core, memory.home)
    assert time.monotonic() - began < 10
    assert hub.jobs() == []
