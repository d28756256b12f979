"""Prints the results of setup and teardown: the list of clients, an entry to paste, the diff of a
dry run, what was done, and whether it works. For that, a hook is called as the client calls it, and
the client's own program is asked whether it reaches the server."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.edges.cli.command import Namespace
from holdfast.edges.cli.output import counted
from holdfast.edges.clients import CLIENTS, Client, Scope, json_text, settings_file
from holdfast.edges.clients import install_hooks as hooks_of_clients
from holdfast.edges.clients.health import faults
from holdfast.edges.clients.install_hooks import command_of
from holdfast.edges.clients.install_server import EntryState, Outcome, look, rendered
from holdfast.edges.clients.jsonc import Malformed
from holdfast.edges.clients.program import Platform

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call


# The default name of the entry.
NAME = "holdfast"

_DONE = {
    "added": "{title} is set up: the entry `{name}` is new.",
    "updated": "{title} is set up: the entry `{name}` was there and is updated.",
    "replaced": "{title} is set up: the entry `{name}` replaces one that was not ours.",
    "unchanged": "{title} is already set up; nothing was changed.",
    "hooks": "{title} is set up: the entry `{name}` was there already.",
    "removed": "The entry `{name}` is out of the settings of {title}.",
    "absent": "{title} is not set up; nothing was changed.",
}
_WOULD = {
    "added": "{title}: the entry `{name}` would be added.",
    "updated": "{title}: the entry `{name}` would be updated.",
    "replaced": "{title}: the entry `{name}`, which is not ours, would be replaced.",
    "removed": "{title}: the entry `{name}` would be taken out.",
}
_VERBS = {"added": "add", "updated": "update", "replaced": "replace", "removed": "remove"}
_STATES = {"ours": "yes", "absent": "no", "other": "not ours", "unreadable": "cannot be read"}


class Done(NamedTuple):
    """The result of `holdfast setup` for one client: an outcome, or the reason why there is
    none."""

    client: Client
    installed: bool
    outcome: Outcome | None
    failure: str = ""
    # The outcomes for the files with its hooks.
    hooks: tuple[Outcome, ...] = ()


def dry_run(call: Call, args: Namespace) -> None:
    """Says first that this run of `holdfast setup` is a dry run."""
    if args.dry_run:
        call.out.note("Dry run: nothing is written.")


def entry(call: Call, args: Namespace, client: Client, path: str, line: Sequence[str]) -> None:
    """Prints an entry to paste."""
    text = rendered(client, args.name, line)
    if call.out.json:
        fields, first = client.entry(line)
        call.out.value(
            {"client": client.name, "name": args.name, "file": path, "text": text}
            | {"entry": fields | first}
        )
        return
    call.out.stdout.write(text)
    call.out.note(f"Paste it into {path}, then: {client.restart}")


def clients(call: Call, args: Namespace, place: Platform) -> None:
    """Prints every client of `holdfast setup`, with whether it is installed and set up."""
    rows = [
        (client, scope, is_installed, found(client, args, place, scope))
        for client in CLIENTS
        for is_installed in (hooks_of_clients.is_installed(client, place, call.home),)
        for scope in client.scopes
    ]
    wrong = {
        (client.name, "user"): faults(client, place, args.name)
        for client, scope, _, seen in rows
        if scope == "user" and seen.state == "ours"
    }
    # Every client could have a file in this project; it is listed only if it has an entry.
    rows = [row for row in rows if row[1] == "user" or row[3].state != "absent"]
    if call.out.json:
        call.out.value(
            [
                {"client": client.name, "title": client.title, "installed": installed}
                | {"scope": scope, "state": seen.state, "file": seen.path}
                | ({"reason": seen.reason} if seen.reason else {})
                | {"problems": wrong.get((client.name, scope), [])}
                for client, scope, installed, seen in rows
            ]
        )
        return
    absent: list[tuple[Client, Scope, bool, EntryState]] = []
    if call.out.terminal:
        absent = [row for row in rows if not row[2] and row[3].state == "absent"]
        rows = [row for row in rows if row not in absent]
    call.out.table(
        ("client", "installed", "set up", "scope", "file") if rows else (),
        [
            (
                client.name,
                "yes" if installed else "no",
                "in part" if wrong.get((client.name, scope)) else _STATES[seen.state],
                scope,
                _shown(call, seen.path, place),
            )
            for client, scope, installed, seen in rows
        ],
    )
    for client, scope, _, seen in rows:
        if seen.reason:
            call.out.note(f"{client.title}: {seen.reason}")
        for why in wrong.get((client.name, scope), ()):
            call.out.note(f"{client.title}: {why}. `holdfast setup {client.name}` mends it.")
    if absent:
        names = ", ".join(dict.fromkeys(client.name for client, *_ in absent))
        call.out.note(wrapped(f"Not found on this machine: {names}."))
    call.out.note("`holdfast setup CLIENT` sets one up; `holdfast setup --all`, all that are here.")


def left_in_project(call: Call, args: Namespace, place: Platform) -> None:
    """Lists the entries in this project's files, which may be shared with others."""
    for client in CLIENTS:
        if "project" not in client.scopes:
            continue
        entry = found(client, args, place, "project")
        # In the home folder, the files of a project may be the person's own.
        is_other = entry.path != found(client, args, place, "user").path
        if entry.state == "ours" and is_other:
            call.out.note(
                f"This project has an entry for {client.title} too:"
                f" `holdfast teardown {client.name} --scope project` takes it out."
            )


