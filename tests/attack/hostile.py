"""The attacks, each a process of its own:
`python -m tests.attack.hostile NAME PORT KEY HUB SECONDS`. It prints `begun` when the attack is
under way, and a line of counts when it is over. Every loop is bounded in time and in number, and
connects to 127.0.0.1 alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import NamedTuple

HOST = "127.0.0.1"
# What one attack sends in all, at most.
REQUESTS_MAX = 50_000
CONNECTIONS_MAX = 10_000


class Target(NamedTuple):
    port: int
    key: str
    hub: str
    ends: float

    def over(self) -> bool:
        return time.monotonic() >= self.ends


Attack = Callable[[Target, Counter[str]], Awaitable[None]]


def head(method: str, path: str, target: Target, key: str, length: int | None = None) -> bytes:
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: localhost",
        f"X-Hub-ID: {target.hub}",
        "Accept: application/json, text/event-stream",
        "Content-Type: application/json",
    ]
    if key:
        lines.append(f"Authorization: Bearer {key}")
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def connected(
    target: Target, counts: Counter[str]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    if target.over() or counts["connections"] >= CONNECTIONS_MAX:
        return None
    counts["connections"] += 1
    try:
        async with asyncio.timeout(5):
            return await asyncio.open_connection(HOST, target.port)
    except (OSError, TimeoutError):
        counts["refused"] += 1
        await asyncio.sleep(0.05)
        return None


async def held(
    target: Target, counts: Counter[str], first: bytes, more: bytes, every_s: float
) -> None:
    """Keeps a connection that is never finished; when it is closed, opens the next."""
    while not target.over() and counts["connections"] < CONNECTIONS_MAX:
        line = await connected(target, counts)
        if line is None:
            continue
        reader, writer = line
        try:
            writer.write(first)
            await writer.drain()
            counts["standing"] += 1
            while not target.over():
                try:
                    async with asyncio.timeout(
                        min(every_s, max(0.01, target.ends - time.monotonic()))
                    ):
                        if not await reader.read(65_536):
                            break
                except TimeoutError:
                    writer.write(more)
                    await writer.drain()
        except OSError:
            pass
        finally:
            counts["standing"] -= 1
            counts["closed"] += 1
            writer.close()
        # A client that comes back at once would burn the processor it shares with the server.
        await asyncio.sleep(0.2)


def holding(
    number: int, first: Callable[[Target], bytes], more: bytes, every_s: float = 0.5
) -> Attack:
    async def attack(target: Target, counts: Counter[str]) -> None:
        await asyncio.gather(
            *(held(target, counts, first(target), more, every_s) for _ in range(number))
        )

    return attack


def flooding(
    clients: int, request: Callable[[Target, int], bytes], *, anew: bool = False
) -> Attack:
    """Clients that send as fast as they are answered."""

    async def client(target: Target, counts: Counter[str]) -> None:
        while not target.over() and counts["requests"] < REQUESTS_MAX:
            line = await connected(target, counts)
            if line is None:
                continue
            reader, writer = line
            try:
                while not target.over() and counts["requests"] < REQUESTS_MAX:
                    counts["requests"] += 1
                    writer.write(request(target, counts["requests"]))
                    async with asyncio.timeout(10):
                        counts[await answered(reader)] += 1
                    if anew:
                        break
            except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
                counts["broken"] += 1
            finally:
                writer.close()

    async def attack(target: Target, counts: Counter[str]) -> None:
        await asyncio.gather(*(client(target, counts) for _ in range(clients)))

    return attack


async def answered(reader: asyncio.StreamReader) -> str:
    """Reads one answer whole; returns its status."""
    head_bytes = await reader.readuntil(b"\r\n\r\n")
    lines = head_bytes.decode("latin-1").split("\r\n")
    fields = {
        name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines[1:])
    }
    if "content-length" in fields:
        await reader.readexactly(int(fields["content-length"]))
    elif fields.get("transfer-encoding") == "chunked":
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    return lines[0].split()[1]


HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "hostile", "version": "1"},
        },
    }
).encode()
RECALL = json.dumps({"query": "Which harbour is closed on Mondays?"}).encode()


async def streams(target: Target, counts: Counter[str]) -> None:
    """Sessions of one key, each with a stream that stays open."""

    async def one() -> None:
        line = await connected(target, counts)
        if line is None:
            return
        reader, writer = line
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            writer.write(head("POST", "/mcp", target, target.key, len(HELLO)) + HELLO)
            async with asyncio.timeout(10):
                begun = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            session = next(
                (
                    line.partition(":")[2].strip()
                    for line in begun.split("\r\n")
                    if line.lower().startswith("mcp-session-id:")
                ),
                None,
            )
            if session is None:
                counts[f"not begun: {begun.split()[1]}"] += 1
                writer.close()
                return
            await held(
                target,
                counts,
                head("GET", "/mcp", target, target.key).replace(
                    b"\r\n\r\n", f"\r\nmcp-session-id: {session}\r\n\r\n".encode()
                ),
                b"",
                0.5,
            )
        writer.close()

    # A few at a time: the handshakes are not the attack.
    for _ in range(30):
        await asyncio.gather(*(one_later(one) for _ in range(5)))
    while not target.over():
        await asyncio.sleep(0.1)
    for task in _BACKGROUND:
        task.cancel()


_BACKGROUND: list[asyncio.Task[None]] = []


async def one_later(work: Callable[[], Awaitable[None]]) -> None:
    """Starts it, and goes on when it stands."""
    _BACKGROUND.append(asyncio.ensure_future(work()))  # type: ignore[arg-type]
    await asyncio.sleep(0.05)


async def unread(target: Target, counts: Counter[str]) -> None:
    """Asks for large answers and reads none of them."""

    async def one() -> None:
        while not target.over() and counts["connections"] < 2_000:
            line = await connected(target, counts)
            if line is None:
                continue
            reader, writer = line
            reader._transport.pause_reading()  # type: ignore[attr-defined]
            for _ in range(20):
                writer.write(head("GET", "/v1/export", target, target.key))
            await asyncio.sleep(max(0.1, min(3.0, target.ends - time.monotonic())))
            writer.close()

    await asyncio.gather(*(one() for _ in range(40)))


ATTACKS: dict[str, Attack] = {
    "half-sent heads, 1,100 connections": holding(
        1_100, lambda target: b"GET /v1/hub HTTP/1.1\r\nHost: localhost\r\n", b"", 60.0
    ),
    "slow heads, a line each half second": holding(
        300, lambda target: b"GET /v1/hub HTTP/1.1\r\nHost: localhost\r\n", b"X-A: b\r\n"
    ),
    "slow bodies without a key": holding(
        200, lambda target: head("POST", "/v1/memories", target, "", 100_000) + b"{", b" "
    ),
    "slow bodies with a key": holding(
        200, lambda target: head("POST", "/v1/memories", target, target.key, 100_000) + b"{", b" "
    ),
    # Before those that use up the sessions which one key may start at once.
    "150 MCP streams of one key": streams,
    "unfinished MCP bodies with a key": holding(
        200, lambda target: head("POST", "/mcp", target, target.key, 100_000) + b"{", b" "
    ),
    "flood without a key": flooding(
        32, lambda target, _: head("POST", "/v1/recall", target, "", len(RECALL)) + RECALL
    ),
    "flood with made-up keys": flooding(
        32, lambda target, number: head("GET", "/v1/hub", target, f"hf_{number:043d}")
    ),
    "flood of recalls with a key": flooding(
        32, lambda target, _: head("POST", "/v1/recall", target, target.key, len(RECALL)) + RECALL
    ),
    "flood of MCP initialize with a key": flooding(
        32, lambda target, _: head("POST", "/mcp", target, target.key, len(HELLO)) + HELLO
    ),
    "flood of connections": flooding(
        16, lambda target, _: head("GET", "/healthz", target, ""), anew=True
    ),
    "answers that nobody reads": unread,
}


async def run(name: str, target: Target) -> Counter[str]:
    counts = Counter[str]()
    attack = asyncio.ensure_future(ATTACKS[name](target, counts))  # type: ignore[arg-type]
    await asyncio.sleep(0.5)
    print("begun", flush=True)
    with contextlib.suppress(TimeoutError):
        # What does not end by itself is cut off.
        async with asyncio.timeout(max(0.1, target.ends - time.monotonic() + 2)):
            await attack
    return counts


def main() -> None:
    name, port, key, hub, seconds = sys.argv[1:]
    # An attacker elsewhere would not take the processor of the server.
    os.nice(10)
    target = Target(int(port), key, hub, time.monotonic() + float(seconds))
    counts = asyncio.run(run(name, target))
    print(json.dumps({name: count for name, count in counts.items() if count > 0}), flush=True)


if __name__ == "__main__":
    main()
