"""The app: routes, shapes of errors, and what a request must bring. Whoever serves it opens the
memory and closes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI

import holdfast
from holdfast.edges.http import answers, hubs, keys, memories, recall

if TYPE_CHECKING:
    from holdfast.library import Holdfast


def create_app(memory: Holdfast, *, key_needed: bool = True) -> FastAPI:
    """The REST API over an open memory. Without `key_needed`, who brings no key is the one whose
    machine this is: only for a server that listens to this machine alone."""
    app = FastAPI(title="Holdfast", version=holdfast.__version__, docs_url="/docs", redoc_url=None)
    app.state.memory = memory
    app.state.key_needed = key_needed
    answers.install(app)
    for router in (memories.router, recall.router, hubs.router, hubs.joining, keys.router):
        app.include_router(router, prefix="/v1")
    return app
