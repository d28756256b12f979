"""Output of setup and teardown: the list of clients, an entry to paste, and what was done."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.edges.cli.command import Namespace
from holdfast.edges.cli.setup_diff import diff
from holdfast.edges.clients import hooks as hooks_of_clients
from holdfast.edges.clients import settings_file
from holdfast.edges.clients.clients import CLIENTS, Client, Scope
from holdfast.edges.clients.install import Found, Outcome, look, rendered
from holdfast.edges.clients.program import Place

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

# The default name of the entry.
NAME = "holdfast"

_DONE = {
    "added": "{title} is set up: the entry `{name}` is new.",
    "updated": "{title} is set up: the entry `{name}` was there and is updated.",
    "replaced": "{title} is set up: the entry `{name}` replaces one that was not ours.",
    "unchanged": "{title} is already set up; nothing was changed.",
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
    """What became of one client: an outcome, or why there is none."""

    client: Client
    installed: bool
    outcome: Outcome | None
    failure: str = ""
    # What became of the files with its hooks.
    hooks: tuple[Outcome, ...] = ()


def dry_run(call: Call, args: Namespace) -> None:
    """Says so once, before anything else."""
    if args.dry_run:
        call.out.note("Dry run: nothing is written.")


def entry(call: Call, args: Namespace, client: Client, path: str, line: Sequence[str]) -> None:
    """An entry to paste."""
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


def clients(call: Call, args: Namespace, place: Place) -> None:
    """Every client, whether it is here and whether it is set up."""
    rows = [
        (client, scope, client.installed(place), found(client, args, place, scope))
        for client in CLIENTS
        for scope in client.scopes
    ]
    # Every project could have a file; one is worth a line where it has an entry.
    rows = [row for row in rows if row[1] == "user" or row[3].state != "absent"]
    if call.out.json:
        call.out.value(
            [
                {"client": client.name, "title": client.title, "installed": installed}
                | {"scope": scope, "state": seen.state, "file": seen.path}
                | ({"reason": seen.reason} if seen.reason else {})
                for client, scope, installed, seen in rows
            ]
        )
        return
    call.out.table(
        ("client", "installed", "set up", "scope", "file"),
        [
            (
                client.name,
                "yes" if installed else "no",
                _STATES[seen.state],
                scope,
                _shown(call, seen.path, place),
            )
            for client, scope, installed, seen in rows
        ],
    )
    for client, _, _, seen in rows:
        if seen.reason:
            call.out.note(f"{client.title}: {seen.reason}")
    call.out.note("`holdfast setup CLIENT` sets one up; `holdfast setup --all`, all that are here.")


def found(client: Client, args: Namespace, place: Place, scope: Scope) -> Found:
    """What the client's files of a scope say: the first that has an entry counts."""
    looks = [look(client, path, args.name) for path in client.files(place, scope)]
    return next((one for one in looks if one.state in ("ours", "other")), looks[0])


def outcomes(call: Call, args: Namespace, done: Sequence[Done]) -> None:
    """What was done, or would be."""
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
            _show(call, args, outcome)
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


def _show(call: Call, args: Namespace, outcome: Outcome) -> None:
    words = _WOULD if args.dry_run and outcome.changed else _DONE
    said = words[outcome.result].format(title=outcome.client.title, name=args.name)
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
    if not outcome.changed:
        return
    if not call.out.terminal:
        call.out.note(f"{outcome.client.title}, hooks: {_result(args, outcome)} {outcome.path}")
        return
    would = "would be " if args.dry_run else ""
    call.out.line(f"  hooks   {outcome.path} ({would}{outcome.result})")


def _note_backups(call: Call, outcomes: Sequence[Outcome]) -> None:
    """Names the backups that are left, as they hold what the settings held."""
    paths = dict.fromkeys(one.path for one in outcomes)
    left = [backup for path in paths for backup in settings_file.backups(path)]
    if left:
        call.out.note("Backups of its settings are left; delete them when you like:")
    for backup in left:
        call.out.note(f"  {backup}")


def plugin(call: Call, args: Namespace, folder: str, done: Sequence[Outcome]) -> None:
    """What became of the files of a plugin folder."""
    if call.out.json:
        files = [{"file": one.path, "result": _result(args, one)} for one in done]
        call.out.value({"client": done[0].client.name, "plugin": folder, "files": files})
        return
    for one in done:
        call.out.row(_result(args, one), one.client.name, one.path, one.backup or "")


def proofs(call: Call, args: Namespace, place: Place, chosen: Sequence[Client]) -> None:
    """A round trip: what a hook takes to answer, and whether the client's own program connects to
    the server, where it says so."""
    from holdfast.edges.clients.proof import connected, hook_ms

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
        "hooks": [{"file": hook.path, "result": _result(args, hook)} for hook in hooks],
    }
    if args.dry_run:
        plain["diff"] = "\n".join(diff(outcome))
    elif outcome.changed:
        plain["restart"] = _restart(outcome)
        if outcome.result != "removed":
            plain["undo"] = _undo(args, client)
    return plain


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


def _shown(call: Call, path: str, place: Place) -> str:
    """A path: with ~ on a terminal, whole in a pipe."""
    if call.out.terminal and path.startswith(place.home + os.sep):
        return f"~{path.removeprefix(place.home)}"
    return path
