"""Finds what people say about themselves in eight languages beside English: name, home, work,
allergies and diet, family, likes, languages, and what they want done always or never.

A sentence is stored in the person's own words; the row of `about_oneself.txt` that matches gives
its slot. A question, a supposition or a sentence that refers to another one is not stored.
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.tables import lazy, read_table

# A longer sentence says more than who somebody is.
_CHARS_MAX = 200
_WORDS_MAX = 24
# The rule of capture, and the category, of each slot.
RULE_OF = {
    "name": ("name", "fact"),
    "home": ("lives", "fact"),
    "moved": ("moved", "fact"),
    "work": ("work", "fact"),
    "allergy": ("allergy", "fact"),
    "diet": ("trait", "fact"),
    "family": ("kin-is", "person"),
    "prefer": ("prefers", "preference"),
    "like": ("likes", "preference"),
    "language": ("languages", "fact"),
    "order": ("standing-order", "preference"),
    "decision": ("decision", "decision"),
    "uses": ("uses", "preference"),
}


class Row(NamedTuple):
    """A way of saying something about oneself. The value is any text, begins with a capital letter
    (`first`), or has a word that does (`any`). What the pattern matches begins with one of `words`;
    Chinese and Japanese rows have none."""

    language: str
    slot: str
    capital: str
    example: str
    words: str
    pattern: str


class SelfStatement(NamedTuple):
    """A statement in a sentence: the slot, its position, and the value if there is one. `relative`:
    it depends on when it was said."""

    slot: str
    start: int
    end: int
    value: str
    relative: bool


@cache
def rows() -> tuple[Row, ...]:
    """The rows of the table of what people say about themselves in other languages."""
    return tuple(Row(*cells) for cells in read_table("facts/about_oneself.txt"))


@cache
def _around(slot: str) -> re.Pattern[str]:
    """The pattern of words of all languages around a statement."""
    return re.compile(next(row.pattern for row in rows() if row[:2] == ("all", slot)))


def stated(folded: str, words: str) -> SelfStatement | None:
    """The statement about the speaker in a sentence; None if no row matches."""
    if len(folded) > _CHARS_MAX or folded.count(" ") >= _WORDS_MAX:
        return None
    opening = _around("opening").match(folded)
    start = opening.end() if opening else 0
    likely = _rows_for(folded[start:])
    if not likely:
        return None
    end = len(folded)
    if folded.rstrip().endswith(("?", "？")):
        # 'I live in Vienna, what can I do there?'
        end = max(folded.find(mark, start) for mark in (", ", "，", "、", "; "))
    said = folded[start:end].rstrip(" .!。！,，、…")
    if not said or _around("no statement").search(said) or "\x00" in said:
        return None
    for row in likely:
        if row.slot == "order" and _around("this time").search(said):
            continue
        match = _compiled(row.pattern).match(said)
        if match is None or not _has_capital(row, match, words[start:]):
            continue
        if row.slot != "order" and _around("passing").search(said):
            return None
        group = _value_group(match)
        value = words[start + match.start(group) : start + match.end(group)] if group else ""
        # A move is news for a while, so its date is kept.
        relative = row.slot == "moved" or (
            row.slot != "order" and _around("relative").search(said) is not None
        )
        return SelfStatement(row.slot, start, start + len(said), value.strip(" .!。！"), relative)
    return None


class Part(NamedTuple):
    """A statement of several in a sentence, with the words that it needs in front."""

    found: SelfStatement
    subject: str


# Between two statements of one person; 'en' is 'and' only in Dutch.
_JOINTS = lazy(r"(?:,? (?:und|et|y|e)|,)(?: (?:ich|je|yo|io|eu)\b)?(?= )")
_JOINTS_DUTCH = lazy(r"(?:,? en|,)(?: ik\b)?(?= )")
# 'I' in the languages that need it.
_SUBJECTS = {
    "ich ": "Ich ",
    "je ": "Je ",
    "j'": "Je ",
    "ik ": "Ik ",
    "mein ": "Ich ",
    "mijn ": "Ik ",
}


def several_stated(folded: str, words: str) -> list[Part]:
    """The statements of 'Ich heiße Lena, arbeite bei Bosch und habe zwei Kinder', if all its parts
    are such; else nothing."""
    opening = _around("opening").match(folded)
    start = opening.end() if opening else 0
    if folded.rstrip().endswith(("?", "？")) or not _rows_for(folded[start:]):
        return []
    subject = next((_SUBJECTS[one] for one in _SUBJECTS if folded.startswith(one, start)), "")
    between = _JOINTS_DUTCH if subject == "Ik " else _JOINTS
    joints = [(start, start), *(one.span() for one in between.finditer(folded, start))]
    ends = [*(begin for begin, _ in joints[1:]), len(folded)]
    parts: list[Part] = []
    for (_, begin), end in zip(joints, ends, strict=True):
        begin += len(folded[begin:end]) - len(folded[begin:end].lstrip())
        part = _part(folded[begin:end], words[begin:end], subject if parts else "")
        if part is None:
            return []
        found = part.found
        parts.append(
            part._replace(found=found._replace(start=found.start + begin, end=found.end + begin))
        )
    return parts if len(parts) > 1 else []


def _part(folded: str, words: str, subject: str) -> Part | None:
    """A part of a sentence as a statement by itself, or with the subject of the first one."""
    if (alone := stated(folded, words)) is not None:
        return Part(alone, "")
    if not subject:
        return None
    found = stated(subject.lower() + folded, subject + words)
    if found is None or found.start:
        return None
    return Part(found._replace(end=found.end - len(subject)), subject)


def _value_group(match: re.Match[str]) -> str:
    return next((name for name, found in match.groupdict().items() if found), "")


def _has_capital(row: Row, match: re.Match[str], words: str) -> bool:
    group = _value_group(match)
    if row.capital == "-" or not group:
        return row.capital == "-"
    value = words[match.start(group) : match.end(group)].lstrip()
    if row.capital == "first":
        return value[:1].isupper() or value[:2].isupper()
    return any(word[:1].isupper() for word in re.split(r"[\s'’-]+", value))


_CJK = lazy(r"[぀-ヿ㐀-鿿]")
_KANA = lazy(r"[぀-ヿ]")


# The first character of these scripts.
_CJK_FIRST = "\u3040"


def _rows_for(said: str) -> tuple[Row, ...]:
    """The rows that may match a sentence, by its script or its first word: most sentences are
    English and begin with none of them."""
    # Looked at first, as compiling the pattern of these scripts takes more than a millisecond.
    if max(said, default="") >= _CJK_FIRST and _CJK.search(said):
        return _rows_of("ja" if _KANA.search(said) else "zh")
    return _rows_by_word().get(said.split(" ", 1)[0].rstrip(",.!:"), ())


@cache
def _rows_of(language: str) -> tuple[Row, ...]:
    return tuple(row for row in rows() if row.language == language)


@cache
def _rows_by_word() -> dict[str, tuple[Row, ...]]:
    """The rows by each word with which what they match may begin."""
    found: dict[str, list[Row]] = {}
    for row in rows():
        for word in row.words.split() if row.words != "-" else ():
            found.setdefault(word, []).append(row)
    return {word: tuple(some) for word, some in found.items()}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when a sentence is first met that it may match."""
    return re.compile(pattern)
