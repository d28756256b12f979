"""Detects which speaker a question is about, and adapts the search to it.

In a conversation, people speak of themselves as 'I': 'When did Nate dye his hair?' is answered by
Nate's turn 'I dyed my hair'. So if a question names a speaker of the hub, that speaker's turns rank
higher, and the question is embedded in the first person. In conversations stored as plain text
('Nate: I dyed my hair', without a speaker or a session in the metadata) the speaker is parsed from
the text. In groups anybody may be 'I', so there the question keeps its names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory
from holdfast.recall.evidence import owners_by_id
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import fold, terms
from holdfast.text.analysis.variants import edits
from holdfast.text.tables import lazy

if TYPE_CHECKING:
    from holdfast.recall.lexical import WordHit
    from holdfast.store.base import Reader


# Speakers beyond this number are not detected by name: such a hub is a forum, not a conversation.
SPEAKERS_MAX = 1_000
# More people than this are a group channel, in which most say 'I'. Four conversations of two people
# in one hub have eight speakers, and lose 1.3 if questions keep the names; a channel of 685 people
# gains 11.3.
_PEOPLE_MAX = 20
# Speakers in a log that are roles, not names.
ROLES = frozenset({"user", "assistant", "system", "tool", "import", "agent", "human", "ai"})
_ASKS_AGENT = lazy(
    r"\byou(?:r|'ve| have| had| just| also| previously| earlier)* (?:\w+ )?"
    r"(?:said|told|recommended|suggested|mentioned|provided|gave|explained|listed|described"
    r"|advised|proposed|shared|wrote|created|outlined|came up)\b|\bremind me\b|\bdid you\b",
    re.IGNORECASE,
)


class Voice(NamedTuple):
    """Whose turns answer the question: those of the speakers it names, the agent's, or the user's
    own."""

    about: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    asks_agent: bool = False
    # The speaker's name is a prefix of the text, not in the metadata.
    in_text: bool = False
    # A group conversation: more than two people mention these names, or the hub has many speakers.
    in_group: bool = False

    def speaks(self, memory: Memory) -> bool:
        """Whether the memory was said by the speaker that the question asks about."""
        if self.about:
            return memory.speaker in self.about
        if self.asks_agent:
            return False
        if memory.speaker is None:
            return memory.trust == "user"
        return memory.speaker.casefold() in ("user", "human")


def find_voice(question: str, speakers: Sequence[str]) -> Voice:
    """Returns the voice of a question, given the hub's speakers."""
    asked = f" {' '.join(_words(question))} "
    about, names, people = set(), set(), 0
    for speaker in speakers:
        spoken = _words(speaker)
        if not spoken or speaker.casefold() in ROLES:
            continue
        people += 1
        if f" {spoken[0]} " in asked or f" {' '.join(spoken)} " in asked:
            about.add(speaker)
            names.update(terms(speaker))
    asks_agent = bool(_ASKS_AGENT.search(question))
    in_group = people > _PEOPLE_MAX
    return Voice(frozenset(about), frozenset(names), asks_agent, in_group=in_group)


def misspelled_speakers(
    reader: Reader, hub_id: str, names: Sequence[str], speakers: Sequence[str]
) -> dict[str, str]:
    """Maps names in a question that the hub does not have to the first name of the only speaker
    with a similar spelling: Mohammed to Muhammad."""
    known = {word for speaker in speakers for word in _words(speaker)}
    first = {
        speaker.split()[0]
        for speaker in speakers
        if _words(speaker) and speaker.casefold() not in ROLES
    }
    out = {}
    for name in names:
        if fold(name) in known:
            continue
        alike = [speaker for speaker in first if _spelled_alike(fold(name), fold(speaker))]
        if len(alike) == 1 and not any(reader.lexicon(hub_id, terms(name)).frequency.values()):
            out[name] = alike[0]
    return out


_SPELLING_CHARS_LEAST = 5
_CONSONANTS_LEAST = 3
_VOWELS = lazy("[aeiouy]")
_REPEATED = lazy(r"(.)\1+")


def _spelled_alike(one: str, two: str) -> bool:
    """Whether two names differ in one letter, or only in their vowels and doubled letters."""
    if one[0] != two[0] or min(len(one), len(two)) < _SPELLING_CHARS_LEAST:
        return False
    sounds = [_REPEATED.sub(r"\1", _VOWELS.sub("", name)) for name in (one, two)]
    same = sounds[0] == sounds[1] and len(sounds[0]) >= _CONSONANTS_LEAST
    return same or edits(one, two, 1) <= 1


def first_person(question: str, voice: Voice) -> str:
    """Returns the question in the first person of its subject, for the embedding model."""
    if voice.in_group:
        return question
    for speaker in sorted(voice.about):
        for name in dict.fromkeys((speaker, speaker.split()[0])):
            bare = re.escape(name)
            question = re.sub(rf"\b{bare}['’]s\b", "my", question, flags=re.IGNORECASE)
            question = re.sub(rf"\b{bare}\b", "I", question, flags=re.IGNORECASE)
    return question


# Cached because all speakers of a hub are compared with each question.
@lru_cache(maxsize=2 * SPEAKERS_MAX)
def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", fold(text)))


# A name of one or two words before a colon, optionally after a time in brackets.
_LINE_START = lazy(r"(?:\[[^\]\n]{1,40}\]\s*)?([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*)?):\s")
# A name is a speaker if at least _LINES_LEAST of the first _TEXTS_MAX texts that contain it begin
# with it and a colon, so that a single 'Note: …' or 'Nate likes tea' makes no speaker.
_TEXTS_MAX = 20
_LINES_LEAST = 3


def speaker_in_text(text: str) -> str | None:
    """Returns the speaker of a line of a transcript, or None for any other text."""
    found = _LINE_START.match(text)
    return found.group(1) if found else None


def find_speakers(
    reader: Reader, hub_id: str, names: Sequence[str], words: Sequence[WordHit]
) -> frozenset[str]:
    """Returns the names in a question that are speakers, judging by the hits of its words."""
    out = set()
    for name in names:
        own = set(terms(name))
        if not own or fold(name) in ROLES:
            continue
        holding = [one for one, _ in words if own <= set(one.body.split())]
        ids = list(dict.fromkeys(one.memory_id for one in holding))[:_TEXTS_MAX]
        memories = owners_by_id(reader, hub_id, ids).values()
        if sum(speaks(one.content, name) for one in memories) >= _LINES_LEAST:
            out.add(name)
    return frozenset(out)


def is_group(reader: Reader, hub_id: str, about: Iterable[str], words: Sequence[WordHit]) -> bool:
    """Whether more than two people talk: these speakers and those who mention them."""
    talking = {_first_name(name) for name in about}
    for name in talking.copy():
        own = [f" {term} " for term in terms(name)]
        holding = (
            one.memory_id for one, _ in words if any(term in f" {one.body} " for term in own)
        )
        ids = list(dict.fromkeys(islice(holding, _TEXTS_MAX)))
        for memory in owners_by_id(reader, hub_id, ids).values():
            if speaker := memory.speaker or speaker_in_text(memory.content):
                talking.add(_first_name(speaker))
    return len(talking) > 2


def _first_name(speaker: str) -> str:
    return fold(speaker).partition(" ")[0]


def speaks(text: str, name: str) -> bool:
    """Whether a text is a transcript line of this speaker, by their full or first name."""
    speaker = speaker_in_text(text)
    return speaker is not None and fold(name) in (fold(speaker), fold(speaker.split()[0]))
