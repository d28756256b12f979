"""Recognises what corrects, takes back or changes something that the same person said shortly
before: 'sorry, it's stage4', 'scratch that', 'they moved it to Friday'.

In a session people correct themselves in words that mean nothing alone; only what they follow says
what they are about. English only. This module compares two texts, and knows no session.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.spans import fold_in_place
from holdfast.text.analysis.terms import is_stop, terms
from holdfast.text.sentences import sentence_spans
from holdfast.text.tables import Patterns

_PATTERNS = Patterns("slots/patterns.txt")

Manner: TypeAlias = Literal["taken back", "corrects", "may correct", "changed"]

# A longer text is pasted, or a task of its own.
CHARS_MAX = 400
# People correct themselves at the beginning of what they say.
_SENTENCES = 2
# So many words may be a correction that names nothing of what it corrects.
_SHORT_WORDS = 12
# A change is told in a short sentence.
_TOLD_CHARS = 120
# Words that say which statement is meant, and nothing of what it says.
_POINTS = frozenset("what i said you told that this the my one thing all".split())  # noqa: SIM905


class Correction(NamedTuple):
    """How a text corrects what was said before it, where what is new begins in it and where
    its sentence ends, and what it names of the earlier one, if it does."""

    manner: Manner
    start: int
    end: int
    about: str = ""


@lru_cache(maxsize=256)
def read(said: str) -> Correction | None:
    """How a text corrects what was said before it; None if nothing in it does."""
    text = said.strip()
    if not text or len(text) > CHARS_MAX or "\n" in text:
        return None
    lead = len(said) - len(said.lstrip())
    folded = fold_in_place(said)
    spans = list(sentence_spans(folded, start=lead))
    if all(folded[:end].rstrip().endswith(("?", "？")) for _, end in spans):
        return None
    for start, end in spans[:_SENTENCES]:
        one = folded[start:end]
        if one.rstrip().endswith("?"):
            continue
        if found := _PATTERNS["taken back"].match(one):
            about = next((group for group in found.groups() if group), "")
            return Correction("taken back", start + found.end(), end, about)
    first, end = spans[0]
    for manner in _OPENINGS:
        if found := _PATTERNS[manner].match(folded[first:end]):
            return Correction(manner, first + found.end(), end)
    for start, end in spans:
        one = folded[start:end]
        is_told = len(one) <= _TOLD_CHARS and not one.rstrip().endswith("?")
        if is_told and _PATTERNS["changed"].search(one):
            return Correction("changed", start, end)
    return None


_OPENINGS: tuple[Manner, ...] = ("corrects", "may correct")


def corrects(later: str, earlier: str, *, is_next: bool, is_answer: bool = False) -> Manner | None:
    """How a text corrects, changes or takes back what the same person said before in the session;
    None if it does not. `is_next` if they said nothing in between, and `is_answer` if the agent
    had asked them something: 'no' is an answer then."""
    found = read(later)
    if found is None or earlier.rstrip().endswith(("?", "？")):
        # What was asked is not corrected.
        return None
    if found.about:
        return found.manner if names(found.about, earlier) else None
    if found.manner in ("taken back", "corrects") and is_next:
        return found.manner
    if found.manner == "may correct":
        is_short = later.count(" ") < _SHORT_WORDS
        if is_answer or not (is_next or shares_a_thing(later, earlier)):
            return None
        return found.manner if is_short or shares_a_thing(later, earlier) else None
    if found.manner == "changed":
        sentence = later[found.start : found.end]
        return found.manner if shares_a_thing(sentence, earlier) else None
    return found.manner if shares_a_thing(later, earlier) else None


def names(about: str, earlier: str) -> bool:
    """Whether an earlier text has all words with which it is named."""
    wanted = {term for term in terms(about) if not is_stop(term)} - _POINTS
    return bool(wanted) and wanted <= set(terms(earlier))


def shares_a_thing(one: str, other: str) -> bool:
    """Whether two texts have a word in common that is neither a time nor a verb of change."""
    from holdfast.text.slots.frames import without_times

    shared = set(terms(one)).intersection(terms(other))
    return bool({term for term in without_times(shared) if not is_stop(term)} - _change_terms())


@lru_cache(maxsize=1)
def _change_terms() -> frozenset[str]:
    return frozenset(terms("moved move pushed push changed change switched switch cancelled now"))
