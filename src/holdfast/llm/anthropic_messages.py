"""The messages API: Anthropic, and gateways that speak its protocol.

It turns a talk into one request of that protocol, through the official SDK, and reads the answer
without trusting its shape. Time, tries and the key are the endpoint's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.llm.base import Answer, Message, ModelCall
from holdfast.llm.endpoint import (
    EndpointModel,
    arguments_of,
    clean,
    need,
    object_of,
    plain_name,
    spent,
    text_of,
)

if TYPE_CHECKING:
    from anthropic.types import ContentBlockParam, MessageParam, ToolParam
    from httpx2 import Client, Response

    from holdfast.llm.base import ModelTool

OFFICIAL_URL = "https://api.anthropic.com"


class AnthropicModel(EndpointModel):
    """A model behind a URL of this protocol."""

    def ask(
        self,
        system: str,
        messages: Sequence[Message],
        *,
        tools: Sequence[ModelTool] = (),
        tokens_max: int,
        timeout_s: float,
    ) -> Answer:
        need("anthropic")
        import anthropic

        spec = self._endpoint.spec
        wanted: dict[str, Any] = {
            "model": spec.model,
            "messages": _messages(messages),
            "max_tokens": tokens_max,
        }
        if system:
            wanted["system"] = clean(system)
        if tools:
            wanted["tools"] = [_tool(one) for one in tools]

        def send(http: Client, key: str, left_s: float) -> Response:
            client = anthropic.Anthropic(
                api_key=key,
                base_url=(spec.url or OFFICIAL_URL).removesuffix("/v1"),
                http_client=http,
                timeout=left_s,
                max_retries=0,
                # What is said stays between this process and the server.
                open_telemetry=False,
            )
            raw = client.messages.with_raw_response.create(**wanted)
            response: Response = raw.http_response
            return response

        sent = self._endpoint.request(anthropic, send, timeout_s)
        text, calls = self._read(sent.body)
        usage = spent(
            sent.requests,
            _counted(sent.body.get("usage")),
            ("input_tokens", "output_tokens"),
            system,
            messages,
            (text, calls),
        )
        return Answer(text, calls, usage)

    def _read(self, body: Any) -> tuple[str, tuple[ModelCall, ...]]:
        wrong = self._endpoint.wrong_shape
        blocks = body.get("content") if isinstance(body, dict) else None
        if not isinstance(blocks, list):
            raise wrong("there is no content")
        texts, calls = [], []
        for block in blocks:
            if not isinstance(block, dict):
                raise wrong("a part of the content is no object")
            if block.get("type") == "text":
                texts.append(text_of(block.get("text")))
            elif block.get("type") == "tool_use":
                if not isinstance(block.get("name"), str):
                    raise wrong("a tool call has no name")
                given = arguments_of(block.get("input", {}))
                calls.append(ModelCall(text_of(block.get("id")), text_of(block["name"]), given))
        return text_of("".join(texts)), tuple(calls)


def _counted(usage: Any) -> Any:
    """The tokens with those that a cache saved: this protocol counts them apart, others do not."""
    if not isinstance(usage, dict):
        return usage
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = [usage.get(name) for name in names]
    return {**usage, "input_tokens": sum(one for one in counts if type(one) is int)}


def _messages(messages: Sequence[Message]) -> list[MessageParam]:
    """Answers of tools are parts of one user's message, right after the calls."""
    out: list[MessageParam] = []
    answers: list[ContentBlockParam] = []
    for one in messages:
        if one.role == "tool":
            answers.append(
                {"type": "tool_result", "tool_use_id": one.answers, "content": clean(one.text)}
            )
            continue
        if answers:
            out.append({"role": "user", "content": answers})
            answers = []
        if one.role == "user":
            out.append({"role": "user", "content": clean(one.text)})
        else:
            out.append({"role": "assistant", "content": _assistant(one)})
    if answers:
        out.append({"role": "user", "content": answers})
    return out


def _assistant(one: Message) -> list[ContentBlockParam]:
    calls: list[ContentBlockParam] = [
        {
            "type": "tool_use",
            "id": call.id,
            "name": plain_name(call.name),
            "input": object_of(call.arguments),
        }
        for call in one.calls
    ]
    # A text of nothing is refused.
    if one.text.strip():
        return [{"type": "text", "text": clean(one.text)}, *calls]
    return calls


def _tool(tool: ModelTool) -> ToolParam:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.schema),
    }
