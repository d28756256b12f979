"""Recognises how people introduce themselves: 'I am Karl, CTO of Acme', 'hi im ana', 'names Priya',
'she/her'. Each fact of an introduction is one of its own.
"""

from __future__ import annotations

import re

from holdfast.text.capture.vocabulary import NATIONS, TRADES, TRAITS
from holdfast.text.capture.wording import finish
from holdfast.text.patterns import lazy

_I_AM = r"(?:i'?m|i am|this is|it'?s)"
_NAME = r"[^\W\d_][\w'-]{1,20}(?: [^\W\d_][\w'-]{1,20})?"
_ROLE = (
    rf"(?:an? |the )?(?:[\w-]+ ){{0,3}}?(?:{TRADES}|head of|vp of|lead of|chief \w+ officer"
    r"|responsible for|in charge of)"
)
_WITH_ROLE = lazy(rf"{_I_AM} (?P<name>{_NAME}), (?P<role>{_ROLE}\b.*)")
_WITH_CAPITAL = lazy(
    rf"(?:i'?m|i am) (?P<name>{_NAME})(?: here)?(?:$|[.!,]? *$| from (?P<place>.+))"
)
_GREETED = lazy(r"(?:i'?m|i am) (?P<name>[^\W\d_]+)(?:$|[.!,]| and\b| here\b| from\b)")
_HERE = lazy(r"(?P<name>[^\W\d_][\w'-]+) here[.! ]*$")
_NAMES = lazy(r"names? (?:is )?(?P<name>[^\W\d_][\w'-]+)(?: by the way| btw)?[.! ]*$")
_PRONOUNS = lazy(r"(?P<what>(?:she|he|they)/(?:her|him|them)(?:/\w+)?)(?: btw| by the way)?[.! ]*$")
_NO_NAME = lazy(
    rf"(?:{TRAITS}|{NATIONS}|\w+(?:ing|ed)|a|an|the|not|so|just|here|back|new|in|on|at|from|with|to"
    r"|same|nothing|everything|over|around|down|left|me|most|people|hi|hello|us"
    r"|sorry|sure|fine|good|well|ok|okay|glad|happy|sad|tired|stuck|lost|done|sick|curious|afraid"
    r"|late|early|free|busy|ready|unsure|certain|able|about|almost|also|always|really|very|too|all"
    r"|alone|alive|aware|away|awake|bad|better|cold|hot|home|hungry|ill|interested|mad|new|out|over"
    r"|poor|pretty|proud|quite|rich|right|safe|serious|sleepy|still|super|up|using|wrong|your|you"
    r"|my|our|his|her|their|now|only|old|young|kinda|kind|like|gonna|going|that|this|it|one|none"
    r"|nobody|everyone|someone|anyone|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|january|february|march|april|june|july|august|september|october|november|december)\Z"
)


def introduced(folded: str, words: str, *, greeted: bool = False) -> list[str]:
    """The facts of an introduction; none where it is no introduction. `greeted`: a greeting came
    before it, and then a name may be in lower case."""
    if (match := _PRONOUNS.match(folded)) is not None:
        return [f"Pronouns are {match['what']}"]
    if (match := _NAMES.match(folded)) is not None:
        return _named(match, words)
    if (match := _HERE.match(folded)) is not None and _has_capitals(match, words):
        return _named(match, words)
    if (match := _WITH_ROLE.match(folded)) is not None and words[match.start("name")].isupper():
        return _with_role(_named(match, words), words[match.start("role") : match.end("role")])
    match = _WITH_CAPITAL.match(folded)
    if match is not None and _has_capitals(match, words):
        place = match["place"]
        named = _named(match, words)
        if named and place:
            return [*named, f"Is from {finish(words[match.start('place') : match.end('place')])}"]
        return named
    if greeted and (match := _GREETED.match(folded)) is not None:
        return _named(match, words)
    return []


def _with_role(named: list[str], role: str) -> list[str]:
    if not named:
        return []
    first, _, rest = finish(role).partition(" ")
    # 'CTO' keeps its capitals.
    first = first if len(first) > 1 and first.isupper() else first.lower()
    return [*named, f"Is {first} {rest}".rstrip()]


def _has_capitals(match: re.Match[str], words: str) -> bool:
    name = words[match.start("name") : match.end("name")]
    return all(part[:1].isupper() and not part.isupper() for part in name.split())


def _named(match: re.Match[str], words: str) -> list[str]:
    if any(_NO_NAME.match(part) for part in match["name"].split()):
        return []
    name = words[match.start("name") : match.end("name")]
    return [f"Name is {name[:1].upper()}{name[1:]}"]
