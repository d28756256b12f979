"""Holdfast as a plugin of Claude Code: a folder with a manifest, the hooks, the MCP server and the
command `/memory`. The folder is a marketplace of this one plugin as well, so that Claude Code can
install it for good."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any

from holdfast.edges.clients import settings_file
from holdfast.edges.clients.install_hooks import CLAUDE_CODE_EVENTS, HookFile, nested
from holdfast.edges.clients.program import Place
from holdfast.errors import AlreadyExists

NAME = "holdfast"
_DESCRIPTION = "Long-term memory: what you said in earlier sessions is known in the next one."
_MANIFEST = (".claude-plugin", "plugin.json")


def plugin_files(
    folder: str, place: Place, *, hook: Sequence[str], server: Sequence[str], version: str
) -> list[HookFile]:
    """The files of the plugin. `hook` is the command line of a hook without the event, `server` the
    one of the MCP server."""
    author = {"name": "The Holdfast authors"}
    manifest = {
        "name": NAME,
        "version": version,
        "description": _DESCRIPTION,
        "author": author,
        "license": "MIT",
        "keywords": ["memory", "mcp", "hooks"],
    }
    marketplace = {
        "name": NAME,
        "owner": author,
        "description": "Holdfast, as it is installed on this machine.",
        "plugins": [{"name": NAME, "source": "./", "description": _DESCRIPTION}],
    }
    hooks: dict[str, list[Any]] = {}
    for (_, event), item in nested(place, hook, "claude-code", CLAUDE_CODE_EVENTS):
        hooks.setdefault(event, []).append(item)
    entry = {"command": server[0], "args": list(server[1:])}
    command = (files("holdfast.edges.clients") / "plugin" / "memory.md").read_text("utf-8")
    texts = {
        _MANIFEST: _json(manifest),
        (".claude-plugin", "marketplace.json"): _json(marketplace),
        ("hooks", "hooks.json"): _json({"description": _DESCRIPTION, "hooks": hooks}),
        (".mcp.json",): _json({"mcpServers": {NAME: entry}}),
        ("commands", "memory.md"): command,
    }
    return [HookFile(os.path.join(folder, *parts), content=text) for parts, text in texts.items()]


def refuse_foreign(folder: str) -> None:
    """Refuses a folder that holds something else: only ours is replaced or taken away."""
    if not os.path.lexists(folder) or (os.path.isdir(folder) and not os.listdir(folder)):
        return
    if os.path.isdir(folder):
        data = settings_file.read(os.path.join(folder, *_MANIFEST))
        if data is not None and _name_in(data) == NAME:
            return
    raise AlreadyExists(
        f"{folder} is there already, and is not a plugin of Holdfast.",
        hint="Name a new folder.",
    )


def remove_empty(folder: str, files: Sequence[HookFile]) -> None:
    """Removes the parts that are empty now, and the backups that were made of our files. The
    folder itself may have been there before."""
    for file in files:
        if not os.path.lexists(file.path):
            for backup in settings_file.backups(file.path):
                os.unlink(backup)
    for name in {os.path.dirname(file.path) for file in files} - {folder}:
        with suppress(OSError):
            os.rmdir(name)


def how_to_use(folder: str) -> str:
    """What a person does with the folder."""
    return (
        f"For one session: `claude --plugin-dir {folder}`. For good:"
        f" `claude plugin marketplace add {folder}`, then `claude plugin install {NAME}@{NAME}`."
    )


def _name_in(data: bytes) -> object:
    try:
        manifest = json.loads(data)
    except ValueError:
        return None
    return manifest.get("name") if isinstance(manifest, dict) else None


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
