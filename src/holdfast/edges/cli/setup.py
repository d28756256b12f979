"""Commands that set up MCP clients: setup, teardown. `edges.clients` edits the clients' files, and
`setup_output` prints the results.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING

from holdfast.domain.clock import SystemClock
from holdfast.edges.cli import setup_output as output
from holdfast.edges.cli.command import Commands, Namespace, option, switch
from holdfast.edges.clients import (
    CLIENTS,
    NAMES,
    SCOPES,
    Client,
    files_of,
    find,
    install_hooks,
    install_server,
    settings_file,
)
from holdfast.edges.clients.health import entry_of, faults, wants_hooks
from holdfast.edges.clients.install_hooks import HookFile
from holdfast.edges.clients.install_server import Outcome
from holdfast.edges.clients.program import (
    ON_PATH,
    Platform,
    command_line,
    here,
    is_passing,
    program,
)
from holdfast.errors import HoldfastError, InvalidInput, install_hint
from holdfast.system.atomic_file import locked, real_path
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()

# The longest server name that every client accepts; Codex is the strictest.
_NAME_CHARS_MAX = 64


_WHERE_OPTIONS = (
    option("client", "CLIENT", ", ".join(NAMES), nargs="?", offers=NAMES),
    switch("--all", "every client that is on this machine"),
    option("--scope", "SCOPE", "user or project (user)", default="user", offers=SCOPES),
    option("--file", "PATH", "another file than the client's own"),
    option("--name", "NAME", f"what the entry is called ({output.NAME})", default=output.NAME),
    switch("--dry-run", "show the change, write nothing"),
    option("--plugin", "FOLDER", "as a plugin folder (claude-code)"),
)


@COMMANDS.add(
    "setup",
    "holdfast setup claude-code",
    *_WHERE_OPTIONS,
    switch("--print", "only print the entry, to paste it"),
    option("--dialect", "NAME", "the tools that the client gets"),
    switch("--read-only", "only tools that change nothing"),
    switch("--no-hooks", "the MCP server alone, no hooks"),
    switch("--all-tools", "the rarer tools as well"),
    switch("--force", "replace an entry of that name that is not ours"),
    server="ignored",
)
def _setup(call: Call, args: Namespace) -> int:
    """Add memory to an agent: hooks, MCP server, permissions.

    Without CLIENT it lists them all, and offers to set up those that are installed. With
    hooks an agent remembers by itself; --no-hooks leaves them out. The rest of the client's
    files is not changed, and a backup is made beside each; a second run changes nothing.
    --hub and --home are written into the entry when they are given.
    In a pipe: what was done, client, file, backup; the list: client, installed, set up,
    scope, file."""
    return set_up_at(call, args, here())


@COMMANDS.add(
    "teardown",
    "holdfast teardown claude-code",
    *_WHERE_OPTIONS,
    switch("--force", "take out an entry of that name that is not ours"),
    server="ignored",
)
def _teardown(call: Call, args: Namespace) -> int:
    """Remove Holdfast from a client's settings.

    Only the entry goes, and what was created for it. If nothing else has changed since,
    the file is exactly what it was before. Backups from before the setup that differ from
    the file are listed, and stay.
    In a pipe: what was done, client, file, backup."""
    return tear_down_at(call, args, here())


# The changes


class Changes(NamedTuple):
    """The results of `holdfast setup` for a client's files: entries of the MCP server, and
    hooks."""

    entries: list[Outcome]
    hooks: list[Outcome]


def set_up_at(call: Call, args: Namespace, place: Platform) -> int:
    """Runs `holdfast setup` on the given platform."""
    _check(args)
    output.dry_run(call, args)
    if args.plugin:
        return _plugin(call, args, place, out=False)
    if args.client is None and not args.all:
        if not _wants_all(call, args, place):
            return 0
        args.all = True
    if args.print:
        client = find(args.client)
        output.entry(call, args, client, _files(client, args, place)[0], _line(args))
        return 0
    _remind(call, args, place, _line(args))

    def put_in(client: Client) -> Changes:
        path, line = _files(client, args, place)[0], _line(args, client)
        now = SystemClock().now()
        how = {"force": args.force, "dry_run": args.dry_run}
        hooks = [] if args.no_hooks else _hook_files(client, args, place)
        with _recorded(call, args, place, client):
            # Tried first: with a file of hooks that cannot be edited, nothing is written.
            for one in hooks:
                install_hooks.put_in(client, one, now=now, dry_run=True)
            return Changes(
                [install_server.set_up(client, path, args.name, line, now=now, **how)],
                [install_hooks.put_in(client, one, now=now, dry_run=args.dry_run) for one in hooks],
            )

    chosen = _installed(call, args, place) if args.all else [find(args.client)]
    if not chosen:
        call.out.note("No client was found on this machine; name one to set it up all the same.")
    code = _change_each(call, args, place, chosen, put_in)
    if _is_shared(args) and not shutil.which(ON_PATH[0], path=place.environ.get("PATH")):
        call.out.note(
            "The entry starts `holdfast` from the PATH, and it is not on yours:"
            " `uv tool install holdfast-memory` or `pipx install holdfast-memory` puts it there."
        )
    # With --quiet nobody would read the results.
    if not (args.quiet or args.dry_run or args.no_hooks or args.file or args.scope != "user"):
        output.proofs(call, args, place, chosen)
        output.next_steps(call, place, chosen)
    return code


def _installed(call: Call, args: Namespace, place: Platform) -> list[Client]:
    """The installed clients that have a settings file of this scope."""
    return [
        client
        for client in _with_scope(args)
        if install_hooks.is_installed(client, place, call.home)
    ]


def _wants_all(call: Call, args: Namespace, place: Platform) -> bool:
    """Lists the clients, and asks whether to set up those that are not yet."""
    output.clients(call, args, place)
    here = [
        client
        for client in _installed(call, args, place)
        if output.found(client, args, place, args.scope).state != "ours"
        or (args.scope == "user" and faults(client, place, args.name))
    ]
    if not here or args.print:
        return False
    if args.dry_run:
        # Asking for a dry run means yes.
        return call.out.terminal
    if call.out.terminal:
        call.out.line(output.wrapped(_WHAT_YES_MEANS))
    wanted = call.offers(f"Set up {', '.join(client.title for client in here)}?")
    if call.out.terminal and not wanted:
        call.out.note("Nothing was changed. `holdfast setup CLIENT` sets up one of them.")
    return wanted


_WHAT_YES_MEANS = (
    "Yes adds hooks, the MCP server and the permission to read memory to their settings. From then"
    " on what you and they say is logged on this machine. `holdfast setup --dry-run` shows every"
    " line first."
)


def tear_down_at(call: Call, args: Namespace, place: Platform) -> int:
    """Runs `holdfast teardown` on the given platform."""
    _check(args)
    output.dry_run(call, args)
    if args.plugin:
        return _plugin(call, args, place, out=True)
    if args.client is None and not args.all:
        raise InvalidInput(
            "Say which client Holdfast is to be taken out of.",
            hint="Such as `holdfast teardown claude-code`; `holdfast teardown --all` takes it out"
            " of every client, and `holdfast setup` lists them. Memories stay.",
        )

    chosen = _with_scope(args) if args.all else [find(args.client)]
    if args.all:
        chosen = [
            one for one in chosen if output.found(one, args, place, args.scope).state == "ours"
        ]
    if not chosen:
        call.out.note("No client is set up; nothing was changed.")
    if args.all and args.scope == "user":
        output.left_in_project(call, args, place)

    def take_out(client: Client) -> Changes:
        return _take_out(call, args, place, client)

    code = _change_each(call, args, place, chosen, take_out)
    if not (args.dry_run or args.file or args.scope != "user"):
        from holdfast.edges.clients.install_hooks import stop_unused

        if stop_unused(call.home, place, install_hooks.command_of(sys.executable, args.home)):
            call.out.note("The process that answers hooks ends in a few seconds.")
    return code


def _plugin(call: Call, args: Namespace, place: Platform, *, out: bool) -> int:
    """Writes or removes the plugin folder of Claude Code."""
    import holdfast
    from holdfast.edges.clients import install_hooks

    client = find(args.client or "claude-code")
    if client.name != "claude-code" or args.all or args.file:
        raise InvalidInput(
            "A plugin folder is for Claude Code alone.",
            hint="holdfast setup claude-code --plugin FOLDER",
        )
    folder = os.path.abspath(os.path.expanduser(args.plugin))
    install_hooks.refuse_foreign(folder)
    server = [] if out else _line(args, client)
    files = install_hooks.plugin_files(
        folder,
        place,
        hook=install_hooks.command_of(sys.executable, args.home),
        server=server or ["holdfast"],
        version=holdfast.__version__,
    )
    work = install_hooks.take_out if out else install_hooks.put_in
    paths = [file.path for file in files]
    with _one_at_a_time(call, args), settings_file.recorded(call.home, paths):
        now = SystemClock().now()
        done = [work(client, file, now=now, dry_run=args.dry_run) for file in files]
        if out and not args.dry_run:
            install_hooks.remove_empty(folder, files)
            settings_file.remove_made(call.home, paths)
    output.plugin(call, args, folder, done)
    if not out:
        call.out.note(install_hooks.how_to_use(folder))
    return 0


def _take_out(call: Call, args: Namespace, place: Platform, client: Client) -> Changes:
    """Removes Holdfast from a client's files, together with the backups that this makes."""
    now = SystemClock().now()
    paths, hook_files = _files(client, args, place), _hook_files(client, args, place)
    how = {"force": args.force, "dry_run": args.dry_run}
    with _recorded(call, args, place, client):
        # In reverse order of setup, so that each step finds the file as it left it.
        hooks = [
            install_hooks.take_out(client, file, now=now, dry_run=args.dry_run)
            for file in hook_files
            if file.path not in _used_by_others(client, args, place)
        ]
        # Our entry may be in any of the client's files, as the rules for choosing one may have
        # changed.
        taken = ("ours", "other") if args.force else ("ours",)
        holding = [
            path for path in paths if install_server.look(client, path, args.name).state in taken
        ]
        entries = [
            install_server.tear_down(client, path, args.name, now=now, **how)
            for path in holding or paths[:1]
        ]
    changes = Changes(entries, [one for one in hooks if one.changed])
    if not args.force:
        changes = Changes(*(list(map(_without_backup, outcomes)) for outcomes in changes))
    if not args.dry_run:
        for file in hook_files:
            if file.additions and not os.path.lexists(file.path):
                install_hooks.remove_backups(client, file)
        every = (*changes.entries, *changes.hooks)
        removed = [one.path for one in every if one.result == "removed"]
        for path in removed:
            # With hooks and the server in one file, setup has backed up what it wrote first.
            made = () if args.force else [one.before for one in every if one.path == path]
            settings_file.remove_equal_backups(path, *made)
        settings_file.remove_made(call.home, removed)
    return changes


