"""Who writes without saying for which hub has the whole store to itself, and on a server for many
everybody waits. Who may do so is a list; the rest says its hub, or NO_HUB."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import holdfast

SOURCE = Path(holdfast.__file__).parent
# The stores themselves, and the kit that tries every way of writing.
APART = ("store/", "testing/")
# They make, rename and drop hubs, or go through many of them.
WHOLE = {
    ("engine/hubs.py", "create_hub"),
    ("engine/hubs.py", "rename_hub"),
    ("engine/hubs.py", "delete_hub"),
    ("engine/people/teams.py", "remove_team"),
    ("engine/people/teams.py", "remove_org"),
    ("engine/people/records.py", "mend"),
    ("engine/upkeep/doctor.py", "_drop_broken_imports"),
    ("engine/upkeep/doctor.py", "rebuild"),
    ("engine/transfer/export.py", "_begin"),
    ("engine/transfer/export.py", "import_hub"),
    ("engine/transfer/copy.py", "empty"),
}


def _writes_of_everything(path: Path) -> Iterator[str]:
    """The functions that call `….write()` on a store or a core and name no hub."""
    text = path.read_text(encoding="utf-8")
    if ".write(" not in text:
        return
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            whose = ast.unparse(call.func.value).rpartition(".")[2].strip("_")
            named = call.args or any(one.arg == "hub" for one in call.keywords)
            if call.func.attr == "write" and whose in ("core", "store") and not named:
                yield function.name


def test_only_these_lock_the_whole_store() -> None:
    found = {
        (str(path.relative_to(SOURCE)), name)
        for path in SOURCE.rglob("*.py")
        if not str(path.relative_to(SOURCE)).startswith(APART)
        for name in _writes_of_everything(path)
    }
    assert found == WHOLE
