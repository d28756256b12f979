"""Answers of many lines, an export for example, sent piece by piece.

Each piece is made in a thread. To make one takes the processor for some milliseconds; while other
callers ask, the stream pauses between two pieces, so that a long answer slows them down little.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Generator, Iterable

from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import State
from starlette.requests import Request

from holdfast.edges.http.client_identity import Client, client_of

# Enough that the trip to a thread is not noticed, and little enough to be held for each stream.
_PIECE_CHARS = 64_000
# While others ask, all streams of a key together work a quarter of the time of one thread: a pause
# has three times the length of what was just worked, for each stream that is open.
_PAUSE_RATIO = 3
_PAUSE_S_MAX = 0.5


def stream_lines(request: Request, lines: Iterable[str]) -> StreamingResponse:
    """The lines, which have no line ends yet, as an answer."""
    return StreamingResponse(_paced(request, in_pieces(lines)), media_type="application/x-ndjson")


def in_pieces(lines: Iterable[str]) -> Generator[str, None, None]:
    """The lines with their ends, joined to pieces of about equal size."""
    piece: list[str] = []
    size = 0
    for line in lines:
        piece.append(line + "\n")
        size += len(line)
        if size >= _PIECE_CHARS:
            yield "".join(piece)
            piece, size = [], 0
    if piece:
        yield "".join(piece)


async def _paced(request: Request, pieces: Generator[str, None, None]) -> AsyncIterator[str]:
    state, client = request.app.state, client_of(request.scope)
    state.line_streams[client.share] += 1
    try:
        while True:
            began = time.perf_counter()
            piece = await run_in_threadpool(next, pieces, None)
            if piece is None:
                return
            worked_s = time.perf_counter() - began
            yield piece
            if state.places.others_ask(client):
                await _pause(min(_PAUSE_S_MAX, worked_s * _PAUSE_RATIO), state, client)
    finally:
        state.line_streams[client.share] -= 1
        state.line_streams += Counter[str]()


async def _pause(seconds: float, state: State, client: Client) -> None:
    await asyncio.sleep(seconds * state.line_streams[client.share])
