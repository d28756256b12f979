"""Commands for hubs: create, list, use, rename, delete, folder, where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli.command import YES, Commands, Namespace, option, switch
from holdfast.edges.cli.output import counted, plain_hub
from holdfast.errors import AlreadyExists, InvalidInput, NotFound

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()


_NAME_OPTION = option("name", "NAME", "the hub")


def _used(call: Call) -> str:
    if call.server and call.settings.origin("hub") == "default":
        try:
            return call.hub.name
        except NotFound:
            return ""  # The server's default hub is out of reach.
    name: str = call.args.hub or call.settings["hub"]
    return name


def _used_here(call: Call) -> str:
    """The hub that commands use in this folder."""
    if call.server or call.args.hub:
        return _used(call)
    import os

    from holdfast.api.project import choose

    return choose(call.local, folder=os.getcwd()).name


def _show(call: Call, word: str, hub: Hub, said: str = "") -> None:
    data = plain_hub(hub, used=_used(call)) if call.out.json else None
    said = said or f"Hub {hub.name} {word}."
    call.out.done(word, data, said, hub.name, hub.id)


# where


@COMMANDS.add(
    "where", "holdfast where", option("folder", "FOLDER", "instead of the working one", nargs="?")
)
def _where(call: Call, args: Namespace) -> None:
    """Show which hub is used in a folder, and why.

    The command line, the MCP server and the hooks choose the same way: --hub, HOLDFAST_HUB,
    the hub of the git repository (the same for its worktrees and clones) with your own
    beside it, or your own (the setting `hub`). Memories about you go to your hub, those
    about the project to the project's. `projects.hubs` switches that off.
    In a pipe: hub, why, the hub beside it."""
    import os

    from holdfast.api.project import choose

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


@COMMANDS.add(
    "hub create",
    "holdfast hub create work --use",
    _NAME_OPTION,
    switch("--use", "use it from now on"),
    server="works",
)
def _create(call: Call, args: Namespace) -> None:
    """Create a hub."""
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


@COMMANDS.add("hub list", "holdfast hub list", server="works")
def _list(call: Call, args: Namespace) -> None:
    """List the hubs; * marks the one in use.

    In a pipe, a line per hub: * or nothing, name, memories, since when, id."""
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
    """The setting is for this machine: with the name of a server's hub, local commands would
    fail."""
    if call.server:
        raise InvalidInput(
            "Which hub is in use is a setting for this machine's own memory.",
            hint=f"For a server, name the hub with --hub {name}, or set HOLDFAST_HUB.",
        )


@COMMANDS.add("hub use", "holdfast hub use work", _NAME_OPTION, server="works")
def _use(call: Call, args: Namespace) -> None:
    """Use this hub from now on (the setting `hub`)."""
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


@COMMANDS.add(
    "hub rename",
    "holdfast hub rename work job",
    _NAME_OPTION,
    option("new", "NEW", "its new name"),
    server="works",
)
def _rename(call: Call, args: Namespace) -> None:
    """Rename a hub."""
    call.hub_named(args.name, must_exist=True)
    hub = call.memory.rename_hub(args.name, args.new)
    if _in_file(call, args.name):
        _save(call, hub.name)
    _show(call, "renamed", hub, f"Hub {args.name} renamed to {hub.name}.")


@COMMANDS.add(
    "hub folder",
    "holdfast hub folder work ~/workspace/memory",
    _NAME_OPTION,
    option("folder", "FOLDER", "keep its files there from now on", nargs="?"),
)
def _folder(call: Call, args: Namespace) -> None:
    """Show where a hub's files are, or keep them in a folder of your choice.

    MEMORY.md, journals and documents are kept there from now on. Existing files of the hub
    move there; files already there are taken in. Deleting the hub leaves the folder and
    what you put into it. The choice is for this machine: a link in the home."""
    hub = call.local.hub(args.name)
    path = call.local.set_hub_folder(args.name, args.folder) if args.folder else hub.folder
    call.out.text({"hub": hub.name, "folder": path}, path)


@COMMANDS.add("hub delete", "holdfast hub delete job --yes", _NAME_OPTION, YES, server="works")
def _delete(call: Call, args: Namespace) -> None:
    """Delete a hub and everything in it, permanently."""
    count = call.hub_named(args.name, must_exist=True).statistics().memories
    call.confirm(f"Delete hub {args.name} and its {counted(count, 'memory')}, for good?")
    hub = call.memory.delete_hub(args.name)
    if _in_file(call, args.name):
        _save(call, None)
    _show(call, "deleted", hub)


def _in_file(call: Call, name: str) -> bool:
    """Whether the settings file names this hub as the one to use."""
    from holdfast.settings import load

    settings = load(call.home, environ={})
    return bool(settings["hub"] == name) and settings.origin("hub") != "default"
