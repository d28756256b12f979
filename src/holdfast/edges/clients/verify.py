"""Proves that a client is set up: a hook is called as the client calls it, and the client's own
program is asked whether it reaches the server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

from holdfast.edges.clients.clients import Client
from holdfast.edges.clients.install_hooks import command_of
from holdfast.edges.clients.program import Place

# The slowest program takes four seconds to start.
_PROGRAM_S = 20
_HOOK_S = 5
# How each program lists its servers, and the words by which it says that ours answers.
_LISTS = {
    "claude-code": (("mcp", "list"), "Connected"),
    "codex": (("mcp", "list"), ""),
    "gemini": (("mcp", "list"), "Connected"),
    "opencode": (("mcp", "list"), "connected"),
}


def hook_ms(home: str | None) -> float | None:
    """What a hook takes, once the process that answers it runs; None where it does not answer."""
    words = [*command_of(sys.executable, None)[:4], "ping"]
    words += ["--home", home] if home else []
    took = None
    # The first one may start the process that answers the second.
    for _ in range(2):
        begun = time.perf_counter()
        try:
            ran = subprocess.run(words, input=b"{}", capture_output=True, timeout=_HOOK_S)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if ran.stdout != b"pong":
            return None
        took = (time.perf_counter() - begun) * 1_000
    return took


def connected(client: Client, place: Place, name: str) -> str:
    """`connected, `, where the client's program says so; else what it says, or nothing."""
    if client.name not in _LISTS:
        return ""
    words, mark = _LISTS[client.name]
    program = shutil.which(client.programs[0], path=place.environ.get("PATH", ""))
    if program is None:
        return ""
    try:
        ran = subprocess.run(
            [program, *words],
            cwd=place.folder if os.path.isdir(place.folder) else None,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PROGRAM_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "its program did not answer; "
    lines = [line for line in (ran.stdout + ran.stderr).splitlines() if name in line]
    if not lines:
        return "its program does not list the server; "
    return "connected, " if mark in lines[0] else "its program lists the server, not connected; "
