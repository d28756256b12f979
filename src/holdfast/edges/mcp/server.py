"""The MCP server of one hub, on the official SDK: it parses requests, calls the tool layer or the
hub in a thread, and renders the result. It decides nothing, and does not know the transport.

A model's mistake is reported inside a result (`isError`), where the model reads it; only errors in
the protocol itself are protocol errors.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from holdfast import __version__
from holdfast.agents import ToolContext
from holdfast.agents.dialects import find_dialect
from holdfast.agents.toolset import Reply, Toolset
from holdfast.api.caller import Caller
from holdfast.api.hub import HubMemory
from holdfast.api.lazy_hub import LazyHub
from holdfast.api.project_hub import built_context
from holdfast.edges.mcp.resources import VALUES_MAX, Prompts, Resources
from holdfast.edges.server.offload import Offload
from holdfast.engine.upkeep.automatic import upkeep_of
from holdfast.errors import CallCancelled, HoldfastError, InvalidInput, NotFound
from holdfast.wiring.zone import zone_of

log = logging.getLogger("holdfast.mcp")

NAME = "holdfast"
TITLE = "Holdfast memory"
# The size of a call besides the longest allowed content: keys, tags, metadata.
_ARGUMENTS_ROOM = 100_000
# A client's name is stored with its memories; no real one is longer.
_AGENT_CHARS_MAX = 100

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


# Instructions are part of every request.
_BLOCK_CHARS = 2_000


class Options(NamedTuple):
    """The options of an MCP server."""

    dialect: str = "holdfast"
    read_only: bool = False
    all_tools: bool = False
    every_hub: bool = False
    caller: Caller | None = None
    # What the instructions say about memory in the prompt: nothing, that hooks inject it, or the
    # block itself, for a client without hooks.
    prompt: Literal["", "hooks", "block"] = ""


def make_server(hub: HubMemory, options: Options | None = None) -> Server[Any]:
    """An MCP server for this hub, ready to be run over any transport. The hub stays its
    caller's."""
    handlers = _Handlers(hub, options or Options())
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title=TITLE,
        description=f"Long-term memory: the hub {hub.name}.",
        instructions=handlers.instructions,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
        get_tool_input_schema=handlers.input_schema,
    )
    server.middleware.append(_answer_bad_arguments)
    return server


