"""The proxy: it forwards requests of the OpenAI and Anthropic APIs to the endpoint behind it, adds
what is remembered to their prompts, and logs what was said. Memory fails open: a request is
forwarded as it came where memory cannot be asked, and `holdfast doctor` shows why."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.edges.proxy.app import Options, create_app
from holdfast.edges.proxy.formats import KEY_HEADER, Upstream
from holdfast.edges.proxy.memory import ProxyMemory
from holdfast.edges.server import listening
from holdfast.edges.server.connections import ConnectionLimits
from holdfast.edges.server.worker import Worker
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast

PORT = 7769  # PROX on the keys of a telephone
KEY_VARIABLE = "HOLDFAST_PROXY_KEY"
KEY_FILE = "proxy.key"
_MAKE_KEY = "holdfast proxy --make-key"
# When the proxy stops, answers in progress may take this long.
_STOP_S = 10
# Longer than clients keep a connection: none is closed while a client is about to use it.
_IDLE_S = 75.0


def upstream_key(variable: str | None) -> str:
    """The endpoint's key, from the environment variable of the setting."""
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise InvalidInput(
            f"The environment variable {variable} holds no key.",
            hint=f"Set it, or leave --key-from {variable} out: then clients send their own key.",
        )
    return key


def local_key(home: str, file: str | None, *, needed: bool) -> tuple[str, str]:
    """The key for clients of the proxy and where it is; both empty if none is asked for. Where
    one is needed and none is named, it is in the home, made the first time."""
    found = listening.find_key(file, variable=KEY_VARIABLE, command=_MAKE_KEY)
    if found is not None:
        return found, file or f"the environment variable {KEY_VARIABLE}"
    if not needed:
        return "", ""
    path = os.path.join(home, KEY_FILE)
    if not os.path.exists(path):
        listening.make_key(path)
    return listening.find_key(path, variable=KEY_VARIABLE, command=_MAKE_KEY) or "", path


def serve(
    memory: Holdfast,
    *,
    upstream: Upstream,
    host: str = "127.0.0.1",
    port: int = PORT,
    hub: str = "",
    key_from: str | None = None,
    local_key_file: str | None = None,
    hosts: Sequence[str] = (),
    quiet: bool = False,
) -> None:
    """Serves until SIGTERM or SIGINT. Other machines are served only with a key for the proxy."""
    here = listening.is_loopback(host)
    endpoint_key = upstream_key(key_from)
    # Without a key, others could use up the endpoint's key or read this memory.
    needed = bool(endpoint_key) or not here
    own_key, key_place = local_key(memory.home, local_key_file, needed=needed)
    socket_ = listening.listen(host, port)
    names = [*map(listening.bracketed, listening.LOOPBACK), listening.bracketed(host), *hosts]
    if not here:
        names.append(socket.gethostname())
    settings = memory.core.settings
    options = Options(
        upstream,
        endpoint_key,
        own_key,
        tuple(dict.fromkeys(names)),
        body_bytes_max=settings["proxy.body_bytes_max"],
        body_s=settings["server.body_seconds"],
        memory_s=settings["proxy.memory_seconds"],
        answer_s=settings["proxy.answer_seconds"],
    )
    proxied = ProxyMemory(memory, hub, os.getcwd())
    app = create_app(proxied, options)
    if not quiet:
        url = f"http://{listening.bracketed(host)}:{socket_.getsockname()[1]}"
        _print_start(url, options, key_place)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    threading.Thread(target=proxied.load_model, daemon=True).start()
    with Worker(memory):
        listening.run(
            app,
            socket_,
            stop_s=_STOP_S,
            limits=ConnectionLimits(
                total=settings["server.connections_max"],
                per_address=settings["server.connections_per_address"],
                header_s=settings["server.header_seconds"],
                idle_s=_IDLE_S,
            ),
        )


def _print_start(url: str, options: Options, key_place: str) -> None:
    lines = [
        f"holdfast proxy: listening on {url}, for {options.upstream.url}",
        f"  OpenAI clients: base URL {url}/v1",
        f"  Anthropic clients: base URL {url}",
    ]
    if options.upstream_key:
        lines.append(f"  their API key: the one in {key_place}")
    elif options.local_key:
        lines.append(f"  their API key is sent on; `{KEY_HEADER}`: the key in {key_place}")
    else:
        lines.append("  their API key is sent on")
    if options.upstream.url.startswith("http:") and not options.upstream.is_local:
        lines.append("  Warning: keys and conversations go to the endpoint without encryption.")
    sys.stderr.write("\n".join([*lines, "Ctrl-C ends it.", ""]))
    sys.stderr.flush()
