"""The shape of the code: imports point one way, the public names are those promised, and the fast
path loads nothing it does not use."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

import holdfast

SRC = Path(holdfast.__file__).parent

# Each layer may import itself and those below it. Every folder of the package is in one layer.
LAYERS = (
    ("system",),
    ("settings",),
    ("domain",),
    ("text",),
    ("embed", "llm"),
    ("store",),
    ("recall",),
    ("engine",),
    ("extract", "files"),
    ("importers",),
    ("passes",),
    ("wiring",),
    ("api", "client"),
    ("sources",),
    ("agents",),
    ("adapters", "evaluation", "testing"),
    ("edges",),
)
# The same within a folder, for the folders in it. Modules beside those folders may be imported by
# all of them.
INNER_LAYERS = {
    "text": (
        ("analysis",),
        ("dates", "facts"),
        ("chunking", "classify", "guard", "secrets", "slots"),
        ("capture", "grounding"),
    ),
    "store": (("inmemory", "postgres", "sqlite"),),
    "engine": (
        ("people", "reading"),
        ("echo", "writing"),
        ("review", "transfer"),
        ("context", "log", "upkeep"),
    ),
    "files": (("memory_md",), ("journal", "tool_files")),
    "passes": (("consolidation",),),
    "agents": (("dialects",),),
    "testing": (("conformance",),),
    "edges": (("server",), ("hooks",), ("clients", "mcp", "proxy", "web"), ("http",), ("cli",)),
}
# Every layer may import these.
SHARED = {"errors"}
# Nothing else is at the root of the package.
ROOT = {"__init__.py", "__main__.py", "errors.py", "py.typed"}


def is_folder(module: str) -> bool:
    return SRC.joinpath(*module.split(".")[1:]).is_dir()


@cache
def imported_modules(path: Path) -> set[str]:
    """The holdfast modules a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found.update(name for name in names if is_folder(name))
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.split(".")[0] == "holdfast"}


def layer_of(module: str) -> int | None:
    """The height of a module's layer; None for the package itself and what is shared."""
    parts = module.split(".")
    if len(parts) == 1 or parts[1] in SHARED:
        return None
    for height, names in enumerate(LAYERS):
        if parts[1] in names:
            return height
    raise AssertionError(f"{module} belongs to no layer; give it one in LAYERS")


def inner_layer_of(folder: str, module: str) -> int | None:
    """The height of a module among the folders of a folder; None where it is in none of them."""
    parts = module.split(".")
    if len(parts) < 3 or parts[1] != folder:
        return None
    heights = enumerate(INNER_LAYERS[folder])
    return next((height for height, names in heights if parts[2] in names), None)


def module_of(path: Path) -> str:
    return ".".join(("holdfast", *path.relative_to(SRC).with_suffix("").parts))


def folders_in(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in folder.glob("*/__init__.py"))


def test_the_root_of_the_package_holds_public_modules_only() -> None:
    assert {path.name for path in SRC.iterdir() if path.is_file()} == ROOT


def test_every_folder_is_in_one_layer() -> None:
    assert sorted(name for layer in LAYERS for name in layer) == folders_in(SRC)
    for folder in folders_in(SRC):
        layers = INNER_LAYERS.get(folder, ())
        assert sorted(name for layer in layers for name in layer) == folders_in(SRC / folder)


def test_imports_point_one_way() -> None:
    wrong = []
    for path in SRC.rglob("*.py"):
        module = module_of(path)
        if module in ("holdfast.__init__", "holdfast.__main__"):
            continue
        own = layer_of(module)
        for other in imported_modules(path):
            height = layer_of(other)
            if height is not None and (own is None or height > own):
                wrong.append((module, other))
    assert not wrong


@pytest.mark.parametrize("folder", INNER_LAYERS)
def test_imports_within_a_folder_point_one_way(folder: str) -> None:
    wrong = []
    for path in (SRC / folder).rglob("*.py"):
        module = module_of(path)
        own = inner_layer_of(folder, module)
        for other in imported_modules(path):
            height = inner_layer_of(folder, other)
            if own is not None and height is not None and height > own:
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
            assert re.match(r'r?"""\S', text), f"{path} has no docstring"


def _is_broad(node: ast.AST) -> TypeGuard[ast.ExceptHandler]:
    return isinstance(node, ast.ExceptHandler) and (
        node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
    )


