"""The wire formats that the proxy understands: OpenAI chat completions, OpenAI responses and
Anthropic messages. Each reads what a request says, and adds text to it. A part that is not
understood is left as it is.

Nothing here changes the value it was given: a request that memory cannot serve is forwarded in its
own bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from holdfast.edges.hooks.event import without_injected

Body: TypeAlias = dict[str, Any]

# Parts of a message that hold text which a person or a model wrote.
_TEXT_PARTS = ("text", "input_text", "output_text")
# What clients put into the name of the person: notes for the model.
_REMINDERS = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_SURROGATES = re.compile(r"[\ud800-\udfff]")
# Where programs name the conversation in `metadata`.
_SESSION_FIELDS = ("session_id", "conversation_id", "thread_id")
# Claude Code sends `user_…_account_…_session_UUID`, or the same as JSON.
_CLAUDE_SESSION = re.compile(r"_session_([0-9A-Za-z-]{8,})$")
# Names of a person or of a cache, not of a conversation: they only tell conversations apart that
# begin with the same words.
_PERSON_FIELDS = ("user", "safety_identifier", "prompt_cache_key")


class Said(NamedTuple):
    """A message of a person or an assistant, and its place in the list of the request. The place
    is -1 where the request is a plain text."""

    role: str
    text: str
    place: int = -1


class ToolResult(NamedTuple):
    """What a tool answered, and the call that it answers."""

    id: str
    call: str
    text: str


class Asked(NamedTuple):
    """What memory needs to know of a request."""

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
        """Whether the endpoint holds the earlier messages, and what was added to them."""
        return bool(self.continues)


class Format(Protocol):
    """One wire format."""

    name: str

    def read(self, body: Body) -> Asked: ...

    def add(self, body: Body, standing: str, blocks: Mapping[int, str]) -> Body:
        """The body with a text in its instructions, and texts before the words of messages, by
        their places."""
        ...


# OpenAI chat completions


class ChatCompletions:
    name = "chat"

    def read(self, body: Body) -> Asked:
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

    def read(self, body: Body) -> Asked:
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

    def read(self, body: Body) -> Asked:
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
    """What a person typed, without what clients and hooks put beside it, and without halves of
    characters."""
    return _SURROGATES.sub("\ufffd", _REMINDERS.sub("", without_injected(text)).strip())


def text_of(content: Any) -> str:
    """The text of a message: a plain one, or its parts of text."""
    if isinstance(content, str):
        return cleaned(content)
    parts = [part.get("text") for _, part in _rows(content) if part.get("type") in _TEXT_PARTS]
    return cleaned("\n\n".join(part for part in parts if isinstance(part, str) and part))


def _asked(body: Body, said: Sequence[Said], results: Sequence[ToolResult]) -> Asked:
    about = body.get("metadata")
    fields = about if isinstance(about, dict) else {}
    session = next((found for name in _SESSION_FIELDS if (found := _str(fields, name))), "")
    user_id = _str(fields, "user_id")
    person = "\0".join([user_id, *(_str(body, name) for name in _PERSON_FIELDS)])
    return Asked(
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
    """Puts a block before the question, but after results of tools, which must come first."""
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
    """The objects of a list, with their places."""
    for place, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, dict):
            yield place, one


def _str(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""
