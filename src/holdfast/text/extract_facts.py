"""Facts that a person states in a conversation: what they ask to be remembered, prefer, are, and
have decided. Small rules on single sentences, in English; precision comes before recall, as a wrong
fact is told to an agent on every turn, and what is missed is still found in the conversation.

Only the person's own turns are read, never an assistant's. Where people go by their names, what
they ask to be remembered and what they decided counts, with the name in front: 'I' would be nobody.
A fact is the sentence as it was said. This module knows text alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.text.chunk import TOKENS_MAX_HIGH, Chunk, chunk
from holdfast.text.chunk_prose import LINE

# A conversation with more than this states no facts: it is a form, or a list somebody pasted.
FACTS_MAX = 20
# A longer sentence holds more than one thing, and a rule on its opening proves little.
_SENTENCE_CHARS_MAX = 300
_WORDS_MIN = 3

_PERSON = frozenset({"user", "human", "me"})
_NOT_A_PERSON = frozenset(
    "assistant system ai bot agent tool developer model claude chatgpt gpt".split()  # noqa: SIM905
)

_NO_SPEAKERS = frozenset({"remember", "decision", "for future reference"})

_OPENING = r"(?:(?:and|but|so|also|ok|okay|btw|by the way|actually|please|oh|well|yes|no)[,:]? +)*"
_I = _OPENING + r"i(?:['’]m| am| )"

_EXPLICIT = re.compile(
    _OPENING
    + r"(?:(?:can|could|would) you +)?(?:please +)?"
    + r"(?:(?:remember|keep in mind|don['’]t forget|do not forget|make a note)"
    + r"(?: *: *|,? +that +)|for future reference *[,:] +)"
    # Of 'that time', 'that one' somebody only speaks.
    + r"(?!(?:time|day|one|when|night|guy|thing)\b)(?P<said>.+)",
    re.IGNORECASE | re.DOTALL,
)
_OBJECT = r"(?!(?:it|that|this|these|those|them|how|what|when|your?|the (?:idea|look|sound))\b)"
_PREFERENCE = (
    rf"{_OPENING}i (?:really |strongly |generally |usually |much |always )*prefer {_OBJECT}",
    rf"{_OPENING}i (?:really |absolutely )?(?:hate|dislike|can['’]?t stand) {_OBJECT}",
    rf"{_OPENING}i (?:always|never) (?:want|use|eat|drink|write|work|take|buy|wear|read) ",
    rf"{_OPENING}my favou?rite [\w -]{{2,40}} (?:is|are) {_OBJECT}",
)
_TRADES = (
    r"(?:accountant|actor|analyst|architect|artist|baker|biologist|carpenter|chef|chemist|coach"
    r"|consultant|cook|dentist|designer|developer|diabetic|doctor|driver|economist|editor"
    r"|electrician|engineer|farmer|founder|freelancer|gardener|historian|journalist|lawyer"
    r"|librarian|linguist|manager|mathematician|mechanic|musician|nurse|painter|paramedic"
    r"|pensioner|photographer|physicist|pilot|plumber|professor|programmer|psychologist"
    r"|researcher|scientist|student|surgeon|teacher|therapist|translator|vegan|vegetarian|vet"
    r"|writer)\b"
)
_RELATIVE = (
    r"(?:wife|husband|partner|son|daughter|mother|father|mom|mum|dad|sister|brother|dog|cat|boss"
    r"|girlfriend|boyfriend|company|team)"
)
_IDENTITY = (
    rf"{_OPENING}my (?:full |first |last )?name is \S",
    rf"{_OPENING}(?:you can )?call me (?!(?:when|if|back|at|later|tomorrow|crazy|a)\b)\w+",
    rf"{_OPENING}my {_RELATIVE}(?:['’]s name is|(?: is)? (?:named|called)) \S",
    rf"{_OPENING}my (?:birthday|time ?zone|pronouns|(?:native|first) language|home ?town)"
    r" (?:is|are) \S",
    rf"{_OPENING}i live in [A-Z]",
    rf"{_OPENING}i work (?:as an?|at|for) \S",
    rf"{_I} (?:originally )?from [A-Z]",
    rf"{_I} (?:an? )?(?:[\w-]+ ){{0,2}}{_TRADES}",
    rf"{_I} allergic to \S",
)
_DECISION = (
    rf"{_OPENING}(?:we|i)(?:['’]ve| have)? (?:now |finally |just )?"
    r"(?:decided|agreed|settled)(?: not)? (?:to|on|that|against) ",
    rf"{_OPENING}we(?:['’]re| are) going with {_OBJECT}",
    rf"{_OPENING}let['’]s go with {_OBJECT}",
    r"decision *: *\S",
)
# What holds for a while, for nobody, or perhaps.
_PASSING = r"\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|for now|this (?:morning|week|evening|afternoon))\b"  # noqa: E501
_SUPPOSED = r"\b(?:if|unless|would|could|might|maybe|perhaps|suppose|imagine|pretend|let['’]s say|as if|hypothetical\w*)\b"  # noqa: E501

_END = re.compile(r"(?<=[.!?…])[\"')\]”’]*\s+(?=[^a-z])|\n+")
_FENCE = re.compile(r"(?ms)^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[ \t]*$|\Z)")


class Fact(NamedTuple):
    """A fact, how it is filed where a rule says so, and the place it was said at."""

    text: str
    category: str | None
    start: int
    end: int


def extract_facts(text: str) -> list[Fact]:
    """The facts of a conversation in the order they were said, each once."""
    found: dict[str, Fact] = {}
    last = ""
    for turn in chunk(text, content_type="transcript", tokens_max=TOKENS_MAX_HIGH):
        if turn.speaker.lower() in _NO_SPEAKERS:
            # 'Remember: …' on a line of its own reads like a name.
            turn = turn._replace(speaker=last)
        last = turn.speaker
        speaker = turn.speaker.lower()
        if not speaker or speaker in _NOT_A_PERSON:
            continue
        named = "" if speaker in _PERSON else turn.speaker
        for start, end, sentence in _sentences(text, turn):
            fact = _fact(sentence, named)
            if fact is not None:
                found.setdefault(fact[0].casefold(), Fact(*fact, start, end))
    return list(found.values())[:FACTS_MAX]


def _fact(sentence: str, named: str) -> tuple[str, str | None] | None:
    if len(sentence) > _SENTENCE_CHARS_MAX or sentence.rstrip("\"')]”’ ").endswith("?"):
        return None
    asked = _EXPLICIT.fullmatch(sentence)
    if asked is not None:
        return _told(asked["said"], named), None
    if re.search(_SUPPOSED, sentence, re.IGNORECASE):
        return None
    if _begins(sentence, _DECISION):
        return _told(re.sub(r"(?i)^decision *: *", "", sentence), named), "decision"
    if named or re.search(_PASSING, sentence, re.IGNORECASE):
        return None
    if _begins(sentence, _PREFERENCE):
        return _told(sentence, ""), "preference"
    if _begins(sentence, _IDENTITY):
        return _told(sentence, ""), "fact"
    return None


def _begins(sentence: str, rules: tuple[str, ...]) -> bool:
    if len(sentence.split()) < _WORDS_MIN:
        return False
    # Only the names of places are told by their capitals, wherever the rest stands in its own.
    folded = sentence[:1].lower() + sentence[1:]
    folded = re.sub(r"\bI\b", "i", folded)
    return any(re.match(rule, folded) for rule in rules)


def _told(said: str, named: str) -> str:
    said = re.sub(rf"(?i)^{_OPENING}", "", said.strip())
    said = said[:1].upper() + said[1:]
    return f"{named}: {said}" if named else said


def _sentences(text: str, turn: Chunk) -> list[tuple[int, int, str]]:
    """The sentences of a turn with their places, without the speaker, quotations and code."""
    said, offset = _words_of(text, turn)
    said = _FENCE.sub(lambda fence: "\n" * len(fence.group()), said)
    out = []
    for line in LINE.finditer(said):
        if line.group().lstrip().startswith((">", "|", "#")):
            continue
        starts = [line.start(), *(line.start() + m.end() for m in _END.finditer(line.group()))]
        ends = [*starts[1:], line.end()]
        for start, end in zip(starts, ends, strict=True):
            sentence = said[start:end].strip()
            if sentence:
                out.append((offset + start, offset + end, sentence))
    return out


def _words_of(text: str, turn: Chunk) -> tuple[str, int]:
    """What was said in a turn, and where it begins in the text."""
    whole = text[turn.start : turn.end]
    if whole.lstrip("[ \t\r\n").startswith("{"):
        return _json_words(whole), turn.start
    name = re.escape(turn.speaker)
    head = re.match(rf"(?s).*?{name}(?:\*\*)?(?: ?[\[(][^\])\n]*[\])])? ?:(?:\*\*)?[ \t]*", whole)
    # A part of a long turn has no name in front.
    front = head.end() if head and head.end() < 200 else 0
    return whole[front:], turn.start + front


def _json_words(message: str) -> str:
    import json

    opening = message.find("{")
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(message, opening)
    except (ValueError, RecursionError):
        return ""
    content = value.get("content") if isinstance(value, dict) else None
    return content if isinstance(content, str) else ""
