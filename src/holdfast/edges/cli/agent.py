"""Commands for agents and their hooks: hook and session; tools and call, which print the tool
schemas of a dialect and call one tool; and status, which shows whether memory works here: the hub
of this folder and its counts, the agents that are set up, and what the last session was given."""

from __future__ import annotations

import os
import sys
from datetime import UTC
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import from_text
from holdfast.domain.memory import without_copies
from holdfast.edges.cli.command import Commands, Late, Namespace, Option, option, switch
from holdfast.edges.cli.output import counted
from holdfast.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from holdfast.agents.toolset import Toolset
    from holdfast.api.hub import HubMemory
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()


def _hook_options() -> tuple[Option, ...]:
    from holdfast.edges.hooks.event import CLIENTS, EVENT_KINDS

    about = f"{', '.join(EVENT_KINDS)}, or the client's name"
    return (
        option("event", "EVENT", about, offers=EVENT_KINDS),
        option(
            "--client",
            "NAME",
            "the client (recognised by the fields of the event)",
            offers=CLIENTS,
        ),
    )


@COMMANDS.add(
    "hook",
    "holdfast hook prompt --client claude-code < event.json",
    Late(_hook_options),
    server="ignored",
)
def _hook(call: Call, args: Namespace) -> int:
    """Handle an event of an agent; its hooks call this.

    Events: start, prompt, stop, compact and end, or the client's names for them. A new
    session gets the standing facts and where the last session ended; a prompt gets
    relevant memories that this session has not seen; a finished turn is logged, once. It
    never fails: errors are listed by `holdfast doctor`. `holdfast setup` writes hooks that
    start a smaller program than this command, with the same results."""
    # Whatever goes wrong, the agent's session must go on.
    from holdfast.edges.hooks import front, state_files

    words = [args.event, "--home", call.home]
    if args.client:
        words += ["--client", args.client]
    try:
        answer = front.run(words)
        call.out.raw(answer.decode())
        call.out.stdout.flush()
    except Exception as error:  # noqa: BLE001  nothing above this would catch it
        state_files.note_error(call.home, args.event, error)
    return 0


# session


@COMMANDS.add(
    "session",
    "holdfast session",
    option(
        "session",
        "ID",
        "its id, or the beginning of it; without it the last one in this folder",
        nargs="?",
    ),
    switch("--list", "the sessions that are known"),
)
def _session(call: Call, args: Namespace) -> None:
    """Show what hooks added to a session of an agent, and what was captured from it."""
    from holdfast.edges.hooks.state_files import all_states

    states = all_states(call.home)
    if args.list:
        _list(call, [state.body for state in states])
        return
    from holdfast.api.project import choose

    hub = choose(call.local, named=args.hub).name
    body = _chosen([state.body for state in states], args.session, hub)
    shown = _injected(call, body)
    taken = _captured(call, body)
    if call.out.json:
        call.out.value({**body, "injected": shown, "captured": taken})
        return
    call.out.line(f"{body['client']} session {body['session']}", "bold")
    call.out.line(f"hub {body['hub']}, in {body['folder']}")
    ended = f"ended {_time(call, body['ended_at'])}" if body["ended_at"] else "still open"
    call.out.line(f"began {_time(call, body['started_at'])}, {ended}")
    turns = counted(body["turns"], "turn")
    call.out.line(f"{turns} logged, {body['chars']:,} characters injected")
    at_start = [row for row in shown if row["event"] == "start"]
    with_prompts = [row for row in shown if row["event"] != "start"]
    call.out.line(f"Injected at the start ({len(at_start)}):", "bold")
    for row in at_start:
        call.out.line(f"  {row['named']}  {row['title']}")
    call.out.line(f"Injected with prompts ({len(with_prompts)}):", "bold")
    for row in with_prompts:
        call.out.line(f"  {row['named']}  {row['title']}  ({row['why']})")
    call.out.line(f"Captured ({len(taken)}):", "bold")
    for row in taken:
        call.out.line(f"  {row['named']}  {row['title']}  ({row['category']})")
    call.out.note("Change one with `holdfast update` or `holdfast forget`, and its name.")


