"""The tools of a dialect from the shell: print their schemas, call one."""

from __future__ import annotations

import sys
from datetime import UTC
from typing import TYPE_CHECKING, Any

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.agents.toolset import Toolset
    from holdfast.edges.cli.call import Call


def add_dialect(parser: Parser) -> None:
    """The options that choose the tools."""
    from holdfast.agents.dialects import NAMES

    parser.offer("--dialect", NAMES, default="holdfast", help="whose tools (holdfast)")
    parser.add_argument("--all-tools", action="store_true", help="the less usual ones too")
    parser.add_argument("--read-only", action="store_true", help="only tools that change nothing")


def toolset(call: Call, args: Namespace, *, agent: str | None = None) -> Toolset:
    """The tools that the options choose, on the hub of the call."""
    from holdfast.agents.desk import Desk
    from holdfast.agents.dialects import find_dialect
    from holdfast.agents.toolset import Toolset

    dialect = find_dialect(args.dialect)
    # Whoever has the shell has every hub.
    hub = call.hub
    desk = Desk(hub, agent=agent, source="cli", zone=call.out.zone or UTC, every_hub=True)
    return Toolset(dialect, desk, all_tools=args.all_tools, read_only=args.read_only)


def _tools_options(parser: Parser) -> None:
    from holdfast.agents.schemas import FORMATS

    add_dialect(parser)
    parser.offer("--format", FORMATS, help="the schemas as JSON, in this form")


def _tools(call: Call, args: Namespace) -> None:
    from holdfast.agents.dialects import NAMES, find_dialect
    from holdfast.agents.schemas import render

    dialect = find_dialect(args.dialect)
    offered = dialect.offered(all_tools=args.all_tools, read_only=args.read_only)
    if args.format:
        call.out.raw_json(render(offered, args.format))
        return
    if call.out.json:
        call.out.value(render(offered, "json"))
        return
    for tool in offered:
        given = ", ".join(p.name if p.required else f"{p.name}?" for p in tool.parameters)
        call.out.parts((tool.name, "bold cyan"), (f"({given})", ""))
        call.out.line(f"    {tool.description.split('. ')[0].rstrip('.')}.")
    hidden = len(dialect.offered(all_tools=True, read_only=args.read_only)) - len(offered)
    if hidden:
        call.out.note(f"{hidden} more with --all-tools.")
    call.out.note(f"Dialects: {', '.join(NAMES)}.")


def _call_options(parser: Parser) -> None:
    parser.add_argument("tool", metavar="TOOL", help="the tool's name")
    parser.add_argument(
        "arguments", nargs="?", metavar="JSON", help="its arguments, as with --args"
    )
    add_dialect(parser)
    parser.add_argument("--args", metavar="JSON", help="its arguments, an object; - reads them")
    parser.add_argument("--agent", metavar="NAME", help="the agent to note as the source")


def _call(call: Call, args: Namespace) -> int:
    if args.args is not None and args.arguments is not None:
        raise InvalidInput("The arguments are given twice.", hint="Leave one of them out.")
    text = args.args or args.arguments or "{}"
    given = _arguments(sys.stdin.read() if text == "-" else text)
    # One call from a shell may use any tool: there is no list to keep short for a model.
    args.all_tools = True
    reply = toolset(call, args, agent=args.agent).call(args.tool, given)
    if call.out.json:
        call.out.value(reply.data, text=reply.text, failed=reply.failed)
    else:
        call.out.line(reply.text)
    return 1 if reply.failed else 0


def _arguments(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput(
            f"--args is not JSON: {error}.", hint="""For example --args '{"query": "tabs"}'."""
        ) from None


COMMANDS = (
    Command(
        "tools",
        "The tools that an agent gets, and their schemas.",
        "holdfast tools --dialect maven --format openai",
        _tools_options,
        _tools,
        "Without --format it lists them for people. The dialect `holdfast` is small on purpose;\n"
        "the others are those of agents written for other systems.",
    ),
    Command(
        "call",
        "Call one tool as an agent would.",
        """holdfast call recall --args '{"query": "tabs or spaces"}'""",
        _call_options,
        _call,
        "Prints what the agent would read. It ends with 1 where the tool answers with an error.",
    ),
)