def _recorded(
    call: Call, args: Namespace, place: Platform, client: Client
) -> AbstractContextManager[None]:
    """Records which folders are created for the client's files."""
    hook_files = [file.path for file in _hook_files(client, args, place)]
    return settings_file.recorded(call.home, [*_files(client, args, place), *hook_files])


def _change_each(
    call: Call,
    args: Namespace,
    place: Platform,
    chosen: Sequence[Client],
    change: Callable[[Client], Changes],
) -> int:
    """Changes the files of each client and prints the results. With --all, an error with one client
    does not stop the rest."""
    done: list[output.Done] = []
    code = 0
    with _one_at_a_time(call, args):
        for client in chosen:
            # Checked first: afterwards the folder exists because we created it.
            installed = install_hooks.is_installed(client, place, call.home)
            try:
                entries, hooks = change(client)
            except HoldfastError as error:
                if not args.all:
                    raise
                code = code or error.exit_code
                done.append(output.Done(client, installed, None, str(error)))
                continue
            done += [output.Done(client, installed, outcome) for outcome in entries]
            done[-1] = done[-1]._replace(hooks=tuple(hooks))
    output.outcomes(call, args, done)
    return code


def _without_backup(outcome: Outcome) -> Outcome:
    """Deletes the backup that a teardown made: it contains the entry that the user wanted removed,
    and the rest of the file was compared with it before it was written. That of a text of ours
    which the user has edited stays."""
    if outcome.is_edited:
        return outcome
    if outcome.backup is not None:
        with suppress(OSError):
            os.unlink(outcome.backup)
    return outcome._replace(backup=None)


