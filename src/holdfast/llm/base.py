"""The contract of a language model: a system prompt and messages in, text or tool calls out.

A model knows neither memories nor passes. It is asked once for each call of `ask`: rounds, caps and
what a tool does are the caller's business. Keys come from the environment and are never part of a
value here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol


class ModelTool(NamedTuple):
    """A tool as a model sees it; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


class ModelCall(NamedTuple):
    """A model asks for a tool. The arguments are as the model wrote them, which may be no JSON."""

    id: str
    name: str
    arguments: str


class Message(NamedTuple):
    """One message of a talk. An assistant's may hold calls; a tool's answers the call it names."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[ModelCall, ...] = ()
    answers: str = ""


class Usage(NamedTuple):
    """What was spent: requests, and tokens as the server counted them."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class Answer(NamedTuple):
    """What a model said, and what it cost."""

    text: str
    calls: tuple[ModelCall, ...] = ()
    usage: Usage = Usage(1)


class Model(Protocol):
    """Safe to call from several threads; whatever goes wrong is a ModelError."""

    @property
    def name(self) -> str: ...

    def ask(
        self,
        system: str,
        messages: Sequence[Message],
        *,
        tools: Sequence[ModelTool] = (),
        tokens_max: int,
        timeout_s: float,
    ) -> Answer:
        """One request, with the retries that are safe within the time; a cut-off answer is an
        answer."""
        ...
