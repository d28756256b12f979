"""Credentials in a text: where they are and of which kind. Offline rules, no network, no guesses
about what is behind a key. A text that holds no cue costs a few substring searches.

What replaces them is a placeholder, `[secret:kind:hash8]`; whose hash that is, the caller knows.
Why the rules are ours and no library's: docs/decisions/secret-scanner.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from holdfast.text.secrets_rules import RULES, TOKEN_CHARS_MIN, Rule

# What stands in the place of a secret.
PLACEHOLDER = re.compile(r"\[secret:([a-z0-9-]{1,40}):([0-9a-f]{8})\]")
# Shorter texts can hold a PIN at most: 'pin is 1234'.
_CHARS_MIN = 8
_ESCAPED = "\\_"


# Each cue with its rule, so that a text without any is done with in one pass over a short list.
_SPACED = [(cue, rule) for rule in RULES if rule.spaced for cue in rule.cues]
_TOKENS = [(cue, rule) for rule in RULES if not rule.spaced for cue in rule.cues]


class Found(NamedTuple):
    """One secret: its kind, and where it begins and ends."""

    kind: str
    start: int
    end: int


def find(text: str) -> list[Found]:
    """The secrets of a text, in order, none of them overlapping."""
    if len(text) < _CHARS_MIN:
        return []
    if _ESCAPED in text:
        return _find_escaped(text)
    low = text.lower()
    if len(low) != len(text):
        # Some letters grow when they are made small, and places would not be places any more.
        low = text.translate(_ascii_small())
    # Tokens stand in one piece: only long words can be, or hold, one.
    words = low.split()
    long = ""
    if max(map(len, words), default=0) >= TOKEN_CHARS_MIN:
        long = "\n".join([word for word in words if len(word) >= TOKEN_CHARS_MIN])
    told = [rule for cue, rule in _SPACED if cue in low]
    if long:
        told += [rule for cue, rule in _TOKENS if cue in long]
    found = []
    if told:
        # In the order of the table, each once.
        found = [one for rule in RULES if rule in told for one in _by(rule, text)]
    if _may_name(low):
        from holdfast.text.secrets_named import find_named

        found += [Found(*one) for one in find_named(text, low)]
    return _apart(found, text) if found else []


def _find_escaped(text: str) -> list[Found]:
    """The secrets of a markdown text, in which an editor may have put a mark before each _."""
    from bisect import bisect_left

    plain = text.replace(_ESCAPED, "_")
    cuts: list[int] = []
    at = text.find(_ESCAPED)
    while at >= 0:
        cuts.append(at - len(cuts))
        at = text.find(_ESCAPED, at + 2)
    return [
        Found(
            one.kind, one.start + bisect_left(cuts, one.start), one.end + bisect_left(cuts, one.end)
        )
        for one in find(plain)
    ]


def redact(text: str, placeholder: Callable[[str, str], str | None]) -> tuple[str, list[str]]:
    """The text with every secret replaced, and the kinds of those that were. `placeholder` is given
    kind and secret; None leaves the secret where it is."""
    out: list[str] = []
    kinds = []
    at = 0
    for kind, start, end in find(text):
        instead = placeholder(kind, text[start:end].replace(_ESCAPED, "_"))
        if instead is not None:
            out += [text[at:start], instead]
            kinds.append(kind)
            at = end
    return ("".join([*out, text[at:]]), kinds) if kinds else (text, [])


def named_secret(name: str, value: str) -> str:
    """The kind of secret that a value is by its name, as in a dictionary; '' where it is none."""
    if len(value) < 4 or not _may_name(name.lower()) or PLACEHOLDER.search(value):
        return ""
    from holdfast.text.secrets_named import is_named_secret

    return is_named_secret(name, value)


def placeholders(text: str) -> dict[str, int]:
    """How many secrets of each kind have been replaced in a text."""
    if "[secret:" not in text:
        return {}
    out: dict[str, int] = {}
    for match in PLACEHOLDER.finditer(text):
        out[match[1]] = out.get(match[1], 0) + 1
    return out


# The beginnings of all names in secrets_named, which is not even loaded without one of them.
_NAME_CUES = (
    *("pass", "pwd", "key", "secret", "token", "credential", "kennwort", "contrase"),
    *("wachtwoord", "senha", "hasło", "пароль", "密码", "pin ", "code"),
)


def _may_name(low: str) -> bool:
    return bool([cue for cue in _NAME_CUES if cue in low])


@cache
def _pattern(rule: Rule) -> re.Pattern[str]:
    return re.compile(rule.pattern)


def _by(rule: Rule, text: str) -> list[Found]:
    from holdfast.text.secrets_checks import CHECKS, is_example

    pattern = _pattern(rule)
    group = "s" if "s" in pattern.groupindex else 0
    fits = CHECKS[rule.check]
    return [
        Found(rule.kind, *match.span(group))
        for match in pattern.finditer(text)
        if not is_example(match[group]) and fits(match[group])
    ]


def _apart(found: list[Found], text: str) -> list[Found]:
    """Of those that overlap the first found, as the rules are in order; none in a placeholder."""
    taken = bytearray(len(text))
    for match in PLACEHOLDER.finditer(text) if "[secret:" in text else ():
        taken[match.start() : match.end()] = b"x" * (match.end() - match.start())
    out = []
    for one in found:
        if taken.find(b"x", one.start, one.end) < 0:
            taken[one.start : one.end] = b"x" * (one.end - one.start)
            out.append(one)
    return sorted(out, key=lambda one: one.start)


@cache
def _ascii_small() -> dict[int, int]:
    return {ord(capital): ord(capital) + 32 for capital in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
