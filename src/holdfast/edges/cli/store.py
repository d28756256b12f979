"""Making a database ready to be the store, and keeping its schema up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.wiring.databases import Prepared


def _options(parser: Parser) -> None:
    parser.add_argument("--url", metavar="URL", help="which database; else store.url")
    parser.add_argument(
        "--partitions", type=int, metavar="N", help="how many parts a large table has (16)"
    )
    parser.add_argument("--citus", action="store_true", help="spread the tables over Citus nodes")
    parser.add_argument(
        "--role", default="", metavar="NAME", help="let this role of the server use the store"
    )


def _init(call: Call, args: Namespace) -> None:
    from holdfast.wiring import store_url
    from holdfast.wiring.databases import init_store

    prepared = init_store(
        args.url or store_url(call.home, call.settings),
        partitions=args.partitions,
        citus=args.citus,
        role=args.role,
        told=call.out.note,
    )
    _told(call, prepared)


def _told(call: Call, prepared: Prepared) -> None:
    offered = prepared.offered
    if call.out.json:
        call.out.value(
            {
                "result": "ready",
                "store": prepared.address,
                "schema": offered.version,
                "partitions": offered.partitions,
                "citus": offered.citus,
                "pgvector": bool(offered.vector_schema),
                "notes": list(prepared.notes),
            }
        )
        return
    parts = "spread by Citus" if offered.citus else f"in {offered.partitions} parts"
    call.out.line(f"{prepared.address} is ready: schema {offered.version}, tables {parts}.")
    for note in prepared.notes:
        call.out.note(note)


def _migrate_options(parser: Parser) -> None:
    parser.add_argument("--url", metavar="URL", help="which database; else store.url")


def _migrate(call: Call, args: Namespace) -> None:
    from holdfast.wiring import store_url
    from holdfast.wiring.databases import migrate_store

    url = args.url or store_url(call.home, call.settings)
    _told(call, migrate_store(url, told=call.out.note))


def _index_options(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", default="", metavar="HUB", help="this hub alone")
    parser.add_argument("--url", metavar="URL", help="which database; else store.url")
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        default="",
        help="what the server may take for it, as 2GB; else what it is set to",
    )
    parser.add_argument("--drop", action="store_true", help="take the index away instead")


def _index(call: Call, args: Namespace) -> None:
    from holdfast.wiring import store_url
    from holdfast.wiring.databases import drop_store_index, index_store

    url = args.url or store_url(call.home, call.settings)
    if args.drop and args.memory:
        raise InvalidInput("--memory is for building an index, and --drop takes it away.")
    if args.drop:
        made = list(drop_store_index(url, hub=args.name))
        none = "There is no index to take away."
    else:
        made = list(index_store(url, hub=args.name, memory=args.memory))
        none = "No hub is large enough, or all that are have their index."
    if call.out.json:
        call.out.value([one._asdict() for one in made])
        return
    if not made:
        call.out.note(none)
        return
    rows = [(one.hub, one.model, str(one.vectors)) for one in made]
    call.out.table(("hub", "model", "vectors"), rows)
    if args.drop:
        call.out.note(
            "Recall compares all vectors of these hubs until `holdfast store index` builds it anew."
        )


COMMANDS = (
    Command(
        "store init",
        "Make a PostgreSQL database ready to be the store.",
        "holdfast store init --url postgresql://admin@db.example/holdfast --role app",
        _options,
        _init,
        "Run it once, as an owner of the database, where the programs that use the store may not\n"
        "make tables. Running it again is harmless, and brings an older schema up to date as\n"
        "`store migrate` does. Name the server itself, not a pooler. It has to be\n"
        "PostgreSQL 14 or newer.",
    ),
    Command(
        "store migrate",
        "Bring the schema of a PostgreSQL database up to date while it is used.",
        "holdfast store migrate --url postgresql://owner@db.example/holdfast",
        _migrate_options,
        _migrate,
        "As the owner of the schema, with the newer Holdfast, before the programs are upgraded.\n"
        "Readers and writers go on: what needs a table for itself waits a moment at most, and\n"
        "indexes are built beside them. It goes on where an earlier run stopped; one process does\n"
        "it, others wait for that one.",
    ),
    Command(
        "store index",
        "Let the PostgreSQL server search the vectors of large hubs by itself.",
        "holdfast store index --url postgresql://owner@db.example/holdfast",
        _index_options,
        _index,
        "For hubs of 20,000 vectors and more, with pgvector 0.8 or newer, as the owner of the\n"
        "schema. Readers and writers go on meanwhile; from then on writers keep the index, which\n"
        "costs 4 to 8 ms a memory. Before many are added, take it away with --drop: recall then\n"
        "compares all vectors, as in small hubs, until it is built again. Either goes on where it\n"
        "was broken off. In a pipe, a line per hub: hub, model, vectors.",
    ),
)
