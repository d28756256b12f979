"""`holdfast bench`: how good recall is, on files of questions whose answers are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser, whole
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call


def _configure_recall(parser: Parser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="test stores, one a line as JSON (the sample)"
    )
    parser.add_argument(
        "--baselines", action="store_true", help="measure simple systems next to it"
    )
    parser.add_argument(
        "--limit-stores", type=whole, metavar="N", help="only the first N stores of each file"
    )
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors there between runs")


def _bench_recall(call: Call, args: Namespace) -> None:
    from holdfast.embed.find import find_embedder
    from holdfast.evaluation.report import as_text, bench_recall

    if args.limit_stores is not None and args.limit_stores < 1:
        raise InvalidInput("--limit-stores must be at least 1.")
    settings = call.settings
    embedder = find_embedder(
        settings["embed.model"],
        key_variable=settings["embed.key_variable"],
        timeout_s=settings["embed.timeout_s"],
        threads=settings["embed.threads"],
    )
    with call.out.progress("asking") as step:
        measured = bench_recall(
            args.files,
            embedder,
            baselines=args.baselines,
            limit_stores=args.limit_stores,
            cache=args.cache,
            progress=lambda _, done, total: step(done, total),
        )
    if call.out.json:
        call.out.value(measured)
    else:
        call.out.line(as_text(measured))


COMMANDS = (
    Command(
        "bench recall",
        "Measure how well recall finds known answers.",
        "holdfast bench recall --baselines",
        _configure_recall,
        _bench_recall,
        more=(
            "Puts each store's documents into a hub of its own in a folder that is removed\n"
            "afterwards, asks its questions, and prints the share of the right documents among\n"
            "the first 1, 5, 10 and 20, in per cent. Your own memories are not touched. Without\n"
            "a FILE the small sample that comes with Holdfast is asked."
        ),
        server="ignored",
    ),
)
