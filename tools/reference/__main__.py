"""Writes every generated reference page: `python -m tools.reference`."""

from __future__ import annotations

from pathlib import Path

from tools.reference import (
    async_stub,
    cli,
    importers,
    modules,
    permissions,
    rest,
    seeds,
    tools,
    typescript,
)

_FOLDER = Path(__file__).parents[2] / "docs" / "reference"

for module in (cli, importers, modules, permissions, rest, seeds, tools):
    name = module.__name__.rpartition(".")[2]
    path = _FOLDER / f"{name}.md"
    path.write_text(module.page(), encoding="utf-8")
    print(f"wrote docs/reference/{path.name}")
async_stub.PATH.write_text(async_stub.stub(), encoding="utf-8")
print(f"wrote {async_stub.PATH.name}")
typescript.write()
print(f"wrote {typescript.FOLDER.name}")
