"""Facts that people state in a conversation: `capture` for each turn of a whole transcript.

Only people's own turns are read, never an assistant's. Where people go by their names, a fact has
the name in front. This module knows transcripts; which sentences are facts, text.capture says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdfast.text.capture import Captured, capture
from holdfast.text.chunking import TOKENS_MAX_HIGH, Chunk, chunk

if TYPE_CHECKING:
    from datetime import datetime

# A conversation with more than this states no facts: it is a form, or a list somebody pasted.
FACTS_MAX = 20

_NOT_A_PERSON = frozenset(
    "assistant system ai bot agent tool developer model claude chatgpt gpt".split()  # noqa: SIM905
)

_NO_SPEAKERS = frozenset({"remember", "decision", "for future reference"})


def extract_facts(text: str, *, at: datetime | None = None) -> list[Captured]:
    """The facts of a conversation in the order they were said, each once.

    `at` is when it took place. Without it, 'last March' stays 'last March'.
    """
    found: dict[str, Captured] = {}
    for turn in said_in(text):
        for fact in capture(turn.words, at=turn.at or at, speaker=turn.speaker):
            start, end = (turn.start, turn.end)
            if turn.words_at is not None:
                start, end = (turn.words_at + fact.start, turn.words_at + fact.end)
            found.setdefault(fact.text.casefold(), fact._replace(start=start, end=end))
    return list(found.values())[:FACTS_MAX]


class Said(NamedTuple):
    """What a person said in a turn of a transcript, and the position of the turn; `words_at` is
    where the words begin, if the text has them literally."""

    speaker: str
    words: str
    start: int
    end: int
    words_at: int | None = None
    at: datetime | None = None


def said_in(text: str) -> Iterator[Said]:
    """The turns of people in a transcript, in order."""
    last = ""
    for turn in chunk(text, content_type="transcript", tokens_max=TOKENS_MAX_HIGH):
        label = ""
        if turn.speaker.lower() in _NO_SPEAKERS:
            # 'Remember: …' on a line of its own reads like a name.
            label = turn.speaker
            turn = turn._replace(speaker=last)
        last = turn.speaker
        if not turn.speaker or turn.speaker.lower() in _NOT_A_PERSON:
            continue
        said, offset, exact = _words_of(text, turn, label)
        yield Said(turn.speaker, said, turn.start, turn.end, offset if exact else None, turn.at)


def _words_of(text: str, turn: Chunk, label: str) -> tuple[str, int, bool]:
    """What was said in a turn, where it begins in the text, and whether the text has it
    literally."""
    whole = text[turn.start : turn.end]
    if whole.lstrip("[ \t\r\n").startswith("{"):
        return _json_words(whole), turn.start, False
    if label:
        return whole, turn.start, True
    name = re.escape(turn.speaker)
    head = re.match(rf"(?s).*?{name}(?:\*\*)?(?: ?[\[(][^\])\n]*[\])])? ?:(?:\*\*)?[ \t]*", whole)
    # A part of a long turn has no name in front.
    front = head.end() if head and head.end() < 200 else 0
    return whole[front:], turn.start + front, True


def _json_words(message: str) -> str:
    import json

    opening = message.find("{")
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(message, opening)
    except (ValueError, RecursionError):
        return ""
    content = value.get("content") if isinstance(value, dict) else None
    return content if isinstance(content, str) else ""
