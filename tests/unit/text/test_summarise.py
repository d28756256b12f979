"""Summaries: a text's own sentences, the telling ones, in their order."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.classify.summarise import SUMMARY_CHARS_MAX, choose, sentences, summarise

INCIDENT = """\
The payment service went down at nine because its database was full.
Good morning!
I had a croissant for breakfast.
The database of the payment service keeps an audit log that nobody prunes.
Yes.
Ann pruned the audit log by hand and the payment service came back.
The weather is nice.
We decided to prune the audit log of the database every night."""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One is here. Two is there!  Three?", ["One is here.", "Two is there!", "Three?"]),
        ("- a list\n- of things\n\n# Title\n1. first", ["a list", "of things", "Title", "first"]),
        ("Version 1.2.3 is out. See e.g. the log.", ["Version 1.2.3 is out.", "See e.g. the log."]),
        ("会議は水曜日です。資料を送ります。", ["会議は水曜日です。", "資料を送ります。"]),
        ("Look:\n```py\nx = 1. + 2\n```\nDone.", ["Look:", "Done."]),
        ("```\nonly code\n```", ["```", "only code", "```"][1:2]),
        ("...\n\n", ["..."]),
        (" \n\t", []),
        ("", []),
        ("x" * 400, ["x" * 299 + "…"]),
    ],
)
def test_a_text_is_read_as_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


def test_the_telling_sentences_stay_in_their_order() -> None:
    short = summarise(INCIDENT, chars_max=220)
    assert short == (
        "The payment service went down at nine because its database was full. "
        "The database of the payment service keeps an audit log that nobody prunes. "
        "We decided to prune the audit log of the database every night."
    )
    for chatter in ("croissant", "weather", "Good morning", "Yes."):
        assert chatter not in short


def test_a_short_text_is_its_own_summary() -> None:
    assert summarise("The server is called Hilda. It stands in Oslo.") == (
        "The server is called Hilda. It stands in Oslo."
    )


def test_what_was_said_twice_is_taken_once_where_there_is_no_room_for_both() -> None:
    text = (
        "The deploy of the shop failed on Monday evening. "
        "The deploy of the shop failed on Monday evening again. "
        "Ann fixed the certificate of the proxy for the shop."
    )
    short = summarise(text, chars_max=110)
    assert short.count("deploy") == 1 and "Ann" in short


@given(st.text() | st.lists(st.text(max_size=40), max_size=60).map(". ".join), st.integers(20, 400))
def test_any_text_has_a_summary_that_fits_and_invents_nothing(text: str, chars_max: int) -> None:
    short = summarise(text, chars_max=chars_max)
    assert len(short) <= chars_max
    assert bool(short.strip()) == bool(text.strip())
    assert summarise(text, chars_max=chars_max) == short
    kept = set(" ".join(text.split()))
    assert set(short) <= kept | {"…", " "}


@given(st.lists(st.text(min_size=1, max_size=30), max_size=40))
def test_the_choice_is_in_order_and_each_is_taken_once(found: list[str]) -> None:
    chosen = choose(found, chars_max=100)
    assert chosen == sorted(set(chosen))
    assert bool(chosen) == bool(found)


def test_the_default_fits_a_glance() -> None:
    text = " ".join(f"Sentence number {n} speaks of topic {n % 7}." for n in range(500))
    assert SUMMARY_CHARS_MAX * 0.8 < len(summarise(text)) <= SUMMARY_CHARS_MAX


def test_the_summary_is_the_same_in_every_process() -> None:
    code = f"from holdfast.text.classify.summarise import summarise; print(summarise({INCIDENT!r}))"
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


@pytest.mark.parametrize(
    "text", ["word " * 600_000, "a. " * 1_000_000, "```\n" * 300_000, "\n" * 9]
)
def test_three_megabytes_are_summarised_in_time(text: str) -> None:
    started = time.thread_time()
    assert len(summarise(text)) <= SUMMARY_CHARS_MAX
    assert time.thread_time() - started < 20
