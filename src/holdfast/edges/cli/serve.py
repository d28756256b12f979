"""The server: serve. It is loaded only when it is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser, whole
from holdfast.edges.cli.extras import extra
from holdfast.edges.cli.told import tell_notes

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call


def _options(parser: Parser) -> None:
    parser.add_argument("--host", default="127.0.0.1", metavar="NAME", help="where (127.0.0.1)")
    parser.add_argument("--port", type=whole, metavar="N", help="the port (4653); 0: a free one")
    parser.add_argument(
        "--require-key", action="store_true", help="ask for a key on this machine too"
    )
    parser.add_argument(
        "--allow-host", action="append", metavar="NAME", help="a name that clients may call it by"
    )
    parser.add_argument(
        "--allow-origin", action="append", metavar="URL", help="a web page that may call it"
    )


def _run(call: Call, args: Namespace) -> None:
    with extra("server", what="The server"):
        from holdfast.edges.http import serving
    from holdfast.api import memory as library

    with library.open(args.home) as memory:
        tell_notes(memory, "serve", quiet=args.quiet)
        serving.serve(
            memory,
            host=args.host,
            port=serving.PORT if args.port is None else args.port,
            key_needed=args.require_key,
            hosts=args.allow_host or (),
            origins=args.allow_origin or (),
            quiet=args.quiet,
        )


COMMANDS = (
    Command(
        "serve",
        "Serve this memory over HTTP: REST, MCP, events.",
        "holdfast serve --port 4653",
        _options,
        _run,
        "It listens to this machine alone, and whoever can use this machine's network is you:\n"
        "on a machine with several people, add --require-key. Beyond this machine it asks for a\n"
        "key (`holdfast key create NAME`). Put TLS in front of it with a reverse proxy.",
    ),
)
