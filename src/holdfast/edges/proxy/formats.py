"""The requests that the proxy understands and forwards: the wire formats (OpenAI chat completions,
OpenAI responses and Anthropic messages), which paths go out, where to, and with which headers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias
from urllib.parse import quote, urlsplit

from holdfast.edges.hooks.event import without_injected
from holdfast.edges.server.listening import is_loopback
from holdfast.errors import InvalidInput

Body: TypeAlias = dict[str, Any]

# Parts of a message that hold text which a person or a model wrote.
_TEXT_PARTS = ("text", "input_text", "output_text")
# What clients put into the name of the person: notes for the model.
# One that is not closed ends before the next, so that a text of openings is read once.
_REMINDERS = re.compile(
    r"<system-reminder>[^<]*+(?:<(?!/?system-reminder>)[^<]*+)*+</system-reminder>\s*"
)
_SURROGATES = re.compile(r"[\ud800-\udfff]")
# Where programs name the conversation in `metadata`.
_SESSION_FIELDS = ("session_id", "conversation_id", "thread_id")
# Claude Code sends `user_…_account_…_session_UUID`, or the same as JSON.
_CLAUDE_SESSION = re.compile(r"_session_([0-9A-Za-z-]{8,})$")
# Names of a person or of a cache, not of a conversation: they only tell conversations apart that
# begin with the same words.
_PERSON_FIELDS = ("user", "safety_identifier", "prompt_cache_key")


class Said(NamedTuple):
    """A message of a person or an assistant in a request to a model's API, and its place in the
    list. The place is -1 if the request is a plain text."""

    role: str
    text: str
    place: int = -1


class ToolResult(NamedTuple):
    """The result of a tool in a request to a model's API, and the call that it answers."""

    id: str
    call: str
    text: str


class ModelRequest(NamedTuple):
    """The parts of a request to a model's API that memory needs."""

    said: tuple[Said, ...] = ()
    # Those behind the last message of the person.
    tool_results: tuple[ToolResult, ...] = ()
    # The name of the conversation, and the response that this one continues, where they are given.
    session: str = ""
    continues: str = ""
    person: str = ""

    @property
    def prompt(self) -> str:
        """The last message of the person."""
        return next((one.text for one in reversed(self.said) if one.role == "user"), "")

    @property
    def is_stateful(self) -> bool:
        """Whether the endpoint stores the earlier messages, with what was added to them."""
        return bool(self.continues)


class Format(Protocol):
    """The wire format of one model's API."""

    name: str

    def read(self, body: Body) -> ModelRequest: ...

    def add(self, body: Body, standing: str, blocks: Mapping[int, str]) -> Body:
        """The body with a text in its instructions, and texts before the words of messages, by
        their places."""
        ...


# OpenAI chat completions


class ChatCompletions:
    name = "chat"

    def read(self, body: Body) -> ModelRequest:
        said: list[Said] = []
        results: list[ToolResult] = []
        calls: dict[str, str] = {}
        for place, message in _rows(body.get("messages")):
            role, text = message.get("role"), text_of(message.get("content"))
            if role == "user" and text:
                said.append(Said("user", text, place))
                results = []
            elif role == "assistant":
                calls.update(_chat_calls(message))
                if text:
                    said.append(Said("assistant", text, place))
            elif role == "tool":
                named = _str(message, "tool_call_id")
                results.append(ToolResult(named, calls.get(named, ""), text))
        return _asked(body, said, results)

    def add(self, body: Body, standing: str, blocks: Mapping[int, str]) -> Body:
        messages = _with_blocks(body.get("messages"), blocks, "text")
        if standing:
            messages = _with_system(messages, standing)
        return {**body, "messages": messages}


def _with_system(messages: list[Any], standing: str) -> list[Any]:
    """Some endpoints take one system message alone, and only as the first."""
    first = messages[0] if messages else None
    if isinstance(first, dict) and first.get("role") in ("system", "developer"):
        content = _appended(first.get("content"), standing, "text")
        return [{**first, "content": content}, *messages[1:]]
    return [{"role": "system", "content": standing}, *messages]


