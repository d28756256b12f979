"""Conversations that are kept as plain text: 'Nate: I dyed my hair', without a speaker or a session
in the metadata."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.recall.owners import owners_by_id
from holdfast.recall.voice import ROLES
from holdfast.text.terms import fold, terms

if TYPE_CHECKING:
    from holdfast.recall.lexical import WordHit
    from holdfast.store.base import Reader

# A name of one or two words before a colon, after a time in brackets if there is one.
_SPOKEN = re.compile(r"(?:\[[^\]\n]{1,40}\]\s*)?([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*)?):\s")
# Of the texts that hold a name, so many are looked at, and so many must begin with it: 'Note: …'
# and 'Nate likes tea' make no speaker.
_LOOKED_AT = 20
_LINES_LEAST = 3


def speaker_in_text(text: str) -> str | None:
    """Who speaks, where a text is a line of a transcript."""
    found = _SPOKEN.match(text)
    return found.group(1) if found else None


def find_speakers(
    reader: Reader, hub_id: str, names: Sequence[str], words: Sequence[WordHit]
) -> frozenset[str]:
    """Which of the names in a question are speakers, judging by the texts found by its words."""
    out = set()
    for name in names:
        own = set(terms(name))
        if not own or fold(name) in ROLES:
            continue
        holding = [hit.candidate for hit in words if own <= set(hit.candidate.body.split())]
        ids = list(dict.fromkeys(one.memory_id for one in holding))[:_LOOKED_AT]
        memories = owners_by_id(reader, hub_id, ids).values()
        if sum(speaks(one.content, name) for one in memories) >= _LINES_LEAST:
            out.add(name)
    return frozenset(out)


def speaks(text: str, name: str) -> bool:
    """Whether a text is a line of this speaker's, by their full or first name."""
    speaker = speaker_in_text(text)
    return speaker is not None and fold(name) in (fold(speaker), fold(speaker.split()[0]))