# Arguments and files


def _check(args: Namespace) -> None:
    name = args.name
    plain = name.replace("-", "").replace("_", "")
    if not (plain.isascii() and plain.isalnum()) or len(name) > _NAME_CHARS_MAX:
        raise InvalidInput(
            f"{name!r} cannot be the name of an entry.",
            hint=f"Use letters, digits, - and _, at most {_NAME_CHARS_MAX}.",
        )
    if args.all and (args.client or args.file):
        given = "a client" if args.client else "--file"
        raise InvalidInput(f"--all and {given} do not go together.", hint="Leave one out.")
    if args.all and vars(args).get("print"):
        raise InvalidInput("--print is for one client.", hint="Name it instead of --all.")
    if args.file and args.client is None:
        raise InvalidInput("--file needs a client, whose format the file has.", hint="Name one.")
    if args.hub is not None:
        from holdfast.text.clean import clean_hub_name

        # Checked here because a client would fail to start the server without saying why.
        clean_hub_name(args.hub)
    dialect = vars(args).get("dialect")
    if dialect is not None:
        from holdfast.agents import dialects

        if dialect not in dialects.NAMES:
            hint = f"Use {', '.join(dialects.NAMES)}."
            raise InvalidInput(f"There is no dialect {dialect!r}.", hint=hint)


