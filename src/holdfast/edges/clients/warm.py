"""Ends the warm process of a home, which answers hooks, once no client has hooks left."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from holdfast.edges.clients.clients import CLIENTS
from holdfast.edges.clients.hooks import files_of, has_hooks
from holdfast.edges.clients.jsonc import Malformed
from holdfast.edges.clients.program import Place
from holdfast.errors import InvalidInput, StoreError


def stop_unused(home: str, place: Place, command: Sequence[str]) -> bool:
    """Asks the process to end, which it does within seconds, unless a client has hooks of ours.
    False where none was stopped."""
    from holdfast.edges.hooks import front

    if _is_used(place, command):
        return False
    try:
        return front.ask(home, [front.SHUT_DOWN, "", "", ""], b"") == front.PONG
    except TimeoutError:
        return False


def _is_used(place: Place, command: Sequence[str]) -> bool:
    for client in CLIENTS:
        for file in files_of(client, place, command):
            with suppress(InvalidInput, StoreError, Malformed):
                if has_hooks(file):
                    return True
    return False
