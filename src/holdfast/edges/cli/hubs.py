"""Hubs: create, list, use, rename, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli import command
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted, plain_hub
from holdfast.errors import AlreadyExists, InvalidInput, NotFound

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.edges.cli.call import Call


def _name_option(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the hub")


def _used(call: Call) -> str:
    if call.server and call.settings.origin("hub") == "default":
        try:
            return call.hub.name
        except NotFound:
            return ""  # The server's own hub is out of reach.
    name: str = call.args.hub or call.settings["hub"]
    return name


def _used_here(call: Call) -> str:
    """The hub that commands use in this folder."""
    if call.server or call.args.hub:
        return _used(call)
    import os

    from holdfast.edges.project import choose

    return choose(call.local, folder=os.getcwd()).name


def _show(call: Call, word: str, hub: Hub, said: str = "") -> None:
    if call.out.json:
        call.out.value(plain_hub(hub, used=_used(call)), result=word)
    elif call.out.terminal:
        call.out.line(said or f"Hub {hub.name} {word}.", "green")
    else:
        call.out.row(word, hub.name, hub.id)


def _create_options(parser: Parser) -> None:
    _name_option(parser)
    parser.add_argument("--use", action="store_true", help="use it from now on")


def _create(call: Call, args: Namespace) -> None:
    if args.use:
        _refuse_with_server(call, args.name)
    try:
        hub = call.memory.create_hub(args.name)
    except AlreadyExists as error:
        hint = f"Use it: `holdfast hub use {args.name}`."
        raise AlreadyExists(error.message, hint=hint) from None
    if args.use:
        _save(call, hub.name)
    _show(call, "created", hub.info)


def _list_options(parser: Parser) -> None:
    """None of its own."""


def _list(call: Call, args: Namespace) -> None:
    found = call.memory.hubs()
    used = _used_here(call)
    if call.out.json:
        call.out.value([plain_hub(hub, used=used) for hub in found])
        return
    rows = []
    for hub in found:
        visible = call.memory.hub(hub.name).statistics().visible
        mark = "*" if hub.name == used else ""
        rows.append((mark, hub.name, str(visible), call.out.time(hub.created_at), hub.id))
    if rows:
        call.out.table(("", "name", "memories", "since", "id"), rows)
    else:
        call.out.note("There is no hub yet; the first `holdfast remember` makes one.")


def _refuse_with_server(call: Call, name: str) -> None:
    """The setting is this machine's: a server's hub in it would break what is local."""
    if call.server:
        raise InvalidInput(
            "Which hub is in use is a setting for this machine's own memory.",
            hint=f"For a server, name the hub with --hub {name}, or set HOLDFAST_HUB.",
        )


def _use(call: Call, args: Namespace) -> None:
    _refuse_with_server(call, args.name)
    hub = call.hub_named(args.name)
    _save(call, hub.name)
    _show(call, "used from now on", hub.info)
    if (variable := _overriding(call)) and not call.args.hub:
        call.out.note(f"{variable} is set and wins over it in this shell.")


def _overriding(call: Call) -> str:
    origin = call.settings.origin("hub")
    return origin if origin.startswith("HOLDFAST_") else ""


def _save(call: Call, name: str | None) -> None:
    from holdfast.settings import save

    save(call.home, "hub", name)


def _rename_options(parser: Parser) -> None:
    _name_option(parser)
    parser.add_argument("new", metavar="NEW", help="its new name")


def _rename(call: Call, args: Namespace) -> None:
    call.hub_named(args.name)
    hub = call.memory.rename_hub(args.name, args.new)
    if _in_file(call, args.name):
        _save(call, hub.name)
    _show(call, "renamed", hub, f"Hub {args.name} renamed to {hub.name}.")


def _folder_options(parser: Parser) -> None:
    _name_option(parser)
    parser.add_argument(
        "folder", nargs="?", metavar="FOLDER", help="keep its files there from now on"
    )


def _folder(call: Call, args: Namespace) -> None:
    hub = call.local.hub(args.name)
    path = call.local.set_hub_folder(args.name, args.folder) if args.folder else hub.folder
    if call.out.json:
        call.out.value({"hub": hub.name, "folder": path})
    else:
        call.out.line(path)


def _delete_options(parser: Parser) -> None:
    _name_option(parser)
    command.add_yes(parser)


def _delete(call: Call, args: Namespace) -> None:
    count = call.hub_named(args.name).statistics().memories
    call.confirm(f"Delete hub {args.name} and its {counted(count, 'memory')}, for good?")
    hub = call.memory.delete_hub(args.name)
    if _in_file(call, args.name):
        _save(call, None)
    _show(call, "deleted", hub)


def _in_file(call: Call, name: str) -> bool:
    """Whether the settings file is what names this hub as the one to use."""
    from holdfast.settings import load

    settings = load(call.home, environ={})
    return bool(settings["hub"] == name) and settings.origin("hub") != "default"


# where


def _where_options(parser: Parser) -> None:
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="instead of the working one")


def _where(call: Call, args: Namespace) -> None:
    import os

    from holdfast.edges.project import choose

    folder = os.path.abspath(args.folder) if args.folder else os.getcwd()
    if not os.path.isdir(folder):
        raise NotFound(f"There is no folder {folder}.", hint="Check the name.")
    chosen = choose(call.local, named=args.hub, folder=folder)
    own = chosen.own
    if call.out.json:
        call.out.value(
            {
                "folder": folder,
                "hub": chosen.name,
                "exists": chosen.hub is not None,
                "why": chosen.why,
                "own": None if own is None else own.name,
            }
        )
        return
    made = "" if chosen.hub is not None else ", not made yet"
    if not call.out.terminal:
        call.out.row(chosen.name, chosen.why + made, "" if own is None else own.name)
        return
    call.out.parts(("hub: ", "dim"), (chosen.name, "bold cyan"), (f"  ({chosen.why}{made})", ""))
    if own is not None:
        call.out.parts(
            ("beside it: ", "dim"),
            (own.name, "bold cyan"),
            ("  (yours, read in every project)", ""),
        )


COMMANDS = (
    Command(
        "where",
        "Say which hub is used in a folder, and why.",
        "holdfast where",
        _where_options,
        _where,
        "The command line, the MCP server and the hooks choose the same way: --hub, HOLDFAST_HUB,\n"
        "the hub of the git repository (the same for its worktrees and clones) with your own\n"
        "beside it, or your own (the setting `hub`). What is about you goes to yours, what is\n"
        "about the project to the project's. `projects.hubs` switches that off.\n"
        "In a pipe: hub, why, the hub beside it.",
    ),
    Command(
        "hub create",
        "Make a hub.",
        "holdfast hub create work --use",
        _create_options,
        _create,
        server="works",
    ),
    Command(
        "hub list",
        "List the hubs; * marks the one in use.",
        "holdfast hub list",
        _list_options,
        _list,
        "In a pipe, a line per hub: * or nothing, name, memories, since when, id.",
        server="works",
    ),
    Command(
        "hub use",
        "Use this hub from now on (the setting `hub`).",
        "holdfast hub use work",
        _name_option,
        _use,
        server="works",
    ),
    Command(
        "hub rename",
        "Rename a hub.",
        "holdfast hub rename work job",
        _rename_options,
        _rename,
        server="works",
    ),
    Command(
        "hub folder",
        "Say where a hub's files are, or keep them in a folder of your choice.",
        "holdfast hub folder work ~/workspace/memory",
        _folder_options,
        _folder,
        "MEMORY.md, journals and documents are kept there from now on. What the hub has in files\n"
        "so far moves there; what is there already is taken in. Deleting the hub leaves the\n"
        "folder and what you put into it. The choice is this machine's: a link in the home.",
    ),
    Command(
        "hub delete",
        "Delete a hub and everything in it, for good.",
        "holdfast hub delete job --yes",
        _delete_options,
        _delete,
        server="works",
    ),
)
