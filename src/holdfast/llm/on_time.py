"""Work that ends when its time is up, whatever it waits for.

A timeout of a socket starts anew with each byte, and looking up a host's name has none. So the work
runs beside the one who waits; when the time is up the wait ends, and the work is cut off from what
it waits for. It knows nothing of what the work is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Late(Exception):
    """The time was up before the work was done."""


def on_time(work: Callable[[], T], seconds: float, cut: Callable[[], None]) -> T:
    """What the work returns or raises. Late where it does neither in time; `cut` then makes what is
    left of it fail soon, and nobody hears of it."""
    done = threading.Event()
    outcome: list[tuple[bool, Any]] = []

    def run() -> None:
        try:
            outcome.append((True, work()))
        except BaseException as error:  # noqa: BLE001 - it is raised again where somebody waits
            outcome.append((False, error))
        finally:
            done.set()

    # A daemon: a program that ends does not wait for a server that was given up.
    threading.Thread(target=run, name="holdfast-model", daemon=True).start()
    try:
        in_time = done.wait(seconds)
    except BaseException:
        # Somebody pressed Ctrl-C.
        cut()
        raise
    if not in_time:
        cut()
        raise Late
    good, what = outcome[0]
    if good:
        result: T = what
        return result
    raise what
