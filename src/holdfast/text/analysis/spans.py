"""Spans of a text: where lines begin, what lies between spans, a text without some of them, the
part around a match for a reader who wants a few lines, and what a person wrote in a prompt without
what they pasted into it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

from holdfast.text.analysis.terms import trigram_text
from holdfast.text.tables import lazy

# Nobody indents or quotes deeper; looking back without a bound would be slow on one long line.
_INDENT_MAX = 200


def line_start(text: str, offset: int) -> int | None:
    """The start of the line, if only indentation and quotation marks come before this position."""
    before = text[max(0, offset - _INDENT_MAX) : offset]
    rest = before.rstrip(" \t>")
    start = offset - len(before) + len(rest)
    if rest:
        return start if rest[-1] in "\r\n" else None
    return start if start == 0 else None


def blank(text: str, start: int, end: int) -> bool:
    """Whether there are only white space and quotation marks between two places of a text."""
    return not text[start:end].strip(" \t\r\n>")


# Cutting out

_SEAM = lazy(r"\A(?:\s*\n|[ \t]+)")
Span: TypeAlias = tuple[int, int]


def merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """The spans in order, those with nothing between them as one."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and (start <= out[-1][1] or blank(text, out[-1][1], start)):
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def without(text: str, spans: Sequence[Span]) -> str:
    """The rest of a text without some spans, with its words unchanged and never joined. If no
    letter and no digit is left, the result is empty."""
    if not spans:
        return text
    cut = merged(text, spans)
    starts = [0, *(end for _, end in cut)]
    ends = [*(start for start, _ in cut), len(text)]
    pieces = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    # Only the first and the last one can be blank: other spans would have been merged.
    kept = [piece for piece in pieces if piece.strip(" \t\r\n>")]
    out: list[str] = []
    for number, piece in enumerate(kept):
        piece = piece if number == 0 and piece is pieces[0] else _SEAM.sub("", piece)
        if number + 1 < len(kept):
            out += _before_seam(piece, kept[number + 1])
        else:
            out.append(piece if piece and kept[-1] is pieces[-1] else piece.rstrip())
    left = "".join(out)
    return left if any(character.isalnum() for character in left) else ""


def _before_seam(piece: str, following: str) -> tuple[str, str]:
    """A piece, and what comes between it and the next: as much as there was on the side that had
    more, an empty line, a line end, or a space."""
    head = piece.rstrip()
    before, after = piece[len(head) :], following[: len(following) - len(following.lstrip())]
    lines = min(max(before.count("\n"), after.count("\n")), 2)
    newline = "\r\n" if "\r\n" in (before or after) else "\n"
    return head, newline * lines or " "


def marked_out(text: str, spans: Sequence[Span]) -> str:
    """The text with a short note in place of each run of spans."""
    out: list[str] = []
    at = 0
    for start, end in merged(text, spans):
        count = text[start:end].strip().count("\n") + 1
        lines = "1 line" if count == 1 else f"{count} lines"
        out += [text[at:start], f"[memory block of {lines} left out]"]
        at = end
    return "".join([*out, text[at:]])


_CUT = "…"


