"""Taking in the conversations that agents have kept: import claude-code, codex, gemini."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.api.memory import Holdfast
    from holdfast.edges.cli.call import Call
    from holdfast.edges.hooks.history import Conversation


def _options(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what there is, take in nothing")
    parser.add_argument("--undo", action="store_true", help="forget what was noted from them")
    parser.add_argument("--from", dest="folder", metavar="FOLDER", help="another home folder")


def _importing(client: str) -> Callable[[Call, Namespace], None]:
    def run(call: Call, args: Namespace) -> None:
        from holdfast.edges.hooks import history
        from holdfast.edges.hooks.memory import open_memory

        person = os.path.abspath(os.path.expanduser(args.folder or "~"))
        found = list(history.conversations(client, person))
        if args.dry_run:
            _show(call, [(one.folder, one.session, one.turns) for one in found])
            return
        with open_memory(call.home, words_only=True) as memory:
            memory.core.set_worked(True)
            if args.undo:
                taken = history.take_back(memory, found)
                rows = [(name, "forgotten", count) for name, count in taken.items()]
            else:
                with call.out.progress("import") as step:
                    rows = []
                    for number, one in enumerate(found, 1):
                        rows.append(_taken(memory, one))
                        step(number, len(found))
        _show(call, rows)
        if not args.undo and rows:
            call.out.note(f"To take it back: `holdfast import {_NAMES[client]} --undo`.")

    return run


def _taken(memory: Holdfast, one: Conversation) -> tuple[str, str, int]:
    from holdfast.edges.hooks import history

    return history.hub_for(memory, one).name, one.session, history.take_in(memory, one)


def _show(call: Call, rows: list[tuple[str, str, int]]) -> None:
    if call.out.json:
        names = ("where", "session", "count")
        call.out.value([dict(zip(names, row, strict=True)) for row in rows])
        return
    if not rows:
        call.out.note("There is nothing to take in.")
        return
    call.out.table(("where", "session", "count"), [(*row[:2], str(row[2])) for row in rows])


_NAMES = {"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini"}

COMMANDS = tuple(
    Command(
        f"import {name}",
        f"Take in the conversations that {title} has kept on this machine.",
        f"holdfast import {name} --dry-run",
        _options,
        _importing(client),
        "Each goes to the hub of the repository where it took place, or to your own. Turns are\n"
        "logged with their times, secrets replaced, and what they say is noted as hooks do it.\n"
        "What is known is not taken in again: it can be broken off and run again.\n"
        "In a pipe, a line each: hub (or folder), session, turns that were new.",
    )
    for client, name, title in (
        ("claude-code", "claude-code", "Claude Code"),
        ("codex", "codex", "Codex"),
        ("gemini-cli", "gemini", "Gemini CLI"),
    )
)
