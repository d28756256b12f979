"""Readers for what other memory programs have stored, grouped by what they read. A module is
imported when one of its readers is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.importers.record import Importer

# The name of each, its module, and the name of its declaration there.
MODULES = {
    "basic-memory": "markdown:BASIC_MEMORY",
    "chatgpt": "chats:CHATGPT",
    "claude": "chats:CLAUDE",
    "claude-mem": "memory_servers:CLAUDE_MEM",
    "csv": "tables:CSV",
    "graphiti": "frameworks:GRAPHITI",
    "json": "tables:JSON",
    "langgraph": "frameworks:LANGGRAPH",
    "letta": "frameworks:LETTA",
    "markdown": "markdown:MARKDOWN",
    "mcp-memory": "memory_servers:MCP_MEMORY",
    "mcp-memory-service": "memory_servers:MCP_MEMORY_SERVICE",
    "mem0": "mem0:IMPORTER",
    "openclaw": "markdown:OPENCLAW",
}


def importer_named(name: str) -> Importer:
    """The importer of that name."""
    if name not in MODULES:
        raise InvalidInput(
            f"There is no importer {name!r}.", hint=f"There are: {', '.join(sorted(MODULES))}."
        )
    module, _, declared = MODULES[name].partition(":")
    found: Importer = getattr(import_module(f"holdfast.importers.{module}"), declared)
    return found


def importers() -> list[Importer]:
    """All of them, by name."""
    return [importer_named(name) for name in sorted(MODULES)]
