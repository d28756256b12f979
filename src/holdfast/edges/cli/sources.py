"""Memories beside the hub's own: sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli import options
from holdfast.edges.cli.command import Command, Namespace, Parser

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

# A person waits for the first look at a folder; an agent's answer does not.
_BUDGET_MS = 30_000


def _options(parser: Parser) -> None:
    parser.add_argument(
        "query", nargs="?", metavar="QUERY", help="what to ask them; without it, list them"
    )
    options.add_limit(parser, "how many excerpts at most (5)")


def _sources(call: Call, args: Namespace) -> None:
    if args.query is None:
        _list(call)
    else:
        _ask(call, args.query, 5 if args.limit is None else args.limit)


def _list(call: Call) -> None:
    from holdfast.sources.configured import described

    found = described(call.hub)
    if call.out.json:
        call.out.value({"sources": [one._asdict() for one in found]})
        return
    rows = [(one.name, one.kind, one.where, one.problem or one.state) for one in found]
    if rows:
        call.out.table(("name", "kind", "where", "what is in it"), rows)
    else:
        call.out.note(
            "There are no sources. To name one: `holdfast config set sources.read notes=~/notes`."
        )


def _ask(call: Call, query: str, limit: int) -> None:
    from holdfast import sources

    answers = sources.ask(call.hub, query, limit=limit, budget_ms=_BUDGET_MS)
    if call.out.json:
        call.out.value(answers.plain())
        return
    rows = [(one.source, one.where, one.text) for one in answers.excerpts]
    if rows:
        call.out.table(("source", "where", "text"), rows)
    else:
        call.out.note("No source has anything on that.")
    for note in answers.notes:
        call.out.note(note)


COMMANDS = (
    Command(
        "sources",
        "List the read-only memories beside the hub's own, or ask them.",
        'holdfast sources "where do we deploy?"',
        _options,
        _sources,
        "The setting sources.read names them. What they say is shown and never stored.\n"
        "In a pipe, a line per source: name, kind, where, what is in it or what is wrong with it;\n"
        "with QUERY a line per excerpt: source, where, text.",
    ),
)
