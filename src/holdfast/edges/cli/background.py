"""The automatic lifecycle after a command, in a process of its own: the command ends at once.

`python -m holdfast.edges.cli.background HOME HUB_ID…` runs it for hubs that were claimed; an empty
HOME is the default home.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen

# Kept so that a process which is still running is not warned about when it is forgotten.
started: list[Popen[bytes]] = []


# DETACHED_PROCESS of Windows; elsewhere the new session does it.
_DETACHED = 0x00000008 if sys.platform == "win32" else 0


def start(where: str | None, hub_ids: Sequence[str]) -> None:
    """Starts the process, detached from the terminal, and does not wait for it. Where none can be
    started, the lifecycle is due again later."""
    import subprocess

    words = [sys.executable, "-m", "holdfast.edges.cli.background", where or "", *hub_ids]
    nothing = subprocess.DEVNULL
    with suppress(OSError):
        started.append(
            subprocess.Popen(
                words,
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
                start_new_session=True,
                creationflags=_DETACHED,
            )
        )


def main(where: str, hub_ids: Sequence[str]) -> None:
    from holdfast.api import memory as library
    from holdfast.api.hub import HubMemory

    with library.open(where or None, settings={"embed.background": False}) as memory:
        with memory.core.store.read() as reader:
            hubs = [reader.hub_by_id(hub_id) for hub_id in hub_ids]
        for hub in hubs:
            if hub is not None:
                HubMemory(memory.core, hub, memory.home)._lifecycle_automatically()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
