"""Servers: `mcp` for one agent, `serve` for REST, MCP and events over HTTP, and `proxy` before a
model's API."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal

from holdfast.agents.dialects import NAMES
from holdfast.edges.cli.command import Command, Namespace, Parser, imports_of, whole
from holdfast.edges.cli.output import print_store_notes
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast
    from holdfast.edges.cli.call import Call


# A server on this machine that takes longer does not answer.
_ANSWER_S = 5.0
_DESCRIPTION_BYTES_MAX = 5_000_000


def _mcp_options(parser: Parser) -> None:
    parser.offer(
        "--dialect",
        NAMES,
        default="holdfast",
        metavar="NAME",
        help="whose tools (holdfast)",
    )
    parser.add_argument("--read-only", action="store_true", help="only tools that change nothing")
    parser.add_argument("--all-tools", action="store_true", help="the rarer tools as well")
    parser.add_argument(
        "--every-hub", action="store_true", help="let tools that take a hub's name reach all hubs"
    )
    parser.add_argument(
        "--hooks",
        action="store_true",
        help="the client has our hooks, which put memory into prompts",
    )
    parser.add_argument("--http", action="store_true", help="listen on HTTP instead of stdio")
    parser.add_argument("--host", default="127.0.0.1", metavar="NAME", help="with --http: where")
    parser.add_argument(
        "--port", type=whole, metavar="N", help="with --http: the port (4653); 0 takes a free one"
    )
    parser.add_argument(
        "--key-file", metavar="FILE", help="with --http: ask for the key that is in this file"
    )
    parser.add_argument("--make-key", metavar="FILE", help="only make a key, in a new file")
    parser.add_argument(
        "--allow-host", action="append", metavar="NAME", help="a name that clients may call it by"
    )
    parser.add_argument(
        "--allow-origin", action="append", metavar="URL", help="a web page that may call it"
    )


def _mcp(call: Call, args: Namespace) -> None:
    with imports_of("The MCP server"):
        from holdfast.edges.mcp import http, stdio
        from holdfast.edges.mcp.server import Options, make_server
    if args.make_key:
        call.out.line(f"The key is in {http.make_key(args.make_key)}.")
        return
    _check_http_options(args)
    from holdfast.api import memory as library

    key = None
    if args.http:
        # Before the store is opened: what is wrong with it is said first.
        key = http.find_key(args.key_file)
        http.require_key(args.host, key)
    # A server that only reads does not archive anything on the side either.
    settings = {"lifecycle.automatic": False} if args.read_only else None
    with library.open(args.home, settings=settings) as memory:
        hub, name, why = _hub_to_serve(memory, args.hub)
        server = make_server(
            hub,
            Options(
                args.dialect,
                args.read_only,
                args.all_tools,
                args.every_hub,
                prompt=_in_prompt(args),
            ),
        )
        print_store_notes(memory, "mcp", quiet=args.quiet)
        if not args.quiet:
            sys.stderr.write(f"holdfast mcp: hub {name} ({why})\n")
            if not args.http and sys.stdin.isatty():
                sys.stderr.write("holdfast mcp: waiting for a client; Ctrl-C ends it\n")
            sys.stderr.flush()
        if not args.http:
            stdio.serve(server)
            return
        http.serve(
            server,
            host=args.host,
            port=http.PORT if args.port is None else args.port,
            key=key,
            hosts=args.allow_host or (),
            origins=args.allow_origin or (),
        )


def _in_prompt(args: Namespace) -> Literal["", "hooks", "block"]:
    """Other dialects have instructions of their own, to the letter."""
    if args.dialect != "holdfast" or args.http:
        return ""
    return "hooks" if args.hooks else "block"


def _hub_to_serve(memory: Holdfast, named: str | None) -> tuple[HubMemory, str, str]:
    """The hub, its name, and why it is that one. It is made by the first call of a tool, not when
    a client merely looks which servers there are."""
    from holdfast.api.project_hub import UnmadeHub
    from holdfast.edges.project import choose, hub_here, own_hub

    chosen = choose(memory, named=named)
    if chosen.hub is not None:
        return chosen.hub, chosen.name, chosen.why
    folder = os.getcwd()

    def make() -> HubMemory:
        return hub_here(memory, named=named, folder=folder)[0]

    own = own_hub(memory)
    unmade = UnmadeHub(memory.core, memory.home, chosen.name, make, own)
    return unmade, chosen.name, chosen.why


def _check_http_options(args: Namespace) -> None:
    given: dict[str, Any] = {
        "--port": args.port,
        "--key-file": args.key_file,
        "--allow-host": args.allow_host,
        "--allow-origin": args.allow_origin,
    }
    for name, value in given.items():
        if value is not None and not args.http:
            raise InvalidInput(f"`{name}` is for HTTP.", hint="Add --http.")


def _serve_options(parser: Parser) -> None:
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


def _serve(call: Call, args: Namespace) -> None:
    with imports_of("The server"):
        from holdfast.edges.http import app
    from holdfast.api import memory as library

    with library.open(args.home) as memory:
        print_store_notes(memory, "serve", quiet=args.quiet)
        app.serve(
            memory,
            host=args.host,
            port=app.PORT if args.port is None else args.port,
            key_needed=args.require_key,
            hosts=args.allow_host or (),
            origins=args.allow_origin or (),
            quiet=args.quiet,
        )


def _ui_options(parser: Parser) -> None:
    parser.add_argument("--port", type=whole, metavar="N", help="the port (4653); 0: a free one")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def _ui(call: Call, args: Namespace) -> None:
    from holdfast.api import memory as library
    from holdfast.edges.http import app

    port = app.PORT if args.port is None else args.port

    def show(url: str, page: str = "/") -> None:
        call.out.line(f"{url}{page}")
        if not args.no_browser:
            import webbrowser

            webbrowser.open(f"{url}{page}")

    running = app.url_of("127.0.0.1", port)
    if port and _is_holdfast(running):
        show(running)
        return
    with library.open(args.home) as memory:
        print_store_notes(memory, "ui", quiet=args.quiet)
        page = _page_of_folder(memory, args.hub)

        def show_own(url: str) -> None:
            show(url, page)
            call.out.note("Ctrl-C ends it.")

        app.serve(memory, port=port, quiet=True, listening_at=show_own)


def _page_of_folder(memory: Holdfast, named: str | None) -> str:
    """The page of the hub that other commands use in this folder."""
    from urllib.parse import quote

    from holdfast.edges.project import choose

    chosen = choose(memory, named=named, folder=os.getcwd())
    return "/" if chosen.hub is None else f"/h/{quote(chosen.name, safe='')}"


def _is_holdfast(url: str) -> bool:
    """Whether a Holdfast server answers there."""
    import json
    import urllib.request

    # No proxy of the environment is asked for an address of this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/openapi.json", timeout=_ANSWER_S) as answer:
            described = json.loads(answer.read(_DESCRIPTION_BYTES_MAX))
    except (OSError, ValueError):
        return False
    return isinstance(described, dict) and described.get("info", {}).get("title") == "Holdfast"


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
    from holdfast.edges.server.listening import make_key

    if args.make_key:
        call.out.line(f"The key is in {make_key(args.make_key)}.")
        return
    with imports_of("The proxy"):
        from holdfast.edges.proxy import serving
        from holdfast.edges.proxy.formats import Upstream
    from holdfast.edges.hooks.cold import open_memory

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
        "mcp",
        "Serve this memory to an agent over MCP.",
        "holdfast mcp --dialect maven --read-only",
        _mcp_options,
        _mcp,
        "A client starts it and speaks to it over stdio; `--http` listens for clients instead.\n"
        "The hub is the one of --hub or HOLDFAST_HUB; else that of the git repository of the\n"
        "working folder, the same for its worktrees and clones, with your own hub beside it; else\n"
        "your own. `holdfast where` says which. It is made when a tool is first used.",
    ),
    Command(
        "serve",
        "Serve this memory over HTTP: a page for people, REST, MCP, events.",
        "holdfast serve --port 4653",
        _serve_options,
        _serve,
        "It listens to this machine alone, and whoever can use this machine's network is you:\n"
        "on a machine with several people, add --require-key. Beyond this machine it asks for a\n"
        "key (`holdfast key create NAME`). Put TLS in front of it with a reverse proxy.",
        server="ignored",
    ),
    Command(
        "ui",
        "Open this memory in a browser: find, mend, undo.",
        "holdfast ui",
        _ui_options,
        _ui,
        "Where a server of Holdfast listens on the port, its page is opened. Otherwise one is\n"
        "started for this memory, on this machine alone, until Ctrl-C ends it.",
        server="ignored",
    ),
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
