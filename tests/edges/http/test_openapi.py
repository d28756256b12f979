"""The description of the API against the API: requests made up from it, good ones and broken ones,
get no 5xx and only answers that it announces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import load_all_checks
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source
from schemathesis.python.asgi import ASGIClient, get_client
from schemathesis.specs.openapi.checks import positive_data_acceptance

from holdfast.edges.http.limits import LOOPBACK
from holdfast.engine.people import members
from tests.edges.http.conftest import PATIENT, House
from tests.edges.http.permissions import ORG_ROUTES, OWN_ROUTES, ROUTES, TEAM_ROUTES

_UNTRIED = {"GET /v1/events"}  # a stream that does not end
_UNDESCRIBED = {"GET /metrics"}
# A name has a third word where a route has two lines in the table of permissions.
_ROUTES = {
    " ".join(name.split()[:2]) for name in chain(ROUTES, TEAM_ROUTES, ORG_ROUTES, OWN_ROUTES)
}
_NAMES = sorted(_ROUTES - _UNTRIED - _UNDESCRIBED)
# Edges of what is described are each tried before; these are for what lies between them.
_SETTINGS = hypothesis.settings(max_examples=6, deadline=None, derandomize=True)


@pytest.fixture(scope="module")
def filled(homes: str, tmp_path_factory: pytest.TempPathFactory) -> House:
    """Something of everything, so that lists are not empty and keys and numbers lead somewhere."""
    house = House(
        tmp_path_factory.mktemp("openapi"), PATIENT._replace(hosts=(*LOOPBACK, "testserver"))
    )
    hub = house.hub
    hub.remember("Ada prefers tabs", key="tabs", tags=["style"], occurred_at="2026-05-27T08:00:00Z")
    hub.update("tabs", title="Tabs")
    hub.forget(hub.remember("Ada prefers spaces").memory.id)
    hub.purge(hub.remember("Nobody prefers tabs").memory.id)
    hub.journal_add("Walked to the harbour")
    hub.log_turn("user", "Where is the harbour?")
    hub.request_decision("Tabs?", ["yes", "no"])
    house.member("ben", "viewer")
    members.invite(house.memory.core, "hub", hub.id, "viewer")
    return house


class Described:
    """The operations of the description, by method and path."""

    def __init__(self, schema: Any) -> None:
        load_all_checks()
        self._config = schema.config
        self._feedback = FeedbackSources(constants_value_source=make_constants_value_source(schema))
        found = (result.ok() for result in schema.get_all_operations())
        self.operations: dict[str, Any] = {f"{one.method.upper()} {one.path}": one for one in found}

    def test_of(self, name: str, send: Callable[[schemathesis.Case], None]) -> Callable[[], None]:
        """Sends made up requests: examples, then each edge of what is described, then others."""
        test: Callable[[], None] = build_operation_test(
            config=self._config,
            operation=self.operations[name],
            test_func=send,
            given_kwargs={},
            feedback=self._feedback,
            explicit_settings=_SETTINGS,
        )
        return test


@pytest.fixture(scope="module")
def described(filled: House) -> Described:
    return Described(schemathesis.openapi.from_asgi("/openapi.json", filled.app))


@pytest.fixture(scope="module")
def send(filled: House) -> Iterator[Callable[[schemathesis.Case], None]]:
    headers = {"Authorization": f"Bearer {filled.key()}", "X-Hub-ID": filled.hub.id}
    # One client for all requests, which does not look for the machine's proxies before each.
    session: ASGIClient = get_client(filled.app)
    session.trust_env = False

    def checked(case: schemathesis.Case) -> None:
        # What a description cannot say is refused too: a date that does not exist, a cursor that
        # was never given out, an idempotency key that was used.
        case.call_and_validate(
            session=session, headers=headers, excluded_checks=[positive_data_acceptance]
        )

    with ExitStack() as stack:
        stack.callback(filled.memory.close)
        stack.enter_context(session)
        yield checked


def test_every_operation_of_the_description_is_tried(described: Described) -> None:
    assert set(described.operations) == {*_NAMES, *_UNTRIED}


# Not the library's own parameters: with those, requests to all operations are made up in every
# process that collects tests, which takes as long as a sixth of all others.
@pytest.mark.parametrize("name", _NAMES)
def test_the_api_is_as_its_description_says(
    described: Described, send: Callable[[schemathesis.Case], None], name: str
) -> None:
    described.test_of(name, send)()
