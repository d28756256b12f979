"""A day's journal is put in the place of what its author was shown. What others wrote meanwhile is
kept: entries are merged one by one, and where both sides changed one, both versions stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from holdfast.files.journal import entries

BOTH_KEPT = "Somebody else changed the same entries meanwhile; both versions were kept."


class Rewritten(NamedTuple):
    """The change sets that a rewrite made, oldest first, and notes for its author."""

    day: date
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Merged(NamedTuple):
    """The text of both sides, and whether both changed the same."""

    text: str
    clashed: bool = False


def merged(shown: str, current: str, text: str) -> Merged:
    """What the file has to say: `text` is what its author made of `shown`; `current` is what the
    file says by now. An entry that only one side changed is as that side has it."""
    now, new = _parsed(current), _parsed(text)
    before = Counter(key for key, _ in _parsed(shown))
    there = Counter(key for key, _ in now)
    # What others have removed or changed, and what they have added.
    gone, added = before - there, there - before
    raws = dict(now)
    out = []
    for key, raw in new:
        if gone[key] > 0:
            gone[key] -= 1
        else:
            # As the file has it, with its own line ends and bytes that are no text.
            out.append((key, raws.get(key, raw)))
    # The author's own lines that say the same need not be there twice.
    added -= Counter(key for key, _ in out) - before
    clashed = +gone and +added
    _insert(out, now, added)
    return Merged(_joined([raw for _, raw in out]), bool(clashed))


def _insert(
    out: list[tuple[str, str]], now: Sequence[tuple[str, str]], added: Counter[str]
) -> None:
    """Puts what others added behind the entry that it stands behind."""
    at = 0
    for key, raw in now:
        if added[key] > 0:
            added[key] -= 1
            out.insert(at, (key, raw))
            at += 1
            continue
        places = [place for place, one in enumerate(out) if one[0] == key and place >= at]
        at = places[0] + 1 if places else at


def _parsed(text: str) -> list[tuple[str, str]]:
    """Each block of a file as an editor shows it, and as it is."""
    return [(_as_shown(block.raw), block.raw) for block in entries.parse(text)]


def _as_shown(raw: str) -> str:
    readable = raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return readable.replace("\r\n", "\n").rstrip("\n")


def _joined(raws: Sequence[str]) -> str:
    # Only the last line of a file may have no end.
    return "".join(
        raw if raw.endswith("\n") or place == len(raws) - 1 else raw + "\n"
        for place, raw in enumerate(raws)
    )
