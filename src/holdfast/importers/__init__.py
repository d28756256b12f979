"""Readers for what other memory programs have stored, one file each. They are imported when they
are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.importers.record import Importer

# The name of each, and the module that has its IMPORTER.
MODULES = {
    "basic-memory": "basic_memory",
    "chatgpt": "chatgpt",
    "claude": "claude",
    "claude-mem": "claude_mem",
    "csv": "csv_table",
    "graphiti": "graphiti",
    "json": "json_table",
    "langgraph": "langgraph",
    "letta": "letta",
    "markdown": "markdown",
    "mcp-memory": "mcp_memory",
    "mcp-memory-service": "mcp_memory_service",
    "mem0": "mem0",
    "openclaw": "openclaw",
}


def importer_named(name: str) -> Importer:
    """The importer of that name."""
    module = MODULES.get(name)
    if module is None:
        raise InvalidInput(
            f"There is no importer {name!r}.", hint=f"There are: {', '.join(sorted(MODULES))}."
        )
    found: Importer = import_module(f"holdfast.importers.{module}").IMPORTER
    return found


def importers() -> list[Importer]:
    """All of them, by name."""
    return [importer_named(name) for name in sorted(MODULES)]
