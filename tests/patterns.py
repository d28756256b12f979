"""Every regular expression of the package, with the module that holds it.

Compiled ones, and texts that are handed to `re` when they are needed: whatever text in a module
reads like a pattern is taken for one. It does not know which of them is used for what.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import holdfast
from holdfast.text.tables import LazyPattern, Patterns, read_table

_ROOT = Path(holdfast.__file__).parent
_CALLS = ("compile", "sub", "subn", "match", "search", "fullmatch", "findall", "finditer", "split")
_FLAGS = {"DOTALL": re.DOTALL, "MULTILINE": re.MULTILINE, "VERBOSE": re.VERBOSE, "S": re.DOTALL}
# What repeats more than one character.
_REPEATS = re.compile(r"\)\s*[*+{]")


def all_patterns() -> dict[tuple[str, int], str]:
    """Each pattern and its flags, and the module where it was first seen."""
    found: dict[tuple[str, int], str] = {}
    for path in sorted(_ROOT.rglob("*.py")):
        source = path.read_text("utf-8")
        if not re.search(r"\bre\b|\brf?[\"']", source) or path.stem == "__main__":
            continue
        parts = ("holdfast", *path.relative_to(_ROOT).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        module = import_module(name)
        for pattern in (*_held(vars(module), depth=4), *_written(ast.parse(source), module)):
            found.setdefault((pattern.pattern, pattern.flags), name)
    return found


def held_patterns(module: ModuleType) -> Iterator[re.Pattern[str]]:
    """The patterns in the values of one module."""
    yield from _held(vars(module), depth=4)


def _held(value: object, depth: int) -> Iterator[re.Pattern[str]]:
    """The patterns in a module's values, in tables of them, and in classes."""
    if isinstance(value, Patterns):
        # All of the file, whether they were used yet or not.
        value = [re.compile(pattern) for _, _, pattern in read_table(value.file)]
    if isinstance(value, LazyPattern):
        value = re.compile(value.pattern, value.given_flags)
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, str):
        yield from _read(value)
    elif depth:
        if isinstance(value, dict):
            value = tuple(value.values())
        elif isinstance(value, type) and value.__module__.startswith("holdfast"):
            value = tuple(vars(value).values())
        if isinstance(value, (tuple, list, set, frozenset)):
            for one in value:
                yield from _held(one, depth - 1)


def _written(tree: ast.Module, module: ModuleType) -> Iterator[re.Pattern[str]]:
    """The patterns in the calls of `re` themselves; `x` stands for what is put in at that time."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _CALLS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.args
        ):
            named = [n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)]
            flags = sum({_FLAGS[name] for name in named if name in _FLAGS})
            yield from _read(_text(node.args[0], module), flags)


def _text(node: ast.expr, module: ModuleType) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value, module) for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left, module) + _text(right, module)
        case ast.FormattedValue(value=ast.Name(id=name)):
            held = getattr(module, name, "x")
            return held if isinstance(held, str) else "x"
    return "x"


def _read(text: str, flags: int = 0) -> Iterator[re.Pattern[str]]:
    """The text as a pattern, if it can be one. A text may be used with letters of any case."""
    if _REPEATS.search(text):
        try:
            yield re.compile(text, flags | re.IGNORECASE)
        except re.error:
            return
