"""A store that is lost under a server: the answer says whether to send the request again."""

from __future__ import annotations

import pytest

from holdfast.errors import ServerUnreachable
from holdfast.hub_memory import HubMemory
from tests.edges.http.conftest import Asking


@pytest.mark.parametrize(
    ("error", "status", "code", "later"),
    [
        (ServerUnreachable("Gone.", again=True), 503, "store_unreachable", True),
        (ServerUnreachable("A part was written."), 500, "store_error", False),
        (ServerUnreachable("Nobody knows.", in_doubt=True), 500, "in_doubt", False),
    ],
)
def test_only_what_was_not_written_is_to_be_sent_again(
    ask: Asking,
    monkeypatch: pytest.MonkeyPatch,
    error: ServerUnreachable,
    status: int,
    code: str,
    later: bool,
) -> None:
    def lose(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(HubMemory, "log_turn", lose)
    answer = ask.post("/v1/log", {"role": "user", "content": "Hello"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert ("retry-after" in answer.headers) is later
