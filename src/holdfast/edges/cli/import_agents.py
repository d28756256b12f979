"""Taking in the conversations that agents have kept: import claude-code, codex, gemini."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.edges.cli.call import Call


def _options(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what there is, take in nothing")
    parser.add_argument("--undo", action="store_true", help="take the last import back")
    force = "with --undo: also where something was changed since"
    parser.add_argument("--force", action="store_true", help=force)
    parser.add_argument("--from", dest="folder", metavar="FOLDER", help="another home folder")


def _importing(client: str) -> Callable[[Call, Namespace], None]:
    def run(call: Call, args: Namespace) -> None:
        from holdfast.edges.hooks import history
        from holdfast.edges.hooks.memory import open_memory

        if args.undo:
            with open_memory(call.home, words_only=True) as memory:
                taken = history.take_back(memory, client, force=args.force)
            _show(call, [(name, "taken back", count) for name, count in taken.items()])
            return
        person = os.path.abspath(os.path.expanduser(args.folder or "~"))
        found = list(history.conversations(client, person))
        if args.dry_run:
            _show(call, [(one.folder, one.session, one.turns) for one in found])
            return
        rows = []
        with open_memory(call.home, words_only=True) as memory:
            memory.core.set_worked(True)
            taking = history.Import(memory, client)
            with call.out.progress("import") as step:
                for number, one in enumerate(found, 1):
                    name = history.hub_for(memory, one).name
                    rows.append((name, one.session, taking.take_in(one)))
                    step(number, len(found))
            taking.finish()
        _show(call, rows)
        if any(count for *_, count in rows):
            call.out.note(f"To take it back: `holdfast import {NAMES[client]} --undo`.")

    return run


def _show(call: Call, rows: list[tuple[str, str, int]]) -> None:
    if call.out.json:
        names = ("where", "session", "count")
        call.out.value([dict(zip(names, row, strict=True)) for row in rows])
        return
    if not rows:
        call.out.note("There is nothing to take in.")
        return
    call.out.table(("where", "session", "count"), [(*row[:2], str(row[2])) for row in rows])


NAMES = {"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini"}

COMMANDS = tuple(
    Command(
        f"import {name}",
        f"Take in the conversations that {title} has kept on this machine.",
        f"holdfast import {name} --dry-run",
        _options,
        _importing(client),
        "Each goes to the hub of the repository where it took place, or to your own. Turns are\n"
        "logged with their times, secrets replaced, and what they say is noted as hooks do it.\n"
        "What is known is not taken in again: it can be broken off and run again. An import is\n"
        "one change set, of the same id in each hub: `--undo` takes it back everywhere, and\n"
        "`holdfast undo ID` in one hub.\n"
        "In a pipe, a line each: hub (or folder), session, turns that were new.",
    )
    for client, name, title in (
        ("claude-code", "claude-code", "Claude Code"),
        ("codex", "codex", "Codex"),
        ("gemini-cli", "gemini", "Gemini CLI"),
    )
)
