"""Secrets that are recognised by a checksum: numbers of payment cards (Luhn), IBANs (mod 97), and
seed phrases of wallets (BIP-39, English word list). One in sixteen runs of twelve listed words has
the checksum by chance, and a run of twelve is rare in ordinary text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

from holdfast.text.tables import lazy

# 13 to 19 digits that begin as cards do, in groups or without.
_CARD = lazy(r"(?<![\w.-])[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,4}(?:[ -]?\d{1,3})?(?![\w.-]?\d)")
_AMEX = lazy(r"(?<![\w.-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\w.-]?\d)")
_IBAN = lazy(r"(?<![\w-])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,4})?(?![\w-])")
_IBAN_CHARS = range(15, 35)


def find_payment_numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each card number or IBAN with correct check digits."""
    for pattern in (_CARD, _AMEX):
        for match in pattern.finditer(text):
            digits = re.sub(r"\D", "", match[0])
            if len(digits) >= 13 and len(set(digits)) > 1 and _is_luhn(digits):
                yield "card-number", *match.span()
    for match in _IBAN.finditer(text):
        if _is_iban(match[0].replace(" ", "")):
            yield "iban", *match.span()


def _is_luhn(digits: str) -> bool:
    doubled = [int(digit) * (2 if at % 2 else 1) for at, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _is_iban(number: str) -> bool:
    if len(number) not in _IBAN_CHARS:
        return False
    return int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1


_COUNTS = (24, 21, 18, 15, 12)
_WORDS_MIN = 12
# Twelve words drawn from 2,048 nearly always differ; with fewer different ones it is other text.
_DIFFERENT_MIN = 8
# Each byte is the length of a word, with a mark at its end: all words of the list have 3 to 8
# letters, and prose has shorter ones in almost every run of twelve.
_FITTING = bytes(1 if 3 <= length <= 10 else 0 for length in range(256))
_RUN = b"\1" * _WORDS_MIN
_RUNS = re.compile(b"\1{12,}")
_NUMBERS = frozenset(("12.", "12)", "12:", "12"))
_MARKS = ",.;:\"'|[]()"
# Between two words of a phrase: space, a comma, quotes, the number of the next line.
_BETWEEN = lazy(r"[\s,;\"'|]{1,12}(?:[-*]\s{1,2})?(?:\d{1,2}[.):]?\s{0,3}[\"']?)?")
_NAMED = lazy(
    r"(?:seed|recovery|backup|mnemonic|secret|wallet|ledger|trezor)[\w -]{0,24}[^\w]{0,6}$"
)


def may_be_seed_phrase(words: list[str], lengths: bytes, vocabulary: set[str]) -> bool:
    """Whether twelve words in a row are in the list, or would be without the numbers between;
    `lengths` are those of the words, `vocabulary` has each of them once."""
    if len(words) < _WORDS_MIN:
        return False
    fitting = lengths.translate(_FITTING)
    if _RUN in fitting:
        for run in _RUNS.finditer(fitting):
            if _has_run(words[run.start() : run.end()]):
                return True
    return not _NUMBERS.isdisjoint(vocabulary) and _has_run(
        [word for word in words if not word[0].isdigit()]
    )


def _has_run(words: list[str]) -> bool:
    places = _places()
    count = 0
    for word in words:
        count = count + 1 if word.strip(_MARKS) in places else 0
        if count == _WORDS_MIN:
            return True
    return False


@cache
def _places() -> dict[str, int]:
    # `importlib.resources` would take 8 ms of the start of a command.
    path = os.path.join(os.path.dirname(__file__), "bip39_english.txt")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return {word: place for place, word in enumerate(text.split())}


def find_seed_phrases(low: str) -> Iterator[tuple[int, int]]:
    """Start and end of each seed phrase of a wallet in a text of small letters."""
    for run in _runs(low):
        yield from _phrases(low, run)


def _runs(low: str) -> Iterator[list[re.Match[str]]]:
    """Words of the list that follow each other with nothing but marks and numbers between."""
    places = _places()
    run: list[re.Match[str]] = []
    for word in re.finditer(r"[a-z]+", low):
        fits = word[0] in places
        if run and fits and _BETWEEN.fullmatch(low, run[-1].end(), word.start()):
            run.append(word)
            continue
        if len(run) >= _WORDS_MIN:
            yield run
        run = [word] if fits else []
    if len(run) >= _WORDS_MIN:
        yield run


def _phrases(low: str, run: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    if len(run) in _COUNTS and _NAMED.search(low, max(0, run[0].start() - 60), run[0].start()):
        yield run[0].start(), run[-1].end()
        return
    words = [word[0] for word in run]
    varied = _varied(words)
    at = 0
    while at <= len(words) - _WORDS_MIN:
        if varied[at]:
            for count in _COUNTS:
                if at + count <= len(words) and _is_checked(words[at : at + count]):
                    yield run[at].start(), run[at + count - 1].end()
                    at += count - 1
                    break
        at += 1


def _varied(words: list[str]) -> list[bool]:
    """For each place at which twelve words begin, whether most of them differ. Those of a phrase
    do, as they are drawn at random; text that repeats a word ('word word word') is no phrase."""
    counts: dict[str, int] = {}
    out = []
    for at, word in enumerate(words):
        counts[word] = counts.get(word, 0) + 1
        if at >= _WORDS_MIN:
            first = words[at - _WORDS_MIN]
            counts[first] -= 1
            if not counts[first]:
                del counts[first]
        if at >= _WORDS_MIN - 1:
            out.append(len(counts) >= _DIFFERENT_MIN)
    return out


def _is_checked(words: list[str]) -> bool:
    """Whether the last bits are the checksum of the others."""
    import hashlib

    number = 0
    for word in words:
        number = number << 11 | _places()[word]
    check_bits = len(words) // 3
    entropy = (number >> check_bits).to_bytes(len(words) * 4 // 3, "big")
    return hashlib.sha256(entropy).digest()[0] >> (8 - check_bits) == number & (
        (1 << check_bits) - 1
    )
