"""A hub as the memory tool of Anthropic's Python SDK, for its tool runner.

Both classes only pass commands on to the `anthropic` dialect, which runs them. What the dialect
refuses is raised as the SDK's ToolError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.adapters.hubs import needed
from holdfast.agents.toolset import tools
from holdfast.errors import HoldfastError

with needed("anthropic", extra="anthropic"):
    import anyio.to_thread
    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        ToolError,
    )
    from typing_extensions import override

if TYPE_CHECKING:
    from anthropic.types.beta import BetaCacheControlEphemeralParam

    from holdfast.api.hub import HubMemory


class HoldfastMemoryTool(BetaAbstractMemoryTool):
    """The memory tool over a hub's files. `agent` is noted as the source of what it stores."""

    def __init__(
        self,
        hub: HubMemory,
        *,
        agent: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._hub = hub
        self._tools = tools("anthropic", hub, agent=agent)

    @override
    def call(self, input: object) -> str:
        """Runs what a model sent, as it sent it: mistakes are answered with a sentence."""
        if not isinstance(input, Mapping):
            raise ToolError("The input must be an object with a command, such as view.")
        reply = self._tools.call("memory", input)
        if reply.failed:
            raise ToolError(reply.text)
        return reply.text

    def _run(self, command: Any) -> str:
        return self.call(command.to_dict())

    view = create = str_replace = insert = delete = rename = _run

    @override
    def clear_all_memory(self) -> str:
        """Removes all files and archives their memories, as one change set that can be undone.
        MEMORY.md and what is in it stays."""
        try:
            self._hub.files(trust="agent").clear()
        except HoldfastError as error:
            raise ToolError(str(error)) from error
        return "All memory cleared"


class AsyncHoldfastMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool of Claude for the asynchronous client: each command runs in a thread of its
    own."""

    def __init__(
        self,
        hub: HubMemory,
        *,
        agent: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = HoldfastMemoryTool(hub, agent=agent)

    @override
    async def call(self, input: object) -> str:
        return await anyio.to_thread.run_sync(self._tool.call, input)

    async def _run(self, command: Any) -> str:
        return await self.call(command.to_dict())

    view = create = str_replace = insert = delete = rename = _run

    @override
    async def clear_all_memory(self) -> str:
        return await anyio.to_thread.run_sync(self._tool.clear_all_memory)
