"""The time of each function that takes a text grows with its length, and not with its square.

Every public function of the package `text` with a single text as its argument gets texts of one
repeated piece: pieces of prose, markup and names, and those that the patterns of its own module
repeat. What takes long for a longer one is measured again, next to a shorter one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import pytest

import holdfast.text
from holdfast.text.private import without_private_sides
from tests.growth import assert_time_grows
from tests.patterns import held_patterns

_FOLDER = Path(next(iter(holdfast.text.__path__)))
MODULES = sorted(
    "holdfast.text."
    + ".".join(path.relative_to(_FOLDER).with_suffix("").parts).removesuffix(".__init__")
    for path in _FOLDER.rglob("*.py")
    # The argument of tables.py is the name of a file.
    if path.relative_to(_FOLDER).as_posix() not in ("__init__.py", "tables.py")
)
# A piece with a bar: what comes once, before what is repeated.
PIECES = (
    *("a", "A", "0", " ", "\n", "\t", "-", ".", "!", "?", ",", "'", '"', "`", "*", "_", "#", ">"),
    *("[", "(", "<", "|", "/", "\\", ":", "=", "&", "é", "汉", "a ", "- a\n", "a. ", "? ", "['"),
    *("I am ", "we ", "and ", "on Monday ", "in May ", "password is ", "key=", "a/", "a@b.", "://"),
    *("<!--", "```\n", "```\n| ", "# |#", "a (|a", "a |_a", "your", "aB1", "\u200b", "| a "),
)
# Of the shorter text; the longer one has four times as many characters.
_LENGTH = 1_000
# Sixteen times as long is the square; four times is the length.
_GROWS_MAX = 10
_LONG_S = 0.008
_OWN_PIECES_MAX = 12
# Their callers give them single words, clauses or values, and no longer texts.
BOUNDED = {
    "holdfast.text.capture.wording.tell",
    "holdfast.text.capture.wording.others",
    "holdfast.text.secrets.checks.is_chosen",
    "holdfast.text.secrets.checks.is_coined",
    "holdfast.text.secrets.checks.strength",
}
# The second text is the name of a language.
BOUNDED_OF_TEXTS = {"holdfast.text.analysis.word_forms.stem"}


def repeated(tree: Any) -> Iterator[str]:
    """Texts that the repetitions of a pattern match, one for each."""
    for operation, value in tree:
        if operation in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            if value[1] > _OWN_PIECES_MAX and (piece := sample(value[2])):
                yield piece
            yield from repeated(value[2])
        elif operation is code.SUBPATTERN:
            yield from repeated(value[3])
        elif operation is code.ATOMIC_GROUP:
            yield from repeated(value)
        elif operation is code.BRANCH:
            for branch in value[1]:
                yield from repeated(branch)


def sample(tree: Any) -> str:
    """A text that a part of a pattern matches, or nearly."""
    out = ""
    for operation, value in tree:
        if operation is code.LITERAL:
            out += chr(value)
        elif operation is code.IN:
            out += next((chr(given) for kind, given in value if kind is code.LITERAL), "a")
        elif operation is code.ANY or operation is code.NOT_LITERAL:
            out += "a"
        elif operation in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            out += sample(value[2]) * value[0]
        elif operation is code.SUBPATTERN:
            out += sample(value[3])
        elif operation is code.BRANCH:
            out += sample(value[1][0])
    return out[:40]


def pieces_of(module: ModuleType) -> list[str]:
    found: dict[str, None] = {}
    for pattern in held_patterns(module):
        for piece in repeated(parser.parse(pattern.pattern, pattern.flags)):
            found[piece] = None
    step = max(1, len(found) // _OWN_PIECES_MAX)
    return list(found)[::step]


def functions_of(module: ModuleType) -> Iterator[tuple[str, Callable[[str], object]]]:
    for name, function in list(vars(module).items()):
        if not inspect.isfunction(function) or function.__module__ != module.__name__:
            continue
        if name.startswith("_") or f"{module.__name__}.{name}" in BOUNDED:
            continue
        asked = [one for one in inspect.signature(function).parameters.values()
                 if one.default is one.empty and one.kind is not one.VAR_KEYWORD]  # fmt: skip
        if (
            len(asked) == 1
            and asked[0].annotation == "str"
            and asked[0].kind is not (inspect.Parameter.VAR_POSITIONAL)
        ):
            yield name, function


# What the other texts of a function are while one of them grows; in the second argument, each
# sentence has a word that the first has in private.
OTHERS = ("<private>a</private> we", "I am a we on Monday. ")
FEW_PIECES = (".", " ", "\n", ",", "-", '"', "[", "a", "汉", "a. ", "I am ", "the a is. ")


def functions_of_texts(module: ModuleType) -> Iterator[tuple[str, Callable[..., object], int]]:
    """Functions of two or more texts, and how many."""
    for name, function in list(vars(module).items()):
        if not inspect.isfunction(function) or function.__module__ != module.__name__:
            continue
        if name.startswith("_") or f"{module.__name__}.{name}" in BOUNDED_OF_TEXTS:
            continue
        asked = [one for one in inspect.signature(function).parameters.values()
                 if one.default is one.empty]  # fmt: skip
        if len(asked) > 1 and all(
            one.annotation == "str" and one.kind is one.POSITIONAL_OR_KEYWORD for one in asked
        ):
            yield name, function, len(asked)


def as_call(function: Callable[[str], Any]) -> Callable[[str], None]:
    def call(text: str) -> None:
        try:
            found = function(text)
            if inspect.isgenerator(found):
                for _ in found:
                    pass
        except (ValueError, holdfast.HoldfastError):
            pass

    return call


def repeats(given: str, length: int) -> str:
    """A text of a piece; what is before a bar comes once."""
    once, bar, piece = given.partition("|") if len(given) > 1 else ("", "", given)
    if not (bar and piece):
        once, piece = "", given
    return once + piece * (length // len(piece)) + "\x01x"


def grows_too_much(
    call: Callable[[str], None], given: str, lengths: tuple[int, ...] = (_LENGTH, 8 * _LENGTH)
) -> str:
    """How much longer a long text takes; '' for no more than it may."""
    said = ""
    # Some functions read the beginning of a text, and are slow only within it.
    for length in lengths:
        short, long = repeats(given, length), repeats(given, 4 * length)
        try:
            assert_time_grows(call, short, long, allowed_s=lambda s: max(_GROWS_MAX * s, _LONG_S))
        except AssertionError as error:
            said = f"{given!r} again and again: {error}"
        else:
            return ""
    return said


@pytest.mark.parametrize("name", MODULES)
def test_time_grows_with_the_length_of_a_text(name: str) -> None:
    module = import_module(name)
    own = None
    for function_name, function in functions_of(module):
        own = pieces_of(module) if own is None else own
        call = as_call(function)
        call("a")
        found = [said for one in (*PIECES, *own) if (said := grows_too_much(call, one))]
        assert not found, function_name


@pytest.mark.parametrize("name", MODULES)
def test_time_grows_with_the_length_of_each_of_two_texts(name: str) -> None:
    module = import_module(name)
    for function_name, function, count in functions_of_texts(module):
        others = [OTHERS[min(at, 1)] for at in range(count)]
        for at in range(count):

            def call(text: str, function: Any = function, at: int = at) -> None:
                as_call(lambda one: function(*others[:at], one, *others[at + 1 :]))(text)  # noqa: B023

            found = [said for one in FEW_PIECES if (said := grows_too_much(call, one))]
            assert not found, function_name


def test_a_long_reply_to_a_private_prompt_is_copied_once() -> None:
    def call(reply: str) -> None:
        assert without_private_sides("<private>heron</private>", reply)[1].strip() == ""

    short, long = "The heron is. " * 20_000, "The heron is. " * 120_000
    # The square would take 36 times as long.
    assert_time_grows(call, short, long, allowed_s=lambda short_s: 15 * short_s)


def test_a_function_that_reads_a_text_again_at_each_place_is_found() -> None:
    def call(text: str) -> None:
        re.sub(r"\s*x", "", text)

    assert grows_too_much(call, " ", (_LENGTH,))
