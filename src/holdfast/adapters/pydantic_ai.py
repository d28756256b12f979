"""Holdfast in Pydantic AI: a toolset, instructions with the memory of the moment, and a history
processor that captures turns and drops old ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.adapters.hubs import needed, plain_hub
from holdfast.agents.toolset import tools
from holdfast.api.asynchronous import in_thread
from holdfast.errors import HoldfastError

with needed("pydantic-ai-slim", extra="pydantic-ai"):
    from pydantic_ai import ModelRetry, RunContext, Tool
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextPart,
        UserPromptPart,
    )
    from pydantic_ai.toolsets import FunctionToolset

if TYPE_CHECKING:
    from holdfast.api.asynchronous import AsyncHub
    from holdfast.api.hub import HubMemory

_SOURCE = "pydantic-ai"


def memory_toolset(
    hub: HubMemory | AsyncHub, *, agent: str | None = None, read_only: bool = False
) -> FunctionToolset[Any]:
    """The tools `remember`, `recall`, `forget` and others, for `Agent(toolsets=...)`. A mistake of
    the model is a `ModelRetry`, with a sentence that says what to do."""
    toolset = tools("holdfast", plain_hub(hub), agent=agent, read_only=read_only)

    def made(schema: dict[str, Any]) -> Tool[Any]:
        name = schema["name"]

        async def call(**arguments: Any) -> str:
            reply = await in_thread(toolset.call, name, arguments)
            if reply.failed:
                raise ModelRetry(reply.text)
            return str(reply.text)

        return Tool.from_schema(call, name, schema["description"], schema["inputSchema"])

    return FunctionToolset([made(schema) for schema in toolset.schemas("mcp")])


def memory_instructions(
    hub: HubMemory | AsyncHub, *, budget: int | None = None
) -> Callable[[RunContext[Any]], Awaitable[str]]:
    """Instructions for `Agent(instructions=...)`: the hub's block of memory for the prompt of the
    run. `budget` is in characters."""
    plain = plain_hub(hub)

    async def instructions(ctx: RunContext[Any]) -> str:
        question = _text_of(ctx.prompt) or None
        return str(await _run(lambda: plain.context(question, budget=budget)))

    return instructions


class MemoryHistory:
    """A history processor: shows the hub each finished turn of a conversation once, and leaves all
    but the last `keep` turns out of the request, since recall finds them.

    For `Agent(history_processors=[...])`, and since version 2
    `Agent(capabilities=[ProcessHistory(...)])`."""

    def __init__(
        self, hub: HubMemory | AsyncHub, *, session: str | None = None, keep: int | None = None
    ) -> None:
        if keep is not None and keep < 1:
            raise UserError("`keep` must be at least 1: a request needs the turn it is about.")
        self._hub = plain_hub(hub)
        self._session = session
        self._keep = keep

    async def __call__(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        turns = _turns(messages)
        await self.observe(messages)
        if self._keep is None or len(turns) <= self._keep:
            return messages
        return list(messages[turns[-self._keep].start :])

    async def observe(self, messages: Sequence[ModelMessage]) -> None:
        """Shows the hub the finished turns among messages, such as `result.all_messages()`. Those
        that it was shown before are not logged again."""
        for turn in _turns(messages):
            if turn.said and turn.answered:
                await _run(partial(self._observe, turn))

    def _observe(self, turn: _Turn) -> None:
        self._hub.observe_turn(
            turn.said, turn.answered, session=self._session, source=_SOURCE, turn=turn.name
        )


class _Turn(NamedTuple):
    """What a user said and what was answered; where it starts, and a name for it."""

    start: int
    said: str
    answered: str
    name: str


def _turns(messages: Sequence[ModelMessage]) -> list[_Turn]:
    """The turns of a conversation: each begins with a request that has a prompt of the user."""
    found: list[_Turn] = []
    for at, message in enumerate(messages):
        if isinstance(message, ModelRequest):
            prompts = [part for part in message.parts if isinstance(part, UserPromptPart)]
            if prompts:
                said = "\n".join(_text_of(part.content) for part in prompts)
                found.append(_Turn(at, said, "", prompts[0].timestamp.isoformat()))
        elif isinstance(message, ModelResponse) and found:
            # A turn ends with the last text: before, the model may have called tools.
            texts = [part.content for part in message.parts if isinstance(part, TextPart)]
            if texts:
                found[-1] = found[-1]._replace(answered="\n".join(texts))
    return found


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "\n".join(one for one in content if isinstance(one, str))
    return ""


async def _run(call: Callable[[], Any]) -> Any:
    """Runs a call in a thread; our errors become those of Pydantic AI."""
    try:
        return await in_thread(call)
    except HoldfastError as error:
        raise UserError(str(error)) from error
