"""What a model answered, read from a copy of the bytes that go to the client, as they come: whole
or as a stream of events, packed with gzip or not. What is kept is bounded; an answer that is not
understood, or too long, is no answer for memory, and reaches the client all the same."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.edges.proxy.formats import Format, text_of

# Of an answer that is read whole, and of one event: more is a picture or a sound.
_BYTES_MAX = 8_000_000
# Of the text of an answer: what is behind is not looked at.
_TEXT_CHARS_MAX = 200_000


class ModelAnswer(NamedTuple):
    """The text of an answer. It is `final` where the model asks for no tool, and ended by
    itself. `id` is what a later request may continue."""

    text: str = ""
    final: bool = False
    id: str = ""


class AnswerReader:
    """Reads the bytes of one answer of a model's API."""

    def __init__(self, format_: Format, content_type: str, encoding: str) -> None:
        self._unpack = _unpacker(encoding)
        is_stream = content_type.partition(";")[0].strip().lower() == "text/event-stream"
        self._rows = _EVENTS[format_.name]() if is_stream else None
        self._whole = _WHOLE[format_.name]
        self._lines = Lines()
        self._data = bytearray()
        self._given_up = self._unpack is None
        # Whether the id is known only when all of the answer is here.
        self.id_comes_last = format_.name == "responses" and not is_stream

    def feed(self, data: bytes) -> None:
        """Never raises: an answer that cannot be read is dropped."""
        if self._given_up or self._unpack is None:
            return
        try:
            plain = self._unpack(data)
        except zlib.error:
            self._give_up()
            return
        if self._rows is None:
            self._data += plain
            if len(self._data) > _BYTES_MAX:
                self._give_up()
            return
        for event in self._lines.feed(plain):
            self._rows.take(event)
        if self._lines.size > _BYTES_MAX:
            self._give_up()

    def _give_up(self) -> None:
        self._given_up = True
        self._data.clear()
        self._lines = Lines()

    @property
    def stream_id(self) -> str:
        """The id of a streamed answer, as soon as it has arrived."""
        return "" if self._rows is None else self._rows.id

    def answer(self) -> ModelAnswer | None:
        """The answer; None if it could not be read."""
        if self._given_up:
            return None
        if self._rows is not None:
            return self._rows.answer()
        whole = _object(bytes(self._data))
        return None if whole is None else self._whole(whole)


def _unpacker(encoding: str) -> Callable[[bytes], bytes] | None:
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return lambda data: data
    if encoding in ("gzip", "deflate"):
        machine = zlib.decompressobj(wbits=47 if encoding == "gzip" else zlib.MAX_WBITS)

        def unpack(data: bytes) -> bytes:
            # A packed answer may be a thousand times as long as it looks.
            plain = machine.decompress(data, _BYTES_MAX)
            if machine.unconsumed_tail:
                raise zlib.error("The answer is too long.")
            return plain

        return unpack
    return None


class Lines:
    """The data of server-sent events of a model's API, from bytes that arrive in any pieces."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self.size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._rest += data
        # A line may end with CR LF, LF or CR; a CR at the very end may be half of the first.
        while (end := _line_end(self._rest)) is not None:
            line = bytes(self._rest[: end[0]])
            del self._rest[: end[1]]
            if not line:
                if self._data:
                    yield b"\n".join(self._data)
                self._data = []
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
        self.size = len(self._rest) + sum(map(len, self._data))


def _line_end(data: bytearray) -> tuple[int, int] | None:
    """The end of the first line and the start of the next one."""
    feed, back = data.find(b"\n"), data.find(b"\r")
    if back >= 0 and (feed < 0 or back < feed):
        if back + 1 == len(data):
            return None
        return back, back + (2 if data[back + 1] == 0x0A else 1)
    return None if feed < 0 else (feed, feed + 1)


class _Text:
    """A text that grows up to a maximum length."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = _TEXT_CHARS_MAX

    def add(self, part: Any) -> None:
        if isinstance(part, str) and part and self._room > 0:
            self._parts.append(part[: self._room])
            self._room -= len(part)

    def __str__(self) -> str:
        return "".join(self._parts).strip()


