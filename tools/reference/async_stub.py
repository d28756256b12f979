"""Writes `holdfast/api/asynchronous.pyi`: the signatures of methods that are made at run time."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from holdfast.api.asynchronous import public_methods
from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.api.memory import open as open_memory
from holdfast.api.operation import operations_of

PATH = Path(__file__).parents[2] / "src" / "holdfast" / "api" / "asynchronous.pyi"

_HEAD = '''"""Written by `make reference` from the operations of `HubMemory` and `Holdfast`."""
'''
_HUB = '''
class AsyncHub:
    """One hub. Its methods are coroutines; `wrapped` is the hub they are called on."""

    wrapped: HubMemory
    def __init__(self, hub: HubMemory) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def id(self) -> str: ...
'''
_MEMORY = '''
class AsyncHoldfast:
    """An open memory, or a `holdfast.Client`. Its methods are coroutines; `wrapped` is the memory
    they are called on."""

    wrapped: Any
    def __init__(self, memory: Any) -> None: ...
    async def __aenter__(self) -> AsyncHoldfast: ...
    async def __aexit__(self, *raised: object) -> None: ...
    async def aclose(self) -> None: ...
'''
_OPENING = """
class _Opening:
    def __await__(self) -> Generator[Any, None, AsyncHoldfast]: ...
    async def __aenter__(self) -> AsyncHoldfast: ...
    async def __aexit__(self, *raised: object) -> None: ...

async def in_thread(call: Callable[..., Any], *args: Any, **values: Any) -> Any: ...
def public_methods(kind: type) -> dict[str, Callable[..., Any]]: ...
"""
_OWN = """
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any
from holdfast.api.hub import HubMemory
"""


def stub() -> str:
    """The text of the stub, formatted."""
    hub = [
        definition
        for name, operation in operations_of(HubMemory).items()
        for definition in _definitions(HubMemory, name, stream=operation.stream)
    ]
    memory = [
        definition
        for name in public_methods(Holdfast)
        for definition in _definitions(Holdfast, name, stream=False)
    ]
    opening = _function(_source_of(open_memory), stream=False, plain=True)
    opening.name, opening.returns = "aopen", ast.Name("_Opening")
    body = "\n".join(
        [
            _HUB,
            *(textwrap.indent(ast.unparse(one), "    ") for one in hub),
            _MEMORY,
            *(textwrap.indent(ast.unparse(one), "    ") for one in memory),
            _OPENING,
            ast.unparse(opening),
        ]
    )
    modules = [
        inspect.getmodule(inspect.unwrap(open_memory)),
        *_modules(HubMemory),
        *_modules(Holdfast),
    ]
    return _formatted("\n".join([_HEAD, *_imports(modules, body), body]))


def _modules(kind: type) -> Iterator[ModuleType | None]:
    for base in kind.__mro__[:-1]:
        yield inspect.getmodule(base)


def _definitions(kind: type, name: str, *, stream: bool) -> Iterator[ast.AsyncFunctionDef]:
    """A method, or its overloads."""
    owner = next(base for base in kind.__mro__ if name in vars(base))
    named = [
        node
        for node in _class_of(owner).body
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    for node in named if len(named) == 1 else named[:-1]:
        yield _function(node, stream=stream, overload=len(named) > 1)


@cache
def _class_of(kind: type) -> ast.ClassDef:
    node = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(node, ast.ClassDef)
    return node


def _source_of(function: Callable[..., Any]) -> ast.FunctionDef:
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def _function(
    node: ast.FunctionDef, *, stream: bool, overload: bool = False, plain: bool = False
) -> Any:
    kind: type[Any] = ast.FunctionDef if stream or plain else ast.AsyncFunctionDef
    returns = _HubNames().visit(node.returns) if node.returns else None
    if stream:
        returns = ast.parse(ast.unparse(returns).replace("Iterator", "AsyncIterator", 1)).body[0]
        returns = returns.value  # type: ignore[attr-defined]
    made = kind(
        name=node.name,
        args=_HubNames().visit(node.args),
        body=[ast.Expr(ast.Constant(...))],
        decorator_list=[ast.Name("overload")] if overload else [],
        returns=returns,
        type_params=[],
    )
    return ast.fix_missing_locations(made)


class _HubNames(ast.NodeTransformer):
    """A hub is an asynchronous one in every signature; `list_` is the type `list`."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name({"HubMemory": "AsyncHub", "Self": "AsyncHub"}.get(node.id, node.id))


def _imports(modules: list[ModuleType | None], body: str) -> Iterator[str]:
    """The imports of those modules whose names the stub uses."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    used |= {node.value.id for node in ast.walk(ast.parse(body)) if _is_dotted(node)}  # type: ignore[attr-defined]
    seen: set[str] = set()
    trees = [ast.parse(_OWN), *(ast.parse(inspect.getsource(one)) for one in modules if one)]
    for tree in trees:
        for node in ast.walk(tree):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                if bound in used and bound not in seen and alias.name != "annotations":
                    seen.add(bound)
                    yield _import(node, alias)
    if "list_" in used:
        yield "list_ = list"


def _import(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    return (
        f"from {node.module} import {name}"
        if isinstance(node, ast.ImportFrom)
        else f"import {name}"
    )


def _is_dotted(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)


def _formatted(text: str) -> str:
    for options in (("check", "--fix-only", "--select", "I"), ("format",)):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *options, "--quiet", "--stdin-filename", str(PATH), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = ran.stdout
    return text
