"""Holdfast in the OpenAI Agents SDK: a session, memory tools, memory in the prompt, and hooks that
capture what was said."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.adapters.hubs import Message, MessageHistory, needed, plain_hub
from holdfast.agents.toolset import tools
from holdfast.api.asynchronous import in_thread
from holdfast.errors import HoldfastError, InvalidInput

with needed("openai-agents", extra="openai-agents"):
    from agents import FunctionTool, RunHooks
    from agents.exceptions import AgentsException, UserError
    from agents.run import CallModelData, ModelInputData

if TYPE_CHECKING:
    from holdfast.api.asynchronous import AsyncHub
    from holdfast.api.hub import HubMemory


class HoldfastSession:
    """A `Session`: the items of one conversation in a hub, as the SDK wrote them."""

    def __init__(
        self, session_id: str, hub: HubMemory | AsyncHub, *, session_settings: Any = None
    ) -> None:
        self.session_id = session_id
        self.session_settings = _settings(session_settings)
        try:
            self._history = MessageHistory(hub, session_id)
        except InvalidInput as error:
            raise UserError(str(error)) from error

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The items, oldest first; with a limit, the last so many."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        return list(await _run(self._history.values, limit))

    async def add_items(self, items: Sequence[Any]) -> None:
        """Appends items, all or none of them."""
        if items:
            await _run(self._history.add, [_message(dict(item)) for item in items])

    async def pop_item(self) -> Any | None:
        """Takes the last item away and returns it."""
        return await _run(self._history.pop)

    async def clear_session(self) -> None:
        """Takes all items away; the hub's `undo` brings them back."""
        await _run(self._history.clear)


def _settings(given: Any) -> Any:
    """Settings as the SDK has them; None before the version that has any."""
    try:
        from agents.memory.session_settings import SessionSettings, coerce_session_settings
    except ImportError:
        return given
    return SessionSettings() if given is None else coerce_session_settings(given)


async def _run(call: Callable[..., Any], *args: Any) -> Any:
    """Runs a call in a thread; our errors become the SDK's."""
    try:
        return await in_thread(call, *args)
    except InvalidInput as error:
        raise UserError(str(error)) from error
    except HoldfastError as error:
        raise AgentsException(str(error)) from error


def _message(item: dict[str, Any]) -> Message:
    kind = item.get("type") or "message"
    if kind == "message":
        return Message(str(item.get("role") or "user"), text_of(item.get("content")), item)
    if kind.endswith("_output"):
        return Message("tool", text_of(item.get("output")), item)
    said = " ".join(str(item[name]) for name in ("name", "arguments") if item.get(name))
    return Message("assistant", said, item)


def text_of(content: Any) -> str:
    """The text of a message's content, which may have several parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content.get("text"))
    if isinstance(content, list | tuple):
        return "\n".join(text for text in map(text_of, content) if text)
    return ""


def memory_tools(
    hub: HubMemory | AsyncHub, *, agent: str | None = None, read_only: bool = False
) -> list[FunctionTool]:
    """The tools `remember`, `recall`, `forget` and others, for `Agent(tools=...)`. What goes wrong
    is a sentence that the model reads."""
    toolset = tools("holdfast", plain_hub(hub), agent=agent, read_only=read_only)

    def made(schema: Mapping[str, Any]) -> FunctionTool:
        name = schema["name"]

        async def invoke(context: Any, arguments: str) -> str:
            try:
                given = json.loads(arguments or "{}")
            except ValueError:
                return "The arguments are not a JSON object."
            if not isinstance(given, dict):
                return "The arguments are not a JSON object."
            reply = await in_thread(toolset.call, name, given)
            return str(reply.text)

        return FunctionTool(
            name=name,
            description=schema["description"],
            params_json_schema=dict(schema["parameters"]),
            on_invoke_tool=invoke,
            strict_json_schema=True,
        )

    return [made(schema["function"]) for schema in toolset.schemas("openai")]


def inject_memory(
    hub: HubMemory | AsyncHub, *, budget: int | None = None
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """A filter for `RunConfig(call_model_input_filter=...)`: adds the hub's block of memory for
    what the user said last to the instructions. `budget` is in characters."""
    plain = plain_hub(hub)

    async def inject(data: CallModelData[Any]) -> ModelInputData:
        given = data.model_data
        block = await _run(lambda: plain.context(_last_user_text(given.input), budget=budget))
        parts = [part for part in (given.instructions, block) if part]
        return ModelInputData(input=given.input, instructions="\n\n".join(parts) or None)

    return inject


class HoldfastHooks(RunHooks):
    """Hooks for `Runner.run(..., hooks=...)` that show the hub what was said and what the agent
    answered. Runs that go on at the same time need an object each."""

    def __init__(self, hub: HubMemory | AsyncHub, *, session: str | None = None) -> None:
        self._hub = plain_hub(hub)
        self._session = session
        self._said = ""

    async def on_llm_start(
        self, context: Any, agent: Any, system_prompt: str | None, input_items: list[Any]
    ) -> None:
        self._said = _last_user_text(input_items) or self._said

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        said, self._said = self._said, ""
        if said:
            answer = output if isinstance(output, str) else str(output)
            await _run(
                lambda: self._hub.observe_turn(
                    said, answer, session=self._session, source="openai-agents"
                )
            )


def _last_user_text(items: Any) -> str | None:
    if isinstance(items, str):
        return items
    for item in reversed(items or ()):
        if isinstance(item, Mapping) and item.get("role") == "user":
            return text_of(item.get("content")) or None
    return None
