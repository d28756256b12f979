"""Answers an event in the hook's own process, if no warm one is running: by words, without a model.
The warm process is started for the next event."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.edges.hooks import front, state_files
from holdfast.edges.hooks.event import parse
from holdfast.settings import load

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast


def answer_here(home: str, head: list[str], data: bytes) -> bytes:
    """Answers a hook without the warm process. Deferred work is done before this returns, because
    nothing else would do it."""
    name, client, folder, hub = head
    if name == front.PING:
        start_server(home)
        return front.PONG
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    event = parse(name, client, folder, data)
    start_server(home)
    from holdfast.edges.hooks.respond import respond

    waiting: list[Callable[[], None]] = []
    with open_memory(home, words_only=True) as memory:
        # Queued jobs are left to the warm process.
        memory.core.set_has_worker(True)
        answer = respond(memory, event, named_hub=hub, meaning=False, later=waiting.append)
        for work in waiting:
            try:
                work()
            except Exception as error:  # noqa: BLE001  the answer is there; the rest can wait
                state_files.note_error(home, event.kind, error)
    return answer.encode()


def start_server(home: str) -> None:
    """Starts the warm process of a home, detached, without waiting for it."""
    if sys.platform == "win32" or not load(home)["hooks.server"]:
        return
    import subprocess

    words = [sys.executable, "-m", "holdfast.edges.hooks.server", home]
    nothing = subprocess.DEVNULL
    environ = {name: value for name, value in os.environ.items() if name != "HOLDFAST_HUB"}
    subprocess.Popen(
        words,
        cwd="/",
        env=environ,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        start_new_session=True,
    )


def open_memory(home: str, *, words_only: bool) -> Holdfast:
    """Opens the memory of a home for hooks: automatic memory is on, unless a setting says
    otherwise."""
    # Imported here so that the warm process is started first.
    from holdfast.api import memory as library

    flags: dict[str, Any] = {"embed.background": not words_only}
    if load(home).origin("shadowJournal.enabled") == "default":
        flags["shadowJournal.enabled"] = True
        # A person who only set up hooks did not ask for files, which would slow down every
        # operation.
        flags["shadowJournal.files"] = False
    if words_only:
        flags["embed.model"] = "none"
    return library.open(home, settings=flags)