def wrapped(text: str) -> str:
    """Wraps a long note for a terminal of 80 columns."""
    return "\n".join(textwrap.wrap(text, 80, break_on_hyphens=False))


def next_steps(call: Call, place: Platform, chosen: Sequence[Client]) -> None:
    """Suggests importing the conversations that the clients have kept."""
    from holdfast.edges.cli.imports import NAMES
    from holdfast.edges.hooks.past_sessions import transcript_files

    names = {command: source for source, command in NAMES.items()}
    for client in chosen:
        if client.name not in names:
            continue
        count = len(transcript_files(names[client.name], place.home))
        if count:
            call.out.note(
                f"{counted(count, 'conversation')} of {client.title}"
                f" {'is' if count == 1 else 'are'} on this machine;\n"
                f"`holdfast import {client.name}` takes in what memory does not have yet."
            )


def found(client: Client, args: Namespace, place: Platform, scope: Scope) -> EntryState:
    """The state of the entry of the MCP server in the client's files of a scope: the first file
    that has one counts."""
    looks = [look(client, path, args.name) for path in client.files(place, scope)]
    return next((one for one in looks if one.state in ("ours", "other")), looks[0])


def outcomes(call: Call, args: Namespace, done: Sequence[Done]) -> None:
    """Prints what `holdfast setup` did, or would do in a dry run."""
    if call.out.json:
        plain = [_plain(one, args) for one in done]
        call.out.value(plain if args.all or len(plain) > 1 else plain[0])
        return
    for client, installed, outcome, failure, hooks in done:
        if outcome is None:
            if not call.out.terminal:
                call.out.row("failed", client.name, "", "")
            call.out.note(f"{client.title}: {failure}")
            continue
        if call.out.terminal:
            _show(call, args, outcome, hooks)
        else:
            result = _result(args, outcome)
            call.out.row(result, client.name, outcome.path, outcome.backup or "")
        for hook in hooks:
            _show_hook(call, args, hook)
        if args.dry_run:
            for one in (outcome, *hooks):
                for line in diff(one):
                    call.out.line(line)
        if outcome.result == "removed" and not args.dry_run:
            _note_backups(call, (outcome, *hooks))
        if any(hook.changed for hook in hooks) and outcome.result != "removed":
            note = hooks_of_clients.note_of(client)
            if note:
                call.out.note(note)
        if not installed and not args.file and outcome.changed:
            call.out.note(f"{client.title} does not seem to be installed here.")


def _show(call: Call, args: Namespace, outcome: Outcome, hooks: Sequence[Outcome]) -> None:
    words = _WOULD if args.dry_run and outcome.changed else _DONE
    is_hooks_alone = outcome.result == "unchanged" and any(hook.changed for hook in hooks)
    said = words["hooks" if is_hooks_alone else outcome.result].format(
        title=outcome.client.title, name=args.name
    )
    call.out.line(said, "green" if outcome.changed else "")
    call.out.line(f"  file    {outcome.path}")
    if not outcome.changed or args.dry_run:
        return
    if outcome.backup:
        call.out.line(f"  backup  {outcome.backup}")
    elif outcome.after is None:
        call.out.line("          (it held nothing else, and is gone)")
    if outcome.result != "removed":
        call.out.line(f"  undo    {_undo(args, outcome.client)}")
    call.out.line(f"  {_restart(outcome)}")


