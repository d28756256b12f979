"""Apps for tests. The framework makes the routes of an app ready when they are first asked for, and
that takes longer than most tests (0.15 s of processor time): here it is done once, and each app of
a process has the same ones. They know nothing of the app: its state comes with each request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Mount, Route

from holdfast.api.memory import Holdfast
from holdfast.edges.http.app import create_app
from holdfast.edges.http.limits import Limits

if TYPE_CHECKING:
    from fastapi import FastAPI

_READY: dict[int, BaseRoute] = {}


def make_app(
    memory: Holdfast | None, *, key_needed: bool = True, limits: Limits | None = None
) -> FastAPI:
    app = create_app(memory, key_needed=key_needed, limits=limits)  # type: ignore[arg-type]
    for place, route in enumerate(app.router.routes):
        # Those that are no part of a router belong to the app: its description, and its agents.
        if not isinstance(route, Route | Mount):
            app.router.routes[place] = _READY.setdefault(place, route)
    return app