def _line(args: Namespace, client: Client | None = None) -> list[str]:
    """The command line of the server; for a client, it includes whether hooks add memory to its
    prompts."""
    is_wired = client is not None and install_hooks.inject(client) and not args.no_hooks
    return command_line(
        ON_PATH if _is_shared(args) else program(sys.argv[0], sys.executable),
        hub=args.hub,
        dialect=args.dialect,
        home=args.home,
        read_only=args.read_only,
        all_tools=args.all_tools,
        hooks=is_wired and not args.file and args.scope == "user",
    )


def _is_shared(args: Namespace) -> bool:
    """Whether the file belongs to a project, and so is shared with other people and machines."""
    return bool(args.scope == "project" and not args.file)


def _files(client: Client, args: Namespace, place: Platform) -> list[str]:
    if args.file:
        return [os.path.abspath(os.path.expanduser(args.file))]
    paths = files_of(client, place, args.scope)
    if args.scope == "project":
        for path in paths:
            # A project may come from anywhere; a link in it must not lead to files outside it.
            real_path(path, within=place.project)
    return paths


def _hook_files(client: Client, args: Namespace, place: Platform) -> list[HookFile]:
    """The files with the hooks of a client. None for a project, because shared settings must not
    name programs of this machine."""
    if args.file or args.scope != "user":
        return []
    return install_hooks.files_of(
        client, place, install_hooks.command_of(sys.executable, args.home)
    )


def _used_by_others(client: Client, args: Namespace, place: Platform) -> set[str]:
    """The files with hooks of the other clients that are set up: Copilot CLI and VS Code read the
    same one."""
    return {
        file.path
        for other in CLIENTS
        if other is not client and wants_hooks(entry_of(other, place, args.name))
        for file in _hook_files(other, args, place)
    }


def _with_scope(args: Namespace) -> list[Client]:
    """The clients that have settings of the requested scope."""
    if args.scope not in SCOPES:
        raise InvalidInput(f"There is no scope {args.scope!r}.", hint=f"Use {' or '.join(SCOPES)}.")
    return [client for client in CLIENTS if args.scope in client.scopes]


def _one_at_a_time(call: Call, args: Namespace) -> AbstractContextManager[None]:
    """Locks out concurrent setups by this user. The lock is in Holdfast's home, so that no lock
    file stays in a client's folder."""
    return nullcontext() if args.dry_run else locked(os.path.join(call.home, "clients"))


def _remind(call: Call, args: Namespace, place: Platform, line: Sequence[str]) -> None:
    """Warns of what would keep the server from starting, or make it open another memory."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        # Printed even with --quiet, because the entry cannot work.
        call.out.stderr.write(
            f"The package mcp, which the MCP server needs, is missing. {install_hint()}\n"
        )
    if place.environ.get("HOLDFAST_HOME") and not args.home:
        call.out.note(
            "HOLDFAST_HOME is set here, and a client may not see it; --home puts it in the entry."
        )
    if is_passing(line[0]):
        call.out.note(
            f"{line[0]} is in a cache that is cleared now and then; install Holdfast for good,"
            " and run this again with that one."
        )
