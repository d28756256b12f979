"""Options that several commands share, lengths of time as people type them (30m, 12h, 7d, 1w2d),
and optional dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import CATEGORIES, KINDS, LAYERS, SOURCES, STABILITIES
from holdfast.edges.cli.command import Namespace, Parser, whole
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PART = re.compile(r"(\d{1,9})([smhdw])")
# Days and longer are windows in the user's time zone; text/dates parses those.
_AGO = re.compile(r"(\d{1,9}|an?)\s+(second|minute|hour)s?\s+ago")


def span(text: str) -> timedelta:
    """A length of time; InvalidInput where it is none."""
    plain = text.strip().lower()
    parts = _PART.findall(plain)
    if not parts or _PART.sub("", plain):
        raise InvalidInput(
            f"{text!r} is not a length of time.", hint="Write it like 30m, 12h, 7d or 2w."
        )
    seconds = sum(int(count) * _SECONDS[unit] for count, unit in parts)
    if not 0 < seconds < 100 * 366 * 86_400:
        raise InvalidInput(
            f"{text!r} is not a length of time between a second and a hundred years.",
            hint="Write it like 30m, 12h, 7d or 2w.",
        )
    return timedelta(seconds=seconds)


def ago(text: str) -> timedelta | None:
    """How long ago `7d` or `10 minutes ago` is; None where the text is something else."""
    plain = text.strip().lower()
    if found := _AGO.fullmatch(plain):
        count = 1 if found[1].startswith("a") else int(found[1])
        return timedelta(seconds=count * _SECONDS[found[2][0]])
    if plain and not _PART.sub("", plain):
        return span(plain)
    return None


@contextmanager
def extra(name: str, *, what: str) -> Iterator[None]:
    """Wraps imports that need an optional extra; InvalidInput says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        # A missing module of Holdfast itself is a bug: installing something would not help.
        if (error.name or "").partition(".")[0] == "holdfast":
            raise
        raise InvalidInput(
            f"{what} needs the Python package {error.name}, which is not installed.",
            hint=f"Install it from a checkout: `pip install '.[{name}]'`.",
        ) from None


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
