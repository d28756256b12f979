"""The description of the API against the API: requests made up from it, good ones and broken ones,
get no 5xx and only answers that it announces."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import hypothesis
import schemathesis
from schemathesis.python.asgi import ASGIClient, get_client
from schemathesis.specs.openapi.checks import positive_data_acceptance

from holdfast.edges.http.limits import LOOPBACK
from holdfast.engine.people import members
from tests.edges.http.conftest import PATIENT, House

# Built while tests are collected, as the library wants it: each operation becomes a test.
_FOLDER = tempfile.mkdtemp(prefix="holdfast-openapi-")
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
_HOUSE = House(Path(_FOLDER), PATIENT._replace(hosts=(*LOOPBACK, "testserver")))
_KEY = _HOUSE.key()


def _filled() -> None:
    """Something of everything, so that lists are not empty and keys and numbers lead somewhere."""
    hub = _HOUSE.hub
    hub.remember("Ada prefers tabs", key="tabs", tags=["style"], occurred_at="2026-05-27T08:00:00Z")
    hub.update("tabs", title="Tabs")
    hub.forget(hub.remember("Ada prefers spaces").memory.id)
    hub.purge(hub.remember("Nobody prefers tabs").memory.id)
    hub.journal_add("Walked to the harbour")
    hub.log_turn("user", "Where is the harbour?")
    hub.request_decision("Tabs?", ["yes", "no"])
    _HOUSE.member("ben", "viewer")
    members.invite(_HOUSE.memory.core, "hub", hub.id, "viewer")


_filled()
api = schemathesis.openapi.from_asgi("/openapi.json", _HOUSE.app)


@cache
def _session() -> ASGIClient:
    """One for all requests, which does not look for the machine's proxies before each of them."""
    session = get_client(_HOUSE.app)
    session.trust_env = False
    return session.__enter__()


@api.exclude(path="/v1/events").parametrize()
# Edges of what is described are each tried before; these are for what lies between them.
@hypothesis.settings(max_examples=6, deadline=None, derandomize=True)
def test_the_api_is_as_its_description_says(case: schemathesis.Case) -> None:
    headers = {"Authorization": f"Bearer {_KEY}", "X-Hub-ID": _HOUSE.hub.id}
    # What a description cannot say is refused too: a date that does not exist, a cursor that was
    # never given out, an idempotency key that was used.
    case.call_and_validate(
        session=_session(), headers=headers, excluded_checks=[positive_data_acceptance]
    )
