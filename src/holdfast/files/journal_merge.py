"""Three sides of one day's journal: what the file says, what the memories say, and what both last
agreed on; and what follows for each entry. It decides and writes nothing.

An entry's text is not kept in what was agreed, only its key. Whether the store has changed it since
is told by whether it still has that key; what it said then is looked up in its history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from holdfast.domain.memory import Memory
from holdfast.files import journal_text
from holdfast.files.journal_base import Base, time_of
from holdfast.files.journal_text import Block

# An edited line shares at least half of its letters with what it was; else it is another entry.
_ALIKE = 0.5
# Comparing letter by letter is quadratic, and the opening tells.
_COMPARED_CHARS = 400
# More pairs take longer than a person waits: such a file was written anew, not edited.
_PAIRS_MAX = 10_000

# What a memory has said, newest first, each with its time of day.
Texts: TypeAlias = Sequence[tuple[str, str]]


class Merged(NamedTuple):
    """What taking a file in means, by the keys of its entries.

    `ids` are entries that have a memory already; `edits` change theirs; `fresh` ones get a new
    one, and where they are in `clashes` as well, both sides had changed that memory. `gone` are
    the memories of entries that were taken out, by their old key. `back` are memories whose line
    is missing and comes back: what they say now, nobody has seen in the file.
    """

    keys: list[str]
    ids: dict[str, str]
    edits: dict[str, Memory]
    fresh: dict[str, Block]
    clashes: dict[str, Memory]
    gone: dict[str, Memory]
    back: set[str]


def merge(
    blocks: Sequence[Block],
    base: Base,
    rows: Mapping[str, Memory],
    texts_of: Callable[[Memory], Texts],
) -> Merged:
    """The plan for a file, given what it was; `rows` are the memories of the base."""
    keys = journal_text.keys_of(blocks)
    by_key = {key: block for key, block in zip(keys, blocks, strict=True) if key}
    ids = {key: one for key, one in base.ids.items() if key in by_key}
    fresh = {key: block for key, block in by_key.items() if key not in ids}
    lost = {
        key: _Lost.of(rows[one], key, texts_of)
        for key, one in base.ids.items()
        if key not in by_key and one in rows and is_live(rows[one])
    }
    merged = Merged(keys, ids, {}, fresh, {}, {}, set())
    for old, new in _edited(lost, fresh).items():
        _settle_edit(merged, lost.pop(old), new)
    for key, one in lost.items():
        if one.changed:
            merged.back.add(one.memory.id)
        else:
            merged.gone[key] = one.memory
    return merged


def _settle_edit(merged: Merged, one: _Lost, new: str) -> None:
    said = journal_text.plain(merged.fresh[new].text)
    if not one.changed:
        merged.edits[new] = one.memory
    elif said not in (journal_text.plain(text) for text in one.since):
        # A text of the file that the store has never had: both are kept.
        merged.clashes[new] = one.memory
        return
    merged.ids[new] = one.memory.id
    del merged.fresh[new]


def is_live(memory: Memory) -> bool:
    return memory.forgotten_at is None and memory.state != "archived"


class _Lost(NamedTuple):
    """The memory of an entry that is not in the file as it was: what it said when both sides
    agreed, and what it has said since."""

    memory: Memory
    then: str
    since: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return journal_text.plain(self.then) != journal_text.plain(self.memory.content)

    @classmethod
    def of(cls, memory: Memory, key: str, texts_of: Callable[[Memory], Texts]) -> _Lost:
        wanted = key.partition("-")[0]
        if wanted in _keys(memory.content, time_of(memory)):
            return cls(memory, memory.content, ())
        said = texts_of(memory)
        for place, (text, time) in enumerate(said):
            if wanted in _keys(text, time):
                return cls(memory, text, tuple(text for text, _ in said[:place]))
        # Its past is gone, or was written in other letters: as if nobody had changed it.
        return cls(memory, memory.content, ())


def _keys(text: str, time: str) -> tuple[str, str]:
    return journal_text.key_of(text, time), journal_text.key_of(text, "")


def _edited(lost: Mapping[str, _Lost], fresh: Mapping[str, Block]) -> dict[str, str]:
    """Which entry that is gone became which new one: the most alike, each of them once."""
    if not 0 < len(lost) * len(fresh) <= _PAIRS_MAX:
        return {}
    from difflib import SequenceMatcher

    pairs: list[tuple[float, int, str, str]] = []
    for old, one in lost.items():
        for text in {one.then, one.memory.content}:
            matcher = SequenceMatcher(None, b=journal_text.plain(text)[:_COMPARED_CHARS])
            for new, block in fresh.items():
                matcher.set_seq1(journal_text.plain(block.text)[:_COMPARED_CHARS])
                if matcher.quick_ratio() >= _ALIKE and (ratio := matcher.ratio()) >= _ALIKE:
                    pairs.append((-ratio, len(pairs), old, new))
    out: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, old, new in sorted(pairs):
        if old not in out and new not in taken:
            out[old] = new
            taken.add(new)
    return out