def _chat_calls(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for _, call in _rows(message.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict):
            yield _str(call, "id"), f"{_str(function, 'name')}({_str(function, 'arguments')})"


# OpenAI responses


class Responses:
    name = "responses"

    def read(self, body: Body) -> ModelRequest:
        given = body.get("input")
        said: list[Said] = []
        results: list[ToolResult] = []
        calls: dict[str, str] = {}
        if isinstance(given, str) and (text := cleaned(given)):
            said.append(Said("user", text))
        for place, item in _rows(given):
            kind, role = item.get("type", "message"), item.get("role")
            if kind == "message" and (text := text_of(item.get("content"))):
                if role == "user":
                    results = []
                if role in ("user", "assistant"):
                    said.append(Said(str(role), text, place))
            elif kind in ("function_call", "custom_tool_call"):
                arguments = _str(item, "arguments") or _str(item, "input")
                calls[_str(item, "call_id")] = f"{_str(item, 'name')}({arguments})"
            elif kind in ("function_call_output", "custom_tool_call_output"):
                named, output = _str(item, "call_id"), item.get("output")
                results.append(ToolResult(named, calls.get(named, ""), text_of(output)))
        asked = _asked(body, said, results)
        conversation = body.get("conversation")
        if isinstance(conversation, dict):
            conversation = conversation.get("id")
        if isinstance(conversation, str) and conversation:
            return asked._replace(session=conversation, continues=conversation)
        return asked._replace(continues=_str(body, "previous_response_id"))

    def add(self, body: Body, standing: str, blocks: Mapping[int, str]) -> Body:
        new = dict(body)
        given = body.get("input")
        if isinstance(given, str):
            new["input"] = _before(given, blocks.get(-1, ""))
        elif isinstance(given, list):
            new["input"] = _with_blocks(given, blocks, "input_text")
        if standing:
            new["instructions"] = _appended(body.get("instructions"), standing, "input_text")
        return new


# Anthropic messages


class Messages:
    name = "messages"

    def read(self, body: Body) -> ModelRequest:
        said: list[Said] = []
        results: list[ToolResult] = []
        calls: dict[str, str] = {}
        for place, message in _rows(body.get("messages")):
            content = message.get("content")
            text, role = text_of(content), message.get("role")
            for _, part in _rows(content):
                if part.get("type") == "tool_use":
                    arguments = json.dumps(part.get("input"), ensure_ascii=False)
                    calls[_str(part, "id")] = f"{_str(part, 'name')}({arguments})"
                elif part.get("type") == "tool_result":
                    named = _str(part, "tool_use_id")
                    answer = text_of(part.get("content"))
                    results.append(ToolResult(named, calls.get(named, ""), answer))
            if role == "user" and text:
                said.append(Said("user", text, place))
                results = []
            elif role == "assistant" and text:
                said.append(Said("assistant", text, place))
        return _asked(body, said, results)

    def add(self, body: Body, standing: str, blocks: Mapping[int, str]) -> Body:
        new = {**body, "messages": _with_blocks(body.get("messages"), blocks, "text")}
        if standing:
            new["system"] = _appended(body.get("system"), standing, "text")
        return new


# What the formats share


def cleaned(text: str) -> str:
    """The text that a person typed to a model, without additions of clients and hooks, and without
    halves of characters."""
    return _SURROGATES.sub("\ufffd", _REMINDERS.sub("", without_injected(text)).strip())


def text_of(content: Any) -> str:
    """The text of a message to a model's API: a plain text, or its text parts."""
    if isinstance(content, str):
        return cleaned(content)
    parts = [part.get("text") for _, part in _rows(content) if part.get("type") in _TEXT_PARTS]
    return cleaned("\n\n".join(part for part in parts if isinstance(part, str) and part))


def _asked(body: Body, said: Sequence[Said], results: Sequence[ToolResult]) -> ModelRequest:
    about = body.get("metadata")
    fields = about if isinstance(about, dict) else {}
    session = next((found for name in _SESSION_FIELDS if (found := _str(fields, name))), "")
    user_id = _str(fields, "user_id")
    person = "\0".join([user_id, *(_str(body, name) for name in _PERSON_FIELDS)])
    return ModelRequest(
        tuple(said), tuple(results), session or _claude_session(user_id), person=person.strip("\0")
    )


def _claude_session(user_id: str) -> str:
    if found := _CLAUDE_SESSION.search(user_id):
        return found[1]
    if user_id.startswith("{"):
        try:
            given = json.loads(user_id)
        except (ValueError, RecursionError):
            return ""
        return _str(given, "session_id") if isinstance(given, dict) else ""
    return ""


def _with_blocks(messages: Any, blocks: Mapping[int, str], kind: str) -> list[Any]:
    if not isinstance(messages, list):
        return []
    return [
        {**one, "content": _before_words(one.get("content"), blocks[place], kind)}
        if place in blocks and isinstance(one, dict)
        else one
        for place, one in enumerate(messages)
    ]


def _before_words(content: Any, block: str, kind: str) -> Any:
    """Inserts a block before the question, but after results of tools, which must come first."""
    if isinstance(content, str):
        return _before(content, block)
    if not isinstance(content, list):
        return content
    place = next(
        (
            place
            for place, part in _rows(content)
            if part.get("type") in _TEXT_PARTS and cleaned(_str(part, "text"))
        ),
        len(content),
    )
    return [*content[:place], {"type": kind, "text": block}, *content[place:]]


def _before(text: str, block: str) -> str:
    return f"{block}\n\n{text}" if block else text


def _appended(content: Any, block: str, kind: str) -> Any:
    if isinstance(content, list):
        return [*content, {"type": kind, "text": block}]
    return f"{content}\n\n{block}" if isinstance(content, str) and content else block


def _rows(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a list, with their positions."""
    for place, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, dict):
            yield place, one


def _str(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


HUB_HEADER = "x-hub-id"
SESSION_HEADER = "x-holdfast-session"
KEY_HEADER = "x-holdfast-key"
# Under which clients send the name of a conversation, ours first.
SESSION_HEADERS = (SESSION_HEADER, "session_id", "session-id", "conversation_id")
# Where clients put the key of the endpoint.
KEY_HEADERS = ("authorization", "x-api-key", "api-key")

# One part of a path: no slash, nothing that climbs, nothing that ends the path.
_ID = r"(?!\.+(?:/|$))[A-Za-z0-9._:@-]{1,200}"
_HOPS = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer"),
        *("proxy-connection", "transfer-encoding", "upgrade", "http2-settings", "expect"),
    )
)
# Headers of a request that are replaced, concern this machine, or come from a browser.
_KEPT_HERE = frozenset(
    (
        *("host", "content-length", "accept-encoding", "cookie", "origin", "referer", "forwarded"),
        *("via", "range", "if-range", HUB_HEADER),
    )
)
_KEPT_HERE_PREFIXES = ("sec-", "x-forwarded-", "x-holdfast-", "access-control-")
# Of an answer: about the endpoint's own host, or a permission for web pages to read it.
_DROPPED = frozenset(("set-cookie", "alt-svc", "strict-transport-security", "server", "date"))
_DROPPED_PREFIXES = ("access-control-", "cross-origin-")

Header = tuple[bytes, bytes]


class Route(NamedTuple):
    """A path that the proxy forwards, and its methods. With a format, memory is added."""

    methods: tuple[str, ...]
    pattern: re.Pattern[str]
    format: Format | None = None


def _route(methods: str, pattern: str, format_: Format | None = None) -> Route:
    return Route(tuple(methods.split()), re.compile(pattern), format_)


ROUTES = (
    _route("POST", r"/chat/completions", ChatCompletions()),
    _route("POST", r"/responses", Responses()),
    _route("POST", r"/messages", Messages()),
    _route("POST", r"/messages/count_tokens"),
    _route("POST", r"/responses/input_tokens"),
    _route("POST", r"/responses/compact"),
    _route("GET DELETE", rf"/responses/{_ID}"),
    _route("POST", rf"/responses/{_ID}/cancel"),
    _route("GET", rf"/responses/{_ID}/input_items"),
    _route("POST", r"/conversations"),
    _route("GET POST DELETE", rf"/conversations/{_ID}"),
    _route("GET POST", rf"/conversations/{_ID}/items"),
    _route("POST", r"/completions"),
    _route("POST", r"/embeddings"),
    _route("GET", r"/models"),
    # Some endpoints name models by their maker too.
    _route("GET", rf"/models/{_ID}(?:/{_ID})?"),
)
PREFIX = "/v1"
_ADDRESS = re.compile(r"[\x21-\x7e]+")


class NoRoute(Exception):
    """The proxy does not forward this path, or this method of it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Upstream(NamedTuple):
    """The endpoint behind the proxy: the URL that `/v1` of the proxy maps to."""

    url: str
    is_local: bool

    @classmethod
    def parse(cls, text: str) -> Upstream:
        """Parses the endpoint's URL as a person typed it."""
        hint = "Name the address of the API: --upstream https://api.openai.com/v1"
        try:
            parts = urlsplit(text.strip())
            host, port = parts.hostname, parts.port
        except ValueError:
            raise InvalidInput(f"{text!r} is not an address.", hint=hint) from None
        if parts.scheme not in ("http", "https") or not host or port == 0:
            raise InvalidInput(f"{text!r} is not an address of HTTP.", hint=hint)
        if parts.username is not None or parts.password is not None:
            raise InvalidInput(
                "The address of the endpoint holds a password.",
                hint="Keep the key in an environment variable, and name it with --key-from.",
            )
        if parts.query or parts.fragment or not _ADDRESS.fullmatch(text.strip()):
            raise InvalidInput(f"{text!r} is more than an address.", hint=hint)
        path = parts.path.rstrip("/") or PREFIX
        return cls(f"{parts.scheme}://{parts.netloc}{path}", is_loopback(host))

    def address(self, path: str, query: bytes) -> str:
        """The URL at the endpoint for a forwarded path."""
        rest = quote(path.removeprefix(PREFIX), safe="/:@")
        text = query.decode("ascii", "replace")
        return f"{self.url}{rest}" + (f"?{quote(text, safe=_QUERY_SAFE)}" if text else "")


# As a client sent it; what no address may have is escaped.
_QUERY_SAFE = "%&=+/:;,?@!$'()*~-._[]"


def route_of(method: str, path: str) -> Route:
    """The row of the proxy's table for a path; raises NoRoute for any other."""
    inner = path.removeprefix(PREFIX)
    if inner == path:
        raise NoRoute(404)
    found = [route for route in ROUTES if route.pattern.fullmatch(inner)]
    if not found:
        raise NoRoute(404)
    for route in found:
        if method in route.methods:
            return route
    raise NoRoute(405)


def request_headers(given: Iterable[Header], *, key: str = "") -> list[Header]:
    """The headers that are forwarded. A key of the proxy replaces the client's."""
    rows = [(name.lower(), value) for name, value in given]
    dropped = _KEPT_HERE | _HOPS | _named_by_connection(rows)
    kept = [
        (name, value)
        for name, value in rows
        if (text := name.decode("latin-1")) not in dropped
        and not text.startswith(_KEPT_HERE_PREFIXES)
    ]
    offered = b",".join(value.lower() for name, value in rows if name == b"accept-encoding")
    # What can be read on the way; other packings would have to be learnt first.
    kept.append((b"accept-encoding", b"gzip" if b"gzip" in offered else b"identity"))
    return _with_key(kept, key) if key else kept


def _with_key(rows: list[Header], key: str) -> list[Header]:
    names = {name.decode("latin-1") for name, _ in rows} & set(KEY_HEADERS)
    kept = [row for row in rows if row[0].decode("latin-1") not in KEY_HEADERS]
    for name in names or {"authorization"}:
        value = f"Bearer {key}" if name == "authorization" else key
        kept.append((name.encode("latin-1"), value.encode("latin-1")))
    return kept


def response_headers(given: Iterable[Header]) -> list[Header]:
    """The headers of the proxy's response to the client."""
    rows = [(name.lower(), value) for name, value in given]
    dropped = _DROPPED | _HOPS | _named_by_connection(rows)
    return [
        (name, value)
        for name, value in rows
        if (text := name.decode("latin-1")) not in dropped
        and not text.startswith(_DROPPED_PREFIXES)
    ]


def _named_by_connection(rows: Iterable[Header]) -> set[str]:
    """Headers that apply to the connection only. A client must not remove a key from the
    request in this way."""
    names = b",".join(value for name, value in rows if name == b"connection")
    found = {name.strip().lower() for name in names.decode("latin-1").split(",")}
    return found - {*KEY_HEADERS, "content-type"}


def client_keys(headers: Mapping[str, str]) -> list[str]:
    """The keys for this proxy that a client sent."""
    found = [headers.get(KEY_HEADER, ""), headers.get("x-api-key", ""), headers.get("api-key", "")]
    kind, _, given = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        found.append(given.strip())
    return [one for one in found if one]
