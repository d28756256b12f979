"""Commands that start servers: `mcp` for one agent, `serve` for REST, MCP and events over HTTP,
`ui` for a browser, and `proxy` in front of a model's API."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal

from holdfast.agents.dialects import NAMES
from holdfast.edges.cli.command import Commands, Namespace, imports_of, option, switch, whole
from holdfast.edges.cli.output import print_store_notes
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()


# A server on this machine that takes longer than this is not responding.
_ANSWER_S = 5.0
_DESCRIPTION_BYTES_MAX = 5_000_000


@COMMANDS.add(
    "mcp",
    "holdfast mcp --dialect maven --read-only",
    option(
        "--dialect",
        "NAME",
        "tools of this dialect (holdfast)",
        default="holdfast",
        offers=NAMES,
    ),
    switch("--read-only", "only tools that change nothing"),
    switch("--all-tools", "the rarer tools as well"),
    switch("--every-hub", "let tools that take a hub's name reach all hubs"),
    switch("--hooks", "the client has our hooks, which put memory into prompts"),
    switch("--http", "listen on HTTP instead of stdio"),
    option("--host", "NAME", "with --http: where", default="127.0.0.1"),
    option("--port", "N", "with --http: the port (4653); 0 takes a free one", type=whole),
    option("--key-file", "FILE", "with --http: ask for the key that is in this file"),
    option("--make-key", "FILE", "only make a key, in a new file"),
    option("--allow-host", "NAME", "a name that clients may call it by", action="append"),
    option("--allow-origin", "URL", "a web page that may call it", action="append"),
)
def _mcp(call: Call, args: Namespace) -> None:
    """Serve this memory to an agent over MCP.

    A client starts it and communicates over stdio; `--http` listens for clients instead.
    The hub is the one of --hub or HOLDFAST_HUB; else that of the git repository of the
    working folder, the same for its worktrees and clones, with your own hub beside it; else
    your own. `holdfast where` says which. It is created when a tool is first used."""
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
        # Options are checked before the store is opened.
        key = http.find_key(args.key_file)
        http.require_key(args.host, key)
    # A read-only server does not archive anything in the background either.
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
    """Other dialects have fixed instructions of their own."""
    if args.dialect != "holdfast" or args.http:
        return ""
    return "hooks" if args.hooks else "block"


def _hub_to_serve(memory: Holdfast, named: str | None) -> tuple[HubMemory, str, str]:
    """The hub, its name, and why it was chosen. The first tool call creates it, not a client that
    merely lists its servers."""
    from holdfast.api.lazy_hub import LazyHub
    from holdfast.api.project import choose, hub_here, own_hub

    chosen = choose(memory, named=named)
    if chosen.hub is not None:
        return chosen.hub, chosen.name, chosen.why
    folder = os.getcwd()

    def make() -> HubMemory:
        return hub_here(memory, named=named, folder=folder)[0]

    own = own_hub(memory)
    lazy = LazyHub(memory.core, memory.home, chosen.name, make, own)
    return lazy, chosen.name, chosen.why


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


@COMMANDS.add(
    "serve",
    "holdfast serve --port 4653",
    option("--host", "NAME", "where (127.0.0.1)", default="127.0.0.1"),
    option("--port", "N", "the port (4653); 0: a free one", type=whole),
    switch("--require-key", "ask for a key on this machine too"),
    option("--allow-host", "NAME", "a name that clients may call it by", action="append"),
    option("--allow-origin", "URL", "a web page that may call it", action="append"),
    server="ignored",
)
def _serve(call: Call, args: Namespace) -> None:
    """Serve this memory over HTTP: a web page, REST, MCP, events.

    By default it listens on this machine only and does not ask for a key, so anyone on this
    machine has access: if it has several users, add --require-key. On another address it
    asks for a key (`holdfast key create NAME`). Put TLS in front of it with a reverse proxy."""
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


@COMMANDS.add(
    "ui",
    "holdfast ui",
    option("--port", "N", "the port (4653); 0: a free one", type=whole),
    switch("--no-browser", "only print the address"),
    server="ignored",
)
def _ui(call: Call, args: Namespace) -> None:
    """Open this memory in a browser: search, edit, undo.

    If a server of this memory listens on the port, its page is opened. Otherwise one is
    started, on this machine only, until Ctrl-C ends it; on another port if a server of
    another memory has this one. The address that is opened admits one browser, once, and
    it stays signed in; other accounts of this machine are refused. Run it again for
    another browser."""
    from holdfast.api import memory as library
    from holdfast.edges.http import app
    from holdfast.edges.web.ui_access import UiAccess, address_with_ticket

    port = app.PORT if args.port is None else args.port

    def show(url: str, page: str) -> None:
        address = address_with_ticket(call.home, f"{url}{page}")
        call.out.line(address)
        # The server runs on, and a program that reads the address waits for it.
        call.out.stdout.flush()
        if not args.no_browser:
            import webbrowser

            webbrowser.open(address)

    running = app.url_of("127.0.0.1", port)
    with library.open(args.home) as memory:
        page = _page_of_folder(memory, args.hub)
        access = UiAccess.begin(call.home)
        if port and serves_home(call.home, running):
            show(running, page)
            return
        if args.port is None and _is_holdfast(running):
            call.out.note(
                f"Port {port} has a server of another memory; this one takes a free port."
            )
            port = 0
        print_store_notes(memory, "ui", quiet=args.quiet)

        def show_own(url: str) -> None:
            show(url, page)
            call.out.note("Ctrl-C ends it.")

        app.serve(
            memory,
            port=port,
            quiet=True,
            request_log=False,
            listening_at=show_own,
            access=access,
        )


def _page_of_folder(memory: Holdfast, named: str | None) -> str:
    """The path of the page of the hub that other commands use in this folder."""
    from urllib.parse import quote

    from holdfast.api.project import choose

    chosen = choose(memory, named=named, folder=os.getcwd())
    return "/" if chosen.hub is None else f"/h/{quote(chosen.name, safe='')}"


def serves_home(home: str, url: str) -> bool:
    """Whether a Holdfast server of this home answers at this address."""
    import hmac
    import secrets
    from urllib.parse import urlsplit

    from holdfast.edges.web.ui_access import proof_of_home

    asked = secrets.token_urlsafe(16)
    shown = _answered(f"{url}/healthz?of={asked}").get("data")
    proof = shown.get("home") if isinstance(shown, dict) else None
    right = proof_of_home(home, urlsplit(url).port or 0, asked)
    if not right or not isinstance(proof, str):
        return False
    return hmac.compare_digest(proof.encode(), right.encode())


def _is_holdfast(url: str) -> bool:
    """Whether any Holdfast server answers at this address."""
    about = _answered(f"{url}/openapi.json").get("info")
    return isinstance(about, dict) and about.get("title") == "Holdfast"


def _answered(url: str) -> dict[str, Any]:
    """The JSON object at an address of this machine; empty if there is none."""
    import json
    import urllib.request
    from http.client import HTTPException

    # Ignores the environment's proxies, as the address is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_ANSWER_S) as answer:
            found = json.loads(answer.read(_DESCRIPTION_BYTES_MAX))
    except (OSError, ValueError, HTTPException, RecursionError):
        # Any program may listen there, also one that does not speak HTTP.
        return {}
    return found if isinstance(found, dict) else {}


@COMMANDS.add(
    "proxy",
    "holdfast proxy --upstream https://api.openai.com/v1",
    option("--upstream", "URL", "the endpoint behind it; https://api.openai.com/v1"),
    option("--host", "NAME", "where (127.0.0.1)", default="127.0.0.1"),
    option("--port", "N", "the port (7769); 0: a free one", type=whole),
    option("--key-from", "VARIABLE", "hold the endpoint's key, from this environment variable"),
    option("--key-file", "FILE", "the proxy's own key, which clients need"),
    option("--make-key", "FILE", "only make a key, in a new file"),
    option("--allow-host", "NAME", "a name that clients may call it by", action="append"),
    server="ignored",
)
def _proxy(call: Call, args: Namespace) -> None:
    """Add memory to any OpenAI or Anthropic client: a proxy in front of its endpoint.

    Give a client the address of the proxy as its base URL. Each request gets the standing
    facts and what is relevant to the last message, and the conversation is logged, as
    with hooks. Answers come back as the endpoint sends them. The client's API key is
    forwarded and not stored; with --key-from the proxy holds the key, and clients need the
    proxy's own. The hub is chosen as for `holdfast mcp`, or by the header X-Hub-ID."""
    from holdfast.edges.server.listening import make_key

    if args.make_key:
        call.out.line(f"The key is in {make_key(args.make_key)}.")
        return
    with imports_of("The proxy"):
        from holdfast.edges import proxy
        from holdfast.edges.proxy.formats import Upstream
    from holdfast.edges.hooks.cold import open_memory

    given = args.upstream or call.settings["proxy.upstream"]
    if not given:
        raise InvalidInput(
            "The proxy needs an endpoint behind it.",
            hint="Name it: --upstream https://api.openai.com/v1, or set `proxy.upstream`.",
        )
    # Options are checked before the store is opened.
    upstream = Upstream.parse(given)
    with open_memory(call.home, words_only=False) as memory:
        print_store_notes(memory, "proxy", quiet=args.quiet)
        proxy.serve(
            memory,
            upstream=upstream,
            host=args.host,
            port=proxy.PORT if args.port is None else args.port,
            hub=args.hub or "",
            key_from=args.key_from,
            local_key_file=args.key_file,
            hosts=args.allow_host or (),
            quiet=args.quiet,
        )