class _Handlers:
    """One method for each request of the protocol."""

    def __init__(self, hub: HubMemory, options: Options) -> None:
        zone = zone_of(hub.core.settings["time_zone"])
        context = ToolContext(
            hub, source="mcp", zone=zone, every_hub=options.every_hub, caller=options.caller
        )
        self._hub = hub
        self._told: set[str] = set()
        self._dialect = find_dialect(options.dialect)
        self._options = options
        self._toolset = self._tools_of(context)
        self._listed = [
            types.Tool.model_validate(row, by_name=False) for row in self._toolset.schemas("mcp")
        ]
        self._offload = Offload()
        self._resources = Resources(hub)
        self._prompts = Prompts(hub, self._toolset)
        self._size_max: int = hub.core.settings["content.bytes_max"] + _ARGUMENTS_ROOM

    def _tools_of(self, context: ToolContext) -> Toolset:
        all_tools, read_only = self._options.all_tools, self._options.read_only
        return Toolset(self._dialect, context, all_tools=all_tools, read_only=read_only)

    @property
    def instructions(self) -> str:
        said = self._dialect.instructions
        if self._options.read_only:
            said += "\nThis memory is read-only here: nothing can be stored or changed."
        return said + self._about_prompt()

    def _about_prompt(self) -> str:
        """The memories that are in the prompt already."""
        if self._options.prompt == "hooks":
            return (
                "\nWhat is in a <holdfast-memory> block of this conversation, a hook has put there."
                " Where there is no such block, nothing of this memory is in the prompt: begin with"
                " memory_context."
            )
        if self._options.prompt != "block":
            return ""
        hub: HubMemory | None = self._hub
        if isinstance(hub, LazyHub) and not hub.is_created:
            # Looking makes no hub.
            hub = hub.beside
        try:
            built = None if hub is None else built_context(hub, budget=_BLOCK_CHARS)
        except HoldfastError:
            built = None
        if built is None or not built.included:
            return "\nNothing is put into the prompt by itself: begin with recall."
        return (
            "\nNothing else is put into the prompt by itself. What is always kept in mind, as of"
            f" the start of this session:\n{built.text}"
        )

    # Tools

    async def list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._listed)

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        return next((tool.input_schema for tool in self._listed if tool.name == name), None)

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if is_larger([params.name, params.arguments], self._size_max):
            return _failure(
                f"The arguments have more than {self._size_max:,} characters. "
                "Split the text into several memories, or keep a summary and where the rest is."
            )
        toolset = self._tools_of(self._toolset.context._replace(agent=_client_name(ctx)))
        try:
            reply = await self._offload.run(
                lambda report: toolset.call(params.name, params.arguments, report=report),
                send=ctx.session.report_progress,
            )
        except CallCancelled as error:
            return _failure(str(error))
        # The last resort: the model gets a message, a person the traceback on stderr.
        except Exception as error:
            log.exception("The tool %s failed.", params.name)
            return _failure(_fault(error))
        self._notify_person()
        self._start_upkeep()
        return _result(reply)

    def _start_upkeep(self) -> None:
        """Starts the automatic lifecycle in the background, shortly after the first answer: a
        client may kill this process without letting it close the memory."""
        core = self._hub.core
        if core.runs_upkeep and not self._options.read_only:
            upkeep_of(core).start()

    def _notify_person(self) -> None:
        """Writes notes about the hub's files to standard error, once each: they are for a person,
        and a model can do nothing about them."""
        for note in self._hub.notes:
            if note not in self._told:
                self._told.add(note)
                log.warning("holdfast mcp: %s", note)

    # Resources

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await self._ask(self._resources.listed))

    async def list_resource_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=self._resources.templates())

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        read = await self._ask(lambda: self._resources.read(params.uri))
        return types.ReadResourceResult(contents=[read])

    # Prompts

    async def list_prompts(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=self._prompts.listed())

    async def get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        return await self._ask(lambda: self._prompts.get(params.name, params.arguments or {}))

    async def complete(
        self, ctx: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        values: list[str] = []
        if isinstance(params.ref, types.ResourceTemplateReference):
            uri, name, start = params.ref.uri, params.argument.name, params.argument.value
            values = await self._ask(lambda: self._resources.completed(uri, name, start))
        more = len(values) == VALUES_MAX
        return types.CompleteResult(completion=types.Completion(values=values, has_more=more))

    async def _ask(self, work: Callable[[], T]) -> T:
        """Calls the hub in a thread; its errors become protocol errors."""
        try:
            return await self._offload.run(lambda report: work())
        except (InvalidInput, NotFound) as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from None
        except HoldfastError as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=str(error)) from None
        # As for tools: the client gets a message, a person the traceback on stderr.
        except Exception as error:
            log.exception("A request failed.")
            raise MCPError(code=types.INTERNAL_ERROR, message=_fault(error)) from None


async def _answer_bad_arguments(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Arguments that are no object are the model's mistake, so the model gets the error. Without
    this, the SDK answers with an error of the protocol, which many clients do not show it."""
    given = (ctx.params or {}).get("arguments")
    if ctx.method == "tools/call" and given is not None and not isinstance(given, Mapping):
        said = _failure('The arguments of a tool must be an object, such as {} or {"query": …}.')
        return said.model_dump(by_alias=True, mode="json", exclude_none=True)
    return await call_next(ctx)


def _client_name(ctx: Context) -> str | None:
    client = ctx.session.client_params
    if client is None:
        return None
    name = "".join(char for char in client.client_info.name if char.isprintable())
    return " ".join(name.split())[:_AGENT_CHARS_MAX] or None


def is_larger(value: Any, size_max: int) -> bool:
    """Whether the JSON value of an MCP message has more characters than this, counting no further
    than needed."""
    size = 0
    waiting = [value]
    while waiting and size <= size_max:
        one = waiting.pop()
        if isinstance(one, str):
            size += len(one)
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one
        # Numbers, and the marks between values.
        size += 1
    return size > size_max


def _result(reply: Reply) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=reply.text)],
        structured_content=reply.data,
        is_error=reply.failed,
    )


def _fault(error: Exception) -> str:
    return (
        f"Holdfast has a fault ({type(error).__name__}); nothing was left half done. Go on without "
        "this, and tell the person."
    )


def _failure(sentence: str) -> types.CallToolResult:
    return _result(Reply(sentence, failed=True))
