"""Measures a block in characters or tokens, and reads candidates from the store, best first, only
as far as the block has room."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, overload

from holdfast.engine.context.styles import BlockItem
from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.clean import one_of
from holdfast.text.tables import lazy

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory


Unit: TypeAlias = Literal["chars", "tokens"]
UNITS: tuple[Unit, ...] = get_args(Unit)
Measure: TypeAlias = Callable[[str], int]
Tokenizer: TypeAlias = Measure | str

# A smaller budget has room for hardly more than the frame.
LEAST: dict[Unit, int] = {"chars": 200, "tokens": 100}
# A token is about four characters of prose; this converts the setting, which is in characters.
_CHARS_PER_TOKEN = 4


class Budget(NamedTuple):
    """The limit of a block, its unit, and how a text is measured."""

    limit: int
    unit: Unit
    measure: Measure


def budget_of(
    limit: int | None, unit: str, tokenizer: Tokenizer | None, *, chars_max: int
) -> Budget:
    """The budget of a request; without a limit, that of the setting."""
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
        return tokens_at_most
    if callable(tokenizer):
        return _checked(tokenizer)
    if not isinstance(tokenizer, str):
        raise InvalidInput(
            f"A tokenizer is a function or a name, not {tokenizer!r}.",
            hint="Name one such as 'tiktoken:o200k_base'.",
        )
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


# About as many as a block of the usual size holds, so that one read is usually enough.
_BATCH = 128

# Reads the memories with these ids.
Read: TypeAlias = Callable[[Sequence[str]], dict[str, "Memory"]]


class Candidates(Sequence[BlockItem]):
    """The items of these ids, in order, read lazily. Usable as long as their reader."""

    def __init__(self, ids: Sequence[str], read: Read, item: Callable[[Memory], BlockItem]) -> None:
        self.ids = ids
        self._read = read
        self._item = item
        self._items: list[BlockItem] = []

    @classmethod
    def of_none(cls) -> Candidates:
        """An empty sequence."""

        def read(ids: Sequence[str]) -> dict[str, Memory]:
            return {}

        return cls((), read, lambda memory: BlockItem(memory, memory.content, "long_term"))

    def among(self, ids: Sequence[str]) -> Candidates:
        """The items with these ids, in this order."""
        return Candidates(ids, self._read, self._item)

    def without(self, ids: Container[str]) -> Candidates:
        """The items without those of these ids; none of them is read for that."""
        return self.among([one for one in self.ids if one not in ids])

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[BlockItem]:
        at = 0
        while at < len(self.ids):
            self._reach(at)
            # Without indexing each item: a block may have thousands.
            for item in self._items[at:]:
                at += 1
                yield item

    @overload
    def __getitem__(self, at: int) -> BlockItem: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[BlockItem]: ...
    def __getitem__(self, at: int | slice) -> BlockItem | Sequence[BlockItem]:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self.ids))
            if step == 1 and stop <= len(self._items):
                return self._items[start:stop]
            return self.among(self.ids[at])
        place = range(len(self.ids))[at]
        self._reach(place)
        return self._items[place]

    def _reach(self, place: int) -> None:
        """Reads until the item at this index is known."""
        while len(self._items) <= place:
            ids = self.ids[len(self._items) : len(self._items) + _BATCH]
            found = self._read(ids)
            self._items += [self._item(found[one]) for one in ids]


# The most tokens that a text can have, in any model. `chunking` estimates what is likely; this
# bound is never too low, and for prose two or three times too high. It relies on three properties
# of the vocabularies that it was checked with (cl100k, p50k, Qwen, Tekken, Mistral's SentencePiece,
# an older Claude's, BERT's WordPiece): a token is at least a byte; every ASCII letter merges with a
# space before it; and the pairs of letters in `_PAIRS` merge, so no two of them are left as single
# tokens side by side. A common word after a space is one token. Tokens that a model adds around a
# text are not counted. docs/reference/context-styles.md has the figures.

# For each letter, the letters before it with which it is one token in every vocabulary checked.
_PAIRS = {
    "a": "abcdefghijklmnoprstuvwxyz",
    "b": "abcefilmnorstuy",
    "c": "abcdehiklmoprstuyz",
    "d": "abcdefhilmoprstuy",
    "e": "abcdefghijklmnprstuvwxyz",
    "f": "abcefilmoprstuy",
    "g": "abceghilnoprstuy",
    "h": "adehilmnoprstuy",
    "i": "abcdefghijklmnopqrstuvxyz",
    "j": "aeikosu",
    "k": "aehikmorstuy",
    "l": "abcdeilmnoprstuy",
    "m": "abcdegilmopstuxy",
    "n": "abcdeghilnoprstuxy",
    "o": "abcdefghijklmnoprstuvwxyz",
    "p": "acdefghilmoprstuwy",
    "q": "au",
    "r": "abcdefghilmnoprstuyz",
    "s": "abcdefghiklmoprstuwyz",
    "t": "acefhilmoprstuvyz",
    "u": "abcdefghijklmnoprstwxyz",
    "v": "abcdeiorsy",
    "w": "acdeilnorsty",
    "x": "aitxy",
    "y": "adeklmnoprst",
    "z": "adehiouyz",
}
# Words that are one token after a space in every vocabulary checked.
_WORDS = (
    "about account after again against all almost also although always am an and any anyone "
    "anything are as at be because been before being between both build but by call called can "
    "cannot change changes city class client code could customer data database date day did "
    "different do does doing done down each email even every everyone everything family few file "
    "files first for friend from front function get going good great had has have having he help "
    "her here hers herself him himself his home house how idea if in index into is it its itself "
    "job just keep key know last let letter light like line lines list long look love made make "
    "manager many market me meeting message might mine money month more morning most much music "
    "must my myself name names near need never new next night no nor not note number of off "
    "office old on once one only onto or other others our ours ourselves out over paper party "
    "password people person phone picture place plan please prefer price project projects query "
    "questions quite rather really release remember report rest review road row run running runs "
    "same school see self server set shall share she should so some someone something start still "
    "store story street such summer table talk task team tell test tests text than that the their "
    "them themselves then there these they think this those though through time to today token "
    "too train try two under unless up use used user uses using version very want was water we "
    "week were what when where which while who whom whose why will window winter with within "
    "without word words work working works would year yet you your yours yourself"
)
_COMMON = frozenset(_WORDS.split())
# A run of ASCII letters with the space before it, or a run of anything else.
_PIECE = lazy(r"( ?)([A-Za-z]+)|[^A-Za-z ]+| ")
# A longer word is binary data: counted as a token per letter, and not cached.
_WORD_CHARS_MAX = 40
_NEVER = -1_000


def tokens_at_most(text: str) -> int:
    """An upper bound for vocabularies of these kinds, with one token for a mark at the start."""
    count = 1
    for found in _PIECE.finditer(text):
        space, word = found.groups()
        if word is None:
            count += len(found[0].encode("utf-8", "surrogatepass"))
        elif space and word in _COMMON and not _goes_on(text, found.end()):
            count += 1
        else:
            count += _word_at_most(word) if len(word) <= _WORD_CHARS_MAX else len(word) + 1
    return count


def _goes_on(text: str, end: int) -> bool:
    """Whether a non-ASCII letter or an apostrophe follows, which may change how the word is
    split."""
    return end < len(text) and (text[end] > "\x7f" or text[end] == "'")


@lru_cache(maxsize=20_000)
def _word_at_most(word: str) -> int:
    """The most tokens that a word with the space before it can be split into, if no two letters
    that merge are left as single tokens side by side. Considering tokens of one and two letters is
    enough: a longer one never increases the number."""
    # The most for the word so far: ending in a single letter, in a pair, and one letter earlier.
    # The space, which merges with any letter, is the letter before the first.
    alone, paired, earlier = 1, _NEVER, 0
    previous = ""
    for letter in word:
        merges = not previous or letter in _PAIRS.get(previous, "")
        after_single = _NEVER if merges else alone
        alone, paired, earlier = 1 + max(paired, after_single), 1 + earlier, max(alone, paired)
        previous = letter
    return max(alone, paired)
