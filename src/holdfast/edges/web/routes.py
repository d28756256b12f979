"""Every page, in the order in which addresses are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.web import (
    agent,
    files,
    find,
    memory,
    organisations,
    pictures,
    sign_in,
    static_files,
    team,
    today,
)

if TYPE_CHECKING:
    from starlette.routing import Route


def routes() -> list[Route]:
    """The routes of the web page, for the app that serves them."""
    out: list[Route] = []
    first = (static_files, sign_in, find, memory, today, agent, pictures, files)
    for module in (*first, team, organisations):
        out += module.routes()
    return out
