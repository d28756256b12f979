"""Reads a short answer together with the question that it answers: 'Nuts.' after 'Any allergies?'
is an allergy. Only questions about the person are known; the words of the answer are kept.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.text.capture.vocabulary import NATIONS, TRADES, TRAITS
from holdfast.text.capture.wording import finish, fold

# A longer answer says itself what it is about.
_ANSWER_CHARS_MAX = 80
_ANSWER_WORDS_MAX = 9


class _Question(NamedTuple):
    """A kind of question, and the statement that an answer to it makes."""

    pattern: str
    statement: str
    category: str = "fact"


# The first that matches decides.
_QUESTIONS = (
    _Question(r"\ballerg(?:y|ies|ic)\b", "Allergies: {}"),
    _Question(r"\b(?:your (?:\w+ )?name|(?:should|may|can) i call you)\b", "Name is {}"),
    _Question(
        r"\bwhere (?:do|are) you (?:live|living|based|located)\b|\b(?:which|what) (?:city|town"
        r"|country) (?:do|are) you\b|\bwhere are you from\b",
        "Lives in {}",
    ),
    _Question(r"\b(?:diet|dietary (?:needs|restrictions|preferences|requirements))\b", "Diet: {}"),
    _Question(r"\b(?:kids|children)\b", "Children: {}", "person"),
    _Question(r"\bpets?\b", "Pets: {}", "person"),
    _Question(
        r"\b(?:what do you do (?:for (?:work|a living)|professionally)|your (?:job|occupation"
        r"|profession)|you do for a living)\b",
        "Occupation: {}",
    ),
    _Question(r"\b(?:where|who) do you work\b|\byour (?:employer|company)\b", "Employer: {}"),
    _Question(r"\byour (?:time ?zone)\b|\btime ?zone are you in\b", "Time zone: {}"),
    _Question(r"\byour pronouns\b", "Pronouns: {}"),
    _Question(r"\blanguages? do you speak\b", "Speaks {}"),
    _Question(r"\bhow old are you\b|\byour age\b", "Age: {}"),
    _Question(r"\b(?:medical|health) (?:conditions?|issues?)\b", "Health: {}"),
)
_WHICH_USED = re.compile(
    r"\b(?:which|what) (?P<what>[\w-]+(?: [\w-]+){0,2}?)(?: do| are) you (?:use|using|work with"
    r"|on|running)\b"
)
_YES_OR_NO = re.compile(
    rf"\bare you (?P<what>(?:an? )?(?:{TRAITS}|{TRADES}|{NATIONS}|lactose intolerant"
    r"|allergic to [\w ]+))\s*\?"
)
_YES = re.compile(r"(?:yes|yeah|yep|yup|i am|correct|right)\b")
_NO = re.compile(r"(?:no|nope|nah|not|i'?m not)\b")
_NONE = re.compile(r"(?:no|nope|none|nothing|nah|n/a|not that i know(?: of)?)[.! ]*$")
_NO_ANSWER = re.compile(
    r"(?:ok|okay|sure|yes|yeah|yep|no|nope|thanks?|thank you|please|go ahead|the (?:\w+ )?(?:one"
    r"|first|second|third|last)|first|second|both|either|whatever|not sure|idk|i don'?t know"
    r"|dunno|never ?mind|why|what|how|can|could|do|does|is|are|you|later|skip|maybe|hmm+|it|this"
    r"|that|stop|wait|hi|hello|hey|good|great|fine|cool|all good|nothing|depends|any|anything"
    r"|let'?s|i|i'?m|i'?ve|my|we|our)\b"
)
_LEADING = re.compile(
    r"(?:in|to|a bit of|it'?s|just|mostly|well|oh|um+|uh+|er)[, ]+", re.IGNORECASE
)


class Answer(NamedTuple):
    """What an answer states, and its category."""

    text: str
    category: str


def answer_to(question: str, said: str) -> Answer | None:
    """What a short answer to a question of the assistant says about the person."""
    asked = _last_question(question)
    words = said.strip()
    if not asked or not words or len(words) > _ANSWER_CHARS_MAX or "\n" in words or "?" in words:
        return None
    folded = fold(words)
    if folded.count(" ") >= _ANSWER_WORDS_MAX:
        return None
    if (about := _YES_OR_NO.search(asked)) is not None:
        return _yes_or_no(about["what"], folded)
    kind = next((one for one in _QUESTIONS if re.search(one.pattern, asked)), None)
    if kind is not None and kind.statement.endswith(": {}") and _NONE.match(folded):
        return Answer(kind.statement.format("none"), kind.category)
    if _NO_ANSWER.match(folded):
        return None
    value = finish(_LEADING.sub("", words, count=1) if _LEADING.match(words) else words)
    if not value:
        return None
    if kind is not None:
        return Answer(kind.statement.format(value), kind.category)
    used = _WHICH_USED.search(asked)
    return None if used is None else Answer(f"{used['what'].capitalize()}: {value}", "preference")


def _yes_or_no(what: str, folded: str) -> Answer | None:
    if _YES.match(folded):
        return Answer(f"Is {what}", "fact")
    return Answer(f"Is not {what}", "fact") if _NO.match(folded) else None


def _last_question(question: str) -> str:
    """The question at the end of what the assistant said; '' where there is none, or several."""
    last = fold(question.strip().rsplit("\n", 1)[-1])
    if not last.rstrip(" \"')*_").endswith("?") or last.count("?") != 1:
        return ""
    return last
