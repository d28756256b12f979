"""The shape of the code: imports point one way, the public names are those promised, and the fast
path loads nothing it does not use."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import holdfast

SRC = Path(holdfast.__file__).parent

# Each layer may import itself and those below it. `edges → agents → library → files → engine →
# recall → store, embed, text → domain`; errors and settings belong to everyone.
LAYERS = (
    ("domain",),
    ("text",),
    ("embed", "llm"),
    ("store",),
    ("recall",),
    ("engine",),
    ("files", "extract"),
    ("passes",),
    ("wiring",),
    ("api", "client"),
    ("sources",),
    ("agents",),
    ("evaluation", "testing", "adapters"),
    ("edges",),
)
SHARED = {"errors", "settings", "settings_file"}


def imported_modules(path: Path) -> set[str]:
    """The holdfast modules a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.split(".")[0] == "holdfast"}


def layer_of(module: str) -> int | None:
    parts = module.split(".")
    if len(parts) == 1 or parts[1] in SHARED:
        return None
    for height, names in enumerate(LAYERS):
        if parts[1] in names:
            return height
    raise AssertionError(f"{module} belongs to no layer; give it one in LAYERS")


def module_of(path: Path) -> str:
    return ".".join(("holdfast", *path.relative_to(SRC).with_suffix("").parts))


def test_imports_point_one_way() -> None:
    wrong = []
    for path in SRC.rglob("*.py"):
        module = module_of(path)
        if module in ("holdfast.__init__", "holdfast.__main__"):
            continue
        own = layer_of(module)
        if own is None:
            wrong += [(module, other) for other in imported_modules(path) if layer_of(other)]
            continue
        for other in imported_modules(path):
            height = layer_of(other)
            if height is not None and height > own:
                wrong.append((module, other))
    assert not wrong


def test_only_wiring_names_concrete_stores() -> None:
    for path in SRC.rglob("*.py"):
        module = module_of(path)
        if module.startswith(("holdfast.store", "holdfast.wiring", "holdfast.testing")):
            continue
        named = {
            name
            for name in imported_modules(path)
            if name.startswith(
                ("holdfast.store.sqlite", "holdfast.store.inmemory", "holdfast.store.postgres")
            )
        }
        # Whole-file work (restore-backup) is about the file, not about what is in it.
        assert named <= {"holdfast.store.sqlite.files", "holdfast.store.sqlite"}, module
        if named:
            assert module.startswith("holdfast.edges.cli"), module


def test_the_public_names_are_those_exported() -> None:
    assert sorted(holdfast.__all__) == holdfast.__all__
    for name in holdfast.__all__:
        assert hasattr(holdfast, name), name


def test_every_module_says_what_it_is_for() -> None:
    for path in SRC.rglob("*.py"):
        text = path.read_text()
        if text.strip():
            assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"


def test_importing_the_library_loads_nothing_heavy() -> None:
    heavy = {
        "numpy",
        "onnxruntime",
        "rich",
        "tomllib",
        "tomlkit",
        "asyncio",
        "dataclasses",
        "inspect",
        "logging",
        "importlib.metadata",
        "semantic_text_splitter",
        "pathlib",
    }
    code = (
        "import sys; before = set(sys.modules); import holdfast; print(*(set(sys.modules)-before))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert heavy.isdisjoint(out.split())
