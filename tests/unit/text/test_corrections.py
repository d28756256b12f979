"""How people correct, take back or change what they said shortly before."""

from __future__ import annotations

import pytest

from holdfast.text.slots.corrections import corrects, read
from holdfast.text.slots.values_in import with_values_of


@pytest.mark.parametrize(
    ("said", "manner", "about"),
    [
        ("Scratch that, it gets changed tomorrow anyway", "taken back", ""),
        ("oh wait, I was only joking", "taken back", ""),
        ("Thanks. Forget what I said about the blue one", "taken back", "the blue one"),
        ("never mind the printer thing", "taken back", "printer"),
        ("Correction: 15k, my wife talked me into it", "corrects", ""),
        ("no wait, Wednesdays", "may correct", ""),
        ("it's actually 950", "may correct", ""),
        ("make it seven", "may correct", ""),
        ("I said Lidl but I meant Aldi", "corrects", "lidl"),
        ("that's the other repo", "denies", ""),
        ("that's no longer true", "taken back", ""),
        ("Not Beate, Renate. I always mix them up.", "corrects", "beate"),
        ("ah, I misread: it is stage4", "corrects", ""),
        ("sorry, it's stage4", "may correct", ""),
        ("The demo was pushed to Monday", "changed", ""),
    ],
)  # fmt: skip
def test_a_correction_is_recognised(said: str, manner: str, about: str) -> None:
    found = read(said)
    assert found is not None
    assert (found.manner, found.about) == (manner, about)


@pytest.mark.parametrize(
    "said",
    [
        "never mind, found it",
        "Actually, can you add a test?",
        "delete the comment about spaces in foo.py",
        "sorry for the delay",
        "Not sure, maybe tomorrow",
        "not really, no",
        "make it faster",
        "make it blue",
        "it's actually great",
        "I meant to ask about the build",
        "I misread the docs entirely",
        "I mean it is slow",
        "fix the failing test\nscratch that",
        "",
    ],
)
def test_other_words_correct_nothing(said: str) -> None:
    assert read(said) is None


def test_a_change_is_about_what_it_names() -> None:
    demo = "The demo for Halvorsen is on Friday at 11"
    moved = "Halvorsen asked to push it to Monday"
    assert corrects(moved, demo, is_next=False) == "changed"
    assert corrects(moved, "The invoice is due on Friday", is_next=True) is None
    # 'It is Friday now': a time alone is no thing that both are about.
    assert corrects("The bike moved on Friday", demo, is_next=True) is None


def test_the_words_that_name_what_is_taken_back_choose_it() -> None:
    said = "ignore what I said about the linter"
    assert corrects(said, "Always run the linter", is_next=False) == "taken back"
    assert corrects(said, "Tabs, please", is_next=True) is None


def test_no_is_an_answer_behind_a_question() -> None:
    earlier = "The config is in the repo"
    assert corrects("sorry, in the wiki", earlier, is_next=True) == "may correct"
    asked = "Shall I look there?"
    assert corrects("sorry, in the wiki", earlier, is_next=True, reply=asked) is None
    assert corrects("no, in the wiki", earlier, is_next=True, reply="I read the wiki.") is None
    assert corrects("no, in the wiki", "Is it in the repo?", is_next=True) is None


@pytest.mark.parametrize(
    ("said", "old", "new"),
    [
        ("15k", "The budget is 12k", "The budget is 15k"),
        ("it's at 9:45", "Standup is at 9:30", "Standup is at 9:45"),
        ("Thursday", "The bins go out on Wednesday", "The bins go out on Thursday"),
        ("Bo is five", "My son Bo is four", "My son Bo is five"),
        ("the 29 August", "It is on 22 August in Bamberg", "It is on 29 August in Bamberg"),
        ("90s", "The timeout is 30 seconds", None),
        ("12 or 15", "The budget is 12k", None),
        ("Friday", "The demo is on Monday or Tuesday", None),
        ("on 29 August", "The wedding is on Saturday 22 August", None),
        ("12k", "The budget is 12k", None),
    ],
)  # fmt: skip
def test_a_value_is_put_in_the_place_of_the_only_one_of_its_type(
    said: str, old: str, new: str | None
) -> None:
    assert with_values_of(said, old) == new
