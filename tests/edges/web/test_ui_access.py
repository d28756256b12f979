"""The page that `holdfast ui` serves is open to the browser that it was opened in, not to every
account of the machine."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from holdfast.api.memory import Holdfast
from holdfast.edges.http.app import create_app
from holdfast.edges.web import ui_access
from holdfast.edges.web.ui_access import UiAccess, address_with_ticket
from holdfast.engine.people import keys
from holdfast.text.names import parse_label
from tests.edges.http.conftest import PATIENT

HERE = "http://localhost"


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path)


@pytest.fixture
def served(memory: Holdfast, home: str) -> Iterator[TestClient]:
    """A browser beside the server of `holdfast ui`."""
    app = create_app(memory, key_needed=False, limits=PATIENT, access=UiAccess.begin(home))
    with TestClient(app, base_url=HERE, follow_redirects=False) as made:
        yield made


def ticket(home: str, page: str = "/") -> str:
    return address_with_ticket(home, f"{HERE}{page}")


def test_a_ticket_lets_in_one_browser_once(served: TestClient, home: str) -> None:
    address = ticket(home)
    answer = served.get(address)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert served.get("/").status_code == 200
    served.cookies.clear()
    assert served.get(address).status_code == 403
    assert served.get(ticket(home)).status_code == 303


@pytest.mark.parametrize("path", ["/", "/h/default", "/v1/memories", "/mcp", "/metrics"])
@pytest.mark.parametrize(
    "headers",
    [
        *({}, {"Cookie": "holdfast_ui_80=wrong"}, {"Cookie": "holdfast_ui_80="}),
        *({"Authorization": "Basic"}, {"Authorization": "Bearer "}),
    ],
)
def test_others_are_refused(served: TestClient, path: str, headers: dict[str, str]) -> None:
    assert served.get(path, headers=headers).status_code == 403


@pytest.mark.parametrize("ticket", ["", "x", "x.", ".", "nonce.deadbeef", "a.b.c", "é.é"])
def test_a_ticket_that_was_not_made_here_is_refused(served: TestClient, ticket: str) -> None:
    assert served.get("/", params={"ticket": ticket}).status_code == 403


def test_a_key_passes_and_is_checked(memory: Holdfast, served: TestClient) -> None:
    secret = keys.create_key(memory.core, parse_label("laptop", "name")).secret
    good = {"Authorization": f"Bearer {secret}"}
    assert served.get("/v1/memories", headers=good).status_code == 200
    wrong = {"Authorization": "Bearer hf_" + "x" * 43}
    assert served.get("/v1/memories", headers=wrong).status_code == 401


def test_a_refused_browser_is_told_what_to_do(served: TestClient) -> None:
    answer = served.get("/", headers={"Accept": "text/html"})
    assert answer.status_code == 403
    assert "Run `holdfast ui` in a terminal" in answer.text
    assert "Run `holdfast ui`" in served.get("/v1/memories").json()["error"]["hint"]


def test_the_rest_of_the_address_is_kept(served: TestClient, home: str) -> None:
    answer = served.get(f"{ticket(home, '/h/default')}&q=a%20b")
    assert answer.headers["location"] == "/h/default?q=a+b"


def test_a_restart_voids_tickets_and_keeps_the_browser(
    memory: Holdfast, served: TestClient, home: str
) -> None:
    old = ticket(home)
    served.get(ticket(home))
    cookies = dict(served.cookies)
    app = create_app(memory, key_needed=False, limits=PATIENT, access=UiAccess.begin(home))
    with TestClient(app, base_url=HERE, follow_redirects=False, cookies=cookies) as again:
        assert again.get("/").status_code == 200
        again.cookies.clear()
        assert again.get(old).status_code == 403


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_the_owner_can_read_the_secret(home: str) -> None:
    UiAccess.begin(home)
    assert stat.S_IMODE((Path(home) / "ui.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "{ oops", "[]", json.dumps({"cookie": 3})])
def test_a_damaged_file_is_written_anew(home: str, content: str) -> None:
    (Path(home) / "ui.json").write_text(content)
    assert address_with_ticket(home, HERE) == HERE
    UiAccess.begin(home)
    assert address_with_ticket(home, HERE).startswith(f"{HERE}?ticket=")


def test_a_ticket_leads_nowhere_else(served: TestClient, home: str) -> None:
    assert served.get(ticket(home, "//evil.example/x")).headers["location"] == "/evil.example/x"
    assert served.get(ticket(home, "/h/a%3Fb%23c")).headers["location"] == "/h/a%3Fb%23c"


def test_a_ticket_is_good_for_one_port(served: TestClient, home: str) -> None:
    address = address_with_ticket(home, "http://localhost:4653/")
    assert served.get(address.replace(":4653", "")).status_code == 403


def test_a_server_on_another_port_leaves_tickets_as_they_are(served: TestClient, home: str) -> None:
    UiAccess.begin(home)
    assert served.get(ticket(home)).status_code == 303


def test_another_account_cannot_use_a_ticket_or_a_cookie_that_it_saw(
    memory: Holdfast, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(memory, key_needed=False, limits=PATIENT, access=UiAccess.begin(home))
    other = TestClient(app, base_url=HERE, follow_redirects=False, client=("127.0.0.1", 50123))
    address = ticket(home)
    with other as made:
        monkeypatch.setattr(ui_access.sys, "platform", "linux")
        monkeypatch.setattr(ui_access.os, "getuid", lambda: 1000, raising=False)
        monkeypatch.setattr(ui_access, "_account_of", lambda *_: 1001)
        assert made.get(address).status_code == 403
        monkeypatch.setattr(ui_access, "_account_of", lambda *_: 1000)
        assert made.get(address).status_code == 303
        assert made.get("/").status_code == 200
        monkeypatch.setattr(ui_access, "_account_of", lambda *_: 1001)
        assert made.get("/").status_code == 403
        assert made.get("/v1/memories").status_code == 403


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says so")
def test_whose_a_connection_is_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert ui_access._account_of(client.getsockname()[1], port) == os.getuid()
            assert ui_access._account_of(port, port) is None
