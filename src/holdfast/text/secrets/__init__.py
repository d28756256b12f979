"""Credentials in a text: where they are and of which kind. Offline rules, no network, no guesses
about what is behind a key. A text that holds no cue costs a few substring searches.

What replaces them is a placeholder, `[secret:kind:hash8]`; the caller makes the hash.
docs/decisions/secret-scanner.md says why no library is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.secrets.rules import (
    COMMANDS_BY_CUE,
    NOUN_CUES,
    ORDER,
    QUESTION_CHARS_MAX,
    SPACED_BY_CUE,
    TOKEN_CHARS_MIN,
    TOKENS_BY_CUE,
    Rule,
)
from holdfast.text.secrets.spelling import MARKS, written_plainly
from holdfast.text.tables import lazy

# What replaces a secret.
PLACEHOLDER = lazy(r"\[secret:([a-z0-9-]{1,40}):([0-9a-f]{8})\]")
# The shortest seed phrase of a wallet has twelve words.
_SEED_WORDS_MIN = 12
# Shorter texts can hold a PIN at most: 'pin 1234'.
_CHARS_MIN = 8
# A word that can be an option or an argument of a command: '-p', '/p:', '\\\\server', '|'.
_OPTIONS = ("\n-", "\n/", "\n\\", "\n|")


class Found(NamedTuple):
    """One secret: its kind, and where it begins and ends."""

    kind: str
    start: int
    end: int


def find(text: str, *, payment_numbers: bool = False) -> list[Found]:
    """The secrets of a text, in order, none of them overlapping. Card numbers and IBANs are
    included only on request."""
    if len(text) < _CHARS_MIN:
        return []
    # Most texts have no other spelling, which is known without a call.
    is_plain = text.isascii() and not [mark for mark in MARKS if mark in text]
    plain = None if is_plain else written_plainly(text)
    if plain is not None:
        found = find(plain.text, payment_numbers=payment_numbers)
        return [Found(one.kind, *plain.span(one.start, one.end)) for one in found]
    low = text.lower()
    if len(low) != len(text):
        # Some letters become longer in lower case, so positions would not match any more.
        low = text.translate(_ascii_small())
    words = low.split()
    try:
        lengths = bytes(map(len, words))
    except ValueError:  # One is longer than a byte can say.
        lengths = bytes([min(len(word), 255) for word in words])
    vocabulary = set(words)
    cues = _cues_in(vocabulary)
    rules: dict[Rule, None] = {}
    if cues:
        rules = {rule: None for cue, some in SPACED_BY_CUE if cue in cues for rule in some}
        if not cues.isdisjoint(_OPTIONS):
            rules |= {rule: None for cue, some in COMMANDS_BY_CUE if cue in cues for rule in some}
    spans: list[tuple[int, int]] = []
    # Tokens have no spaces: only long words can be, or hold, one.
    if max(lengths, default=0) >= TOKEN_CHARS_MIN:
        long = [word for word in words if len(word) >= TOKEN_CHARS_MIN]
        joined = "\n".join(long)
        tokens = {rule: None for cue, some in TOKENS_BY_CUE if cue in joined for rule in some}
        if tokens:
            spans = _spans(low, long)
            rules |= tokens
        found = list(_encoded(text, payment_numbers=payment_numbers))
    else:
        found = []
    for rule in sorted(rules, key=ORDER.__getitem__) if rules else ():
        found += _found_by(rule, text, low, spans)
    if cues and (nouns := [cue for cue in NOUN_CUES if cue in cues]):
        from holdfast.text.secrets.named import find_columns, find_in_manifests, find_named

        found += [Found(*one) for one in find_named(text, low, nouns)]
        found += [Found(*one) for one in find_columns(text, low, nouns)]
        if "data:" in low and "kind:" in low:
            found += [Found(*one) for one in find_in_manifests(text)]
    found += _find_numbers(text, low, words, lengths, vocabulary, payment_numbers=payment_numbers)
    return _without_overlaps(found, text) if found else []


# Text in base 64, which holds at least a name and a short value.
_ENCODED = lazy(r"(?<![A-Za-z0-9+/_=.-])[A-Za-z0-9+/_-]{24,}+={0,2}+(?![A-Za-z0-9+/_.-])")
# Random bytes are no text: so many of them are never all printable.
_ENCODED_BEGIN_CHARS = 24


def _encoded(text: str, *, payment_numbers: bool) -> Iterator[Found]:
    """Words that are the base 64 of a text with a secret, such as a whole file of settings."""
    for match in _ENCODED.finditer(text):
        decoded = _decoded(match[0][:_ENCODED_BEGIN_CHARS]) and _decoded(match[0])
        if decoded and (inside := find(decoded, payment_numbers=payment_numbers)):
            yield Found(inside[0].kind, *match.span())


def _decoded(word: str) -> str:
    """The text of a base64 word; empty if it is none."""
    import base64
    import binascii

    word = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(word + "=" * (-len(word) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""
    return text if "".join(text.split()).isprintable() else ""


# Words that were met, without a cue or with these: most words of a text are among those of the
# texts before.
_QUIET_WORDS: set[str] = set()
_CUES_OF_WORD: dict[str, frozenset[str]] = {}
_KNOWN_WORDS_MAX = 20_000
_CUES = tuple(
    dict.fromkeys((*NOUN_CUES, *_OPTIONS, *(cue for cue, _ in (*SPACED_BY_CUE, *COMMANDS_BY_CUE))))
)
_CUES_ASCII = tuple(cue for cue in _CUES if cue.isascii())
_NOUN_CUES_ASCII = tuple(cue for cue in NOUN_CUES if cue.isascii())


def _cues_in(words: set[str]) -> set[str]:
    """The cues that the words of a text hold. Each cue is looked for in words not met before."""
    cues: set[str] = set()
    unknown = []
    for word in words - _QUIET_WORDS:
        if known := _CUES_OF_WORD.get(word):
            cues |= known
        else:
            unknown.append(word)
    if not unknown:
        return cues
    joined = "\n".join(("", *unknown, ""))
    found = [cue for cue in (_CUES_ASCII if joined.isascii() else _CUES) if cue in joined]
    if len(_QUIET_WORDS) + len(_CUES_OF_WORD) + len(unknown) > _KNOWN_WORDS_MAX:
        _QUIET_WORDS.clear()
        _CUES_OF_WORD.clear()
    for word in unknown:
        # Longer ones are addresses and the like, which hardly come again.
        if len(word) < TOKEN_CHARS_MIN:
            own = [cue for cue in found if cue in f"\n{word}\n"] if found else []
            if own:
                _CUES_OF_WORD[word] = frozenset(own)
            else:
                _QUIET_WORDS.add(word)
    return cues.union(found)


def find_answer(question: str, text: str, *, payment_numbers: bool = False) -> list[Found]:
    """The secrets of a text that answers a question, as 'What is the password?' asks for one."""
    found = find(text, payment_numbers=payment_numbers) + find_revealed(question, text)
    return _without_overlaps(found, text) if found else []


def find_revealed(question: str, text: str) -> list[Found]:
    """The secrets that only the question gives away."""
    if not asks_for_secret(question):
        return []
    from holdfast.text.secrets import sentences

    return [Found(*one) for one in sentences.find_answer(question, text)]


def asks_for_secret(question: str) -> bool:
    """Whether what answers this may be a secret, such as 'hunter2' after 'The password?'."""
    return bool(question) and may_name_secret(question.strip()[-QUESTION_CHARS_MAX:])


def find_over_many_lines(text: str) -> list[Found]:
    """The secrets that only many lines together give away: cells under a heading, and numbered
    words of a seed phrase."""
    from holdfast.text.secrets.named import find_columns

    low = text.lower() if len(text.lower()) == len(text) else text.translate(_ascii_small())
    words = low.split()
    lengths = bytes([min(len(word), 255) for word in words])
    found = [Found(*one) for one in find_columns(text, low)]
    return found + _find_numbers(text, low, words, lengths, set(words), payment_numbers=False)


def _find_numbers(
    text: str,
    low: str,
    words: list[str],
    lengths: bytes,
    vocabulary: set[str],
    *,
    payment_numbers: bool,
) -> list[Found]:
    """Seed phrases of wallets, and numbers of cards and accounts where they are asked for."""
    found = []
    if len(words) >= _SEED_WORDS_MIN:
        from holdfast.text.secrets.checksummed import find_seed_phrases, may_be_seed_phrase

        if may_be_seed_phrase(words, lengths, vocabulary):
            found += [Found("seed-phrase", *span) for span in find_seed_phrases(low)]
    if payment_numbers:
        from holdfast.text.secrets.checksummed import find_payment_numbers

        found += [Found(*one) for one in find_payment_numbers(text)]
    return found


def redact(
    text: str,
    placeholder: Callable[[str, str], str | None],
    *,
    question: str = "",
    payment_numbers: bool = False,
) -> tuple[str, list[str]]:
    """The text with every secret replaced, and the kinds of those that were. `placeholder` is given
    kind and secret; None leaves the secret where it is. `question` is what the text answers."""
    out: list[str] = []
    kinds = []
    at = 0
    for kind, start, end in find_answer(question, text, payment_numbers=payment_numbers):
        secret = text[start:end]
        plain = written_plainly(secret)
        instead = placeholder(kind, secret if plain is None else plain.text)
        if instead is not None:
            out += [text[at:start], instead]
            kinds.append(kind)
            at = end
    return ("".join([*out, text[at:]]), kinds) if kinds else (text, [])


def named_secret(name: str, value: str) -> str:
    """The kind of secret of a value according to its name, as in a dictionary; empty if it is
    none."""
    if len(value) < 4 or not may_name_secret(name) or PLACEHOLDER.search(value):
        return ""
    from holdfast.text.secrets.named import is_named_secret

    return is_named_secret(name, value)


def placeholders(text: str) -> dict[str, int]:
    """The number of replaced secrets of each kind in a text."""
    if "[secret:" not in text:
        return {}
    out: dict[str, int] = {}
    for match in PLACEHOLDER.finditer(text):
        out[match[1]] = out.get(match[1], 0) + 1
    return out


def may_name_secret(name: str) -> bool:
    """Whether a value of this name may be a secret by that alone."""
    low = name.lower()
    # A loop: `any` takes twice as long, and this is asked of every name in a dictionary.
    for cue in _NOUN_CUES_ASCII if low.isascii() else NOUN_CUES:  # noqa: SIM110
        if cue in low:
            return True
    return False


@cache
def _pattern(rule: Rule) -> re.Pattern[str]:
    return re.compile(rule.pattern)


def _spans(low: str, words: list[str]) -> list[tuple[int, int]]:
    """The positions of the words in the text, which contains them in this order."""
    spans = []
    at = 0
    for word in words:
        start = low.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    return spans


def _found_by(rule: Rule, text: str, low: str, spans: list[tuple[int, int]]) -> list[Found]:
    from holdfast.text.secrets.checks import CHECKS, is_example

    fits = CHECKS[rule.check]
    found = []
    for match in _matches(rule, text, low, spans):
        group = match.lastgroup or 0
        if not is_example(match[group]) and fits(match[group]):
            found.append(Found(rule.kind, *match.span(group)))
    return found


def _matches(
    rule: Rule, text: str, low: str, spans: list[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    """The matches of a rule; a rule for tokens is tried only on long words, which are `spans`."""
    pattern = _pattern(rule)
    if rule.is_token:
        for start, end in spans:
            yield from pattern.finditer(text, start, end)
        return
    if not rule.is_at_cue:
        lines = _lines_with(rule.cues, low) if rule.is_in_line else [(0, len(text))]
        for start, end in lines:
            yield from pattern.finditer(text, start, end)
        return
    for cue in rule.cues:
        at = low.find(cue)
        while at >= 0:
            match = pattern.match(text, at)
            if match is not None:
                yield match
            at = low.find(cue, match.end() if match is not None else at + len(cue))


def _lines_with(cues: Sequence[str], low: str) -> list[tuple[int, int]]:
    """The start and end of each line that contains one of the cues, in order."""
    lines: set[tuple[int, int]] = set()
    for cue in cues:
        at = low.find(cue)
        while at >= 0:
            end = low.find("\n", at)
            end = len(low) if end < 0 else end
            lines.add((low.rfind("\n", 0, at) + 1, end))
            at = low.find(cue, end)
    return sorted(lines)


def _without_overlaps(found: list[Found], text: str) -> list[Found]:
    """Of those that overlap the first found, as the rules are in order; none in a placeholder. Each
    goes on to its end, where the pattern of a rule stops before."""
    taken = bytearray(len(text))
    for match in PLACEHOLDER.finditer(text) if "[secret:" in text else ():
        taken[match.start() : match.end()] = b"x" * (match.end() - match.start())
    out = []
    for one in found:
        if taken.find(b"x", one.start, one.end) < 0:
            end = _end_of(one, text)
            cut = taken.find(b"x", one.end, end)
            one = Found(one.kind, one.start, end if cut < 0 else cut)
            taken[one.start : one.end] = b"x" * (one.end - one.start)
            out.append(one)
            out += _joined(out[-1], text, taken)
    out += _repeated(out, text, taken)
    return sorted(out, key=lambda one: one.start)


# The next part of a text in quotes that a program joins: 'abc' \\ 'def', "abc" + "def".
_NEXT_PART = lazy(
    r"(?P<quote>[\"'`])\s{0,4}[+.\\]?\s{0,80}(?P=quote)(?P<s>[A-Za-z0-9+/_=-]{8,})(?P=quote)"
)


def _joined(one: Found, text: str, taken: bytearray) -> Iterator[Found]:
    """The parts of a token behind the first."""
    part = _NEXT_PART.match(text, one.end)
    while part is not None and _is_drawn(part["s"]) and taken.find(b"x", *part.span("s")) < 0:
        start, end = part.span("s")
        taken[start:end] = b"x" * (end - start)
        yield Found(one.kind, start, end)
        part = _NEXT_PART.match(text, end)


def _is_drawn(part: str) -> bool:
    from holdfast.text.secrets.checks import is_mixed

    return is_mixed(part)


# Shorter values are words and numbers that a text may hold for another reason.
_REPEATED_CHARS_MIN = 8


def _repeated(found: list[Found], text: str, taken: bytearray) -> list[Found]:
    """Other places of a secret in the text, without the name or the form by which it was found."""
    out = []
    for value, kind in {text[one.start : one.end]: one.kind for one in found}.items():
        if len(value) < _REPEATED_CHARS_MIN or text.count(value) < 2 or not _is_strong(value):
            continue
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            if taken.find(b"x", at, end) < 0:
                taken[at:end] = b"x" * len(value)
                out.append(Found(kind, at, end))
            at = text.find(value, end)
    return out


# A longer value is a key, whatever words are in it.
_CHOSEN_CHARS_MAX = 400
# The name of a class, such as Ed25519Key, is many times in a text that has it once.
_NAME_OF_CLASS = lazy(r"(?:[A-Z][a-z]+\d*){1,8}")


def _is_strong(value: str) -> bool:
    """Whether a value is nothing that a text would hold for another reason."""
    if len(value) > _CHOSEN_CHARS_MAX:
        return True
    from holdfast.text.secrets.checks import Strength, strength

    if not any(map(str.isdigit, value)) or _NAME_OF_CLASS.fullmatch(value):
        return False
    return strength(value) is Strength.STRONG


# Patterns bound what they match. A value that is at least as long as the smallest bound and goes
# on behind the match is not over yet.
_BOUND_CHARS_MIN = 120
_GOES_ON = lazy(r"[A-Za-z0-9+/_~%-]*+={0,2}")
# A long token that goes on in the next line: after the mark of a shell, or alone in its line, as a
# terminal or an editor breaks what is too wide for it.
_NEXT_LINE = lazy(
    r"(?P<mark>[ \t]?\\)?\r?\n[ \t]*(?P<rest>[A-Za-z0-9+/_-]{8,}={0,2})(?P<alone>(?=\s*?(?:\n|$)))?"
)
# Few terminals are narrower, and few lines that somebody has ended are as wide.
_WIDTH_CHARS_MIN = 70
# So long a token may have been broken anywhere, if as long a line of letters and digits follows.
_LONG_TOKEN_CHARS_MIN = 40
_LONG_REST_CHARS_MIN = 24
# A hash that has a line to itself is no rest of a token of all letters.
_HEX = lazy(r"[0-9a-f]+")


def _end_of(one: Found, text: str) -> int:
    """Where a secret really ends: long ones go on behind the bound of a pattern, or in the next
    line."""
    end = one.end
    if end - one.start >= _BOUND_CHARS_MIN:
        tail = _GOES_ON.match(text, end)
        end = tail.end() if tail is not None else end
    if text[end : end + 1] not in ("\n", "\r", "\\", " "):
        return end
    from holdfast.text.secrets.checks import is_mixed, is_token

    if not is_token(text[one.start : end]):
        return end
    while (line := _NEXT_LINE.match(text, end)) is not None and is_mixed(line["rest"]):
        width = end - text.rfind("\n", 0, end) - 1
        rest = len(line["rest"])
        is_wide = _WIDTH_CHARS_MIN <= width >= rest or (
            end - one.start >= _LONG_TOKEN_CHARS_MIN and rest >= _LONG_REST_CHARS_MIN
        )
        is_broken = is_wide and line["alone"] is not None
        if line["mark"] is None and not (is_broken and not _HEX.fullmatch(line["rest"])):
            break
        end = line.end()
    return end


@cache
def _ascii_small() -> dict[int, int]:
    return {ord(capital): ord(capital) + 32 for capital in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
