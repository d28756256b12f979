"""Readers for what other memory programs have stored, one file each. They are imported when they
are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.importers.record import Importer

# The name of each, and the module that has its IMPORTER, or the module and another name in it.
MODULES = {
    "basic-memory": "basic_memory",
    "chatgpt": "chatgpt",
    "claude": "claude",
    "claude-mem": "claude_mem",
    "csv": "tables:CSV",
    "graphiti": "graphiti",
    "json": "tables:JSON",
    "langgraph": "langgraph",
    "letta": "letta",
    "markdown": "notes",
    "mcp-memory": "mcp_memory",
    "mcp-memory-service": "mcp_memory_service",
    "mem0": "mem0",
    "openclaw": "openclaw",
}


def importer_named(name: str) -> Importer:
    """The importer of that name."""
    if name not in MODULES:
        raise InvalidInput(
            f"There is no importer {name!r}.", hint=f"There are: {', '.join(sorted(MODULES))}."
        )
    module, _, declared = MODULES[name].partition(":")
    found: Importer = getattr(import_module(f"holdfast.importers.{module}"), declared or "IMPORTER")
    return found


def importers() -> list[Importer]:
    """All of them, by name."""
    return [importer_named(name) for name in sorted(MODULES)]
