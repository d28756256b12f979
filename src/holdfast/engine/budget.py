"""Measuring a block: in characters, or in tokens by a bound or by a tokenizer that is named.

It knows how to count; it does not know what is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast.errors import InvalidInput
from holdfast.text.normalise import one_of

Unit: TypeAlias = Literal["chars", "tokens"]
UNITS: tuple[Unit, ...] = get_args(Unit)
Measure: TypeAlias = Callable[[str], int]
Tokenizer: TypeAlias = Measure | str

# Less than this holds the frame and hardly anything else.
LEAST: dict[Unit, int] = {"chars": 200, "tokens": 100}
# A token is about four characters of prose, so this is as much as the setting gives in characters.
_CHARS_PER_TOKEN = 4


class Budget(NamedTuple):
    """How much may be used, of what, and how it is counted."""

    limit: int
    unit: Unit
    measure: Measure


def budget_of(
    limit: int | None, unit: str, tokenizer: Tokenizer | None, *, chars_max: int
) -> Budget:
    """The budget from what a caller says; without a limit, the setting's."""
    checked: Unit = one_of(unit, UNITS, "unit")  # type: ignore[assignment]
    if tokenizer is not None:
        checked = "tokens"
    if limit is None:
        limit = chars_max
        if checked == "tokens":
            limit = max(LEAST["tokens"], chars_max // _CHARS_PER_TOKEN)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < LEAST[checked]:
        name = "characters" if checked == "chars" else "tokens"
        raise InvalidInput(f"The budget is {limit}; it must be at least {LEAST[checked]} {name}.")
    return Budget(limit, checked, _measure(checked, tokenizer))


def _measure(unit: Unit, tokenizer: Tokenizer | None) -> Measure:
    if unit == "chars":
        return len
    if tokenizer is None:
        from holdfast.text.token_bound import tokens_at_most

        return tokens_at_most
    if callable(tokenizer):
        return _checked(tokenizer)
    return _named(tokenizer)


def _checked(count: Callable[[str], Any]) -> Measure:
    def measure(text: str) -> int:
        found = count(text)
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            raise InvalidInput(
                f"The tokenizer counted {found!r} tokens.",
                hint="Give a function that takes text and returns a whole number.",
            )
        return found

    return measure


def _named(name: str) -> Measure:
    library, colon, encoding = name.partition(":")
    if library != "tiktoken" or (colon and not encoding):
        raise InvalidInput(
            f"There is no tokenizer `{name}`.",
            hint="Name one as tiktoken:o200k_base, or hand in a function that counts.",
        )
    try:
        from importlib import import_module

        tiktoken = import_module("tiktoken")
    except ImportError:
        raise InvalidInput(
            "The tokenizer needs the package tiktoken, which is not installed.",
            hint="Install it with: pip install tiktoken",
        ) from None
    try:
        found = tiktoken.get_encoding(encoding or "o200k_base")
    except (ValueError, OSError) as error:
        # An unknown name, or a vocabulary that tiktoken would have to fetch first.
        raise InvalidInput(
            f"tiktoken has no encoding `{encoding}` at hand: {error}.",
            hint="Try tiktoken:cl100k_base, or leave the tokenizer out to use the safe bound.",
        ) from None
    return lambda text: len(found.encode_ordinary(text))
