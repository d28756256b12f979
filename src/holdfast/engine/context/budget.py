"""Measures a block in characters or tokens, and reads candidates from the store, best first, only
as far as the block has room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args, overload

from holdfast.engine.context.styles import Item
from holdfast.errors import InvalidInput
from holdfast.text.normalise import one_of

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory


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


# About as many as a block of the usual size holds, so that one round is mostly enough.
_BATCH = 128

# The memories with these ids.
Read: TypeAlias = Callable[[Sequence[str]], dict[str, "Memory"]]


class Candidates(Sequence[Item]):
    """Items for these ids, in their order; good as long as what reads them is."""

    def __init__(self, ids: Sequence[str], read: Read, item: Callable[[Memory], Item]) -> None:
        self.ids = ids
        self._read = read
        self._item = item
        self._items: list[Item] = []

    @classmethod
    def of_none(cls) -> Candidates:
        """None at all."""

        def read(ids: Sequence[str]) -> dict[str, Memory]:
            return {}

        return cls((), read, lambda memory: Item(memory, memory.content, "long_term"))

    def among(self, ids: Sequence[str]) -> Candidates:
        """Those of them with these ids, in this order."""
        return Candidates(ids, self._read, self._item)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Item]:
        at = 0
        while at < len(self.ids):
            self._reach(at)
            # No index of its own for each item: a block may hold thousands.
            for item in self._items[at:]:
                at += 1
                yield item

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | Sequence[Item]:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self.ids))
            if step == 1 and stop <= len(self._items):
                return self._items[start:stop]
            return self.among(self.ids[at])
        place = range(len(self.ids))[at]
        self._reach(place)
        return self._items[place]

    def _reach(self, place: int) -> None:
        """Reads on until the item at a place is known."""
        while len(self._items) <= place:
            ids = self.ids[len(self._items) : len(self._items) + _BATCH]
            found = self._read(ids)
            self._items += [self._item(found[one]) for one in ids]
