"""Care of a hub: the lifecycle, statistics, missing embeddings, and the use of language models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.clock import to_text
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.doctor import embedding_model
from holdfast.edges.cli.output import counted, plain_memory
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.domain.results import UsageRow
    from holdfast.edges.cli.call import Call


def _no_options(parser: Parser) -> None:
    """None of its own."""


def _lifecycle_options(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only say what would move and why")


def _lifecycle(call: Call, args: Namespace) -> None:
    # The automatic run after a command would apply what a dry run has only listed.
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


# Statistics that are times, and their labels.
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
    embedder = call.local.core.embedder
    if embedder is None:
        raise EmbedderError("There is no embedding model.", hint=embedding_model(call)["note"])
    with call.out.progress("embed") as step:
        made = call.local.embed_missing(step)
    if call.out.json:
        call.out.value({"model": embedder.identity, "passages": made})
    elif call.out.terminal:
        call.out.line(
            f"Made the vectors of {counted(made, 'passage')} with {embedder.identity}.", "green"
        )
    else:
        call.out.row("embedded", str(made), embedder.identity)


_DAYS = 30
_HEADINGS = ("hub", "day", "pass", "model", "requests", "failed", "tokens in", "tokens out")


def _usage_options(parser: Parser) -> None:
    parser.add_argument(
        "--days", type=int, default=_DAYS, metavar="N", help=f"of the last N days ({_DAYS})"
    )
    parser.add_argument("--all", action="store_true", help="of every hub, not only the one in use")


def _usage(call: Call, args: Namespace) -> None:
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()] if args.all else [call.hub]
    found = [(hub.name, row) for hub in hubs for row in hub.usage(days=args.days)]
    found.sort(key=lambda one: one[1].day, reverse=True)
    if call.out.json:
        call.out.value(
            [{"hub": name, **row._asdict(), "day": row.day.isoformat()} for name, row in found]
        )
        return
    if not found:
        call.out.note("No language model was asked in that time.")
        return
    rows = [_usage_fields(name, row) for name, row in found]
    call.out.table(_HEADINGS, rows)
    total = sum(row.tokens_in + row.tokens_out for _, row in found)
    call.out.note(f"{total:,} tokens in all. Days are those of UTC.")


def _usage_fields(hub: str, row: UsageRow) -> tuple[str, ...]:
    counts = (row.requests, row.failed, row.tokens_in, row.tokens_out)
    return (hub, row.day.isoformat(), row.work, row.model, *map(str, counts))


COMMANDS = (
    Command(
        "lifecycle",
        "Cool and archive what is due by the rules.",
        "holdfast lifecycle --dry-run",
        _lifecycle_options,
        _lifecycle,
        "In a pipe, a line per memory: number, its new state, why, title.",
        server="works",
    ),
    Command(
        "stats",
        "Count what is in the hub.",
        "holdfast stats",
        _no_options,
        _stats,
        "In a pipe, a line per count: what, how many.",
        server="works",
    ),
    Command(
        "embed",
        "Make the vectors that are missing; go on where it was broken off.",
        "holdfast embed",
        _no_options,
        _embed,
        "In a pipe: embedded, how many passages, the model.",
    ),
    Command(
        "usage",
        "What language models cost, by day, pass and model.",
        "holdfast usage --days 7",
        _usage_options,
        _usage,
        "Requests and tokens, as the model's server counted them; where it counts nothing, a\n"
        "guess. `llm.tokens_per_day` sets a limit for a day. In a pipe, a line each: hub, day,\n"
        "pass, model, requests, failed, tokens in, tokens out.",
        server="works",
    ),
)
