"""What language models cost: a table by day, pass and model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser

if TYPE_CHECKING:
    from holdfast.domain.results import UsageRow
    from holdfast.edges.cli.call import Call

_DAYS = 30
_HEADINGS = ("hub", "day", "pass", "model", "requests", "failed", "tokens in", "tokens out")


def _options(parser: Parser) -> None:
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
    rows = [_fields(name, row) for name, row in found]
    call.out.table(_HEADINGS, rows)
    total = sum(row.tokens_in + row.tokens_out for _, row in found)
    call.out.note(f"{total:,} tokens in all. Days are those of UTC.")


def _fields(hub: str, row: UsageRow) -> tuple[str, ...]:
    counts = (row.requests, row.failed, row.tokens_in, row.tokens_out)
    return (hub, row.day.isoformat(), row.work, row.model, *map(str, counts))


COMMANDS = (
    Command(
        "usage",
        "What language models cost, by day, pass and model.",
        "holdfast usage --days 7",
        _options,
        _usage,
        "Requests and tokens, as the model's server counted them; where it counts nothing, a\n"
        "guess. `llm.tokens_per_day` sets a limit for a day. In a pipe, a line each: hub, day,\n"
        "pass, model, requests, failed, tokens in, tokens out.",
    ),
)