def _list(call: Call, bodies: list[dict[str, Any]]) -> None:
    rows = [
        (
            body["session"],
            body["client"],
            body["hub"],
            body["updated_at"],
            str(body["turns"]),
            str(len(body["injected"])),
        )
        for body in bodies
    ]
    names = ("session", "client", "hub", "updated_at", "turns", "injected")
    call.out.rows(names, rows, updated_at="last used")


def _of_here(bodies: list[dict[str, Any]], hub: str) -> list[dict[str, Any]]:
    """The sessions in this folder; if there are none, those of its hub, or else all."""
    folder = os.path.realpath(os.getcwd())
    here = [body for body in bodies if os.path.realpath(body["folder"]) == folder]
    return here or [body for body in bodies if body["hub"] == hub] or bodies


def _chosen(bodies: list[dict[str, Any]], wanted: str | None, hub: str) -> dict[str, Any]:
    if wanted:
        found = [body for body in bodies if body["session"].startswith(wanted)]
    else:
        found = _of_here(bodies, hub)
    if not found:
        raise NotFound(
            "No session is known." if not wanted else f"There is no session {wanted[:80]!r}.",
            hint="Hooks make them: `holdfast setup` puts them into your agents, and the next"
            " session that you start there is the first.",
        )
    return found[0]


