"""The two protocols, as their servers speak them: answers for the tests that hold for both."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from holdfast.llm import Model, find_model
from tests.unit.llm.servers import Server


class Protocol(NamedTuple):
    """One protocol: a model of it at a server, and what its server says."""

    name: str
    path: str

    def model(self, server: Server, *, key_variable: str = "") -> Model:
        url = server.url if self.name == "openai" else server.url.removesuffix("/v1")
        found = find_model(f"{self.name}:tiny@{url}", key_variable_named=key_variable)
        assert found is not None
        return found

    def says(self, text: str, *, usage: Any = ...) -> dict[str, Any]:
        if self.name == "openai":
            counted = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
            return {
                "id": "c1",
                "object": "chat.completion",
                "created": 1,
                "model": "tiny",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": text},
                    }
                ],
                "usage": counted if usage is ... else usage,
            }
        return {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "tiny",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 7, "output_tokens": 3} if usage is ... else usage,
        }

    def calls(self, name: str, arguments: Any, *, id_: str = "call_1") -> dict[str, Any]:
        said = self.says("")
        if self.name == "openai":
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            said["choices"][0]["message"] = {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": id_,
                        "type": "function",
                        "function": {"name": name, "arguments": written},
                    }
                ],
            }
        else:
            said["content"] = [{"type": "tool_use", "id": id_, "name": name, "input": arguments}]
        return said


OPENAI = Protocol("openai", "/v1/chat/completions")
ANTHROPIC = Protocol("anthropic", "/v1/messages")
PROTOCOLS = (OPENAI, ANTHROPIC)
