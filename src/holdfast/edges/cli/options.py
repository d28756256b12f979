"""Options that several commands share, each described once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import CATEGORIES, KINDS, LAYERS, SOURCES, STABILITIES
from holdfast.edges.cli.command import Namespace, Parser, whole

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

WHEN = "a date, a time, `7d` for that long ago, or words such as `yesterday`"


def add_reference(parser: Parser, *, many: bool = False) -> None:
    help_ = "the memory: its number (12), its id (mem_…) or its key"
    if many:
        parser.add_argument("references", nargs="+", metavar="REF", help=help_)
    else:
        parser.add_argument("reference", metavar="REF", help=help_)


def add_category(parser: Parser) -> None:
    parser.offer("--category", CATEGORIES, metavar="NAME", help="for example preference or fact")


def add_filters(parser: Parser) -> None:
    """Which memories."""
    add_category(parser)
    parser.offer("--kind", KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.offer("--layer", LAYERS, metavar="LAYER", help=", ".join(LAYERS))
    parser.add_argument("--tag", action="append", metavar="TAG", help="has this tag; repeatable")
    parser.add_argument("--session", metavar="NAME", help="of this conversation")
    add_window(parser)
    add_as_of(parser)


def add_more_filters(parser: Parser) -> None:
    """Which memories, for lists."""
    add_filters(parser)
    parser.offer("--stability", STABILITIES, metavar="HOW", help=", ".join(STABILITIES))
    parser.offer("--source", SOURCES, metavar="DOOR", help="came in through this door")
    parser.add_argument("--pinned", action="store_true", default=None, help="only pinned ones")


def add_window(parser: Parser) -> None:
    parser.add_argument("--since", metavar="WHEN", help=f"not before: {WHEN}")
    parser.add_argument("--until", metavar="WHEN", help="not after; a day counts to its end")


def add_as_of(parser: Parser) -> None:
    parser.add_argument("--as-of", metavar="WHEN", help="as things stood then")


def add_limit(parser: Parser, help_: str) -> None:
    parser.add_argument("-n", "--limit", type=whole, metavar="N", help=help_)


def add_yes(parser: Parser) -> None:
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def filters(call: Call, args: Namespace) -> dict[str, Any]:
    """What `add_filters` has read, as the library takes it."""
    return {
        "category": args.category,
        "kind": args.kind,
        "layer": args.layer,
        "tags": args.tag,
        "session": args.session,
        "since": call.when(args.since),
        "until": call.when(args.until, end=True),
        "as_of": call.past(args.as_of),
    }