# OpenAI chat completions


def _chat_whole(body: Mapping[str, Any]) -> ModelAnswer | None:
    for choice in _list(body.get("choices")):
        message = choice.get("message")
        if isinstance(message, dict):
            # Endpoints differ in how they say it; the calls themselves are there or not.
            final = bool(choice.get("finish_reason")) and not message.get("tool_calls")
            return ModelAnswer(text_of(message.get("content")), final, _id(body))
    return None


class _ChatEvents:
    def __init__(self) -> None:
        self._text = _Text()
        self._calls = self._ended = False
        self.id = ""

    def take(self, data: bytes) -> None:
        row = _object(data) or {}
        self.id = self.id or _id(row)
        for choice in _list(row.get("choices")):
            if choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta")
            if isinstance(delta, dict):
                self._text.add(delta.get("content"))
                self._calls = self._calls or bool(delta.get("tool_calls"))
            self._ended = self._ended or bool(choice.get("finish_reason"))

    def answer(self) -> ModelAnswer:
        return ModelAnswer(str(self._text), self._ended and not self._calls, self.id)


# OpenAI responses


def _responses_whole(body: Mapping[str, Any]) -> ModelAnswer | None:
    items = _list(body.get("output"))
    texts = [text_of(item.get("content")) for item in items if item.get("type") == "message"]
    # Tools that the endpoint runs by itself have ended where the response has.
    waits = any(item.get("type") in ("function_call", "custom_tool_call") for item in items)
    ended = body.get("status") in ("completed", "incomplete")
    text = "\n\n".join(filter(None, texts))[:_TEXT_CHARS_MAX]
    return ModelAnswer(text, ended and not waits, _id(body))


class _ResponsesEvents:
    def __init__(self) -> None:
        self._text = _Text()
        self._whole: ModelAnswer | None = None
        self.id = ""

    def take(self, data: bytes) -> None:
        row = _object(data) or {}
        kind, response = row.get("type"), row.get("response")
        if kind == "response.output_text.delta":
            self._text.add(row.get("delta"))
        if isinstance(response, dict):
            self.id = self.id or _id(response)
            if kind in ("response.completed", "response.incomplete"):
                self._whole = _responses_whole(response)

    def answer(self) -> ModelAnswer:
        if self._whole is None:
            return ModelAnswer(str(self._text), False, self.id)
        return self._whole._replace(text=self._whole.text or str(self._text))


# Anthropic messages

_ENDED = ("end_turn", "stop_sequence", "max_tokens", "refusal")


def _messages_whole(body: Mapping[str, Any]) -> ModelAnswer | None:
    if not isinstance(body.get("content"), list):
        return None
    return ModelAnswer(text_of(body["content"]), body.get("stop_reason") in _ENDED, _id(body))


class _MessagesEvents:
    def __init__(self) -> None:
        self._text = _Text()
        self._stopped: Any = None
        self._ended = False
        self.id = ""

    def take(self, data: bytes) -> None:
        row = _object(data) or {}
        kind, delta = row.get("type"), row.get("delta")
        if kind == "message_start" and isinstance(row.get("message"), dict):
            self.id = _id(row["message"])
        elif kind == "content_block_delta" and isinstance(delta, dict):
            self._text.add(delta.get("text"))
        elif kind == "message_delta" and isinstance(delta, dict):
            self._stopped = delta.get("stop_reason") or self._stopped
        elif kind == "message_stop":
            self._ended = True

    def answer(self) -> ModelAnswer:
        return ModelAnswer(str(self._text), self._ended and self._stopped in _ENDED, self.id)


_WHOLE: dict[str, Callable[[Mapping[str, Any]], ModelAnswer | None]] = {
    "chat": _chat_whole,
    "responses": _responses_whole,
    "messages": _messages_whole,
}
_EVENTS: dict[str, Callable[[], _ChatEvents | _ResponsesEvents | _MessagesEvents]] = {
    "chat": _ChatEvents,
    "responses": _ResponsesEvents,
    "messages": _MessagesEvents,
}


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _list(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _id(body: Mapping[str, Any]) -> str:
    found = body.get("id")
    return found if isinstance(found, str) else ""
