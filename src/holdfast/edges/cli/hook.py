"""Hooks of agents on the command line: hook, session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.errors import NotFound

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

# hook


def _hook_options(parser: Parser) -> None:
    from holdfast.edges.hooks.event import CLIENTS, KINDS

    parser.offer("event", KINDS, metavar="EVENT", help=f"{', '.join(KINDS)}, or the client's name")
    parser.offer("--client", CLIENTS, metavar="NAME", help="whose event (told by its fields)")


def _hook(call: Call, args: Namespace) -> int:
    """Fails open: whatever goes wrong, the client's session goes on."""
    from holdfast.edges.hooks import faults, front

    words = [args.event, "--home", call.home]
    if args.client:
        words += ["--client", args.client]
    try:
        answer = front.run(words)
        call.out.raw(answer.decode())
        call.out.stdout.flush()
    except Exception as error:  # noqa: BLE001  the last stop before the client
        faults.note(call.home, args.event, error)
    return 0


# session


def _session_options(parser: Parser) -> None:
    help_ = "its id, or the beginning of it; without it the last one in this folder"
    parser.add_argument("session", nargs="?", metavar="ID", help=help_)
    parser.add_argument("--list", action="store_true", help="the sessions that are known")


def _session(call: Call, args: Namespace) -> None:
    from holdfast.edges.hooks.session_state import all_states

    states = all_states(call.home)
    if args.list:
        _list(call, [state.body for state in states])
        return
    body = _chosen([state.body for state in states], args.session)
    shown = _injected(call, body)
    taken = _captured(call, body)
    if call.out.json:
        call.out.value({**body, "injected": shown, "captured": taken})
        return
    call.out.line(f"{body['client']} session {body['session']}", "bold")
    call.out.line(f"hub {body['hub']}, in {body['folder']}")
    began, ended = body["started_at"], body["ended_at"] or "still open"
    call.out.line(f"began {began}, {ended if ended == 'still open' else f'ended {ended}'}")
    call.out.line(f"{body['turns']} turns logged, {body['chars']:,} characters injected")
    call.out.line(f"Injected ({len(shown)}):", "bold")
    for row in shown:
        call.out.line(f"  {row['named']}  {row['title']}  ({row['event']}: {row['why']})")
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
    if call.out.json:
        names = ("session", "client", "hub", "updated_at", "turns", "injected")
        call.out.value([dict(zip(names, row, strict=True)) for row in rows])
        return
    call.out.table(("session", "client", "hub", "last used", "turns", "injected"), rows)


def _chosen(bodies: list[dict[str, Any]], wanted: str | None) -> dict[str, Any]:
    if wanted:
        found = [body for body in bodies if body["session"].startswith(wanted)]
    else:
        here = os.path.realpath(os.getcwd())
        found = [body for body in bodies if os.path.realpath(body["folder"]) == here] or bodies
    if not found:
        raise NotFound(
            "No session is known." if not wanted else f"There is no session {wanted[:80]!r}.",
            hint="Hooks make them: `holdfast setup` puts them into your agents.",
        )
    return found[0]


def _injected(call: Call, body: dict[str, Any]) -> list[dict[str, Any]]:
    """With the title that each memory has now."""
    rows = []
    for row in body["injected"]:
        try:
            title = call.memory.hub(row["hub"]).get(row["id"]).title
        except NotFound:
            title = "(no longer there)"
        rows.append({**row, "title": " ".join(title.split())[:100]})
    return rows


def _captured(call: Call, body: dict[str, Any]) -> list[dict[str, Any]]:
    """What was taken in from the session, in the hub of the project and in the person's own."""
    rows = []
    names = dict.fromkeys([body["hub"], call.settings["hub"]])
    for name in names:
        try:
            hub = call.memory.hub(name)
        except NotFound:
            continue
        for memory in hub.list(session=body["session"], order="number"):
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


COMMANDS = (
    Command(
        "hook",
        "Answer an event of an agent; its hooks call this.",
        "holdfast hook prompt --client claude-code < event.json",
        _hook_options,
        _hook,
        "Events: start, prompt, stop, compact and end, or as the client calls them. A new session\n"
        "gets what is always kept in mind and where the last one ended; a prompt gets what is\n"
        "relevant and was not given yet; a turn that ends is logged, once. It never fails: what\n"
        "goes wrong is a line that `holdfast doctor` shows. `holdfast setup` writes hooks that\n"
        "start a smaller program than this command, with the same answers.",
        server="ignored",
    ),
    Command(
        "session",
        "Show what hooks put into a session of an agent, and what was captured from it.",
        "holdfast session",
        _session_options,
        _session,
    ),
)
