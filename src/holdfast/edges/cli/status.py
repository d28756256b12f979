"""`holdfast status`: whether memory works here. Which hub this folder uses and what is in it, which
agents are set up, and what the last session was given. It writes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.edges.cli.call import Call


def _options(parser: Parser) -> None:
    """None of its own."""


def _status(call: Call, args: Namespace) -> None:
    from holdfast.edges.cli.version import model_of, store_of
    from holdfast.edges.cli.welcome import is_new

    found: dict[str, Any] = {"hub": None, "why": "", "hubs": [], "session": None}
    if not is_new(call.home, os.environ):
        found |= _hubs(call, args) | {"session": _last_session(call)}
    found |= {
        "agents": _agents(call.home),
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
    """The hub of this folder and the one beside it, counted."""
    from holdfast.edges.project import choose

    chosen = choose(call.local, named=args.hub, folder=os.getcwd())
    hubs = [chosen.hub, chosen.own]
    counts = [_counts(call, hub) for hub in hubs if hub is not None]
    return {"hub": chosen.name, "why": chosen.why, "hubs": counts}


def _counts(call: Call, hub: HubMemory) -> dict[str, Any]:
    # A project's hub would count its own alone.
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
    """The agents on this machine, and whether Holdfast is in their settings."""
    from holdfast.edges.cli.setup_output import NAME
    from holdfast.edges.clients.clients import CLIENTS
    from holdfast.edges.clients.install_hooks import is_installed
    from holdfast.edges.clients.install_server import look
    from holdfast.edges.clients.program import here

    place = here()
    agents = []
    for client in CLIENTS:
        states = [look(client, path, NAME).state for path in client.files(place, "user")]
        is_set_up = "ours" in states
        if is_set_up or is_installed(client, place, home):
            agents.append({"client": client.name, "title": client.title, "set_up": is_set_up})
    return agents


def _last_session(call: Call) -> dict[str, Any] | None:
    """The session of an agent that was last used, in any folder."""
    from holdfast.edges.hooks.state_files import all_states

    for state in all_states(call.home)[:1]:
        names = ("client", "session", "folder", "updated_at", "turns")
        given = {name: state.body[name] for name in names}
        return {**given, "injected": len(state.body["injected"])}
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
    if (last := found["session"]) is not None:
        from holdfast.domain.clock import from_text

        at = call.out.time(from_text(last["updated_at"]))
        given = counted(last["injected"], "memory")
        lines.append(("session", f"{last['client']}, {at}: {given} put in (`holdfast session`)"))
    return [*lines, ("model", found["model"]), ("store", found["store"])]


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
    ready = [one["title"] for one in agents if one["set_up"]]
    left = [one["title"] for one in agents if not one["set_up"]]
    lines = [f"{', '.join(ready)}: set up"] if ready else []
    if left:
        lines.append(f"{', '.join(left)}: not set up (`holdfast setup`)")
    lines = lines or ["none was found; any MCP client works (`holdfast mcp`)"]
    return [("agents" if number == 0 else "", said) for number, said in enumerate(lines)]


COMMANDS = (
    Command(
        "status",
        "Show whether memory works here: hub, agents, last session.",
        "holdfast status",
        _options,
        _status,
        "Which hub this folder uses and what is in it, which agents are set up, and what the last\n"
        "session of one was given. `holdfast doctor` looks for damage, `holdfast stats` counts\n"
        "everything. In a pipe, a line each: what, its state.",
    ),
)
