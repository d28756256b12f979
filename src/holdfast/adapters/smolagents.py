"""Holdfast in smolagents: memory tools, and a callback that captures tasks and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.adapters.hubs import needed, plain_hub
from holdfast.agents.toolset import tools

with needed("smolagents", extra="smolagents"):
    from smolagents import Tool

if TYPE_CHECKING:
    from holdfast.agents.toolset import Toolset
    from holdfast.api.asynchronous import AsyncHub
    from holdfast.api.hub import HubMemory


class HoldfastTool(Tool):
    """One tool of a hub, such as `remember` or `recall`. What goes wrong is a sentence that the
    model reads."""

    skip_forward_signature_validation = True
    name = "holdfast"
    description = "A tool of long-term memory."
    inputs: dict[str, Any] = {}  # noqa: RUF012 - the framework wants a class attribute of this type
    output_type = "string"

    def __init__(self, toolset: Toolset, schema: Mapping[str, Any]) -> None:
        self.name = schema["name"]
        self.description = schema["description"]
        self.inputs = _inputs(schema["inputSchema"])
        self._toolset = toolset
        super().__init__()

    def forward(self, *args: Any, **arguments: Any) -> str:
        """Runs the tool. Arguments without a name are taken in the order of the inputs."""
        given = dict(zip(self.inputs, args, strict=False)) | arguments
        wanted = {name: value for name, value in given.items() if value is not None}
        return self._toolset.call(self.name, wanted).text


def memory_tools(
    hub: HubMemory | AsyncHub, *, agent: str | None = None, read_only: bool = False
) -> list[HoldfastTool]:
    """The tools `remember`, `recall`, `forget` and others, for `CodeAgent(tools=...)`."""
    toolset = tools("holdfast", plain_hub(hub), agent=agent, read_only=read_only)
    return [HoldfastTool(toolset, schema) for schema in toolset.schemas("mcp")]


def capture(hub: HubMemory | AsyncHub, *, session: str | None = None) -> Callable[..., None]:
    """A callback for `step_callbacks=[capture(hub)]`: shows the hub tasks and final answers."""
    plain = plain_hub(hub)

    def observe(step: Any, agent: Any = None) -> None:
        task = str(getattr(agent, "task", "") or "")
        if task and getattr(step, "is_final_answer", False):
            plain.observe_turn(task, _answer(step), session=session, source="smolagents")

    return observe


def _answer(step: Any) -> str:
    """The final answer of a step. An agent that calls tools has it as an argument of the last."""
    if step.action_output is not None:
        return str(step.action_output)
    calls = step.tool_calls or ()
    arguments = calls[-1].arguments if calls else None
    return str(arguments.get("answer", "") if isinstance(arguments, Mapping) else arguments or "")


def _inputs(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a tool as smolagents describes them: one type each."""
    required = schema.get("required", ())
    out = {}
    for name, one in schema.get("properties", {}).items():
        kinds = one.get("type", "any")
        known = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null"]
        entry: dict[str, Any] = {
            "type": known[0] if len(known) == 1 else "any",
            "description": one.get("description", name),
        }
        if name not in required:
            entry["nullable"] = True
        out[name] = entry
    return out
