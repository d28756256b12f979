"""The part of a text around what is sought in it, for a reader who asked for a few lines."""

from __future__ import annotations

from bisect import bisect_left

from holdfast.text.terms import trigram_text

_CUT = "…"


def snippet(text: str, sought: str, chars: int) -> str:
    """At most `chars` characters of the text with what is sought in them; `…` stands where more
    was. All of a text that is short enough; its beginning where it does not hold what is sought."""
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
    """Where what is sought stands in the text, whatever its case and accents; (0, 0) where it does
    not. It is found as search finds it: folding may join or part characters, so that places in
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
