"""Reads a short answer together with the question that it answers: 'Nuts.' after 'Any allergies?'
is an allergy. Only questions about the person, how they work and what they want done from now on
are read; a question about the current task is not. The answer is stored in its own words."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from holdfast.text.analysis.spans import fold_in_place as fold
from holdfast.text.capture.wording import finish
from holdfast.text.tables import Patterns, lazy, read_table

_PATTERNS = Patterns("capture/patterns.txt")

# A longer answer has its own topic.
_ANSWER_CHARS_MAX = 80
_ANSWER_WORDS_MAX = 9


class Question(NamedTuple):
    """A row of `questions.txt`: a kind of question, and the statement that an answer makes."""

    statement: str
    category: str
    example: str
    answer: str
    pattern: str


@cache
def questions() -> tuple[Question, ...]:
    """The questions whose short answers are captured, in the order in which they are tried."""
    return tuple(Question(*row) for row in read_table("capture/questions.txt"))


_YES = lazy(r"(?:yes|yeah|yep|yup|i am|correct|right|please do|sure)\b")
_NO = lazy(r"(?:no|nope|nah|not|i'?m not)\b")
_LAUGHTER = lazy(r"(?i)\A(?:(?:a?(?:ha){2,}h?|lol|lmao|hehe)[.!, ]+)+")
# 'I love it. You?' asks the same back.
_ASKED_BACK = lazy(
    r"(?i)(?<![.,!;])[.,!;]++ *+(?:and |what about |how about )?(?:you|u|yourself|yours)\W*$"
)
_OWN_WORDS = lazy(
    r"(?i).*, *(?:and |but |so )?(?=(?:do|did|are|have|would|what|which|how|where|who|when|is) )"
    r"|(?:i|we) [^,]{1,40}, "
)
_LINKED = lazy(r"(?i)\A(?:(?:so|and|but|well|oh|ok|okay|then|wow|cool),? )+")
# What a list of children or pets does not begin with.
_NO_LIST = lazy(
    r"(?i)(?:from|so|but|because|not|very|really|too|still|sometimes|always|in|at|to)\b"
)
_LISTS = ("Children:", "Pets:", "Occupation:", "Age:")
_OF_OTHERS = lazy(r"\A(?!.*\b(?:i|i'?m|my|we|our|me|us)\b)[^,;]*\w (?:is|are|was|were) \w")
_PLAIN_IN = lazy(r"(?i)(?:in|from|en|em|à|au|a) ")


# What the assistant calls 'I' is 'you' in the words of the person.
_OTHER = {"i": "you", "me": "you", "my": "your", "you": "me", "your": "my"}
_SPEAKERS = lazy(r"(?i)\b(?:i|me|my|you|your)\b")


class Answer(NamedTuple):
    """What a short answer states, and its category."""

    text: str
    category: str


def answer_to(question: str, said: str) -> Answer | None:
    """What a short answer to a question of the assistant says about the person."""
    asked, words = _last_question(question), _ASKED_BACK.sub("", _LAUGHTER.sub("", said.strip()))
    if not asked or not words or len(words) > _ANSWER_CHARS_MAX or "\n" in words or "?" in words:
        return None
    folded, own = fold(asked), fold(words)
    if own.count(" ") >= _ANSWER_WORDS_MAX or _PATTERNS["supposed"].search(own):
        return None
    if (about := _PATTERNS["yes or no"].search(folded)) is not None and (
        _YES.match(own) or _NO.match(own)
    ):
        return Answer(f"{'Is' if _YES.match(own) else 'Is not'} {about['what']}", "fact")
    kind = next((one for one in questions() if re.search(one.pattern, folded)), None)
    if kind is not None and kind.statement.endswith(": {}") and _PATTERNS["none"].match(own):
        return Answer(kind.statement.format("none"), kind.category)
    if kind is None and (trait := _PATTERNS["trait"].match(own)) is not None:
        return Answer(f"Is {words[trait.start('what') :].rstrip(' .!,')}", "fact")
    if kind is None and (practice := _PATTERNS["practice"].match(own)) is not None:
        what = words[practice.start("what") :]
        return None if _points(practice["what"]) else Answer(finish(what), "preference")
    if kind is None and (order := _PATTERNS["should I"].search(folded)) is not None:
        return _ordered(order, asked, own)
    value = _value(words)
    is_without = kind is not None and _PATTERNS["without"].match(fold(value)) is not None
    if not value or (_PATTERNS["no answer"].match(fold(value)) and not is_without):
        return None
    if kind is not None:
        if kind.statement.startswith(_LISTS) and _NO_LIST.match(value):
            return None
        return Answer(_stated(kind, value), kind.category)
    if (used := _PATTERNS["which used"].search(folded)) is not None:
        return Answer(f"{used['what'].capitalize()}: {value}", "preference")
    if about is None and (
        not _PATTERNS["about the person"].search(folded)
        or _PATTERNS["about the task"].search(folded)
    ):
        return None
    if _OF_OTHERS.search(own):
        # 'White peaches are juicy' says nothing of the person.
        return None
    return Answer(f"{asked} {finish(words)}", "fact")


def _stated(kind: Question, value: str) -> str:
    if (
        kind.statement.startswith("Lives")
        and _PATTERNS["place"].match(value)
        and not _PLAIN_IN.match(value)
    ):
        return f"Lives {value[:1].lower()}{value[1:]}"
    if kind.statement.startswith("Lives"):
        value = _PLAIN_IN.sub("", value, count=1).partition(". ")[0]
    if kind.statement.startswith("Name"):
        # 'Norman. Norman Bates', 'Bill Johnson, room 203'.
        value = value.partition(",")[0]
        *_, last = value.rpartition(". ")
        value = last if value.startswith(last.partition(" ")[0]) else value
    return kind.statement.format(value)


def _value(words: str) -> str:
    """What was answered, without the words around it."""
    value = words
    for _ in range(2):
        leading = _PATTERNS["leading"].match(value)
        value = value[leading.end() :] if leading else value
    return _PATTERNS["trailing"].sub("", value).strip(" .!,;")


def _ordered(order: re.Match[str], asked: str, own: str) -> Answer | None:
    """'Yes' to 'Should I …?', where it is asked or answered for more than this time."""
    group = "should" if order["should"] else "want"
    what = _SPEAKERS.sub(
        lambda word: _OTHER[word[0].lower()], asked[order.start(group) : order.end(group)]
    )
    always = _PATTERNS["always"].match(own)
    if always is not None:
        when = "Never" if always["when"] == "never" else "Always"
        return Answer(f"{when} {re.sub(r'(?i)^(?:always|never) ', '', what)}", "preference")
    if not _PATTERNS["for good"].search(fold(what)):
        return None
    if _YES.match(own):
        return Answer(finish(what), "preference")
    return Answer(f"Do not {what}", "preference") if _NO.match(own) else None


def _points(what: str) -> bool:
    """Whether it is about this time, or about something that was said before."""
    return (
        _PATTERNS["refers"].search(what) is not None
        or _PATTERNS["passing"].search(what) is not None
    )


def _last_question(question: str) -> str:
    """The question at the end of the assistant's message; empty if there is none, or several."""
    last = question.strip().rsplit("\n", 1)[-1].rstrip(" \"')*_")
    if not last.endswith(("?", "？")) or last.count("?") + last.count("？") != 1:
        return ""
    # What comes before the question is no part of it, nor is what who asks says of themselves.
    asked = re.split(r"(?<=[.!:]) +", last)[-1].lstrip("¿ ")
    own = _OWN_WORDS.match(asked)
    asked = asked[own.end() :] if own else asked
    asked = _LINKED.sub("", asked)
    return f"{asked[:1].upper()}{asked[1:]}"