def snippet(text: str, sought: str, chars: int) -> str:
    """At most `chars` characters of the text with what is sought in them; `…` marks what was cut.
    All of a text that is short enough; its beginning where it does not hold what is sought."""
    text = text.strip()
    if len(text) <= chars:
        return text
    start, end = span_of(text, sought)
    # As much before as after, but nothing is given away at either end of the text.
    room = max(0, chars - (end - start))
    first = max(0, min(start - room // 2, len(text) - chars))
    last = min(len(text), first + chars)
    front = _CUT if first else ""
    back = _CUT if last < len(text) else ""
    return front + text[first + len(front) : last - len(back)] + back


def span_of(text: str, sought: str) -> tuple[int, int]:
    """The position of what is sought in the text, ignoring case and accents; (0, 0) where it is not
    there. It is found as search finds it: folding may join or part characters, so that places in
    the folded text are none in this one."""
    plain = text.lower()
    place = plain.find(sought.lower())
    if place >= 0 and len(plain) == len(text):
        return place, place + len(sought)
    needle = trigram_text(sought)
    if not needle or needle not in trigram_text(text):
        return 0, 0
    end = bisect_left(range(len(text)), True, key=lambda n: needle in trigram_text(text[:n]))
    starts = range(end)
    start = bisect_left(starts, True, key=lambda n: needle not in trigram_text(text[n:end]))
    return max(0, start - 1), end


# The same length as the text, so that places in one are places in the other.
_QUOTES = str.maketrans({"’": "'", "‘": "'", "´": "'", "`": "'"})
_SPACE = lazy(r"\s")


def fold_in_place(text: str) -> str:
    """A text in lower case with straight quotes and plain spaces, character for character."""
    lower = text.translate(_QUOTES).lower()
    if len(lower) != len(text):
        # A few letters become longer in lower case.
        lower = "".join(
            one if len(one.lower()) != 1 else one.lower() for one in text.translate(_QUOTES)
        )
    return _SPACE.sub(" ", lower)


_FENCED = lazy(
    r"^ {0,3}(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<language>[^\n]*+)\n(?P<body>.*?)"
    r"(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
# Lines that no one writes by hand, by how they begin.
_MACHINE = lazy(
    r"""\s*+(?:
        \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d[\].,\s]           # times of a log
      | (?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b[\s:\[]
      | Traceback\ \(|File\ "[^"]+",\ line\ \d|at\ [\w.$<>]+\s?\(|\.\.\.\ \d+\ more  # stack traces
      | diff\ --git\ |index\ [0-9a-f]{6,}|@@\ |[+-]{3}\ [ab]/
      | [$%]\ \S|>>>\ |\#include\b|[\])}]+[;,)]*$|[{\[(]$|</?\w+[^>]*>\s*$    # shells, brackets
      | "[^"\n]+"\s*:\s                                                        # JSON
      | (?:async\ )?def\ \w+\(|class\ \w+[^.?!]*[:{]$|[^.?!]*[;{]$            # code
    )""",
    re.VERBOSE,
)
_ERROR = lazy(r"\s*+[\w.]*(?:Error|Exception|Warning)\b")
_LIST_MARK = lazy(r"\A\s*(?:[-*+•]|\d+[.)])\s+")
# A word as people write it, or a number, with the signs of a sentence around it.
_PLAIN = lazy(r"[(\"'“‘*_]*(?:[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\w.,:%]*)[.,;:!?)\"'”’*_…]*")
_PLAIN_SHARE_LEAST = 0.6
# A shorter run of such lines is part of what was written.
_LINES_LEAST = 3


def without_pasted(text: str) -> str:
    """The text without what was pasted into it; whole where it is nothing else."""
    if "\n" not in text:
        return text
    kept: list[str] = []
    lines = _FENCED.sub(_unfenced, text).split("\n")
    for pasted, run in groupby(_marked(lines), key=lambda line: line[0]):
        some = [line for _, line in run]
        if pasted and sum(map(bool, map(str.strip, some))) >= _LINES_LEAST:
            some = ["", *filter(_ERROR.match, some), ""]
        kept += some
    return "\n".join(kept).strip() or text


def _unfenced(block: re.Match[str]) -> str:
    """The content of a fence, if it is prose: a draft, a quotation."""
    marked = [pasted for pasted, line in _marked(block["body"].split("\n")) if line.strip()]
    if block["language"].strip() or 2 * sum(marked) >= len(marked):
        return "\n"
    return block["body"]


def _marked(lines: list[str]) -> list[tuple[bool, str]]:
    """Each line, and whether it looks pasted; empty and short lines are as the one before."""
    marked: list[tuple[bool, str]] = []
    before = False
    for line in lines:
        if line.strip():
            before = _looks_pasted(line, after_pasted=before)
        marked.append((before, line))
    return marked


def _looks_pasted(line: str, *, after_pasted: bool) -> bool:
    if _MACHINE.match(line):
        return True
    # A comment inside of code is indented like it.
    if after_pasted and line[:1] in " \t":
        return True
    words = _LIST_MARK.sub("", line, count=1).split()
    plain = sum(1 for word in words if _PLAIN.fullmatch(word))
    return plain < _PLAIN_SHARE_LEAST * len(words)
