"""Numbers of payment cards and IBANs, by their form and their check digits."""

from __future__ import annotations

import re
from collections.abc import Iterator

# 13 to 19 digits that begin as cards do, in groups or without.
_CARD = re.compile(
    r"(?<![\w.-])[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,4}(?:[ -]?\d{1,3})?(?![\w.-]?\d)"
)
_AMEX = re.compile(r"(?<![\w.-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\w.-]?\d)")
_IBAN = re.compile(
    r"(?<![\w-])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,4})?(?![\w-])"
)
_IBAN_CHARS = range(15, 35)


def find_payment_numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each number whose check digits are right."""
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