def test_a_broad_except_raises_again_or_says_why_it_is_broad() -> None:
    silent = []
    for path in sorted(SRC.rglob("*.py")):
        text = path.read_text()
        if re.search(r"except(:| \w*Exception\b)", text) is None:
            continue
        lines = text.splitlines()
        for handler in filter(_is_broad, ast.walk(ast.parse(text))):
            if any(isinstance(one, ast.Raise) and one.exc is None for one in ast.walk(handler)):
                continue
            # In the line itself, in the one above it, or in the first one inside.
            near = lines[handler.lineno - 2 : handler.lineno + 1]
            reasons = [line.partition("#")[2].replace("noqa: BLE001", "") for line in near]
            if not any(len(reason.split()) > 2 for reason in reasons):
                silent.append(f"{path.relative_to(SRC)}:{handler.lineno}")
    assert silent == []


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


def _architecture() -> str:
    return (SRC.parents[1] / "ARCHITECTURE.md").read_text("utf-8")


def test_the_files_that_the_architecture_names_exist() -> None:
    root = SRC.parents[1]
    named = set(re.findall(r"[a-z_]+/[a-z_/]+\.py", _architecture()))
    assert named
    missing = {name for name in named if not (SRC / name).exists() and not (root / name).exists()}
    assert not missing
    # A name without a folder belongs to the folder before it.
    here = {path.name for path in SRC.rglob("*.py")}
    assert set(re.findall(r"`([a-z_]+\.py)`", _architecture())) <= here


def _section(title: str) -> str:
    _, _, rest = _architecture().partition(f"\n### {title}\n")
    section, _, _ = rest.partition("\n## ")
    return section.partition("\n### ")[0]


def test_the_architecture_says_where_each_operation_is() -> None:
    from holdfast.api.hub import HubMemory
    from holdfast.api.operation import operations_of

    named = set(re.findall(r"`([a-z_]+)`", _section("Operations of a hub")))
    missing = set(operations_of(HubMemory)) - named
    assert missing == set(), "add them to 'Operations of a hub' in ARCHITECTURE.md"


def test_the_architecture_says_where_each_command_is() -> None:
    from holdfast.edges.cli.table import GROUPS

    _, _, commands = _section("Routes and commands").partition("`edges/cli/`")
    for module in (module for group in GROUPS for module in group.modules):
        row = next((row for row in commands.splitlines() if f"`{module.name}.py`" in row), "")
        assert [word for word in module.words if f"`{word}`" not in row] == []


def test_the_architecture_says_where_each_route_is() -> None:
    routes, _, _ = _section("Routes and commands").partition("`edges/cli/`")
    for path in sorted((SRC / "edges" / "http").glob("*.py")):
        first_parts = set(re.findall(r'(?:APIRouter|Routes)\(prefix="/([a-z-]+)', path.read_text()))
        if first_parts:
            row = next((row for row in routes.splitlines() if f"`{path.name}`" in row), "")
            assert [one for one in sorted(first_parts) if f"`{one}" not in row] == []


def test_the_architecture_says_who_reads_each_group_of_settings() -> None:
    from holdfast.settings.registry import SETTINGS

    section = _section("Settings")
    groups = {
        name.partition(".")[0] + (".*" if "." in name else "")
        for name in (one.name for one in SETTINGS)
    }
    assert [name for name in sorted(groups) if f"`{name}`" not in section] == []


def test_the_list_of_modules_is_the_one_that_the_tool_writes() -> None:
    from tools.reference import modules

    written = (SRC.parents[1] / "docs" / "reference" / "modules.md").read_text("utf-8")
    assert written == modules.page()
    assert not re.findall(r"^- `[a-z_]+\.py`: *$", written, re.MULTILINE)


def test_a_method_that_performs_an_operation_is_named_after_one() -> None:
    from holdfast.api.hub import HubMemory
    from holdfast.api.operation import operations_of
    from holdfast.api.project_hub import ProjectHub
    from holdfast.client.hub import RemoteHub

    operations = {f"_on_{name}" for name in operations_of(HubMemory)}
    for kind in (ProjectHub, RemoteHub):
        own = {name for name in vars(kind) if name.startswith("_on_")}
        assert own
        assert own <= operations
