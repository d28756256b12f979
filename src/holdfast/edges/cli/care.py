"""Care: the commands that look after a hub and its store. Here are lifecycle, stats and embed;
`doctor` and `backups` have the larger ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.clock import to_text
from holdfast.edges.cli.backups import BACKUP, RESTORE
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.doctor import DOCTOR
from holdfast.edges.cli.installation import embedding_model
from holdfast.edges.cli.output import counted
from holdfast.edges.cli.plain import plain_memory
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call


def _no_options(parser: Parser) -> None:
    """None of its own."""


def _lifecycle_options(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only say what would move and why")


def _lifecycle(call: Call, args: Namespace) -> None:
    # Whoever looks at a dry run decides by themselves what happens next.
    call.upkeep = False
    moves = call.hub.lifecycle(dry_run=args.dry_run)
    if call.out.json:
        call.out.value(
            {
                "dry_run": args.dry_run,
                "change": moves.change,
                "moves": [
                    {"memory": plain_memory(move.memory, call.hub.name)}
                    | {"to": move.to, "reason": move.reason}
                    for move in moves
                ],
            }
        )
        return
    rows = [(f"#{move.memory.number}", move.to, move.reason, move.memory.title) for move in moves]
    if rows:
        call.out.table(("#", "to", "why", "title"), rows)
    if not rows:
        call.out.note("Nothing is due.")
    elif args.dry_run:
        call.out.note("This was a dry run: nothing has moved.")
    else:
        call.out.note(f"To take it back: `holdfast undo {moves.change}`.")


# Counts that are moments, and what they are called.
_TIMES = {"oldest": "oldest", "newest": "newest", "lifecycle_at": "last lifecycle run"}


def _stats(call: Call, args: Namespace) -> None:
    found = call.hub.statistics()
    plain = found._asdict() | {
        name: None if (at := getattr(found, name)) is None else to_text(at) for name in _TIMES
    }
    if call.out.json:
        call.out.value(plain)
        return
    rows = []
    for name, value in found._asdict().items():
        if isinstance(value, dict):
            rows += [
                (f"{name.removeprefix('by_')} {key}", str(value[key])) for key in sorted(value)
            ]
        elif name in _TIMES:
            rows.append((_TIMES[name], call.out.time(value)))
        else:
            rows.append((name.replace("_", " "), str(value)))
    call.out.table(("what", "how many"), rows)


def _embed(call: Call, args: Namespace) -> None:
    embedder = call.memory.core.embedder
    if embedder is None:
        raise EmbedderError("There is no embedding model.", hint=embedding_model(call)["note"])
    with call.out.progress("embed") as step:
        made = call.memory.embed_missing(step)
    if call.out.json:
        call.out.value({"model": embedder.identity, "passages": made})
    elif call.out.terminal:
        call.out.line(
            f"Made the vectors of {counted(made, 'passage')} with {embedder.identity}.", "green"
        )
    else:
        call.out.row("embedded", str(made), embedder.identity)


COMMANDS = (
    Command(
        "lifecycle",
        "Cool and archive what is due by the rules.",
        "holdfast lifecycle --dry-run",
        _lifecycle_options,
        _lifecycle,
        "In a pipe, a line per memory: number, its new state, why, title.",
    ),
    Command(
        "stats",
        "Count what is in the hub.",
        "holdfast stats",
        _no_options,
        _stats,
        "In a pipe, a line per count: what, how many.",
    ),
    DOCTOR,
    Command(
        "embed",
        "Make the vectors that are missing; go on where it was broken off.",
        "holdfast embed",
        _no_options,
        _embed,
        "In a pipe: embedded, how many passages, the model.",
    ),
    BACKUP,
    RESTORE,
)