def _injected(call: Call, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The injected memories with their current titles, and injected turns with their text."""
    rows = []
    for row in body["injected"]:
        try:
            hub = call.memory.hub(row["hub"])
            title = _said(call, hub, row["id"]) or hub.get(row["id"]).title
        except NotFound:
            title = "(no longer there)"
        rows.append({**row, "title": " ".join(title.split())[:100]})
    return rows


def _said(call: Call, hub: HubMemory, turn_id: str) -> str:
    """A turn of the log as a line; empty if this is the id of a memory."""
    from holdfast.engine.log.turns import turns_by_id

    if not turn_id.startswith("trn_"):
        return ""
    turn = turns_by_id(hub.scope, [turn_id]).get(turn_id)
    if turn is None:
        raise NotFound(f"There is no turn {turn_id}.")
    return f"{turn.voice}, {call.out.time(turn.at)[:10]}: {turn.content}"


def _time(call: Call, text: str) -> str:
    return call.out.time(from_text(text)) if text else ""


def _captured(call: Call, body: dict[str, Any]) -> list[dict[str, Any]]:
    """What was captured from the session, in the project's hub and in the personal hub."""
    rows = []
    names = dict.fromkeys([body["hub"], call.settings["hub"]])
    for name in names:
        try:
            hub = call.memory.hub(name)
        except NotFound:
            continue
        for memory in without_copies(hub.list(session=body["session"], order="number")):
            named = f"#{memory.number}" if name == body["hub"] else f"{name}#{memory.number}"
            title = " ".join(memory.title.split())[:100]
            rows.append(
                {
                    "hub": name,
                    "id": memory.id,
                    "named": named,
                    "title": title,
                    "category": memory.category,
                    "layer": memory.layer,
                }
            )
    return rows


def _dialect_options() -> tuple[Option, ...]:
    """The options that select the tools."""
    from holdfast.agents.dialects import NAMES

    about = "the tools of this dialect (holdfast)"
    return (
        option("--dialect", "DIALECT", about, offers=NAMES, default="holdfast"),
        switch("--all-tools", "the less usual ones too"),
        switch("--read-only", "only tools that change nothing"),
    )


def toolset(call: Call, args: Namespace, *, agent: str | None = None) -> Toolset:
    """The selected tools, on the hub of the call."""
    from holdfast.agents import ToolContext
    from holdfast.agents.dialects import find_dialect
    from holdfast.agents.toolset import Toolset

    dialect = find_dialect(args.dialect)
    # A user of the shell may use any hub.
    hub = call.hub
    context = ToolContext(hub, agent=agent, source="cli", zone=call.out.zone or UTC, every_hub=True)
    return Toolset(dialect, context, all_tools=args.all_tools, read_only=args.read_only)


def _format_options() -> tuple[Option, ...]:
    from holdfast.agents.toolset import FORMATS

    return (option("--format", "FORMAT", "the schemas as JSON, in this form", offers=FORMATS),)


_DIALECT = Late(_dialect_options)


@COMMANDS.add(
    "tools", "holdfast tools --dialect maven --format openai", _DIALECT, Late(_format_options)
)
def _tools(call: Call, args: Namespace) -> None:
    """List the tools that an agent gets, and their schemas.

    Without --format it prints a list to read. The dialect `holdfast` is small on purpose;
    the others match agents that were written for other systems."""
    from holdfast.agents.dialects import NAMES, find_dialect
    from holdfast.agents.toolset import render

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


@COMMANDS.add(
    "call",
    """holdfast call recall --args '{"query": "tabs or spaces"}'""",
    option("tool", "TOOL", "the tool's name"),
    option("arguments", "JSON", "its arguments, as with --args", nargs="?"),
    _DIALECT,
    option("--args", "JSON", "its arguments, an object; - reads them"),
    option("--agent", "NAME", "the agent to note as the source"),
)
def _call(call: Call, args: Namespace) -> int:
    """Call one tool as an agent would.

    Prints what the agent would read. The exit code is 1 if the tool returns an error."""
    if args.args is not None and args.arguments is not None:
        raise InvalidInput("The arguments are given twice.", hint="Leave one of them out.")
    text = args.args or args.arguments or "{}"
    given = _arguments(sys.stdin.read() if text == "-" else text)
    # A call from a shell may use any tool; the list is only kept short for models.
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


@COMMANDS.add("status", "holdfast status")
def _status(call: Call, args: Namespace) -> None:
    """Show whether memory works here: hub, agents, last session.

    The hub of this folder and its counts, the agents that are set up and whether their
    hooks are in place, and what the last session was given. `holdfast doctor` looks for
    damage, `holdfast stats` counts everything. In a pipe, a line each: what, its state."""
    from holdfast.edges.cli.dispatch import model_of, store_of
    from holdfast.edges.cli.help import is_new

    found: dict[str, Any] = {"hub": None, "why": "", "hubs": [], "session": None}
    if not is_new(call.home, os.environ):
        found |= _hubs(call, args)
        found["session"] = _last_session(call, found["hub"])
    found |= {
        "agents": _agents(call.home),
        "hook_failures": _hook_failures(call.home),
        "model": model_of(call.settings["embed.model"]),
        "store": store_of(call.home, call.settings["store.url"], os.environ),
    }
    if call.out.json:
        call.out.value(found)
        return
    for label, said in _lines(call, found):
        if call.out.terminal:
            call.out.parts((f"{label:<9}", "dim"), (said, ""))
        else:
            call.out.row(label, said)


def _hubs(call: Call, args: Namespace) -> dict[str, Any]:
    """The hub of this folder and the personal hub beside it, with counts."""
    from holdfast.api.project import choose

    chosen = choose(call.local, named=args.hub, folder=os.getcwd())
    hubs = [chosen.hub, chosen.own]
    counts = [_counts(call, hub) for hub in hubs if hub is not None]
    return {"hub": chosen.name, "why": chosen.why, "hubs": counts}


def _counts(call: Call, hub: HubMemory) -> dict[str, Any]:
    # Through the project's hub, only the project's memories would be counted.
    plain = call.local.hub(hub.name)
    statistics = plain.statistics()
    newest = plain.turns(limit=1)
    notes = statistics.by_layer.get("journal", 0)
    return {
        "name": hub.name,
        "memories": statistics.visible - notes,
        "notes": notes,
        "turns": statistics.turns,
        "last_turn": newest[0].at if newest else None,
        "logging": not plain.log_rules().paused,
        "waiting": statistics.waiting,
    }


def _agents(home: str) -> list[dict[str, Any]]:
    """The agents on this machine, whether Holdfast is in their settings, and why it does not work
    there."""
    from holdfast.edges.cli.setup_output import NAME
    from holdfast.edges.clients import CLIENTS
    from holdfast.edges.clients.health import faults
    from holdfast.edges.clients.install_hooks import is_installed
    from holdfast.edges.clients.install_server import look
    from holdfast.edges.clients.program import here

    place = here()
    agents = []
    for client in CLIENTS:
        states = [look(client, path, NAME).state for path in client.files(place, "user")]
        is_set_up = "ours" in states
        if is_set_up or is_installed(client, place, home):
            agents.append(
                {"client": client.name, "title": client.title, "set_up": is_set_up}
                | {"problems": faults(client, place, NAME)}
            )
    return agents


def _hook_failures(home: str) -> dict[str, Any]:
    """How often hooks failed in the last days, and the last time: those prompts had no memory."""
    from holdfast.edges.hooks.state_files import recent_errors

    found = recent_errors(home)
    last = found[-1] if found else None
    return {
        "count": len(found),
        "last_at": last.at if last else None,
        "last_reason": last.reason if last else "",
    }


def _last_session(call: Call, hub: str) -> dict[str, Any] | None:
    """The session that `holdfast session` would show here."""
    from holdfast.edges.hooks.state_files import all_states

    for body in _of_here([state.body for state in all_states(call.home)], hub)[:1]:
        names = ("client", "session", "folder", "updated_at", "turns")
        given = {name: body[name] for name in names}
        return {**given, "injected": len(body["injected"]), "hub": body["hub"]}
    return None


def _lines(call: Call, found: dict[str, Any]) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    if found["hub"] is None:
        lines.append(("hub", "none yet; nothing was stored"))
    else:
        lines.append(("hub", f"{found['hub']} ({found['why']})"))
        if not found["hubs"] or found["hubs"][0]["name"] != found["hub"]:
            lines.append(("", "not made yet: the first thing that is stored makes it"))
    for one in found["hubs"]:
        if one["name"] != found["hub"]:
            lines.append(("beside", f"{one['name']} (yours, read in every project)"))
        lines += [("", said) for said in _of_hub(call, one)]
    lines += _of_agents(found["agents"])
    if (failures := found["hook_failures"])["count"]:
        lines.append(("hooks", _of_failures(call, failures)))
    if (last := found["session"]) is not None:
        from holdfast.domain.clock import from_text

        at = call.out.time(from_text(last["updated_at"]))
        given = counted(last["injected"], "memory")
        where = "" if last["hub"] == found["hub"] else f" in hub {last['hub']}"
        said = f"{last['client']}{where}, {at}: {given} put in (`holdfast session`)"
        lines.append(("session", said))
    return [*lines, ("model", found["model"]), ("store", found["store"])]


def _of_failures(call: Call, failures: dict[str, Any]) -> str:
    from holdfast.domain.clock import from_text

    count = failures["count"]
    times = "once" if count == 1 else f"{count} times"
    at = call.out.time(from_text(failures["last_at"]))
    return f"failed {times}, last {at}: {failures['last_reason']} (`holdfast doctor`)"


def _of_hub(call: Call, one: dict[str, Any]) -> list[str]:
    notes = f", {counted(one['notes'], 'note')} in the journal" if one["notes"] else ""
    last = f", the last {call.out.time(one['last_turn'])}" if one["last_turn"] else ""
    lines = [
        f"{counted(one['memories'], 'memory')}{notes}",
        f"{counted(one['turns'], 'turn')} logged{last}",
    ]
    if not one["logging"]:
        lines.append("turns are not logged: `holdfast log resume` logs them again")
    if one["waiting"]:
        lines.append(f"{counted(one['waiting'], 'item')} for your review: `holdfast review`")
    return lines


def _of_agents(agents: list[dict[str, Any]]) -> list[tuple[str, str]]:
    ready = [one["title"] for one in agents if one["set_up"] and not one["problems"]]
    left = [one["title"] for one in agents if not one["set_up"]]
    lines = [f"{', '.join(ready)}: set up"] if ready else []
    lines += [
        f"{one['title']}: set up, but {why} (`holdfast setup {one['client']}`)"
        for one in agents
        for why in one["problems"]
    ]
    if left:
        lines.append(f"{', '.join(left)}: not set up (`holdfast setup`)")
    lines = lines or ["none was found; any MCP client works (`holdfast mcp`)"]
    return [("agents" if number == 0 else "", said) for number, said in enumerate(lines)]