def _show_hook(call: Call, args: Namespace, outcome: Outcome) -> None:
    if outcome.result == "foreign":
        call.out.note(f"{outcome.path} is a file of your own; it stays, and ours is not put there.")
    if not outcome.changed:
        return
    if not call.out.terminal:
        call.out.note(f"{outcome.client.title}, hooks: {_result(args, outcome)} {outcome.path}")
        return
    would = "would be " if args.dry_run else ""
    # In that folder, a file of ours is a command that a person types.
    is_command = os.path.basename(os.path.dirname(outcome.path)) == "commands"
    label = "/memory" if is_command else "hooks"
    call.out.line(f"  {label:<8}{outcome.path} ({would}{outcome.result})")


def _note_backups(call: Call, outcomes: Sequence[Outcome]) -> None:
    """Lists the remaining backups, as they contain the old settings."""
    paths = dict.fromkeys(one.path for one in outcomes)
    left = [backup for path in paths for backup in settings_file.backups(path)]
    if left:
        call.out.note("Backups of its settings are left; delete them when you like:")
    for backup in left:
        call.out.note(f"  {backup}")


def plugin(call: Call, args: Namespace, folder: str, done: Sequence[Outcome]) -> None:
    """Prints the outcomes for the files of a plugin folder."""
    if call.out.json:
        files = [_plain_hook(one, args) for one in done]
        call.out.value({"client": done[0].client.name, "plugin": folder, "files": files})
        return
    for one in done:
        call.out.row(_result(args, one), one.client.name, one.path, one.backup or "")


def proofs(call: Call, args: Namespace, place: Platform, chosen: Sequence[Client]) -> None:
    """Tests a round trip: how long a hook takes to answer, and whether the client's own program
    connects to the server, if it can tell."""
    asked = [client.title for client in chosen if _program_of(client, place) is not None]
    if asked:
        call.out.note(f"Testing it with {', '.join(asked)}; that takes some seconds.")
        call.out.stderr.flush()
    took = hook_ms(args.home)
    for client in chosen:
        if not hooks_of_clients.files_of(client, place, ["python"]):
            continue
        answers = f"hooks answer in {took:.0f} ms" if took is not None else "hooks do not answer"
        said = connected(client, place, args.name)
        call.out.note(f"{client.title}: {said}{answers}.")


def _plain(done: Done, args: Namespace) -> dict[str, Any]:
    client, installed, outcome, failure, hooks = done
    if outcome is None:
        return {"client": client.name, "result": "failed", "message": failure}
    plain: dict[str, Any] = {
        "client": client.name,
        "result": _result(args, outcome),
        "name": args.name,
        "file": outcome.path,
        "backup": outcome.backup,
        "entry": outcome.entry,
        "installed": installed,
        "hooks": [_plain_hook(hook, args) for hook in hooks],
    }
    if args.dry_run:
        plain["diff"] = "\n".join(diff(outcome))
    elif outcome.changed:
        plain["restart"] = _restart(outcome)
        if outcome.result != "removed":
            plain["undo"] = _undo(args, client)
    return plain


def _plain_hook(hook: Outcome, args: Namespace) -> dict[str, Any]:
    plain = {"file": hook.path, "result": _result(args, hook)}
    return plain | ({"diff": "\n".join(diff(hook))} if args.dry_run else {})


def _result(args: Namespace, outcome: Outcome) -> str:
    if args.dry_run and outcome.changed:
        return f"would {_VERBS[outcome.result]}"
    return outcome.result


def _restart(outcome: Outcome) -> str:
    if outcome.result == "removed":
        return f"{outcome.client.title} goes on using it until it is restarted."
    return outcome.client.restart


def _undo(args: Namespace, client: Client) -> str:
    words = ["holdfast", "teardown", client.name]
    if args.file:
        words += ["--file", args.file]
    elif args.scope != "user":
        words += ["--scope", args.scope]
    if args.name != NAME:
        words += ["--name", args.name]
    return shlex.join(words)


def _shown(call: Call, path: str, place: Platform) -> str:
    """A path with ~ on a terminal, in full in a pipe."""
    if call.out.terminal and path.startswith(place.home + os.sep):
        return f"~{path.removeprefix(place.home)}"
    return path


