"""A client that sends bytes as it likes, for tests of what a server makes of them."""

from __future__ import annotations

import contextlib
import re
import socket

PATIENCE_S = 20.0


class Raw:
    """One connection. `source` is the address it comes from."""

    def __init__(self, url: str, source: str = "127.0.0.1") -> None:
        host, port = url.removeprefix("http://").split(":")
        self._socket = socket.create_connection(
            (host, int(port)), timeout=PATIENCE_S, source_address=(source, 0)
        )

    def send(self, data: bytes | str) -> None:
        # The server may hang up meanwhile.
        with contextlib.suppress(OSError):
            self._socket.sendall(data.encode() if isinstance(data, str) else data)

    def rest(self) -> bytes:
        """Everything until the server hangs up."""
        received = b""
        try:
            while piece := self._socket.recv(65_536):
                received += piece
        except ConnectionError:
            pass
        return received

    def until(self, mark: bytes) -> bytes:
        """What comes up to a mark, or until the server hangs up."""
        received = b""
        try:
            while mark not in received and (piece := self._socket.recv(65_536)):
                received += piece
        except ConnectionError:
            pass
        return received

    def hangs_up_while_sending(self, piece: str, *, times: int, every_s: float) -> bool:
        """Sends a piece again and again; whether the server hangs up before the last."""
        self._socket.settimeout(every_s)
        for _ in range(times):
            self.send(piece)
            try:
                if not self._socket.recv(65_536):
                    return True
            except TimeoutError:
                continue
            except ConnectionError:
                return True
        return False

    def status(self, request: bytes | str = b"") -> int:
        """The status of an answer, which is read whole; 0 where the server hung up without one."""
        if request:
            self.send(request)
        head, _, body = self.until(b"\r\n\r\n").partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 "):
            return 0
        length = re.search(rb"(?i)content-length: (\d+)", head)
        while length and len(body) < int(length[1]) and (piece := self._socket.recv(65_536)):
            body += piece
        return int(head.split()[1])

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
