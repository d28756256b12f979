"""The two protocols of language models: chat completions (OpenAI, Ollama, vLLM, llama.cpp, LM
Studio, gateways) and the messages API (Anthropic, and gateways that speak it).

Each turns a conversation into one request, through the official SDK, and reads the answer without
trusting its shape. Timeouts, retries and the key are the business of `endpoint`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from holdfast.llm import Answer, Message, ModelCall
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
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

    from holdfast.llm import ModelTool


OPENAI_URL = "https://api.openai.com/v1"


class OpenAICompatibleModel(EndpointModel):
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
        need("openai")
        import openai

        spec = self._endpoint.spec
        wanted: dict[str, Any] = {
            "model": spec.model,
            "messages": _openai_messages(system, messages),
        }
        if tools:
            wanted["tools"] = [_openai_tool(one) for one in tools]
        # Newer models of OpenAI refuse the old name; many other servers know no other.
        wanted["max_tokens" if spec.url else "max_completion_tokens"] = tokens_max

        def send(http: Client, key: str, left_s: float) -> Response:
            client = openai.OpenAI(
                api_key=key,
                base_url=spec.url or OPENAI_URL,
                http_client=http,
                timeout=left_s,
                max_retries=0,
            )
            raw = client.chat.completions.with_raw_response.create(**wanted)
            return raw.http_response

        sent = self._endpoint.request(openai, send, timeout_s)
        text, calls = self._read(sent.body)
        counted = sent.body.get("usage")
        names = ("prompt_tokens", "completion_tokens")
        usage = spent(sent.requests, counted, names, system, messages, (text, calls))
        return Answer(text, calls, usage)

    def _read(self, body: Any) -> tuple[str, tuple[ModelCall, ...]]:
        wrong = self._endpoint.wrong_shape
        choices = body.get("choices") if isinstance(body, dict) else None
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise wrong("there are no choices")
        message = choices[0].get("message")
        if not isinstance(message, dict):
            raise wrong("the choice holds no message")
        written = message.get("tool_calls") or []
        if not isinstance(written, list):
            raise wrong("the tool calls are no list")
        calls = []
        for one in written:
            function = one.get("function") if isinstance(one, dict) else None
            if not isinstance(function, dict) or not isinstance(function.get("name"), str):
                raise wrong("a tool call has no name")
            given = arguments_of(function.get("arguments", ""))
            calls.append(ModelCall(text_of(one.get("id")), text_of(function["name"]), given))
        return _content(message), tuple(calls)


def _content(message: Mapping[str, Any]) -> str:
    """The text of a message: a string, or parts of which some are text."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [one.get("text") for one in content if isinstance(one, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return text_of(content) or text_of(message.get("refusal"))


def _openai_messages(system: str, messages: Sequence[Message]) -> list[ChatCompletionMessageParam]:
    out: list[ChatCompletionMessageParam] = []
    if system:
        out.append({"role": "system", "content": clean(system)})
    for one in messages:
        if one.role == "user":
            out.append({"role": "user", "content": clean(one.text)})
        elif one.role == "tool":
            out.append({"role": "tool", "content": clean(one.text), "tool_call_id": one.answers})
        else:
            out.append(_openai_message(one))
    return out


def _openai_message(one: Message) -> ChatCompletionMessageParam:
    import json

    said: dict[str, Any] = {"role": "assistant", "content": clean(one.text) or None}
    if one.calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": plain_name(call.name),
                    "arguments": json.dumps(object_of(call.arguments)),
                },
            }
            for call in one.calls
        ]
    return cast("ChatCompletionMessageParam", said)


def _openai_tool(tool: ModelTool) -> ChatCompletionToolParam:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.schema),
        },
    }


ANTHROPIC_URL = "https://api.anthropic.com"


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
            "messages": _anthropic_messages(messages),
            "max_tokens": tokens_max,
        }
        if system:
            wanted["system"] = clean(system)
        if tools:
            wanted["tools"] = [_anthropic_tool(one) for one in tools]

        def send(http: Client, key: str, left_s: float) -> Response:
            client = anthropic.Anthropic(
                api_key=key,
                base_url=(spec.url or ANTHROPIC_URL).removesuffix("/v1"),
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


def _anthropic_messages(messages: Sequence[Message]) -> list[MessageParam]:
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
            out.append({"role": "assistant", "content": _anthropic_blocks(one)})
    if answers:
        out.append({"role": "user", "content": answers})
    return out


def _anthropic_blocks(one: Message) -> list[ContentBlockParam]:
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


def _anthropic_tool(tool: ModelTool) -> ToolParam:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.schema),
    }
