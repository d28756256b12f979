"""The proxy on the command line: proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser, imports_of, whole
from holdfast.edges.cli.output import print_store_notes
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call


def _proxy_options(parser: Parser) -> None:
    parser.add_argument(
        "--upstream", metavar="URL", help="the endpoint behind it; https://api.openai.com/v1"
    )
    parser.add_argument("--host", default="127.0.0.1", metavar="NAME", help="where (127.0.0.1)")
    parser.add_argument("--port", type=whole, metavar="N", help="the port (7769); 0: a free one")
    parser.add_argument(
        "--key-from",
        metavar="VARIABLE",
        help="hold the endpoint's key, from this environment variable",
    )
    parser.add_argument(
        "--key-file", metavar="FILE", help="the proxy's own key, which clients need"
    )
    parser.add_argument("--make-key", metavar="FILE", help="only make a key, in a new file")
    parser.add_argument(
        "--allow-host", action="append", metavar="NAME", help="a name that clients may call it by"
    )


def _proxy(call: Call, args: Namespace) -> None:
    from holdfast.edges.key_file import make_key

    if args.make_key:
        call.out.line(f"The key is in {make_key(args.make_key)}.")
        return
    with imports_of("The proxy"):
        from holdfast.edges.proxy import serving
        from holdfast.edges.proxy.requests import Upstream
    from holdfast.edges.hooks.memory import open_memory

    given = args.upstream or call.settings["proxy.upstream"]
    if not given:
        raise InvalidInput(
            "The proxy needs an endpoint behind it.",
            hint="Name it: --upstream https://api.openai.com/v1, or set `proxy.upstream`.",
        )
    # Before the store is opened: what is wrong with it is said first.
    upstream = Upstream.parse(given)
    with open_memory(call.home, words_only=False) as memory:
        print_store_notes(memory, "proxy", quiet=args.quiet)
        serving.serve(
            memory,
            upstream=upstream,
            host=args.host,
            port=serving.PORT if args.port is None else args.port,
            hub=args.hub or "",
            key_from=args.key_from,
            local_key_file=args.key_file,
            hosts=args.allow_host or (),
            quiet=args.quiet,
        )


COMMANDS = (
    Command(
        "proxy",
        "Add memory to any OpenAI or Anthropic client: a proxy before its endpoint.",
        "holdfast proxy --upstream https://api.openai.com/v1",
        _proxy_options,
        _proxy,
        "Give a client the address of the proxy as its base URL. Each request gets what is always\n"
        "kept in mind and what is relevant to the last message, and what was said is logged, as\n"
        "with hooks. Answers come back as the endpoint sends them. The client's API key is sent\n"
        "on and not kept; with --key-from the proxy holds it, and clients need the proxy's own.\n"
        "The hub is chosen as for `holdfast mcp`, or by the header X-Hub-ID.",
        server="ignored",
    ),
)
