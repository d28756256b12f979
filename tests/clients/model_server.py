"""A model server on loopback for tests with real agent programs.

It speaks the streaming wire formats of Anthropic messages (Claude Code), OpenAI responses (Codex),
OpenAI chat completions (opencode) and Gemini `generateContent` (Gemini CLI). Each request is
recorded; the answer is a fixed text, or a tool call that the test has queued.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from types import TracebackType
from typing import Any, NamedTuple

ANSWER = "Understood."
_NUMBERS = count(1)


class ToolCall(NamedTuple):
    """A tool that the model asks for, by the name under which the client offers it."""

    name: str
    arguments: dict[str, Any]


class Request(NamedTuple):
    """One request of a client: its path, its body and its headers, by their names in small
    letters."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def text(self) -> str:
        """The body as text, for a search of what the model was given."""
        return json.dumps(self.body, ensure_ascii=False)


class ModelServer:
    """A context manager: the server runs inside it. `tool_calls` are made one after the other, each
    in answer to the next request that offers the tool."""

    def __init__(self, answer: str = ANSWER) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.tool_calls: list[ToolCall] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self) -> list[Request]:
        """The requests since the last call."""
        with self._lock:
            taken, self.requests = self.requests, []
        return taken

    def record(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> ToolCall | None:
        """Keeps a request, and returns the tool call that answers it, if one is due."""
        offered = json.dumps(body.get("tools", []))
        with self._lock:
            self.requests.append(Request(path, body, headers))
            if self.tool_calls and f'"{self.tool_calls[0].name}"' in offered:
                return self.tool_calls.pop(0)
        return None


def _handler_for(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base's name
            pass

        def do_HEAD(self) -> None:
            self._json({})

        def do_GET(self) -> None:
            self._json({"data": [], "models": []})

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            try:
                body = json.loads(data or b"{}")
            except ValueError:
                body = {}
            body = body if isinstance(body, dict) else {}
            if path.endswith(("count_tokens", ":countTokens")):
                self._json({"input_tokens": 1, "totalTokens": 1})
                return
            for end, answer in _FORMATS.items():
                if path.endswith(end):
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    call = server.record(path, body, headers)
                    whole, events = answer(server.answer, call)
                    streams = body.get("stream") or "stream" in path
                    self._stream(events) if streams else self._json(whole)
                    return
            self._json({})

        def _json(self, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _stream(self, events: Iterator[str]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for event in events:
                self.wfile.write(event.encode())
                self.wfile.flush()
            self.close_connection = True

    return Handler


def _event(value: dict[str, Any], name: str = "") -> str:
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(value)}\n\n"


def _anthropic(answer: str, call: ToolCall | None) -> tuple[dict[str, Any], Iterator[str]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    block: dict[str, Any] = {"type": "text", "text": answer}
    if call is not None:
        block = {"type": "tool_use", "id": "tool_1", "name": call.name, "input": call.arguments}
    stop = "end_turn" if call is None else "tool_use"
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test-model",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    deltas: dict[str, Any] = {"type": "text_delta", "text": answer}
    begun = {**block, "text": ""}
    if call is not None:
        deltas = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
        begun = {**block, "input": {}}

    def events() -> Iterator[str]:
        rows: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**message, "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": begun},
            {"type": "content_block_delta", "index": 0, "delta": deltas},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": usage,
            },
            {"type": "message_stop"},
        ]
        for row in rows:
            yield _event(row, row["type"])

    return {**message, "content": [block], "stop_reason": stop}, events()


def _responses(answer: str, call: ToolCall | None) -> tuple[dict[str, Any], Iterator[str]]:
    item: dict[str, Any] = {
        "type": "message",
        "id": "item_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": answer, "annotations": []}],
    }
    if call is not None:
        item = {
            "type": "function_call",
            "id": "item_1",
            "call_id": "call_1",
            "name": call.name,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    # A client continues a response by its id, so each has another.
    name = f"resp_{next(_NUMBERS)}"
    whole = {"id": name, "object": "response", "status": "completed", "output": [item]}
    whole["usage"] = usage

    def events() -> Iterator[str]:
        rows: list[dict[str, Any]] = [
            {"type": "response.created", "response": {"id": name, "output": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
        for row in rows:
            yield _event(row, row["type"])

    return whole, events()


def _chat(answer: str, call: ToolCall | None) -> tuple[dict[str, Any], Iterator[str]]:
    said: dict[str, Any] = {"role": "assistant", "content": answer}
    if call is not None:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        calls = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
        said = {"role": "assistant", "content": None, "tool_calls": calls}
    finish = "stop" if call is None else "tool_calls"
    base = {"id": "chat_1", "created": 1, "model": "test-model"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}

    def events() -> Iterator[str]:
        chunk = {**base, "object": "chat.completion.chunk"}
        yield _event({**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]})
        ended = [{"index": 0, "delta": {}, "finish_reason": finish}]
        yield _event({**chunk, "choices": ended, "usage": usage})
        yield "data: [DONE]\n\n"

    whole = [{"index": 0, "message": said, "finish_reason": finish}]
    return {**base, "object": "chat.completion", "choices": whole, "usage": usage}, events()


def _gemini(answer: str, call: ToolCall | None) -> tuple[dict[str, Any], Iterator[str]]:
    part: dict[str, Any] = {"text": answer}
    if call is not None:
        part = {"functionCall": {"name": call.name, "args": call.arguments}}
    whole = {
        "candidates": [
            {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "test-model",
    }
    return whole, iter([_event(whole)])


_FORMATS = {
    "/messages": _anthropic,
    "/responses": _responses,
    "/chat/completions": _chat,
    ":generateContent": _gemini,
    ":streamGenerateContent": _gemini,
}
