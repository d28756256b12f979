"""Names in a question that the hub does not know: who asks about somebody of whom nothing was ever
said gets no answer, however near other people's words are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.recall.expand import Understood
from holdfast.text.terms import terms

# A capital letter inside a sentence. German writes all nouns so: English questions alone are read.
_NAME = re.compile(r"(?<=[\w,;:'’)\"] )[A-Z][a-z]\w+")
_CALENDAR = frozenset(
    """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    """.split()  # noqa: SIM905
)


def unknown_names(question: str, understood: Understood, speakers: Iterable[str]) -> list[str]:
    """The names that stand nowhere in the hub, in no spelling that it knows."""
    if understood.foreign:
        return []
    known = {part for speaker in speakers for part in speaker.casefold().split()}
    return [
        name
        for name in dict.fromkeys(_NAME.findall(question))
        if name.casefold() not in _CALENDAR
        and name.casefold() not in known
        and not _is_known(name, understood)
    ]


def _is_known(name: str, understood: Understood) -> bool:
    """Also where it is no term of the question, as a function word: then nothing is known of it."""
    frequency = understood.lexicon.frequency
    asked = [term for term in terms(name) if term in understood.query.terms]
    return not asked or any(
        frequency.get(term) or understood.alternatives.get(term) for term in asked
    )
