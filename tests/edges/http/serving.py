"""The app behind a real uvicorn on a loopback port, in a thread of the test."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

from holdfast.edges.server.connections import ConnectionLimits
from holdfast.edges.server.listening import make_server

# Who waits for more than came waits until the line is cut.
QUICK = ConnectionLimits(idle_s=1.0)


@contextlib.contextmanager
def served(app: Any, limits: ConnectionLimits = QUICK) -> Iterator[str]:
    """Its address; it stops when the block ends."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = make_server(app, stop_s=2, limits=limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        # Who connects is kept waiting until it answers.
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
