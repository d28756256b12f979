"""Recognises requests to the agent beyond the current task. They are stored in the person's own
words.

Requests to remember something, in nine languages: 'Remember that …', 'Merk dir, dass …', '记住…'.
Orders for the future: corrections ('no, use uv, not pip'), prohibitions ('stop adding comments'),
permissions ('no need to ask') and conventions ('in this repo we use tabs'). Requests about the
current task ('stop the server', 'use the second one') do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.text.analysis.spans import fold_in_place
from holdfast.text.capture.sentences import Sentence
from holdfast.text.sentences import sentence_spans
from holdfast.text.tables import Patterns, lazy

_PATTERNS = Patterns("capture/patterns.txt")

# Requests to remember


_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "zh", "ja")
# 'Remember that time …' and 'remember when' are no requests.
_NO_REQUEST = lazy(r"[^?？]*[?？]\s*$")
_LETTERS = lazy(r"\w")
# What is to be remembered has at least so many letters.
_LETTERS_MIN = 4


def requested(folded: str) -> tuple[int, int] | None:
    """The part of a sentence that a person asks to have remembered; None where nothing is asked."""
    if _NO_REQUEST.match(folded):
        return None
    for language in _LANGUAGES:
        found = _PATTERNS[f"remember {language}"].match(folded)
        if found is not None and len(_LETTERS.findall(folded[found.end() :])) >= _LETTERS_MIN:
            return found.end(), len(folded)
    behind = _PATTERNS["remember ja behind"].match(folded)
    return None if behind is None else behind.span("what")


def asked_behind(found: Sequence[Sentence]) -> Iterator[Sentence]:
    """The sentences of a turn, without requests that come behind what they ask to remember: 'The
    VPN is down on Mondays, remember that'. What they refer to is marked as asked for."""
    held: Sentence | None = None
    for one in found:
        request = _PATTERNS["remember behind"].search(one.folded)
        if request is None:
            if held is not None:
                yield held
            held = one
            continue
        behind = held if request.start() == 0 else _before(one, request.start())
        if held is not None and behind is not held:
            yield held
        held = None
        if behind is not None:
            yield behind if _means_another(behind) else behind._replace(asked=True)
    if held is not None:
        yield held


def _before(sentence: Sentence, end: int) -> Sentence:
    return sentence._replace(
        end=sentence.start + end, said=sentence.said[:end], folded=sentence.folded[:end]
    )


def _means_another(sentence: Sentence) -> bool:
    """Whether a sentence asks, or cannot be understood without another one."""
    asks = _NO_REQUEST.match(sentence.folded) is not None
    return asks or _PATTERNS["refers"].search(sentence.folded) is not None


# Orders


_NOT_THAT = lazy(
    r".{2,80}(?:, not|\b(?:like|as in|say|use) \S.{1,30} not) \S+(?: \S+){0,3}$"
    r"|(?:it'?s|it is) .{2,40} not \S+(?: \S+)?$"
)
_NO_THINGS = lazy(r"(?:no|not to|only|never|always) \S")
# After a correction, what to use is an order by itself: 'no, use tabs'.
_CORRECTED = lazy(
    r"(?:not \S+(?: \S+)?,? )?(?:please )?(?:use|prefer|we (?:use|always|never|don'?t|only)) \S"
)
_THAT = lazy(r"\b(?:it|this|that|these|those|them)\b")
# Figures of speech between people.
_IDIOM = lazy(
    r"(?:do not|don'?t) (?:ask me (?:how|why)|quote me|judge me|get me (?:wrong|started))\b"
)
# 'It's pnpm here, not npm.'
_IT_IS_HERE = lazy(r"(?:it'?s|it is) \S+(?: \S+)? (?:here|in this \w+),? not \S+(?: \S+)?$")
_IT_IS = lazy(r"^(?:it'?s|it is) ")
# At least so many words say what to do; 'no tests' alone does not.
_WORDS_MIN, _WORDS_MAX = 2, 40


def order_start(folded: str) -> int | None:
    """Where an order for the future begins in a sentence; None if there is none."""
    if not _WORDS_MIN <= folded.count(" ") + 1 <= _WORDS_MAX:
        return None
    asked = _PATTERNS["asked for"].match(folded)
    if asked or folded.rstrip(" \"')").endswith("?"):
        if asked is None or _PATTERNS["this time"].search(folded):
            return None
        return asked.end() if _points_nowhere(folded[asked.end() :]) else None
    correction = _PATTERNS["corrects"].match(folded) or _PATTERNS["label"].match(folded)
    start = correction.end() if correction else 0
    if correction and (again := _PATTERNS["corrects"].match(folded, start)):
        # 'You keep forgetting, I told you it's …'
        start = again.end()
    order = folded[start:].rstrip(" .!,;…")
    if _PATTERNS["this time"].search(order) or _IDIOM.match(order):
        return None
    if _PATTERNS["label"].match(folded) or _IT_IS_HERE.match(order):
        return start
    if _PATTERNS["convention"].match(order):
        return None if _THAT.search(_PATTERNS["in a place"].sub(" ", order)) else start
    if correction and _NOT_THAT.match(order):
        return None if _THAT.search(_IT_IS.sub("", order)) else start
    if _PATTERNS["wish"].match(order):
        return start
    if not _points_nowhere(order):
        return None
    forms = (
        _PATTERNS["prohibition"],
        _PATTERNS["standing order"],
        _PATTERNS["permission"],
        _PATTERNS["no such"],
        _PATTERNS["instead"],
    )
    if any(form.match(order) for form in forms):
        return start
    if correction and (_says_no(correction, order) or _CORRECTED.match(order)):
        return start
    # 'You keep forgetting: functions are camelCase': only its beginning makes it an order.
    return 0 if correction and correction[0].startswith("you ") else None


def turns_down(said: str, reply: str) -> bool:
    """Whether a person turns down what the agent had just said: 'no, use uv, not pip'. After a
    question 'no' is an answer, unless an order for the future comes with it."""
    folded = fold_in_place(said.strip())
    if _PATTERNS["turns down"].match(folded) is None:
        return False
    if not reply.rstrip().endswith(("?", "？")):
        return True
    _, end = next(iter(sentence_spans(folded)))
    return order_start(folded[:end].rstrip()) is not None


def _says_no(correction: re.Match[str], order: str) -> bool:
    """'I told you, no emojis.'"""
    return correction[0].startswith("i") and _NO_THINGS.match(order) is not None


# A shorter beginning says nothing by itself.
_FIRST_WORDS_MIN = 3


def _points_nowhere(order: str) -> bool:
    """Whether an order makes sense without what was said before it: 'don't apologize all the time,
    just fix it' does by its first part."""
    plain = _PATTERNS["own things"].sub(" ", _PATTERNS["about you"].sub(" ", order))
    first = plain.split(", ", 1)[0]
    if first.count(" ") + 1 >= _FIRST_WORDS_MIN and not order.startswith(("when", "if")):
        plain = first
    return _PATTERNS["refers"].search(plain) is None
