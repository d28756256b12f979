"""Chat completions: OpenAI, and every server that speaks its protocol (Ollama, vLLM, llama.cpp,
LM Studio, gateways).

It turns a talk into one request of that protocol, through the official SDK, and reads the answer
without trusting its shape. Time, tries and the key are the endpoint's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

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
    from httpx2 import Client, Response
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

    from holdfast.llm.base import ModelTool

OFFICIAL_URL = "https://api.openai.com/v1"


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
        wanted: dict[str, Any] = {"model": spec.model, "messages": _messages(system, messages)}
        if tools:
            wanted["tools"] = [_tool(one) for one in tools]
        # Newer models of OpenAI refuse the old name; many other servers know no other.
        wanted["max_tokens" if spec.url else "max_completion_tokens"] = tokens_max

        def send(http: Client, key: str, left_s: float) -> Response:
            client = openai.OpenAI(
                api_key=key,
                base_url=spec.url or OFFICIAL_URL,
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


def _messages(system: str, messages: Sequence[Message]) -> list[ChatCompletionMessageParam]:
    out: list[ChatCompletionMessageParam] = []
    if system:
        out.append({"role": "system", "content": clean(system)})
    for one in messages:
        if one.role == "user":
            out.append({"role": "user", "content": clean(one.text)})
        elif one.role == "tool":
            out.append({"role": "tool", "content": clean(one.text), "tool_call_id": one.answers})
        else:
            out.append(_assistant(one))
    return out


def _assistant(one: Message) -> ChatCompletionMessageParam:
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


def _tool(tool: ModelTool) -> ChatCompletionToolParam:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.schema),
        },
    }
