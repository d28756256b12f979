"""Secrets that are given in a sentence, in a dozen languages ('my wifi password is …', 'I changed
the password to …', 'use … as the password', 'PIN 4711'), or as an answer: a question asks for a
credential, and the answer is only the value. The question is the previous turn of a conversation,
or is in the same text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.text.secrets.checks import (
    Strength,
    is_coined,
    is_phrase,
    is_state,
    is_token,
    strength,
)
from holdfast.text.secrets.nouns import PIN, QUOTES, TRAILING, Noun, Place, Span, find_nouns
from holdfast.text.secrets.rules import QUESTION_CHARS_MAX
from holdfast.text.sentences import SPACES_AND_LINES
from holdfast.text.tables import Patterns, lazy

_PATTERNS = Patterns("secrets/patterns.txt")

_LABEL = lazy(r"(?:[*>_ \t]{0,3}(?:[A-Za-z][\w ]{0,20}|答)[:：][*_]{0,2}[ \t]{0,3})?")
_SENTENCE_END = lazy(r"[.!?](?=\s)")
_QUESTION_BEHIND = lazy(r"[^\n.!?？]{0,60}[?？](?P<gap>[ \t]*\r?\n[ \t]*|[ \t]+)")
_WORD = lazy(r"\S+")
_ANSWER_CHARS_MAX = 200


def find_answer(question: str, answer: str) -> list[Span]:
    """The secrets in an answer to a question that asks for one; nothing for other questions."""
    noun = _asked(question)
    found = None if noun is None else _answer(answer, 0, len(answer), noun)
    return [] if found is None else [found]


def find_after_question(text: str, low: str, place: Place) -> Span | None:
    """Finds a secret after a question: 'Password for the printer? It's …', and a question with its
    answer on the next line."""
    match = _QUESTION_BEHIND.match(text, place.end)
    if match is None:
        return None
    since = max(0, place.at - QUESTION_CHARS_MAX)
    begin = 1 + max(low.rfind(mark, since, place.at) for mark in ("\n", ". ", ": "))
    if _asked(text[max(begin, since) : match.start("gap")]) is None:
        return None
    at = match.end()
    if "\n" not in match["gap"]:
        lead = _PATTERNS["lead in"].match(text, at)
        if lead is None or not lead[0]:
            return None
    elif label := _LABEL.match(text, at):
        at = label.end()
    line_end = text.find("\n", at)
    end = line_end if line_end >= 0 else len(text)
    stop = _SENTENCE_END.search(text, at, end)
    return _answer(text, at, stop.start() if stop else end, place.noun)


def _asked(question: str) -> Noun | None:
    """The noun that a question asks for, in its last sentence."""
    last = SPACES_AND_LINES.split(question.strip()[-QUESTION_CHARS_MAX:])[-1]
    low = last.lower()
    if len(low) != len(last) or _PATTERNS["asks something else"].search(last):
        return None
    places = [
        place
        for place in find_nouns(low)
        if not (place.noun.weak and place.noun.text not in ("pass", "pw"))
        and _PATTERNS["behind what is asked for"].match(last, place.end)
    ]
    if not places:
        return None
    noun = max(places, key=lambda place: (place.end, len(place.noun.text))).noun
    # In other languages the question mark is enough: how a question begins varies too much.
    foreign = noun.kind == "password" and not noun.is_english
    asks = _PATTERNS["asks"].search(last) or (foreign and last.rstrip().endswith(("?", "？")))
    return noun if asks or not last.isascii() else None


def _answer(text: str, at: int, end: int, noun: Noun) -> Span | None:
    lead = _PATTERNS["lead in"].match(text, at, end)
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


_DIRECT = lazy(r",?[ \t]{1,3}(?=[^\s=:])")
# 'The code was changed in 2024.'
_CHANGED_WHEN = lazy(r"\b(?:is|was|were|been)\b.*\bin\s*$", re.IGNORECASE | re.DOTALL)
_MARKS = lazy(r"(?:\*{1,2}|_{2}|<(?:b|code|strong)>)?")
_CALL = lazy(r"[A-Za-z_][\w.]*\(")


def find_said(text: str, low: str, place: Place) -> Iterator[Span]:
    """The secret that a sentence gives for the noun at this place."""
    _, at, end = place
    if text[end : end + 1] in ("_", "/"):
        return
    if not place.noun.is_token and text[max(0, at - 1) : at] in ("_", "."):
        return
    found = (
        _after(text, place)
        or _after_change(text, place)
        or _after_words(text, place)
        or _right_behind(text, place)
        or _before(text, low, place)
        or find_after_question(text, low, place)
    )
    if found is not None:
        yield found


def _after(text: str, place: Place) -> Span | None:
    """'The password for the door is …'."""
    match = _PATTERNS["said"].match(text, place.end)
    if match is None:
        return None
    english = place.noun.is_english and match.lastgroup is not None
    return _value(text, match.end(), place, loose=True, words=english)


def _after_words(text: str, place: Place) -> Span | None:
    """'The password upstairs is …'."""
    match = _PATTERNS["said later"].match(text, place.end)
    if match is None or (place.noun.weak and place.noun.text in ("pass", "pw", "code")):
        return None
    found = _value(text, match.end(), place, loose=True)
    if found is None or found[0] != "password":
        return found
    return found if is_coined(text[found[1] : found[2]]) else None


def _after_change(text: str, place: Place) -> Span | None:
    """'I changed my password to …', and where the verb comes last, as in German."""
    match = _PATTERNS["changed"].match(text, place.end)
    if match is None or _ARGUMENT.match(text, match.end()):
        return None
    if _CHANGED_WHEN.search(match[0]):
        return None
    found = _value(text, match.end(), place, loose=True, words=match["english"] is not None)
    if found is None:
        return None
    verb = _PATTERNS["change verb"]
    if verb.search(text, max(0, place.at - 60), place.at):
        return found
    if verb.search(text, place.end, match.end()):
        return found
    return found if _PATTERNS["changed behind"].match(text, found[2]) else None


# A named argument of a call, and somebody who logs in.
_ARGUMENT = lazy(r"[`\"']?[A-Za-z_]\w*=")


def _right_behind(text: str, place: Place) -> Span | None:
    """'user ana, password …': without a connective only what cannot be a word is a value."""
    match = _DIRECT.match(text, place.end)
    if match is not None and not place.noun.is_english:
        # In English too many things have a name with digits: 'the password for Windows10'.
        described = _PATTERNS["described"].match(text, place.end)
        if described is not None and described.end() > match.end():
            found = _value(text, described.end(), place, loose=False)
            if found is not None:
                return found
    if match is None or _ARGUMENT.match(text, match.end()):
        return None
    if place.noun.weak and not _PATTERNS["user"].search(text, max(0, place.at - 60), place.at):
        return None
    return _value(text, match.end(), place, loose=False)


_GOES_ON = lazy(r"s?[ \t-]\w")


def _before(text: str, low: str, place: Place) -> Span | None:
    """'Use … as the password', 'make … the new password'."""
    begin = max(0, place.at - 160)
    if not low[max(0, place.at - 60) : place.at].endswith((" ",)):
        return None
    match = _PATTERNS["as"].search(text, begin, place.at)
    if match is None:
        return None
    group = "quoted" if match["quoted"] is not None else "bare"
    value = match[group].rstrip(TRAILING)
    start = match.start(group)
    if match["link"] == "for" and _GOES_ON.match(text, place.end):
        return None
    given = match["link"] in ("is", "that's", "that’s", "that is", "which is") or match["foreign"]
    if not given and not _PATTERNS["gives"].search(text, begin, start):
        return None
    if place.noun.is_token:
        fits = is_token(value)
    elif place.noun.kind == "pin" or "code" in place.noun.text:
        fits = PIN.fullmatch(value) is not None
    elif group == "quoted" and match["link"] not in ("the", "is", "for"):
        fits = is_phrase(value) and strength(value) is not Strength.NONE
    else:
        fits = is_coined(value)
    return (place.noun.kind, start, start + len(value)) if fits else None


def _value(text: str, at: int, place: Place, *, loose: bool, words: bool = False) -> Span | None:
    """The value that begins here. A loose one may be joined of words; a single ordinary word is
    one only in English, as the adjectives of other languages are too many to list."""
    noun = place.noun
    if marks := _MARKS.match(text, at):
        at = marks.end()
    if text[at : at + 1] in "([":
        at += 1
    if noun.kind == "pin":
        if text[at : at + 1] in QUOTES:
            at += 1
        pin = PIN.match(text, at)
        return None if pin is None or _is_quantity(text, pin.end()) else (noun.kind, *pin.span())
    closing = QUOTES.get(text[at : at + 1])
    if closing is not None:
        close = text.find(closing, at + 1, at + 130)
        value = text[at + 1 : close] if close >= 0 else ""
        if "\n" not in value and _fits_quoted(value, noun):
            return noun.kind, at + 1, close
        if value:
            return None
        at += 1
    bare = _PATTERNS["bare"].match(text, at)
    if bare is None:
        return None
    if _CALL.match(bare[0]):
        return None
    value = bare[0].rstrip(TRAILING).removesuffix("'")
    end = at + len(value)
    if noun.is_token:
        return (noun.kind, at, end) if is_token(value) else None
    if _fits_bare(text, place, value, end, loose=loose, words=words):
        return noun.kind, at, end
    if loose and noun.kind == "password" and not noun.weak:
        return phrase_to_line_end(text, at, noun)
    return None


def _fits_quoted(value: str, noun: Noun) -> bool:
    if noun.is_token:
        return is_token(value)
    if any(map(str.isspace, value)):
        return is_phrase(value)
    found = strength(value)
    if found is Strength.WORD:
        return not noun.weak and len(value) >= 4 and not is_state(value)
    return found is not Strength.NONE


def _fits_bare(text: str, place: Place, value: str, end: int, *, loose: bool, words: bool) -> bool:
    noun = place.noun
    found = strength(value)
    if found is Strength.STRONG:
        return not (loose is False and _is_quantity(text, end))
    if found is Strength.NUMBER:
        return loose and not noun.weak and not _is_quantity(text, end)
    if not loose:
        if is_coined(value):
            return not noun.weak
        logs_in = _PATTERNS["logs in"].search(text, max(0, place.at - 60), place.at) is not None
        return found is Strength.COINED and logs_in and not is_state(value)
    if found is Strength.COINED:
        return not is_state(value) and (not noun.weak or "_" in value or value[-1].isdigit())
    if words and found is Strength.WORD and not noun.weak and len(value) >= 5:
        ends = _PATTERNS["ends"].match(text, end) is not None
        return ends and value.isascii() and not is_state(value)
    return False


def _is_quantity(text: str, end: int) -> bool:
    return _PATTERNS["quantity"].match(text, end) is not None


_LINE = lazy(r"[^\n\"|<>]{8,100}")


def phrase_to_line_end(text: str, at: int, noun: Noun) -> Span | None:
    """Finds a secret of several words to the end of a line, where the noun calls for them:
    'passphrase: …'."""
    if "phrase" not in noun.text:
        return None
    line = _LINE.match(text, at)
    if line is None:
        return None
    value = line[0].rstrip(" .")
    if value.count(" ") >= 2 and is_phrase(value):
        return noun.kind, at, at + len(value)
    return None