# A longer line in a diff is a whole file on a single line. It would hide the change, and show the
# rest of the file.
_LINE_CHARS_MAX = 200


def diff(outcome: Outcome) -> list[str]:
    """The lines of a client's file that `holdfast setup` changed, without any context, which might
    contain the keys of other servers."""
    before, after = outcome.before.splitlines(), (outcome.after or "").splitlines()
    lines = list(unified_diff(before, after, outcome.path, outcome.path, lineterm="", n=0))
    if not before or not after:
        # The whole file is ours: it is created or deleted.
        return lines
    longest = max(map(len, lines[2:]), default=0)
    is_whole_file = len(before) == 1 or len(after) == 1
    changed = [line for line in lines[2:] if line.startswith("-") or is_whole_file]
    if max(map(len, changed), default=0) <= _LINE_CHARS_MAX:
        return lines
    return [
        *lines[:2],
        f"@@ inside a line of {longest:,} characters @@",
        *_values(outcome),
    ]


def _values(outcome: Outcome) -> list[str]:
    """The values that are added and removed, on several lines."""
    for parse in (outcome.client.format.parse, json_text.parse):
        try:
            before, after = parse(outcome.before), parse(outcome.after or "")
        except Malformed:
            continue
        return [
            *_signed("-", _only_in(before, after)),
            *_signed("+", _only_in(after, before)),
        ]
    # Each text was parsed before it was edited.
    raise AssertionError(f"{outcome.path} is in no format of {outcome.client.name}")


def _signed(sign: str, value: Any) -> list[str]:
    if not value:
        return []
    return [f"{sign}{line}" for line in json.dumps(value, indent=2, ensure_ascii=False).split("\n")]


def _only_in(value: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The members of an object, and the items of its lists, that the other object does not have."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        there = other.get(key)
        if key not in other:
            found[key] = item
        elif isinstance(item, dict) and isinstance(there, dict):
            inner = _only_in(item, there)
            if inner:
                found[key] = inner
        elif isinstance(item, list) and isinstance(there, list):
            items = [one for one in item if one not in there]
            if items:
                found[key] = items
        elif item != there:
            found[key] = item
    return found


# The slowest client takes four seconds to start.
_PROGRAM_S = 20
_HOOK_S = 5
# How each client lists its servers, and the words that mean that ours is connected.
_LISTS = {
    "claude-code": (("mcp", "list"), "Connected"),
    "codex": (("mcp", "list"), ""),
    "gemini": (("mcp", "list"), "Connected"),
    "opencode": (("mcp", "list"), "connected"),
}


# A check of a setup sends no telemetry of the client.
_OFFLINE = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


def hook_ms(home: str | None) -> float | None:
    """How long a hook takes to answer, once its warm process runs; None if it does not answer."""
    words = [*command_of(sys.executable, None)[:4], "ping"]
    words += ["--home", home] if home else []
    took = None
    # The first call may start the process that answers the second.
    for _ in range(2):
        begun = time.perf_counter()
        try:
            ran = subprocess.run(words, input=b"{}", capture_output=True, timeout=_HOOK_S)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if ran.stdout != b"pong":
            return None
        took = (time.perf_counter() - begun) * 1_000
    return took


def _program_of(client: Client, place: Platform) -> str | None:
    """The client's program, if it is on this machine and can list its servers."""
    if client.name not in _LISTS:
        return None
    return shutil.which(client.programs[0], path=place.environ.get("PATH", ""))


def connected(client: Client, place: Platform, name: str) -> str:
    """`connected, ` if the client's program says so; else what it says, or nothing."""
    program = _program_of(client, place)
    if program is None:
        return ""
    words, mark = _LISTS[client.name]
    try:
        ran = subprocess.run(
            [program, *words],
            cwd=place.folder if os.path.isdir(place.folder) else None,
            env={**os.environ, **_OFFLINE},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PROGRAM_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "its program did not answer; "
    lines = [line for line in (ran.stdout + ran.stderr).splitlines() if name in line]
    if not lines:
        return "its program does not list the server; "
    if mark in lines[0]:
        return "connected, "
    if "disabled" in lines[0].lower():
        return "it connects to the server in folders that you trust; "
    shown = " ".join([client.programs[0], *words])
    return f"its program lists the server, not connected (`{shown}` says more); "
