"""Just enough of the Messages API on loopback: it asks for the tool calls of a script, one after
the other, and keeps what the client answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.serve_thread import in_thread


class ScriptedApi(ThreadingHTTPServer):
    """Each request is answered with the next call of the script, and the last with words."""

    daemon_threads = False

    def __init__(self, script: Sequence[dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def results(self) -> list[tuple[str, bool]]:
        """What the client answered to each call: its words, and whether it was an error."""
        out = []
        for request in self.requests[1:]:
            (result,) = request["messages"][-1]["content"]
            content = result["content"]
            if not isinstance(content, str):
                content = "".join(part["text"] for part in content)
            out.append((content, bool(result.get("is_error"))))
        return out

    def reply(self) -> dict[str, Any]:
        turn = len(self.requests)
        call = self.script[turn - 1] if turn <= len(self.script) else None
        content: dict[str, Any] = {"type": "text", "text": "Done."}
        if call is not None:
            content = {"type": "tool_use", "id": f"toolu_{turn}", "name": "memory", "input": call}
        return {
            "id": f"msg_{turn}",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": [content],
            "stop_reason": "tool_use" if call is not None else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedApi

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(body))
        answer = json.dumps(self.server.reply()).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Tests say what went wrong; a log of requests would only be in the way."""


@contextmanager
def scripted_api(script: Sequence[dict[str, Any]]) -> Iterator[ScriptedApi]:
    with in_thread(ScriptedApi(script)) as server:
        yield server
