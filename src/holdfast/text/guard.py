"""Spot text that poses as orders to a model: memory is data, and data does not give orders.

It tells the shape of a text and nothing else: who said it, and what to do about it, is decided by
the engine. The rules are in the modules beside this one, and the ways in which a text is
disguised in `guard_views`. Text about such attacks, which quotes them, is not an attack. How many
attacks are known, and how many honest texts are taken for one, the tests hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.text.guard_elsewhere import ELSEWHERE
from holdfast.text.guard_planted import PLANTED
from holdfast.text.guard_rules import RULES
from holdfast.text.guard_views import decoded, flat, unmasked
from holdfast.text.guard_wide import WIDE
from holdfast.text.guard_words import Rule
from holdfast.text.terms import fold

ALL_RULES = (*RULES, *PLANTED, *WIDE, *ELSEWHERE)

# Words of people who write about attacks, or who quote a name; what they quote is an example.
_DISCUSSION = (
    r"\b(?:inject\w*|refused|jailbreaks?|attack(?:s|er|ers)?|adversarial|malicious|red[- ]team\w*"
    r"|payloads?|untrusted|classifiers?|detect(?:s|ed|ion|or)?|filters?|guardrails?|owasp"
    r"|vulnerab\w+|exploits?|phish\w+|examples?|such as|phrases?|tokens?|templates?|chatml|regex"
    r"|test(?:s|ed| cases?)|called|titled|talk|paper|article|docs?|documentation|parser|schema"
    r"|api)\b"
)
_QUOTED = (
    r"(?ms)```.*?(?:```|\Z)|`[^`\n]+`|\"[^\"\n]{1,400}\""
    r"|(?<!\w)'[^'\n]{1,400}'(?!\w)|^[ \t]*>[^\n]*$"
)

# Characters that show nothing: tag characters spell ASCII, runs of zero-width ones spell bits.
_TAGS = "[\U000e0020-\U000e007e]{4,}"
_FLAG = "\U0001f3f4[\U000e0020-\U000e007f]+"  # England, Scotland, Wales are spelt so
_ZERO_WIDTH_RUN = "[\u200b-\u200d\u2060\u2062-\u2064\ufeff]{8,}"
# These turn letters around whatever their script: nobody types them.
_TURNED = "[\u202d\u202e]"


# How far a match can reach back from a cue, and how far beyond it: gaps in patterns are shorter.
_BEFORE = 300
_AFTER = 400


def instruction_shaped(text: str) -> str | None:
    """Why a text reads as orders to a model, as half a sentence ('asks to …'); else None."""
    if not text.isascii() and (reason := _hidden(text)):
        return reason
    folded = fold(text)
    unquoted = re.sub(_QUOTED, " … ", folded)
    said = unquoted if re.search(_DISCUSSION, unquoted) else folded
    lines = unmasked(said)
    if reason := _judged(flat(lines), lines):
        return reason
    for hidden in decoded(text, folded):
        if reason := _judged(hidden):
            return f"hides a text that {reason}"
    return None


def _judged(form: str, lines: str = "") -> str | None:
    for rule in ALL_RULES:
        # An order begins a line, or goes on in the next one.
        if _applies(rule, form) or ("\n" in lines and _applies(rule, lines)):
            return rule.reason
    return None


def _applies(rule: Rule, form: str) -> bool:
    """Whether the pattern is found near one of the rule's cues. Most texts have none of them, and
    looking for a word is a hundred times as fast as trying a pattern everywhere."""
    spans = _near(form, rule.cues)
    if not spans:
        return False
    pattern = re.compile(rule.pattern)
    if not rule.then:
        return any(pattern.search(form, *span) for span in spans)
    ends = [found.end() for span in spans for found in pattern.finditer(form, *span)]
    then = re.compile(rule.then)
    behind = _merged((end, end + rule.within) for end in ends)
    return any(then.search(form, start, end + _BEFORE) for start, end in behind)


def _near(form: str, cues: tuple[str, ...]) -> list[tuple[int, int]]:
    """The parts of a text around its cues, as far as a match can reach."""
    hits: list[int] = []
    for cue in cues:
        at = form.find(cue)
        while at >= 0:
            hits.append(at)
            # The next one this near would not make the part much longer.
            at = form.find(cue, at + _BEFORE)
    return _merged((max(hit - _BEFORE, 0), hit + _BEFORE + _AFTER) for hit in sorted(hits))


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same stretches, none of which overlap: nothing is looked at twice."""
    out: list[tuple[int, int]] = []
    for start, end in spans:
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


def _hidden(text: str) -> str | None:
    if re.search(_TAGS, re.sub(_FLAG, "", text)):
        return "hides text in invisible tag characters"
    if re.search(_ZERO_WIDTH_RUN, text):
        return "hides data in a run of zero-width characters"
    if re.search(_TURNED, text):
        return "turns its letters around"
    return None
