"""Secrets that are given as an answer: the question asks for a credential, and the answer is only
the value. The question is the previous turn of a conversation, or stands in the same text."""

from __future__ import annotations

import re

from holdfast.text.secrets import nouns
from holdfast.text.secrets.checks import Strength, is_phrase, is_state, is_token, strength
from holdfast.text.secrets.nouns import PIN, QUOTES, TRAILING, Noun, Place, Span, find_nouns

_OPENING = r"^[^\w¿]{0,4}(?:(?:and|ok|okay|so|but|hey|hi|sorry|please|thanks|great|sure|then|also|now|und|et|y|e|en)\b[ ,.!:-]{0,3}){0,3}"  # noqa: E501
_ASKS = re.compile(rf"{_OPENING}¿?(?:{nouns.spaced(nouns.ASKS)})\b", re.IGNORECASE)
_ASKS_ELSE = re.compile(rf"\b(?:{nouns.spaced(nouns.ASKS_ELSE)})\b", re.IGNORECASE)
_ASKED_BEHIND = re.compile(
    rf"[ \t]*(?:$|[?？:.!。：]|,[ ]|(?:{nouns.spaced(nouns.ASKED_BEHIND)})\b(?![ \t]*[?]))"
    r"|[ \t]?(?:は何|は$|は？|是什么|是多少|是啥|는 뭐)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    rf"(?:(?:{nouns.spaced(nouns.LEAD_IN)})(?!\w)[ \t]*[,.:!，-]?[ \t]*){{0,2}}"
    rf"(?:(?:{nouns.spaced(nouns.ANSWER_IS)})[ \t]*:?[ \t]+)?",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:[*>_ \t]{0,3}(?:[A-Za-z][\w ]{0,20}|答)[:：][*_]{0,2}[ \t]{0,3})?")
_LAST_SENTENCE = re.compile(r"(?<=[.!?。？])\s+|\n")
_SENTENCE_END = re.compile(r"[.!?](?=\s)")
_QUESTION_BEHIND = re.compile(r"[^\n.!?？]{0,60}[?？](?P<gap>[ \t]*\r?\n[ \t]*|[ \t]+)")
_WORD = re.compile(r"\S+")
_QUESTION_CHARS_MAX = 400
_ANSWER_CHARS_MAX = 200


def find_answer(question: str, answer: str) -> list[Span]:
    """The secrets in an answer to a question that asks for one; nothing for other questions."""
    noun = _asked(question)
    found = None if noun is None else _answer(answer, 0, len(answer), noun)
    return [] if found is None else [found]


def find_after_question(text: str, low: str, place: Place) -> Span | None:
    """'Password for the printer? It's …', and a question with its answer on the next line."""
    match = _QUESTION_BEHIND.match(text, place.end)
    if match is None:
        return None
    since = max(0, place.at - _QUESTION_CHARS_MAX)
    begin = 1 + max(low.rfind(mark, since, place.at) for mark in ("\n", ". ", ": "))
    if _asked(text[max(begin, since) : match.start("gap")]) is None:
        return None
    at = match.end()
    if "\n" not in match["gap"]:
        lead = _LEAD_IN.match(text, at)
        if lead is None or not lead[0]:
            return None
    elif label := _LABEL.match(text, at):
        at = label.end()
    line_end = text.find("\n", at)
    end = line_end if line_end >= 0 else len(text)
    stop = _SENTENCE_END.search(text, at, end)
    return _answer(text, at, stop.start() if stop else end, place.noun)


def _asked(question: str) -> Noun | None:
    """What a question asks for: the noun in its last sentence."""
    last = _LAST_SENTENCE.split(question.strip()[-_QUESTION_CHARS_MAX:])[-1]
    low = last.lower()
    if len(low) != len(last) or _ASKS_ELSE.search(last):
        return None
    places = [
        place
        for place in find_nouns(low)
        if not (place.noun.weak and place.noun.text not in ("pass", "pw"))
        and _ASKED_BEHIND.match(last, place.end)
    ]
    if not places:
        return None
    noun = max(places, key=lambda place: (place.end, len(place.noun.text))).noun
    # In other languages the question mark is enough: how a question begins varies too much.
    foreign = noun.kind == "password" and not noun.is_english
    asks = _ASKS.search(last) or (foreign and last.rstrip().endswith(("?", "？")))
    return noun if asks or not last.isascii() else None


def _answer(text: str, at: int, end: int, noun: Noun) -> Span | None:
    lead = _LEAD_IN.match(text, at, end)
    start = lead.end() if lead is not None else at
    while start < end and text[start].isspace():
        start += 1
    line = text[start:end].split("\n", 1)[0].rstrip()
    if not line or len(line) > _ANSWER_CHARS_MAX:
        return None
    if noun.kind == "pin":
        pin = PIN.match(text, start, end)
        return None if pin is None else (noun.kind, *pin.span())
    closing = QUOTES.get(line[0])
    if closing is not None and closing in line[1:]:
        start += 1
        line = line[1 : line.index(closing, 1)]
    value = line.rstrip(TRAILING)
    if not any(map(str.isspace, value)):
        fits = _fits(value, noun)
    elif noun.kind == "password" and is_phrase(value):
        fits = True
    else:
        return _in_sentence(line, start, noun)
    return (noun.kind, start, start + len(value)) if value and fits else None


def _fits(value: str, noun: Noun) -> bool:
    if noun.is_token:
        return is_token(value) or (len(value) >= 8 and strength(value) is Strength.STRONG)
    return strength(value) is not Strength.NONE and not is_state(value, by_ending=False)


def _in_sentence(line: str, start: int, noun: Noun) -> Span | None:
    """Where more was said than the value: what cannot be a word is the value."""
    for word in _WORD.finditer(line):
        bare = word[0].strip(TRAILING + "\"'`")
        if is_token(bare) if noun.is_token else strength(bare) is Strength.STRONG:
            begin = start + word.start() + word[0].index(bare)
            return noun.kind, begin, begin + len(bare)
    return None
